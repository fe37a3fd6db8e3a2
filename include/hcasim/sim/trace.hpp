// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/name_table.hpp>
#include <hcasim/sim/trace_operation.hpp>

namespace hcasim::sim {

/// One `assume` line: what a trace takes for granted because its origin could not tell.
struct Assumption {
  std::string key;    ///< what is assumed, one word
  std::string value;  ///< free text

  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// Reads a trace as a stream, plain or compressed with zstd (told apart by the first bytes). The
/// grammar is in traces/README.md. Every line is checked as it is read: spelling, ranges, that
/// objects and labels exist on their node. Memory does not grow with the number of lines, only with
/// the number of distinct names.
///
/// The head (version, assumptions, nodes and the connections among them, up to the first line of
/// another kind) is read on construction, so that all nodes are known before the first operation.
class TraceReader {
 public:
  /// Opens a file and reads the head.
  /// @param name stands for the file in errors; empty: its path does
  /// @throws InputError when it cannot be read or the head is wrong
  explicit TraceReader(const std::filesystem::path& path, const std::string& name = {});
  /// Reads from a stream, which must outlive the reader. `name` stands for the file in errors.
  /// @throws InputError when the head is wrong
  explicit TraceReader(std::istream& stream, const std::string& name = "<stream>");
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  /// Fills `operation` with the next one, overwriting all of it.
  /// @return false at the end of the trace
  /// @throws InputError when the line, or the compressed stream, is wrong
  bool next(Operation& operation);

  /// The names behind the numbers in operations. Later calls of next() may add to it.
  NameTable& names();
  /// The names behind the numbers in operations.
  const NameTable& names() const;
  /// All nodes in the order of their first mention; complete from the start.
  const std::vector<NameId>& nodes() const;
  /// In the same order the nodes whose host they sit in: themselves, or the earlier one that the
  /// `host=` of a `node` line names.
  const std::vector<NameId>& hosts() const;
  /// All assumptions in order; complete from the start.
  const std::vector<Assumption>& assumptions() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes operations as canonical text: one spelling for each meaning, so that reading canonical
/// text and writing it again gives the same bytes. Compresses with zstd when the file's name ends
/// in `.zst`. The text goes to a temporary file beside its place, which close() gives its name;
/// without close() nothing is left.
class TraceWriter {
 public:
  /// Begins the file with the version line.
  /// `names` holds the names used by operations and must outlive the writer.
  /// @throws OutputError
  TraceWriter(const std::filesystem::path& path, const NameTable& names);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// A `# text` line; a line break in `text` begins another. @throws OutputError
  void comment(std::string_view text);
  /// An `assume` line; belongs before the first operation. @throws OutputError
  void assume(const Assumption& assumption);
  /// A `node` line; belongs before the first operation.
  /// @param host the node whose host it shares, named before; kNoName or `name`: one of its own
  /// @throws OutputError
  void node(NameId name, NameId host = kNoName);
  /// One operation. @throws OutputError
  void write(const Operation& operation);
  /// Finishes the file under its name. @throws OutputError
  void close();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Appends the canonical line of `operation`, without a line break, to `text`.
void append_operation(std::string& text, const Operation& operation, const NameTable& names);

/// The tables of verbs, arguments, opcodes and flags as Markdown: the reference part of
/// traces/README.md, from the same rows that the reader checks against.
std::string grammar_markdown();

}  // namespace hcasim::sim
