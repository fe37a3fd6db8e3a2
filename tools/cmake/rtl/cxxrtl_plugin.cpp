// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plug-in from what yosys' CXXRTL made of the RTL. Included behind the generated code, so that
// HCASIM_RTL_CLASS is known. Its registers begin as zeros: there is no random start.
#include <algorithm>
#include <cstdint>

#include "beat_bits.hpp"
#include "plugin_table.hpp"
#include "receive_queue_driver.hpp"

namespace hcasim::rtl_plugin {
namespace {

template <class Top>
class CxxrtlPorts {
 public:
  static constexpr bool kCounts = requires(Top & top) { top.p_count__takes__ok__o; };
  static constexpr bool kShowsQueues = requires(Top & top) { top.p_debug__queue__i; };
  static constexpr bool kTellsRest = requires(Top & top) { top.p_debug__at__rest__o; };

  void eval() { top_.step(); }

#define HCASIM_PORT(name, cxxrtl_name)                                         \
  static_assert(                                                               \
      requires(Top & top) { top.cxxrtl_name; }, "the RTL has no port " #name); \
  auto& name() {                                                               \
    return top_.cxxrtl_name;                                                   \
  }
#define HCASIM_OBSERVATION_PORT(name, cxxrtl_name) \
  auto& name() {                                   \
    return top_.cxxrtl_name;                       \
  }
#include "receive_queue_port_list.hpp"

  template <std::size_t kBits>
  void put(cxxrtl::value<kBits>& port, std::uint64_t value, unsigned width) {
    port.template set<std::uint64_t>(low_bits(value, width));
  }
  template <std::size_t kBits>
  std::uint64_t get(const cxxrtl::value<kBits>& port) {
    return port.template get<std::uint64_t>();
  }
  template <std::size_t kBits>
  std::uint64_t get(const cxxrtl::wire<kBits>& port) {
    return get(port.curr);
  }

  template <std::size_t kBits>
  void put_beat(cxxrtl::value<kBits>& port, const hw::rq::Beat& beat) {
    const BeatWords words = to_words(beat);
    std::copy_n(words.begin(), port.chunks, port.data);
  }
  template <std::size_t kBits>
  void get_beat(const cxxrtl::value<kBits>& port, hw::rq::Beat& beat) {
    BeatWords words{};
    std::copy_n(port.data, port.chunks, words.begin());
    from_words(words, beat);
  }
  template <std::size_t kBits>
  void get_beat(const cxxrtl::wire<kBits>& port, hw::rq::Beat& beat) {
    get_beat(port.curr, beat);
  }

 private:
  Top top_;
};

template <class Top>
class CxxrtlUnit {
  using Ports = CxxrtlPorts<Top>;

 public:
  static constexpr bool kCounts = Ports::kCounts;
  static constexpr bool kShowsQueues = Ports::kShowsQueues;
  static constexpr bool kTellsRest = Ports::kTellsRest;

  explicit CxxrtlUnit(std::uint64_t /*seed*/) {}

  void reset(hw::rq::Outputs& out) { driver_.reset(out); }
  void step(const hw::rq::Inputs& in, hw::rq::Outputs& out) { driver_.step(in, out); }
  const hw::rq::Counters& counters() const { return driver_.counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) { return driver_.snapshot(queue); }
  bool at_rest() { return driver_.at_rest(); }

 private:
  ReceiveQueueDriver<Ports> driver_;
};

}  // namespace
}  // namespace hcasim::rtl_plugin

HCASIM_EXPORT_RECEIVE_QUEUE(hcasim::rtl_plugin::CxxrtlUnit<HCASIM_RTL_CLASS>)
