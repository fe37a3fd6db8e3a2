// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/port_difference.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>

namespace hcasim::hca {

namespace {

using namespace hw::rq;  // NOLINT(google-build-using-namespace)

constexpr std::array<std::string_view, 4> kStates{"INVALID", "READY", "PAUSED", "ERROR"};
constexpr std::array<std::string_view, 4> kCommandStatuses{"OK", "BAD_STATE", "BAD_QUEUE",
                                                           "BAD_ARGUMENT"};
constexpr std::array<std::string_view, 5> kTakeStatuses{"OK", "EMPTY", "FLUSHED", "BAD_QUEUE",
                                                        "FETCH_ERROR"};
constexpr std::array<std::string_view, 3> kEventKinds{"SRQ_LIMIT", "BAD_DOORBELL", "FETCH_ERROR"};

// Compares fields of one port one after the other and keeps the first difference.
class Comparison {
 public:
  explicit Comparison(std::string port) { found_.port = std::move(port); }

  Comparison& field(const char* name, std::uint64_t expected, std::uint64_t actual) {
    if (expected != actual) note(name, std::to_string(expected), std::to_string(actual));
    return *this;
  }

  Comparison& address(const char* name, std::uint64_t expected, std::uint64_t actual) {
    if (expected != actual) note(name, hexadecimal(expected), hexadecimal(actual));
    return *this;
  }

  template <typename Enum>
  Comparison& word(const char* name, Enum expected, Enum actual,
                   std::span<const std::string_view> names) {
    if (expected != actual) note(name, spell(expected, names), spell(actual, names));
    return *this;
  }

  // Names the first byte that differs.
  Comparison& beat(const char* name, const Beat& expected, const Beat& actual) {
    if (done_ || expected == actual) return *this;
    const auto at = std::mismatch(expected.begin(), expected.end(), actual.begin());
    const auto byte = at.first - expected.begin();
    note((std::string(name) + " byte " + std::to_string(byte)).c_str(), hexadecimal(*at.first),
         hexadecimal(*at.second));
    return *this;
  }

  std::optional<PortDifference> result() const {
    return done_ ? std::optional(found_) : std::nullopt;
  }

 private:
  static std::string hexadecimal(std::uint64_t value) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "0x%jx", static_cast<std::uintmax_t>(value));
    return text.data();
  }

  template <typename Enum>
  static std::string spell(Enum value, std::span<const std::string_view> names) {
    const auto index = static_cast<std::size_t>(value);
    return index < names.size() ? std::string(names[index]) : std::to_string(index);
  }

  void note(const char* name, std::string expected, std::string actual) {
    if (done_) return;
    done_ = true;
    found_.field = name;
    found_.expected = std::move(expected);
    found_.actual = std::move(actual);
  }

  PortDifference found_;
  bool done_ = false;
};

Comparison& compare(Comparison& c, const Snapshot& a, const Snapshot& b) {
  return c.word("state", a.state, b.state, kStates)
      .field("size", a.size, b.size)
      .field("head", a.head, b.head)
      .field("fetch", a.fetch, b.fetch)
      .field("tail", a.tail, b.tail)
      .field("limit", a.limit, b.limit);
}

std::optional<PortDifference> of_cmd_rsp(const Outputs& a, const Outputs& b) {
  Comparison c("cmd_rsp");
  c.field("valid", a.cmd_rsp_valid, b.cmd_rsp_valid);
  if (a.cmd_rsp_valid) {
    c.word("status", a.cmd_rsp.status, b.cmd_rsp.status, kCommandStatuses);
    compare(c, a.cmd_rsp.snapshot, b.cmd_rsp.snapshot);
  }
  return c.result();
}

std::optional<PortDifference> of_dma_req(const Outputs& a, const Outputs& b) {
  Comparison c("dma_req");
  c.field("valid", a.dma_req_valid, b.dma_req_valid);
  if (a.dma_req_valid) {
    c.field("tag", a.dma_req.tag, b.dma_req.tag)
        .address("address", a.dma_req.address, b.dma_req.address)
        .field("bytes", a.dma_req.bytes, b.dma_req.bytes);
  }
  return c.result();
}

std::optional<PortDifference> of_take_rsp(const Outputs& a, const Outputs& b) {
  Comparison c("take_rsp");
  c.field("valid", a.take_rsp_valid, b.take_rsp_valid);
  if (a.take_rsp_valid) {
    const TakeBeat& x = a.take_rsp;
    const TakeBeat& y = b.take_rsp;
    c.field("tag", x.tag, y.tag)
        .word("status", x.status, y.status, kTakeStatuses)
        .field("last", x.last, y.last)
        .field("slot", x.slot, y.slot)
        .field("remaining", x.remaining, y.remaining)
        .beat("wqe", x.wqe, y.wqe);
  }
  return c.result();
}

std::optional<PortDifference> of_event(const Outputs& a, const Outputs& b) {
  Comparison c("event");
  c.field("valid", a.event_valid, b.event_valid);
  if (a.event_valid) {
    c.field("queue", a.event.queue, b.event.queue)
        .word("kind", a.event.kind, b.event.kind, kEventKinds)
        .field("value", a.event.value, b.event.value);
  }
  return c.result();
}

std::optional<PortDifference> of_bits(const Outputs& a, const Outputs& b) {
  if (auto found = Comparison("cmd").field("ready", a.cmd_ready, b.cmd_ready).result())
    return found;
  if (auto found =
          Comparison("doorbell").field("ready", a.doorbell_ready, b.doorbell_ready).result()) {
    return found;
  }
  if (auto found = Comparison("take").field("ready", a.take_ready, b.take_ready).result()) {
    return found;
  }
  return Comparison("idle").field("idle", a.idle, b.idle).result();
}

std::uint64_t low(std::uint64_t value, std::uint32_t width) {
  return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

}  // namespace

std::optional<PortDifference> difference(const Outputs& expected, const Outputs& actual) {
  if (same_ports(expected, actual)) return std::nullopt;
  for (const auto& of : {of_take_rsp, of_dma_req, of_cmd_rsp, of_event, of_bits}) {
    if (auto found = of(expected, actual)) return found;
  }
  return std::nullopt;
}

std::optional<PortDifference> difference(const Counters& expected, const Counters& actual) {
  if (expected == actual) return std::nullopt;
  Comparison c("counters");
  for (const CounterField& it : kCounterFields) {
    c.field(it.name, expected.*it.value, actual.*it.value);
  }
  return c.result();
}

std::optional<PortDifference> difference(std::uint32_t queue, const Snapshot& expected,
                                         const Snapshot& actual) {
  if (expected == actual) return std::nullopt;
  Comparison c("snapshot of queue " + std::to_string(queue));
  return compare(c, expected, actual).result();
}

Outputs narrowed(const Outputs& outputs, const PluginWidths& widths) {
  Outputs out = outputs;
  if (out.dma_req_valid) out.dma_req.address = low(out.dma_req.address, widths.address);
  if (!out.take_rsp_valid) return out;
  out.take_rsp.tag = static_cast<std::uint32_t>(low(out.take_rsp.tag, widths.take_tag));
  const std::size_t carried = widths.data / 16;  // bytes of each half
  constexpr std::size_t kHalf = kBeatBytes / 2;
  for (std::size_t half = 0; half < kBeatBytes; half += kHalf) {
    std::fill_n(out.take_rsp.wqe.begin() + half + carried, kHalf - carried, 0);
  }
  return out;
}

}  // namespace hcasim::hca
