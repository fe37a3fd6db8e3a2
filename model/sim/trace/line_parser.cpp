// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Shape of a line: words, node, verb, object. Arguments are in line_arguments.cpp.
#include "sim/trace/line_parser.hpp"

#include <hcasim/sim/nearest.hpp>
#include "sim/trace/spelling.hpp"

namespace hcasim::sim::trace {
namespace {

constexpr std::string_view kVersionLine = "hcasim-trace 1";
constexpr std::string_view kReserved[] = {"hcasim-trace", "node", "assume", "connect"};
// The counters of the switch are those of an object of this name, beside those of the nodes.
constexpr std::string_view kSwitch = "switch";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_reserved(std::string_view text) {
  for (const std::string_view word : kReserved) {
    if (word == text) return true;
  }
  return false;
}

template <typename Rows>
std::string nearest_name(std::string_view word, const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return nearest(word, names);
}

}  // namespace

LineParser::LineParser(const std::string& file, NameTable& names)
    : file_(file),
      names_(names),
      default_cq_(names.intern(kDefaultCq)),
      default_mr_(names.intern(kDefaultMr)) {}

void LineParser::fail(std::string_view where, std::string expected, std::string suggestion) const {
  const auto column = static_cast<std::uint64_t>(where.data() - line_.data()) + 1;
  throw InputError(file_, number_, column, std::move(expected), std::string(where),
                   std::move(suggestion));
}

void LineParser::fail_end(std::string expected) const {
  throw InputError(file_, number_, line_.size() + 1, std::move(expected), "");
}

void LineParser::skip_blanks() {
  while (next_ < line_.size() && is_blank(line_[next_])) ++next_;
}

// The next word; empty at the end of the line or where a comment begins.
std::string_view LineParser::word() {
  skip_blanks();
  const std::size_t begin = next_;
  if (begin == line_.size() || line_[begin] == '#') return {};
  while (next_ < line_.size() && !is_blank(line_[next_])) ++next_;
  return line_.substr(begin, next_ - begin);
}

std::string_view LineParser::need_word(const char* expected) {
  const std::string_view text = word();
  if (text.empty()) fail_end(expected);
  return text;
}

void LineParser::need_end() {
  const std::string_view text = word();
  if (!text.empty()) fail(text, "the end of the line");
}

void LineParser::version(std::string_view line) {
  line_ = line;
  number_ = 1;
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  if (line != kVersionLine) {
    fail(line, "the version line '" + std::string(kVersionLine) + "'");
  }
}

LineKind LineParser::parse(std::string_view line, std::uint64_t number, Operation& operation) {
  line_ = line;
  number_ = number;
  next_ = 0;
  const std::string_view first = word();
  if (first.empty()) return LineKind::kNothing;
  seen_ = {};
  if (first == "connect") {
    parse_connect(operation);
    return LineKind::kConnect;
  }
  if (first == "node" || first == "assume") {
    if (!in_head_) fail(first, "'node' and 'assume' before the first operation of a node");
    first == "node" ? parse_node() : parse_assume();
    return LineKind::kHead;
  }
  if (first == "hcasim-trace") fail(first, "the version line at the top only");
  in_head_ = false;
  parse_verb(first, operation);
  return LineKind::kOperation;
}

void LineParser::parse_node() {
  const std::string_view text = need_word("the name of a node");
  if (scope_.has_node(names_.find(text))) fail(text, "the name of a new node");
  const std::string_view place = word();
  if (place.empty()) {
    add_node(text);
    return;
  }
  constexpr std::string_view kHost = "host=";
  if (!place.starts_with(kHost)) fail(place, "host= or the end of the line");
  add_node(text, read_host(place.substr(kHost.size())));
  need_end();
}

// A node that brought a host.
NameId LineParser::read_host(std::string_view text) const {
  const NameId host = names_.find(text);
  if (scope_.has_node(host) && scope_.host_of(host) == host) return host;
  std::vector<std::string_view> owners;
  for (const NameId id : scope_.nodes()) {
    if (scope_.host_of(id) == id) owners.push_back(names_.text(id));
  }
  fail(text, "for host a node that was named before and has a host of its own",
       nearest(text, owners));
}

void LineParser::parse_assume() {
  const std::string_view key = need_word("'KEY = VALUE'");
  if (!is_name(key)) fail(key, "a name for the assumption");
  const std::string_view sign = need_word("'=' and a value");
  if (sign != "=") fail(sign, "'=' with blanks around");
  skip_blanks();
  std::string_view value = line_.substr(next_);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  if (value.empty()) fail_end("the value of the assumption");
  assumptions_.push_back({std::string(key), std::string(value)});
}

NameId LineParser::add_node(std::string_view text, NameId host) {
  if (!is_name(text)) fail(text, "the name of a node (letter, then letters, digits, '_', '-')");
  if (is_reserved(text)) fail(text, "a node name that is no word of the language");
  if (text == kSwitch) fail(text, "a node name that is not that of the network switch in results");
  const NameId node = names_.intern(text);
  scope_.add_node(node, host);
  return node;
}

NameId LineParser::need_node(std::string_view text) const {
  const NameId node = names_.find(text);
  if (scope_.has_node(node)) return node;
  std::vector<std::string_view> known;
  for (const NameId id : scope_.nodes()) known.push_back(names_.text(id));
  known.insert(known.end(), std::begin(kReserved), std::end(kReserved));
  fail(text, "a node that was named before", nearest(text, known));
}

LineParser::Endpoint LineParser::read_endpoint(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) fail(text, "an endpoint NODE.QP");
  const std::string_view node_text = text.substr(0, point);
  const NameId node = in_head_ ? add_node(node_text) : need_node(node_text);
  const NameId object = new_object(node, text.substr(point + 1));
  if (object == default_cq_ || object == default_mr_) {
    fail(text.substr(point + 1), "a name that is not that of the default CQ or MR");
  }
  return {node, object};
}

void LineParser::parse_connect(Operation& operation) {
  operation.reset(Verb::kConnect);
  operation.line = number_;
  const Endpoint left = read_endpoint(need_word("the first endpoint NODE.QP"));
  const std::string_view text = need_word("the second endpoint NODE.QP");
  const Endpoint right = read_endpoint(text);
  if (left.node == right.node && left.object == right.object) fail(text, "another endpoint");
  operation.node = left.node;
  operation.object = left.object;
  operation.peer_node = right.node;
  operation.peer_object = right.object;
  const VerbRow& verb = verb_row(Verb::kConnect);
  read_arguments(verb, nullptr, operation);
  apply(verb, operation);
}

const VerbRow& LineParser::find_verb(std::string_view text) const {
  for (const VerbRow& row : verb_rows().subspan(1)) {
    if (row.name == text) return row;
  }
  fail(text, "a verb", nearest_name(text, verb_rows().subspan(1)));
}

const OpcodeRow& LineParser::find_opcode(std::string_view text) const {
  for (const OpcodeRow& row : opcode_rows()) {
    if (row.name == text) return row;
  }
  fail(text, "an opcode", nearest_name(text, opcode_rows()));
}

void LineParser::parse_verb(std::string_view node_word, Operation& operation) {
  const NameId node = need_node(node_word);
  const VerbRow& verb = find_verb(need_word("a verb"));
  operation.reset(verb.verb);
  operation.line = number_;
  operation.node = node;
  const std::string_view object = word();
  if (object.empty()) fail_end("the name of a " + std::string(kind_name(verb.object)));
  operation.object = read_object(verb, node, object);
  const OpcodeRow* opcode = nullptr;
  if (verb.verb == Verb::kPostSend) {
    opcode = &find_opcode(need_word("an opcode such as SEND"));
    operation.opcode = opcode->opcode;
  }
  read_arguments(verb, opcode, operation);
  if (operation.has(Arg::kMemory)) check_memory(operation);
  apply(verb, operation);
}

NameId LineParser::read_object(const VerbRow& verb, NameId node, std::string_view text) {
  if (verb.role == Role::kCreates) return new_object(node, text);
  const NameId object = names_.find(text);
  if (scope_.living(node, object, verb.object) != nullptr) return object;
  fail(text, "a " + std::string(kind_name(verb.object)) + " of the node",
       nearest(text, scope_.object_names(node, verb.object, names_)));
}

NameId LineParser::new_object(NameId node, std::string_view text) {
  if (!is_name(text)) fail(text, "a name (letter, then letters, digits, '_', '-')");
  const NameId object = names_.intern(text);
  const ObjectEntry* old = scope_.find(node, object);
  if (old != nullptr && old->alive) {
    fail(text, "a new name, not that of a " + std::string(kind_name(old->kind)) + " of the node");
  }
  return object;
}

void LineParser::make_default(NameId node, NameId object, ObjectKind kind, std::uint64_t bytes) {
  const ObjectEntry* old = scope_.find(node, object);
  if (old == nullptr || !old->alive) {
    scope_.create(node, object, kind, bytes);
  } else if (old->kind != kind) {
    fail_end("the name '" + std::string(names_.text(object)) + "' free for the default " +
             std::string(kind_name(kind)) + " of node '" + std::string(names_.text(node)) + "'");
  }
}

// What the line changes for the lines that follow.
void LineParser::apply(const VerbRow& verb, const Operation& operation) {
  const NameId node = operation.node;
  if (verb.verb == Verb::kConnect) {
    for (const NameId side : {node, operation.peer_node}) {
      make_default(side, default_cq_, ObjectKind::kCq, 0);
      make_default(side, default_mr_, ObjectKind::kMr, operation.value(Arg::kMrLength));
    }
    scope_.create(node, operation.object, verb.object);
    scope_.create(operation.peer_node, operation.peer_object, verb.object);
    scope_.set_peer(operation.peer_node, operation.peer_object, node, operation.object);
    scope_.set_peer(node, operation.object, operation.peer_node, operation.peer_object);
    return;
  }
  if (verb.role == Role::kCreates) {
    const bool region = verb.object == ObjectKind::kMr;
    const std::uint64_t bytes = region ? operation.value(Arg::kLength) : 0;
    scope_.create(node, operation.object, verb.object, bytes);
  }
  if (verb.role == Role::kDestroys) scope_.destroy(node, operation.object);
  if (operation.has(Arg::kDest)) {
    const std::uint64_t dest = operation.value(Arg::kDest);
    scope_.set_peer(node, operation.object, static_cast<NameId>(dest >> 32),
                    static_cast<NameId>(dest & 0xffffffff));
  }
  if (operation.label != kNoName) scope_.add_label(node, operation.label);
}

}  // namespace hcasim::sim::trace
