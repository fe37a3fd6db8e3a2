// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plug-in from what Verilator made of the RTL. Included behind the generated code, so that
// HCASIM_RTL_CLASS is known.
#include <verilated.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "beat_bits.hpp"
#include "plugin_table.hpp"
#include "receive_queue_driver.hpp"

namespace {

// What was printed and belongs to nobody yet.
std::string& printed() {
  thread_local std::string text;
  return text;
}

// Why the RTL stopped; empty while it goes on. Generated code is left in good order, since it holds
// locks: nothing is thrown through it.
std::string& stopped() {
  thread_local std::string reason;
  return reason;
}

// The first line of what was printed says what failed, if anything was.
void stop(const char* file, int line, const std::string& otherwise) {
  std::string text = std::exchange(printed(), {});
  text.erase(std::min(text.find('\n'), text.size()));
  constexpr std::string_view kMark = "%Error: ";  // behind the time, which is not the cycle
  if (const auto mark = text.find(kMark); mark != std::string::npos) {
    text.erase(0, mark + kMark.size());
  }
  if (text.empty()) text = std::string(file) + ':' + std::to_string(line) + ": " + otherwise;
  if (stopped().empty()) stopped() = text;
}

}  // namespace

int hcasim_rtl_print(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  printed() += line;
  return length;
}

void vl_finish(const char* file, int line, const char*) {
  stop(file, line, "$finish");
}

void vl_stop(const char* file, int line, const char*) {
  stop(file, line, "$stop");
}

void vl_fatal(const char* file, int line, const char*, const char* message) {
  stop(file, line, message);
}

namespace hcasim::rtl_plugin {
namespace {

template <class Top>
class VerilatorPorts {
 public:
  static constexpr bool kCounts = requires(Top & top) { top.count_takes_ok_o; };
  static constexpr bool kShowsQueues = requires(Top & top) { top.debug_queue_i; };
  static constexpr bool kTellsRest = requires(Top & top) { top.debug_at_rest_o; };

  explicit VerilatorPorts(VerilatedContext& context) : top_(&context) {}
  ~VerilatorPorts() { top_.final(); }

  void eval() { top_.eval(); }

#define HCASIM_PORT(name, cxxrtl_name)                                  \
  static_assert(                                                        \
      requires(Top & top) { top.name; }, "the RTL has no port " #name); \
  auto& name() {                                                        \
    return top_.name;                                                   \
  }
#define HCASIM_OBSERVATION_PORT(name, cxxrtl_name) \
  auto& name() {                                   \
    return top_.name;                              \
  }
#include "receive_queue_port_list.hpp"

  template <typename Port>
  void put(Port& port, std::uint64_t value, unsigned width) {
    port = static_cast<Port>(low_bits(value, width));
  }
  template <typename Port>
  std::uint64_t get(const Port& port) {
    return port;
  }

  template <typename Port>
  void put_beat(Port& port, const hw::rq::Beat& beat) {
    const BeatWords words = to_words(beat);
    port = static_cast<Port>(words[0] | std::uint64_t{words[1]} << 32U);
  }
  template <std::size_t kWords>
  void put_beat(VlWide<kWords>& port, const hw::rq::Beat& beat) {
    const BeatWords words = to_words(beat);
    std::copy_n(words.begin(), kWords, port.data());
  }
  template <typename Port>
  void get_beat(const Port& port, hw::rq::Beat& beat) {
    const std::uint64_t value = port;
    BeatWords words{};
    words[0] = static_cast<std::uint32_t>(value);
    words[1] = static_cast<std::uint32_t>(value >> 32U);
    from_words(words, beat);
  }
  template <std::size_t kWords>
  void get_beat(const VlWide<kWords>& port, hw::rq::Beat& beat) {
    BeatWords words{};
    std::copy_n(port.data(), kWords, words.begin());
    from_words(words, beat);
  }

 private:
  Top top_;
};

/// The unit with a simulation context of its own.
template <class Top>
class VerilatedUnit {
  using Ports = VerilatorPorts<Top>;

 public:
  static constexpr bool kCounts = Ports::kCounts;
  static constexpr bool kShowsQueues = Ports::kShowsQueues;
  static constexpr bool kTellsRest = Ports::kTellsRest;

  explicit VerilatedUnit(std::uint64_t seed) {
    context_.threads(1);
    context_.randReset(seed == 0 ? 0 : 2);
    context_.randSeed(static_cast<int>(seed & 0x7fffffffU));
    driver_ = std::make_unique<ReceiveQueueDriver<Ports>>(context_);
  }

  /// What generated code takes from the thread's context may be that of another unit.
  ~VerilatedUnit() {
    Verilated::threadContextp(&context_);
    driver_.reset();
  }
  VerilatedUnit(const VerilatedUnit&) = delete;
  VerilatedUnit& operator=(const VerilatedUnit&) = delete;

  void reset(hw::rq::Outputs& out) {
    driver_->reset(out);
    check();
  }
  void step(const hw::rq::Inputs& in, hw::rq::Outputs& out) {
    driver_->step(in, out);
    context_.timeInc(1);
    check();
  }
  const hw::rq::Counters& counters() const { return driver_->counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) { return driver_->snapshot(queue); }
  bool at_rest() { return driver_->at_rest(); }

 private:
  // Results alone go to stdout.
  static void check() {
    if (!stopped().empty()) throw std::runtime_error(std::exchange(stopped(), {}));
    if (printed().empty()) return;
    std::fputs(printed().c_str(), stderr);
    printed().clear();
  }

  VerilatedContext context_;
  std::unique_ptr<ReceiveQueueDriver<Ports>> driver_;
};

}  // namespace
}  // namespace hcasim::rtl_plugin

HCASIM_EXPORT_RECEIVE_QUEUE(hcasim::rtl_plugin::VerilatedUnit<HCASIM_RTL_CLASS>)
