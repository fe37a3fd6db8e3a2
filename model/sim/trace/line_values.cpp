// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The values of arguments: one small reader a spelling.
#include <algorithm>

#include <hcasim/sim/nearest.hpp>
#include "sim/trace/line_parser.hpp"
#include "sim/trace/spelling.hpp"

namespace hcasim::sim::trace {
namespace {

// Enough to suggest from, and no long search in a trace of many labels.
constexpr std::size_t kLabelsLookedAt = 4096;

// The part of `rest` before the next `separator`; `rest` keeps what is behind it.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::vector<std::string_view> words_of(std::span<const WordRow> rows) {
  std::vector<std::string_view> words;
  for (const WordRow& row : rows) words.push_back(row.word);
  return words;
}

}  // namespace

void LineParser::fail_value(const KeyRow& row, std::string_view where,
                            std::string suggestion) const {
  fail(where, "for " + std::string(row.text) + " " + describe_value(row), std::move(suggestion));
}

void LineParser::read_value(const KeyRow& row, std::string_view text, Operation& operation) {
  const NameId node = operation.node;
  switch (row.kind) {
    case Kind::kNumber:
    case Kind::kHex:
    case Kind::kMtu:
      return operation.set(row.arg, read_number(row, text));
    case Kind::kAccess:
      return operation.set(row.arg, read_access(row, text));
    case Kind::kServiceType:
      return operation.set(row.arg, read_word(row, text, service_types()));
    case Kind::kState:
      return operation.set(row.arg, read_word(row, text, state_words()));
    case Kind::kCq:
      return operation.set(row.arg, read_reference(row, text, node, ObjectKind::kCq, false));
    case Kind::kMr:
      return operation.set(row.arg, read_reference(row, text, node, ObjectKind::kMr, true));
    case Kind::kMrOrPeerMr: {
      const bool local = operation.opcode == SendOpcode::kLocalInv;
      const NameId owner = local ? node : peer_of(operation, text);
      return operation.set(row.arg, read_reference(row, text, owner, ObjectKind::kMr, true));
    }
    case Kind::kSrq:
      return operation.set(row.arg, read_srq(row, text, operation));
    case Kind::kDest:
      return read_dest(row, text, operation);
    case Kind::kGid:
      return read_gid(row, text, operation);
    case Kind::kPsnPair:
      return read_psn_pair(row, text, operation);
    case Kind::kMemory:
      return read_memory(row, text, operation);
    case Kind::kRemote:
      return read_remote(row, text, operation);
    case Kind::kDataLength:
      return read_data_length(row, text, operation);
    case Kind::kSges:
      return read_sges(row, text, operation);
    case Kind::kLabel:
      if (!is_name(text)) fail_value(row, text);
      operation.label = names_.intern(text);
      return;
    case Kind::kAt:
      return read_at(row, text, operation);
    case Kind::kAfter:
      return read_after(row, text, operation);
  }
}

std::uint64_t LineParser::read_number(const KeyRow& row, std::string_view text) const {
  std::uint64_t value = 0;
  bool good = parse_number(text, value);
  if (row.kind == Kind::kMtu) {
    good = good && std::ranges::find(mtus(), value) != mtus().end();
  } else {
    good = good && value >= row.min && value <= row.max;
  }
  if (!good) fail_value(row, text);
  return value;
}

std::uint64_t LineParser::read_word(const KeyRow& row, std::string_view text,
                                    std::span<const WordRow> words) const {
  for (const WordRow& word_row : words) {
    if (word_row.word == text) return word_row.value;
  }
  fail_value(row, text, nearest(text, words_of(words)));
}

std::uint64_t LineParser::read_access(const KeyRow& row, std::string_view text) const {
  // A word for all or none of the rights stands alone.
  for (const WordRow& whole : access_words().first(2)) {
    if (whole.word == text) return whole.value;
  }
  if (text.empty() || text.back() == ',') fail_value(row, text);
  std::uint64_t access = 0;
  while (!text.empty()) access |= read_word(row, cut(text, ','), access_words().subspan(2));
  return access;
}

// An object that exists, or, where failure is worth tracing, that existed.
NameId LineParser::read_reference(const KeyRow& row, std::string_view text, NameId node,
                                  ObjectKind kind, bool dead_too) const {
  const NameId object = names_.find(text);
  const ObjectEntry* entry = scope_.find(node, object);
  if (entry != nullptr && entry->kind == kind && (entry->alive || dead_too)) return object;
  fail(text,
       "for " + std::string(row.text) + " the name of a " + std::string(kind_name(kind)) +
           " of node '" + std::string(names_.text(node)) + "'",
       nearest(text, scope_.object_names(node, kind, names_)));
}

// Of `connect` either node may have it, or both.
NameId LineParser::read_srq(const KeyRow& row, std::string_view text,
                            const Operation& operation) const {
  const NameId srq = names_.find(text);
  const bool at_peer = operation.verb == Verb::kConnect &&
                       scope_.living(operation.peer_node, srq, ObjectKind::kSrq) != nullptr;
  return at_peer ? srq : read_reference(row, text, operation.node, ObjectKind::kSrq, false);
}

NameId LineParser::peer_of(const Operation& operation, std::string_view text) const {
  const ObjectEntry* queue = scope_.find(operation.node, operation.object);
  if (queue->peer_node != kNoName) return queue->peer_node;
  fail(text, "a QP that has a peer (by 'connect', or by 'dest=' of 'modify_qp')");
}

void LineParser::read_psn_pair(const KeyRow& row, std::string_view text,
                               Operation& operation) const {
  const std::string_view whole = text;
  const std::string_view left = cut(text, ',');
  if (left.size() == whole.size()) fail_value(row, whole);
  operation.set(Arg::kPsn, read_number(row, left));
  operation.set(Arg::kPsnPeer, read_number(row, text));
}

void LineParser::read_dest(const KeyRow& row, std::string_view text, Operation& operation) const {
  const std::string_view whole = text;
  const std::string_view node_text = cut(text, '.');
  if (node_text.size() == whole.size()) fail_value(row, whole);
  const std::uint64_t node = need_node(node_text);
  const NameId qp = read_reference(row, text, static_cast<NameId>(node), ObjectKind::kQp, false);
  operation.set(Arg::kDest, node << 32 | qp);
}

// Living memory of a node in the same host, for which an address means the same.
void LineParser::read_memory(const KeyRow& row, std::string_view text, Operation& operation) {
  std::string_view rest = text;
  const std::string_view place = cut(rest, ':');
  std::uint64_t offset = 0;
  if (place.size() != text.size() && !parse_number(rest, offset)) fail_value(row, text);
  std::string_view mr = place;
  const std::string_view node_text = cut(mr, '.');
  if (node_text.size() == place.size()) fail_value(row, text);
  const std::uint64_t node = need_node(node_text);
  const NameId host = scope_.host_of(operation.node);
  if (scope_.host_of(static_cast<NameId>(node)) != host) {
    fail(node_text,
         "for memory a node in the host of '" + std::string(names_.text(operation.node)) + "'");
  }
  const NameId region = read_reference(row, mr, static_cast<NameId>(node), ObjectKind::kMr, false);
  operation.set(Arg::kMemory, node << 32 | region);
  operation.set(Arg::kMemoryOffset, offset);
  memory_ = text;
}

void LineParser::check_memory(const Operation& operation) const {
  const std::uint64_t memory = operation.value(Arg::kMemory);
  const ObjectEntry* region =
      scope_.find(static_cast<NameId>(memory >> 32), static_cast<NameId>(memory));
  const std::uint64_t offset = operation.value(Arg::kMemoryOffset);
  const std::uint64_t bytes = operation.value(Arg::kLength);
  if (offset <= region->bytes && bytes <= region->bytes - offset) return;
  fail(memory_, "for memory an MR with " + std::to_string(bytes) + " bytes from byte " +
                    std::to_string(offset) + " on, not one of " + std::to_string(region->bytes));
}

void LineParser::read_gid(const KeyRow& row, std::string_view text, Operation& operation) const {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  if (!parse_gid(text, high, low) || high >> 56 != 0xff) fail_value(row, text);
  operation.set(Arg::kGid, high);
  operation.set(Arg::kGidLow, low);
}

void LineParser::read_remote(const KeyRow& row, std::string_view text, Operation& operation) const {
  const NameId peer = peer_of(operation, text);
  const std::string_view whole = text;
  const std::string_view mr = cut(text, ':');
  std::uint64_t offset = 0;
  const bool alone = mr.size() == whole.size();
  if (!alone && !parse_number(text, offset)) fail_value(row, whole);
  operation.set(Arg::kRemoteMr, read_reference(row, mr, peer, ObjectKind::kMr, true));
  operation.set(Arg::kRemoteOffset, offset);
}

void LineParser::read_data_length(const KeyRow& row, std::string_view text,
                                  Operation& operation) const {
  if (!operation.sges().empty()) fail(text, "one of length= and sge=");
  const std::uint64_t length = read_number(row, text);
  // No bytes are no SGE, and need no MR.
  if (length == 0) return;
  const ObjectEntry* mr = scope_.find(operation.node, default_mr_);
  if (mr == nullptr || mr->kind != ObjectKind::kMr) {
    fail(text, "a node with an MR called '" + std::string(kDefaultMr) + "', or sge=");
  }
  operation.add_sge({default_mr_, static_cast<std::uint32_t>(length), 0});
}

void LineParser::read_sges(const KeyRow& row, std::string_view text, Operation& operation) const {
  if (!operation.sges().empty()) fail(text, "one of length= and sge=");
  if (text.empty() || text.back() == ',') fail_value(row, text);
  while (!text.empty()) {
    const std::string_view item = cut(text, ',');
    if (!operation.add_sge(read_sge(row, item, operation.node))) fail_value(row, item);
  }
}

Sge LineParser::read_sge(const KeyRow& row, std::string_view text, NameId node) const {
  const std::string_view whole = text;
  const std::string_view mr = cut(text, ':');
  const std::string_view offset_text = cut(text, ':');
  Sge sge;
  std::uint64_t length = 0;
  const bool good = parse_number(offset_text, sge.offset) && parse_number(text, length);
  if (!good || length > kMaxLength) fail_value(row, whole);
  sge.length = static_cast<std::uint32_t>(length);
  sge.mr = read_reference(row, mr, node, ObjectKind::kMr, true);
  return sge;
}

void LineParser::read_at(const KeyRow& row, std::string_view text, Operation& operation) const {
  if (operation.timing != Timing::kAsap) fail(text, "one of at= and after=");
  operation.timing = Timing::kAt;
  if (!parse_time(text, operation.time)) fail_value(row, text);
}

void LineParser::read_after(const KeyRow& row, std::string_view text, Operation& operation) const {
  if (operation.timing != Timing::kAsap) fail(text, "one of at= and after=");
  operation.timing = Timing::kAfter;
  const std::string_view whole = text;
  const std::string_view label = cut(text, '+');
  const bool delayed = label.size() != whole.size();
  if (!is_name(label) || (delayed && !parse_time(text, operation.time))) fail_value(row, whole);
  operation.after = names_.find(label);
  if (scope_.has_label(operation.node, operation.after)) return;
  fail(label, "the label of an earlier operation of the node",
       nearest(label, scope_.label_names(operation.node, kLabelsLookedAt, names_)));
}

}  // namespace hcasim::sim::trace
