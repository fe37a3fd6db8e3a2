// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::sim {

/// A name as a small number: 1, 2, 3 ... in order of first use; dense, so it can index a vector.
using NameId = std::uint32_t;

/// The number of no name.
inline constexpr NameId kNoName = 0;

/// The names of nodes, objects and labels of a trace, each stored once and known by a number. One
/// table is shared by reader, replayer and writer. It grows with the number of distinct names and
/// with nothing else.
class NameTable {
 public:
  NameTable();

  /// The number of `name`, which is added if it is new. The only call that may allocate.
  NameId intern(std::string_view name);
  /// The number of `name`, or kNoName if it was never interned.
  NameId find(std::string_view name) const;
  /// The name of number `id`; empty for kNoName. The view stays valid as long as the table.
  /// @pre id <= size()
  std::string_view text(NameId id) const {
    return id == kNoName ? "" : std::string_view(texts_[id - 1]);
  }
  /// How many names there are; the largest number in use.
  std::size_t size() const { return texts_.size(); }

 private:
  std::size_t slot_of(std::string_view name) const;
  void grow();

  std::deque<std::string> texts_;
  std::vector<NameId> slots_;  // open addressing, a power of two
};

}  // namespace hcasim::sim
