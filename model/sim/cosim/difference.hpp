// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hca/receive_queue_rtl/port_difference.hpp"

namespace hcasim::sim::cosim {

/// The first place where a side is not as it should be.
struct Difference {
  std::uint64_t cycle = 0;             ///< in which it shows
  std::string side;                    ///< whose value `actual` is
  hca::PortDifference where;           ///< in what; its port may be `rule` or `assertion` too
  std::optional<std::uint32_t> queue;  ///< whose transactions explain it

  /// The port without what belongs to one case only: `snapshot`, not `snapshot of queue 3`.
  std::string_view port() const { return first_word(where.port); }
  /// The field, as above: `wqe`, not `wqe byte 5`. Of a rule the whole text matters.
  std::string_view field() const {
    return where.port == "rule" ? std::string_view(where.field) : first_word(where.field);
  }

  /// The same fault, as far as one can tell, whatever led to it.
  bool same_kind(const Difference& other) const {
    return side == other.side && port() == other.port() && field() == other.field();
  }

 private:
  static std::string_view first_word(std::string_view text) {
    return text.substr(0, text.find(' '));
  }
};

/// One line: where, what was expected, what was found.
std::string to_text(const Difference& difference);

}  // namespace hcasim::sim::cosim
