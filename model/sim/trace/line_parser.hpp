// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// One line of a trace to one operation, checked against the grammar and against what exists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hcasim/sim/trace.hpp>
#include "sim/trace/grammar.hpp"
#include "sim/trace/scope.hpp"

namespace hcasim::sim::trace {

/// What a line was.
enum class LineKind : std::uint8_t {
  kNothing,    // blank or comment
  kHead,       // node or assume
  kConnect,    // an operation that the head may hold
  kOperation,  // any other operation, which ends the head
};

/// Parses lines in order. Names that are only looked for are not added to the name table.
class LineParser {
 public:
  /// `names` and `file` (for errors) outlive the parser.
  LineParser(const std::string& file, NameTable& names);

  /// The version line, the first of a trace. @throws InputError
  void version(std::string_view line);
  /// Any other line. @throws InputError
  LineKind parse(std::string_view line, std::uint64_t number, Operation& operation);

  /// Nodes so far.
  const std::vector<NameId>& nodes() const { return scope_.nodes(); }
  /// In the same order the nodes whose host they sit in.
  const std::vector<NameId>& hosts() const { return scope_.hosts(); }
  /// Assumptions so far.
  const std::vector<Assumption>& assumptions() const { return assumptions_; }

 private:
  struct Endpoint {
    NameId node;
    NameId object;
  };

  // Words of the line.
  std::string_view word();
  std::string_view need_word(const char* expected);
  void skip_blanks();
  void need_end();

  // Kinds of lines.
  void parse_node();
  void parse_assume();
  void parse_connect(Operation& operation);
  void parse_verb(std::string_view node_word, Operation& operation);
  const VerbRow& find_verb(std::string_view text) const;
  const OpcodeRow& find_opcode(std::string_view text) const;

  // The object of a line.
  NameId add_node(std::string_view text, NameId host = kNoName);
  NameId read_host(std::string_view text) const;
  NameId need_node(std::string_view text) const;
  NameId read_object(const VerbRow& verb, NameId node, std::string_view text);
  NameId new_object(NameId node, std::string_view text);
  Endpoint read_endpoint(std::string_view text);
  void make_default(NameId node, NameId object, ObjectKind kind, std::uint64_t bytes);
  void apply(const VerbRow& verb, const Operation& operation);

  // Arguments and flags.
  void read_arguments(const VerbRow& verb, const OpcodeRow* opcode, Operation& operation);
  void read_flag(std::string_view text, std::uint32_t allowed, std::string_view subject,
                 const KeySet& keys, Operation& operation);
  std::size_t find_key(std::string_view token, std::string_view key, const KeySet& allowed,
                       std::string_view subject, std::uint32_t flags) const;
  void need_all(const KeySet& required, std::string_view subject) const;
  void need_one_of(const KeySet& choice, std::string_view subject) const;
  void need_either(const OpcodeRow& opcode) const;
  bool has_all(const KeySet& keys) const;

  // Values.
  void read_value(const KeyRow& row, std::string_view text, Operation& operation);
  std::uint64_t read_number(const KeyRow& row, std::string_view text) const;
  std::uint64_t read_word(const KeyRow& row, std::string_view text,
                          std::span<const WordRow> words) const;
  std::uint64_t read_access(const KeyRow& row, std::string_view text) const;
  NameId read_reference(const KeyRow& row, std::string_view text, NameId node, ObjectKind kind,
                        bool dead_too) const;
  NameId read_srq(const KeyRow& row, std::string_view text, const Operation& operation) const;
  NameId peer_of(const Operation& operation, std::string_view text) const;
  void read_psn_pair(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_gid(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_dest(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_memory(const KeyRow& row, std::string_view text, Operation& operation);
  void check_memory(const Operation& operation) const;
  void read_remote(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_data_length(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_sges(const KeyRow& row, std::string_view text, Operation& operation) const;
  Sge read_sge(const KeyRow& row, std::string_view text, NameId node) const;
  void read_at(const KeyRow& row, std::string_view text, Operation& operation) const;
  void read_after(const KeyRow& row, std::string_view text, Operation& operation) const;

  // Errors.
  [[noreturn]] void fail(std::string_view where, std::string expected,
                         std::string suggestion = {}) const;
  [[noreturn]] void fail_end(std::string expected) const;
  [[noreturn]] void fail_value(const KeyRow& row, std::string_view where,
                               std::string suggestion = {}) const;

  const std::string& file_;
  NameTable& names_;
  Scope scope_;
  std::vector<Assumption> assumptions_;
  const NameId default_cq_;
  const NameId default_mr_;
  bool in_head_ = true;

  // The line in hand.
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::size_t next_ = 0;     // first byte not yet looked at
  KeySet seen_;              // arguments so far
  std::string_view memory_;  // the value of memory=, whose end follows from another argument
};

}  // namespace hcasim::sim::trace
