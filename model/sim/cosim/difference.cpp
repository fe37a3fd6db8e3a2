// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What differs, by name.
#include "sim/cosim/difference.hpp"

#include <string_view>

#include "sim/cosim/port_fields.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

std::string value_text(std::uint64_t value, unsigned bits) {
  if (bits <= 16) return std::to_string(value);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  int shift = 60;
  while (shift > 0 && (value >> static_cast<unsigned>(shift)) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) text += kDigits[value >> static_cast<unsigned>(shift) & 15U];
  return text;
}

Difference differs(std::string_view port, std::string_view field, std::string expected,
                   std::string actual) {
  Difference d;
  d.port = port;
  d.field = field;
  d.expected = std::move(expected);
  d.actual = std::move(actual);
  return d;
}

std::string bytes_text(const Beat& beat, std::size_t from) {
  std::string text = "bytes " + std::to_string(from) + "..:";
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = from; i < from + 8; ++i) {
    text += ' ';
    text += kDigits[beat[i] >> 4U];
    text += kDigits[beat[i] & 15U];
  }
  return text;
}

std::optional<Difference> compare_data(const Beat& expected, const Beat& actual) {
  for (std::size_t i = 0; i < kBeatBytes; ++i) {
    if (expected[i] == actual[i]) continue;
    const std::size_t from = i / 8 * 8;
    return differs("take_rsp", "wqe", bytes_text(expected, from), bytes_text(actual, from));
  }
  return std::nullopt;
}

struct CounterField {
  std::string_view name;
  std::uint64_t hca::ReceiveQueueCounters::*member;
};

#define HCASIM_COUNTER(name) \
  { #name, &hca::ReceiveQueueCounters::name }
constexpr CounterField kCounters[] = {HCASIM_COUNTER(takes_ok),
                                      HCASIM_COUNTER(takes_empty),
                                      HCASIM_COUNTER(takes_flushed),
                                      HCASIM_COUNTER(takes_bad_queue),
                                      HCASIM_COUNTER(takes_fetch_error),
                                      HCASIM_COUNTER(peeks_ok),
                                      HCASIM_COUNTER(peeks_empty),
                                      HCASIM_COUNTER(peeks_flushed),
                                      HCASIM_COUNTER(peeks_bad_queue),
                                      HCASIM_COUNTER(takes_waited),
                                      HCASIM_COUNTER(takes_ok_at_once),
                                      HCASIM_COUNTER(doorbells),
                                      HCASIM_COUNTER(bad_doorbells),
                                      HCASIM_COUNTER(commands),
                                      HCASIM_COUNTER(dma_requests),
                                      HCASIM_COUNTER(wqes_fetched),
                                      HCASIM_COUNTER(dma_beats),
                                      HCASIM_COUNTER(dma_beats_unknown),
                                      HCASIM_COUNTER(dma_requests_failed),
                                      HCASIM_COUNTER(evictions),
                                      HCASIM_COUNTER(wqes_evicted),
                                      HCASIM_COUNTER(fifo_drops),
                                      HCASIM_COUNTER(limit_events),
                                      HCASIM_COUNTER(fetch_error_events)};
#undef HCASIM_COUNTER
static_assert(sizeof(kCounters) / sizeof(kCounters[0]) * sizeof(std::uint64_t) ==
                  sizeof(hca::ReceiveQueueCounters),
              "a counter is missing");

}  // namespace

std::optional<Difference> compare_ports(const Outputs& expected, const Outputs& actual) {
  if (same_ports(expected, actual)) return std::nullopt;
  for (const auto& f : output_fields()) {
    // Where only one side is valid, valid itself has differed before.
    if (!f.matters(expected) || f.value(expected) == f.value(actual)) continue;
    return differs(f.port, f.field, value_text(f.value(expected), f.bits),
                   value_text(f.value(actual), f.bits));
  }
  return compare_data(expected.take_rsp.wqe, actual.take_rsp.wqe);
}

std::optional<Difference> compare_counters(const hca::ReceiveQueueCounters& expected,
                                           const hca::ReceiveQueueCounters& actual) {
  for (const CounterField& f : kCounters) {
    if (expected.*f.member == actual.*f.member) continue;
    return differs("counter", f.name, std::to_string(expected.*f.member),
                   std::to_string(actual.*f.member));
  }
  return std::nullopt;
}

std::optional<Difference> compare_snapshots(const Snapshot& expected, const Snapshot& actual) {
  if (expected == actual) return std::nullopt;
  const auto number = [](QueueState state) { return static_cast<unsigned>(state); };
  const struct {
    std::string_view name;
    unsigned expected, actual;
  } fields[] = {{"state", number(expected.state), number(actual.state)},
                {"size", expected.size, actual.size},
                {"head", expected.head, actual.head},
                {"fetch", expected.fetch, actual.fetch},
                {"tail", expected.tail, actual.tail},
                {"limit", expected.limit, actual.limit}};
  for (const auto& f : fields) {
    if (f.expected == f.actual) continue;
    return differs("snapshot", f.name, std::to_string(f.expected), std::to_string(f.actual));
  }
  return std::nullopt;
}

std::string to_text(const Difference& d) {
  std::string text = "cycle " + std::to_string(d.cycle) + ", " + d.port + "." + d.field;
  if (d.queue) text += ", queue " + std::to_string(*d.queue);
  return text + ": expected " + d.expected + ", " + d.side + " has " + d.actual;
}

}  // namespace hcasim::sim::cosim
