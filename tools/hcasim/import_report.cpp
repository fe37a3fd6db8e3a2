// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What an import found, for programs and for people.
#include "import_report.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "hcasim/hw/wr_opcode_name.hpp"

namespace hcasim::tools {
namespace {

using NakList = std::array<std::pair<const char*, std::uint64_t>, 5>;

NakList naks_of(const sim::CaptureAnalysis& analysis) {
  const sim::NakCounts& naks = analysis.naks;
  return {{{"rnr", naks.rnr},
           {"psn_sequence", naks.psn_sequence},
           {"invalid_request", naks.invalid_request},
           {"remote_access", naks.remote_access},
           {"remote_operational", naks.remote_operational}}};
}

std::string list_messages(const sim::CaptureAnalysis& analysis) {
  std::string text;
  for (const auto& [opcode, count] : analysis.messages) {
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", name_of(opcode),
                   count);
  }
  return text.empty() ? "none" : text;
}

std::string list_naks(const sim::CaptureAnalysis& analysis) {
  std::string text;
  for (const auto& [name, count] : naks_of(analysis)) {
    if (count == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string import_json(const sim::CaptureAnalysis& analysis) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["packets"] = analysis.packets;
  json["icrc"] = {
      {"ok", analysis.icrc.ok}, {"bad", analysis.icrc.bad}, {"unchecked", analysis.icrc.unchecked}};
  json["messages"] = Json::object();
  for (const auto& [opcode, count] : analysis.messages) {
    json["messages"][std::string(name_of(opcode))] = count;
  }
  json["refused"] = analysis.refused;
  json["unfinished"] = analysis.unfinished;
  json["bytes"] = analysis.bytes;
  json["endpoints"] = analysis.endpoints.size();
  json["retransmitted"] = analysis.retransmitted;
  for (const auto& [name, count] : naks_of(analysis)) json["naks"][name] = count;
  json["management"] = analysis.management;
  json["not_modelled"] = analysis.not_modelled;
  json["unexplained"] = Json::object();
  for (const auto& [reason, count] : analysis.unexplained) json["unexplained"][reason] = count;
  if (analysis.uncertain != 0) json["uncertain_connections"] = analysis.uncertain;
  return json.dump(2) + "\n";
}

std::string import_summary(const sim::CaptureAnalysis& analysis) {
  std::string text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "packets        {} (ICRC: {} ok, {} bad, {} unchecked)\n", analysis.packets,
                 analysis.icrc.ok, analysis.icrc.bad, analysis.icrc.unchecked);
  fmt::format_to(to, "messages       {}, {} bytes between {} endpoints\n", list_messages(analysis),
                 analysis.bytes, analysis.endpoints.size());
  fmt::format_to(to, "refused        {}\n", analysis.refused);
  fmt::format_to(to, "unfinished     {} (left out of the trace)\n", analysis.unfinished);
  fmt::format_to(to, "retransmitted  {} packets\n", analysis.retransmitted);
  fmt::format_to(to, "NAKs           {}\n", list_naks(analysis));
  fmt::format_to(to, "set aside      {} of management, {} not modelled\n", analysis.management,
                 analysis.not_modelled);
  if (analysis.uncertain != 0) {
    fmt::format_to(to, "uncertain      {} connections, whose ends were paired by order alone\n",
                   analysis.uncertain);
  }
  for (const auto& [reason, count] : analysis.unexplained) {
    fmt::format_to(to, "unexplained    {} packets: {}\n", count, reason);
  }
  return text;
}

}  // namespace hcasim::tools
