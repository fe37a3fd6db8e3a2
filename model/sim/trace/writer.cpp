// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <hcasim/sim/trace.hpp>
#include "sim/trace/byte_sink.hpp"

namespace hcasim::sim {
namespace {

constexpr std::size_t kFlushAt = 1 << 16;

// Free text must not end its line.
void append_one_line(std::string& text, std::string_view words) {
  for (const char c : words) text += c == '\n' || c == '\r' || c == '\0' ? ' ' : c;
}

}  // namespace

class TraceWriter::Impl {
 public:
  Impl(const std::filesystem::path& path, const NameTable& names)
      : sink_(path, path.extension() == ".zst"), names_(names) {
    text_ = "hcasim-trace 1\n";
  }

  std::string& text() { return text_; }
  const NameTable& names() const { return names_; }

  void end_line() {
    text_ += '\n';
    if (text_.size() >= kFlushAt) flush();
  }

  void close() {
    flush();
    sink_.commit();
  }

 private:
  void flush() {
    sink_.write(text_);
    text_.clear();
  }

  trace::ByteSink sink_;
  const NameTable& names_;
  std::string text_;
};

TraceWriter::TraceWriter(const std::filesystem::path& path, const NameTable& names)
    : impl_(std::make_unique<Impl>(path, names)) {}

TraceWriter::~TraceWriter() = default;

void TraceWriter::comment(std::string_view text) {
  while (true) {
    const std::size_t end = text.find('\n');
    impl_->text() += text.empty() || end == 0 ? "#" : "# ";
    append_one_line(impl_->text(), text.substr(0, end));
    impl_->end_line();
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void TraceWriter::assume(const Assumption& assumption) {
  impl_->text() += "assume ";
  append_one_line(impl_->text(), assumption.key);
  impl_->text() += " = ";
  append_one_line(impl_->text(), assumption.value);
  impl_->end_line();
}

void TraceWriter::node(NameId name, NameId host) {
  (impl_->text() += "node ") += impl_->names().text(name);
  if (host != kNoName && host != name) (impl_->text() += " host=") += impl_->names().text(host);
  impl_->end_line();
}

void TraceWriter::write(const Operation& operation) {
  append_operation(impl_->text(), operation, impl_->names());
  impl_->end_line();
}

void TraceWriter::close() {
  impl_->close();
}

}  // namespace hcasim::sim
