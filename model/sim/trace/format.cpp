// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Operation to canonical line: arguments in the order of the grammar's table, then flags.
#include <hcasim/sim/trace.hpp>
#include "sim/trace/grammar.hpp"
#include "sim/trace/spelling.hpp"

namespace hcasim::sim {
namespace trace {
namespace {

class LineFormat {
 public:
  LineFormat(std::string& text, const Operation& operation, const NameTable& names)
      : text_(text), operation_(operation), names_(names) {}

  void run() {
    const VerbRow& verb = verb_row(operation_.verb);
    KeySet keys = verb.required | verb.optional | verb.one_of;
    append_head(verb);
    if (verb.verb == Verb::kPostSend) {
      const OpcodeRow* opcode = opcode_row(operation_.opcode);
      (text_ += ' ') += opcode->name;
      keys = keys | opcode->required | opcode->optional | opcode->one_of | opcode->either |
             opcode->or_all;
    }
    keys.any([&](std::size_t key) {
      append_argument(key_rows()[key]);
      return false;
    });
    for (const WordRow& row : flag_words()) {
      if ((operation_.flags & row.value) != 0) (text_ += ' ') += row.word;
    }
  }

 private:
  void append_head(const VerbRow& verb) {
    if (verb.verb != Verb::kConnect) {
      append_name(operation_.node);
      ((text_ += ' ') += verb.name) += ' ';
      return append_name(operation_.object);
    }
    (text_ += verb.name) += ' ';
    append_endpoint(operation_.node, operation_.object);
    text_ += ' ';
    append_endpoint(operation_.peer_node, operation_.peer_object);
  }

  void append_name(NameId name) { text_ += names_.text(name); }

  void append_endpoint(NameId node, NameId object) {
    append_name(node);
    text_ += '.';
    append_name(object);
  }

  bool is_present(const KeyRow& row) const {
    switch (row.kind) {
      // Every operation that may have a buffer has one of the two spellings.
      case Kind::kDataLength:
        return is_short();
      case Kind::kSges:
        return !is_short();
      case Kind::kLabel:
        return operation_.label != kNoName;
      case Kind::kAt:
        return operation_.timing == Timing::kAt;
      case Kind::kAfter:
        return operation_.timing == Timing::kAfter;
      default:
        return operation_.has(row.arg);
    }
  }

  // True when `length=` says all there is to say of the buffer.
  bool is_short() const {
    const auto sges = operation_.sges();
    if (sges.empty()) return true;
    const Sge& first = sges.front();
    return sges.size() == 1 && first.offset == 0 && first.length != 0 &&
           names_.text(first.mr) == kDefaultMr;
  }

  void append_argument(const KeyRow& row) {
    if (!is_present(row)) return;
    ((text_ += ' ') += row.text) += '=';
    const std::uint64_t value = row.arg == Arg::kCount ? 0 : operation_.value(row.arg);
    switch (row.kind) {
      case Kind::kNumber:
      case Kind::kMtu:
        return append_number(text_, value);
      case Kind::kHex:
        return append_hex(text_, value);
      case Kind::kAccess:
        return append_access(value);
      case Kind::kServiceType:
        text_ += word_of(service_types(), value);
        return;
      case Kind::kState:
        text_ += word_of(state_words(), value);
        return;
      case Kind::kCq:
      case Kind::kMr:
      case Kind::kMrOrPeerMr:
      case Kind::kSrq:
        return append_name(static_cast<NameId>(value));
      case Kind::kDest:
        return append_endpoint(static_cast<NameId>(value >> 32), static_cast<NameId>(value));
      case Kind::kGid:
        return append_gid(text_, value, operation_.value(Arg::kGidLow));
      case Kind::kPsnPair:
        return append_pair(value, ',', operation_.value(Arg::kPsnPeer));
      case Kind::kMemory:
        append_endpoint(static_cast<NameId>(value >> 32), static_cast<NameId>(value));
        text_ += ':';
        return append_number(text_, operation_.value(Arg::kMemoryOffset));
      case Kind::kRemote:
        append_name(static_cast<NameId>(value));
        text_ += ':';
        return append_number(text_, operation_.value(Arg::kRemoteOffset));
      case Kind::kDataLength:
        return append_number(text_, operation_.length());
      case Kind::kSges:
        return append_sges();
      case Kind::kLabel:
        return append_name(operation_.label);
      case Kind::kAt:
        return append_time(text_, operation_.time);
      case Kind::kAfter:
        return append_after();
    }
  }

  void append_pair(std::uint64_t left, char separator, std::uint64_t right) {
    append_number(text_, left);
    text_ += separator;
    append_number(text_, right);
  }

  void append_access(std::uint64_t access) {
    const std::string_view word = word_of(access_words(), access);
    if (!word.empty()) {
      text_ += word;
      return;
    }
    bool first = true;
    for (const WordRow& row : access_words().subspan(2)) {
      if ((access & row.value) == 0) continue;
      if (!first) text_ += ',';
      text_ += row.word;
      first = false;
    }
  }

  void append_sges() {
    bool first = true;
    for (const Sge& sge : operation_.sges()) {
      if (!first) text_ += ',';
      append_name(sge.mr);
      text_ += ':';
      append_pair(sge.offset, ':', sge.length);
      first = false;
    }
  }

  void append_after() {
    append_name(operation_.after);
    if (operation_.time == 0) return;
    text_ += '+';
    append_time(text_, operation_.time);
  }

  std::string& text_;
  const Operation& operation_;
  const NameTable& names_;
};

}  // namespace
}  // namespace trace

void append_operation(std::string& text, const Operation& operation, const NameTable& names) {
  trace::LineFormat(text, operation, names).run();
}

}  // namespace hcasim::sim
