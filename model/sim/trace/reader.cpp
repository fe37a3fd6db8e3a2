// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <hcasim/sim/trace.hpp>
#include "sim/trace/line_parser.hpp"
#include "sim/trace/line_source.hpp"

namespace hcasim::sim {
namespace {

template <typename Open>
std::unique_ptr<trace::ByteSource> open(const std::string& name, Open&& open_source) {
  try {
    return open_source();
  } catch (const trace::SourceFault& fault) {
    throw InputError(name, 0, 0, fault.expected, fault.found);
  }
}

}  // namespace

class TraceReader::Impl {
 public:
  Impl(std::unique_ptr<trace::ByteSource> source, const std::string& name)
      : lines_(std::move(source), name), parser_(lines_.name(), names_) {
    read_version();
    read_head();
  }

  bool next(Operation& operation) {
    if (head_given_ == head_.size()) return read(operation);
    operation = head_[head_given_++];
    // The head is short as a rule, yet it may hold thousands of connections.
    if (head_given_ == head_.size()) std::vector<Operation>().swap(head_), head_given_ = 0;
    return true;
  }

  NameTable& names() { return names_; }
  const trace::LineParser& parser() const { return parser_; }

 private:
  void read_version() {
    std::string_view line;
    if (!lines_.next(line)) throw InputError(lines_.name(), 1, 1, "a trace", "an empty file");
    parser_.version(line);
  }

  void read_head() {
    std::string_view line;
    Operation operation;
    while (lines_.next(line)) {
      const trace::LineKind kind = parser_.parse(line, lines_.number(), operation);
      if (kind < trace::LineKind::kConnect) continue;
      head_.push_back(operation);
      if (kind == trace::LineKind::kOperation) return;
    }
  }

  bool read(Operation& operation) {
    std::string_view line;
    while (lines_.next(line)) {
      if (parser_.parse(line, lines_.number(), operation) >= trace::LineKind::kConnect) return true;
    }
    return false;
  }

  NameTable names_;
  trace::LineSource lines_;
  trace::LineParser parser_;
  std::vector<Operation> head_;  // operations of the head that next() has not given yet
  std::size_t head_given_ = 0;
};

TraceReader::TraceReader(const std::filesystem::path& path, const std::string& name) {
  const std::string shown = name.empty() ? path.string() : name;
  impl_ = std::make_unique<Impl>(open(shown, [&] { return trace::open_file(path); }), shown);
}

TraceReader::TraceReader(std::istream& stream, const std::string& name)
    : impl_(std::make_unique<Impl>(open(name, [&] { return trace::open_stream(stream); }), name)) {}

TraceReader::~TraceReader() = default;

bool TraceReader::next(Operation& operation) {
  return impl_->next(operation);
}
NameTable& TraceReader::names() {
  return impl_->names();
}
const NameTable& TraceReader::names() const {
  return impl_->names();
}
const std::vector<NameId>& TraceReader::nodes() const {
  return impl_->parser().nodes();
}
const std::vector<NameId>& TraceReader::hosts() const {
  return impl_->parser().hosts();
}
const std::vector<Assumption>& TraceReader::assumptions() const {
  return impl_->parser().assumptions();
}

}  // namespace hcasim::sim
