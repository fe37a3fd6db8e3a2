// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace hcasim::testbench {

/// One item of a row: a port's name, bare words and key=value pairs. What was not asked for by the
/// end is an error, so that a misspelt key cannot pass unseen.
class TimingItem {
 public:
  /// Throws std::runtime_error on an empty item.
  explicit TimingItem(std::string_view text);

  const std::string& port() const { return port_; }
  bool flag(const std::string& word) { return words_.erase(word) != 0; }
  /// Value of a key in decimal or, with 0x, hexadecimal; must be there.
  std::uint64_t number(const std::string& key);
  /// The same, `otherwise` when the key is absent.
  std::uint64_t number_or(const std::string& key, std::uint64_t otherwise);
  /// `data=HH` fills a beat with one byte, `data=HH/HH` its two halves; absent means zeros.
  hw::rq::Beat data();
  /// Which of the names is among the words; must be there.
  std::size_t one_of(std::span<const std::string_view> names);
  /// Throws when something is left.
  void finish() const;

 private:
  std::string port_;
  std::set<std::string> words_;
  std::map<std::string, std::string> values_;
};

}  // namespace hcasim::testbench
