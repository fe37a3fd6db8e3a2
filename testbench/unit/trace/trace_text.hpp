// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Traces from and to strings, for tests.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <hcasim/sim/trace.hpp>

namespace hcasim::sim::test {

/// A reader over a string that it owns.
class Stream {
 public:
  explicit Stream(const std::string& text) : stream_(text), reader_(stream_, "t") {}

  TraceReader& reader() { return reader_; }
  std::vector<std::string> node_names() const {
    std::vector<std::string> result;
    for (const NameId id : reader_.nodes()) result.emplace_back(reader_.names().text(id));
    return result;
  }

 private:
  std::istringstream stream_;
  TraceReader reader_;
};

/// A trace read to its end.
struct Parsed {
  std::shared_ptr<Stream> stream;
  std::vector<std::string> nodes;
  std::vector<Operation> operations;

  std::string name(std::uint64_t id) const {
    return std::string(stream->reader().names().text(static_cast<NameId>(id)));
  }
};

inline Parsed parse(const std::string& text) {
  Parsed result{std::make_shared<Stream>(text), {}, {}};
  result.nodes = result.stream->node_names();
  Operation operation;
  while (result.stream->reader().next(operation)) result.operations.push_back(operation);
  return result;
}

/// The canonical text of a whole trace.
inline std::string canonical(const std::string& text) {
  const Parsed trace = parse(text);
  const TraceReader& reader = trace.stream->reader();
  std::string result = "hcasim-trace 1\n";
  for (const Assumption& it : reader.assumptions()) {
    result += "assume " + it.key + " = " + it.value + "\n";
  }
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const NameId host = reader.hosts()[i];
    const bool shares = host != reader.nodes()[i];
    result += "node " + trace.nodes[i] + (shares ? " host=" + trace.name(host) : "") + "\n";
  }
  for (const Operation& operation : trace.operations) {
    append_operation(result, operation, reader.names());
    result += '\n';
  }
  return result;
}

}  // namespace hcasim::sim::test
