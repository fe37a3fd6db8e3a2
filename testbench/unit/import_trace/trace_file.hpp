// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The trace that an import writes, read back.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "sim/import/trace_from_capture.hpp"

namespace hcasim::sim::test {

struct TraceFile {
  TraceFile(const CaptureAnalysis& analysis, const ImportOptions& options) {
    std::string folder = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    const auto path = std::filesystem::path(folder) / "x.trace";
    result = trace_from_capture(analysis, options, path);
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove_all(folder);
    std::istringstream stream(text);
    TraceReader reader(stream, "x.trace");
    Operation operation;
    while (reader.next(operation)) operations.push_back(operation);
    for (const NameId node : reader.nodes()) nodes.emplace_back(reader.names().text(node));
    assumptions = reader.assumptions();
    for (NameId id = 0; id <= reader.names().size(); ++id) {
      names.emplace_back(reader.names().text(id));
    }
  }

  const std::string& name(std::uint64_t id) const { return names.at(id); }
  std::uint64_t count(Verb verb) const {
    std::uint64_t sum = 0;
    for (const Operation& operation : operations) sum += operation.verb == verb ? 1 : 0;
    return sum;
  }
  /// How many begin at a time of their own.
  std::uint64_t at_a_time(Verb verb) const {
    std::uint64_t sum = 0;
    for (const Operation& it : operations) sum += it.verb == verb && it.timing == Timing::kAt;
    return sum;
  }
  /// How many do not begin as soon as they can.
  std::uint64_t delayed(Verb verb) const {
    std::uint64_t sum = 0;
    for (const Operation& it : operations) sum += it.verb == verb && it.timing != Timing::kAsap;
    return sum;
  }
  /// The lines of one verb as text.
  std::vector<std::string> lines(const std::string& verb) const {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.find(' ' + verb + ' ') != std::string::npos && line[0] != '#') found.push_back(line);
    }
    return found;
  }

  ImportResult result;
  std::string text;
  std::vector<Operation> operations;
  std::vector<std::string> nodes;
  std::vector<std::string> names;
  std::vector<Assumption> assumptions;
};

}  // namespace hcasim::sim::test
