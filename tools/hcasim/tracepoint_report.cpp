// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "tracepoint_report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "hcasim/hw/wr_opcode_name.hpp"

namespace hcasim::tools {
namespace {

/// What the queue pairs add up to.
struct Sums {
  explicit Sums(const sim::TracepointAnalysis& analysis) {
    for (const sim::SeenQp& qp : analysis.qps) {
      paired += qp.peer != sim::kNobody ? 1 : 0;
      uncertain += qp.uncertain ? 1 : 0;
      receives += qp.receives.size();
      for (const sim::SeenPost& post : qp.posts) add(post);
    }
  }

  void add(const sim::SeenPost& post) {
    ++posts[std::string(name_of(post.opcode))];
    bytes += post.length;
    rnr_waits += post.rnr_waits;
    completions += post.status ? 1 : 0;
    failed += post.failed() ? 1 : 0;
    flushed += post.flushed() ? 1 : 0;
  }

  std::map<std::string, std::uint64_t> posts;
  std::uint64_t bytes = 0;
  std::uint64_t completions = 0;
  std::uint64_t failed = 0;
  std::uint64_t flushed = 0;
  std::uint64_t receives = 0;
  std::uint64_t rnr_waits = 0;
  std::uint64_t paired = 0;
  std::uint64_t uncertain = 0;
};

std::uint64_t count_events(const sim::TracepointAnalysis& analysis) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : analysis.events) sum += count;
  return sum;
}

}  // namespace

std::string tracepoint_json(const sim::TracepointAnalysis& analysis,
                            const sim::TracepointImport& import) {
  using Json = nlohmann::ordered_json;
  const Sums sums(analysis);
  Json json;
  json["form"] = name_of(analysis.form);
  json["events"] = Json::object();
  for (const auto& [name, count] : analysis.events) json["events"][name] = count;
  json["unknown_events"] = analysis.unknown_events;
  json["lost"] = {{"places", analysis.lost_places}, {"events", analysis.lost}};
  json["cut_lines"] = analysis.cut_lines;
  json["steps_back"] = analysis.steps_back;
  json["clock_without_unit"] = analysis.ticks;
  json["devices"] = analysis.devices.size();
  json["queue_pairs"] = {{"seen", analysis.qps.size()},
                         {"paired", sums.paired},
                         {"uncertain", sums.uncertain},
                         {"made_up_peers", import.made_up_peers},
                         {"idle", import.idle}};
  json["posts"] = Json::object();
  for (const auto& [name, count] : sums.posts) json["posts"][name] = count;
  json["bytes"] = sums.bytes;
  json["completions"] = {{"sends", sums.completions},
                         {"failed", sums.failed},
                         {"flushed", sums.flushed},
                         {"receives", sums.receives}};
  json["rnr_waits"] = sums.rnr_waits;
  json["ack_timeouts"] = analysis.acknowledge_timeouts;
  json["left_out"] = {{"unfinished", import.unfinished},
                      {"not_repeated", import.not_repeated},
                      {"not_modelled", analysis.not_modelled},
                      {"without_post", analysis.orphans},
                      {"without_sender", import.without_sender}};
  json["trace"] = {{"nodes", import.nodes},
                   {"connections", import.connections},
                   {"sends", import.sends},
                   {"receives", import.receives},
                   {"made_up_sends", import.made_up_sends}};
  return json.dump(2) + "\n";
}

std::string tracepoint_summary(const sim::TracepointAnalysis& analysis,
                               const sim::TracepointImport& import) {
  const Sums sums(analysis);
  std::string posts;
  for (const auto& [name, count] : sums.posts) {
    fmt::format_to(std::back_inserter(posts), "{}{} {}", posts.empty() ? "" : ", ", name, count);
  }
  std::string text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "tracepoints    {} of rdmavt in the form of {}, {} others skipped\n",
                 count_events(analysis), name_of(analysis.form), analysis.unknown_events);
  fmt::format_to(to, "posts          {}, {} bytes by {} devices\n", posts.empty() ? "none" : posts,
                 sums.bytes, analysis.devices.size());
  fmt::format_to(to, "completions    {} of sends ({} failed, {} flushed), {} of receives\n",
                 sums.completions, sums.failed, sums.flushed, sums.receives);
  fmt::format_to(to, "waits          {} for a receive, {} ACK timeouts\n", sums.rnr_waits,
                 analysis.acknowledge_timeouts);
  fmt::format_to(to,
                 "queue pairs    {}: {} with a peer in the file, {} with a made up one, {} idle\n",
                 analysis.qps.size(), sums.paired, import.made_up_peers, import.idle);
  fmt::format_to(to,
                 "left out       posts: {} unfinished, {} not to be repeated, {} not modelled; "
                 "completions: {} without post, {} without sender\n",
                 import.unfinished, import.not_repeated, analysis.not_modelled, analysis.orphans,
                 import.without_sender);
  if (sums.uncertain != 0) {
    fmt::format_to(to, "uncertain      {} queue pairs that might have another peer\n",
                   sums.uncertain);
  }
  if (analysis.lost_places != 0 || analysis.cut_lines != 0) {
    fmt::format_to(to, "incomplete     {} events lost in {} places, {} lines cut\n", analysis.lost,
                   analysis.lost_places, analysis.cut_lines);
  }
  if (analysis.steps_back != 0) {
    fmt::format_to(to, "steps back     {} times before that of the line above\n",
                   analysis.steps_back);
  }
  if (analysis.ticks) text += "clock          without unit: see tick_ps in the head of the trace\n";
  text +=
      "unknown        no tracepoint tells addresses of the peer, operands of atomics, when "
      "receives "
      "were posted and which queue pairs belong together: see the head of the trace\n";
  return text;
}

}  // namespace hcasim::tools
