// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The numbers that an import assumes, as one table.
#include <array>
#include <charconv>
#include <span>

#include <hcasim/sim/nearest.hpp>
#include "sim/import/trace_from_capture.hpp"

namespace hcasim::sim {
namespace {

struct Row {
  std::string_view key;
  std::uint64_t ImportOptions::*member;
  std::uint64_t min;
  std::uint64_t max;
  std::string_view text;
};

constexpr Row kRows[] = {
    {"max_send_wr", &ImportOptions::max_send_wr, 1, 65535, "depth of each send queue"},
    {"max_recv_wr", &ImportOptions::max_recv_wr, 1, 65535, "depth of each receive queue"},
    {"receive_length", &ImportOptions::receive_length, 0, kMaxLength,
     "bytes of each receive, but never less than the longest message of its QP"},
    {"mtu", &ImportOptions::mtu, 256, 4096,
     "path MTU of connections without a message of two packets, and at least their longest "
     "message"},
    {"timeout", &ImportOptions::timeout, 0, 31, "local ACK timeout code"},
    {"retry_cnt", &ImportOptions::retry_cnt, 0, 7, "retries without an answer"},
    {"rnr_retry", &ImportOptions::rnr_retry, 0, 7, "retries after RNR NAKs, 7 without end"},
    {"min_rnr_timer", &ImportOptions::min_rnr_timer, 0, 31,
     "RNR timer code of QPs that sent no RNR NAK"},
    {"max_rd_atomic", &ImportOptions::max_rd_atomic, 1, 255, "READs and atomics in flight"},
    {"lead_ns", &ImportOptions::lead_ns, 0, 1'000'000'000'000,
     "nanoseconds from the epoch to the first send"},
};

// Of tracepoints alone.
constexpr Row kTracepointRows[] = {
    {"tick_ps", &ImportOptions::tick_ps, 1, 1'000'000'000'000,
     "picoseconds of a tick, where the clock of the trace has no unit"},
};

// What no option changes, since a replay gives the same messages either way.
constexpr std::array<std::array<std::string_view, 2>, 7> kFixed = {{
    {"completions", "every send is signaled"},
    {"buffers", "one SGE each, from the start of one region of each node; nothing inline"},
    {"posting", "one work request a doorbell, no fences"},
    {"receive_queues", "each QP has its own"},
    {"completion_queues", "one of each node"},
    {"regions", "one for each remote key, from the first to the last byte that was asked for"},
    {"invalidated_regions",
     "registered by REG_MR before the first send, which is so much later, up to 8 for one key; "
     "then "
     "again when the receive of the SEND_WITH_INV has completed"},
}};

constexpr std::array<std::array<std::string_view, 2>, 6> kFixedOfTracepoints = {{
    {"receive_requests",
     "inferred from completions, which tell length and order but not when they were posted"},
    {"peers", "the queue pair whose receives match in order, kind and length; else made up"},
    {"addresses", "one SGE each, from the start of one region of each node; remote ones too"},
    {"operands", "0 for those of atomics; immediate data of receives that are not in the file"},
    {"receive_queues", "each QP has its own"},
    {"completion_queues", "one of each node"},
}};

constexpr const char* kCommandLine = "--assume";

}  // namespace

void set_assumption(ImportOptions& options, std::string_view setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::string_view key = setting.substr(0, equals);
  std::vector<std::string_view> known;
  std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  rows.insert(rows.end(), std::begin(kTracepointRows), std::end(kTracepointRows));
  for (const Row& row : rows) {
    known.push_back(row.key);
    if (row.key != key) continue;
    const std::string_view text = setting.substr(std::min(equals + 1, setting.size()));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || value < row.min || value > row.max) {
      throw InputError(kCommandLine, 0, 0,
                       "for " + std::string(key) + " a number from " + std::to_string(row.min) +
                           " to " + std::to_string(row.max),
                       std::string(text));
    }
    options.*row.member = value;
    return;
  }
  throw InputError(kCommandLine, 0, 0, "KEY=VALUE with a key of the head of a trace",
                   std::string(key), nearest(key, known));
}

namespace {

void append_rows(std::vector<Assumption>& list, std::span<const Row> rows,
                 const ImportOptions& options) {
  for (const Row& row : rows) {
    const std::string key(row.key);
    std::string value = std::to_string(options.*row.member);
    value.append(": ").append(row.text).append(" (--assume ").append(key).append("=N)");
    list.push_back({key, value});
  }
}

}  // namespace

std::vector<Assumption> list_assumptions(const ImportOptions& options) {
  std::vector<Assumption> list;
  list.push_back(
      {"receives",
       options.receives == ReceivePolicy::kAhead
           ? "ahead: posted before they are needed (--receives)"
           : "as-seen: late where the capture has RNR NAKs, for as many of them (--receives)"});
  list.push_back({"timing", options.timing == TimingPolicy::kCaptured
                                ? "captured: sends when their first packet was seen (--timing)"
                                : "asap: sends after what was complete before them (--timing)"});
  append_rows(list, kRows, options);
  for (const auto& [key, value] : kFixed) list.push_back({std::string(key), std::string(value)});
  return list;
}

std::vector<Assumption> list_tracepoint_assumptions(const ImportOptions& options) {
  std::vector<Assumption> list;
  const bool ahead = options.receives == ReceivePolicy::kAhead;
  list.push_back({"receives", ahead ? "ahead: posted before they are needed (--receives)"
                                    : "as-seen: late where a sender waited for one (--receives)"});
  list.push_back({"timing", options.timing == TimingPolicy::kCaptured
                                ? "captured: posts at their times (--timing)"
                                : "asap: posts after what had completed before them, but for made "
                                  "up ones (--timing)"});
  append_rows(list, kRows, options);
  append_rows(list, kTracepointRows, options);
  for (const auto& [key, value] : kFixedOfTracepoints) {
    list.push_back({std::string(key), std::string(value)});
  }
  return list;
}

}  // namespace hcasim::sim
