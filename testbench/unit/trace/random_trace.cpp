// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "random_trace.hpp"

#include <algorithm>

namespace hcasim::sim::test {

using trace::Kind;
using trace::ObjectKind;
using trace::Role;

RandomTrace::RandomTrace(std::uint64_t seed) : random_(seed) {
  for (const char* name : {"a", "b"}) nodes_.push_back({names_.intern(name), {}, {}});
}

std::uint64_t RandomTrace::below(std::uint64_t bound) {
  return random_() % bound;
}

std::uint64_t RandomTrace::between(std::uint64_t low, std::uint64_t high) {
  const std::uint64_t width = high - low + 1;
  const std::uint64_t draw = random_();
  // The ends of a range are drawn as often as all between.
  if (draw % 4 == 0) return low;
  if (draw % 4 == 1) return high;
  return width == 0 ? draw : low + draw % width;
}

NameId RandomTrace::pick(std::size_t node, ObjectKind kind) {
  std::vector<NameId> fitting;
  for (const Object& it : nodes_[node].objects) {
    if (it.kind == kind) fitting.push_back(it.name);
  }
  return fitting.empty() ? kNoName : fitting[below(fitting.size())];
}

Operation RandomTrace::next() {
  if (made_ == 0) return connect();
  Operation operation;
  while (!draw(operation)) continue;
  return operation;
}

Operation RandomTrace::connect() {
  const NameId qp = names_.intern("q" + std::to_string(made_++));
  Operation it;
  it.reset(Verb::kConnect);
  it.node = nodes_[0].name;
  it.peer_node = nodes_[1].name;
  it.object = it.peer_object = qp;
  for (Node& node : nodes_) {
    if (node.objects.empty()) {
      node.objects.push_back({names_.intern(kDefaultCq), ObjectKind::kCq, false});
      node.objects.push_back({names_.intern(kDefaultMr), ObjectKind::kMr, false});
    }
    node.objects.push_back({qp, ObjectKind::kQp, true});
  }
  give(it, trace::verb_row(Verb::kConnect).optional, false);
  return it;
}

bool RandomTrace::draw(Operation& it) {
  const auto rows = trace::verb_rows();
  const trace::VerbRow& row = rows[below(rows.size())];
  if (row.verb == Verb::kConnect) {
    if (below(8) != 0) return false;
    it = connect();
    return true;
  }
  node_ = below(nodes_.size());
  it.reset(row.verb);
  it.node = nodes_[node_].name;
  auto& objects = nodes_[node_].objects;
  it.object = row.role == Role::kCreates ? names_.intern("o" + std::to_string(made_++))
                                         : pick(node_, row.object);
  if (it.object == kNoName) return false;
  const bool is_default =
      names_.text(it.object) == kDefaultCq || names_.text(it.object) == kDefaultMr;
  if (row.role == Role::kDestroys && is_default) return false;
  give(it, row.required, true);
  give(it, row.one_of, true);
  give(it, row.optional, false);
  std::uint32_t flags = row.flags;
  if (row.verb == Verb::kPostSend) {
    const auto same = [&](const Object& object) { return object.name == it.object; };
    if (!std::ranges::find_if(objects, same)->has_peer) return false;
    const trace::OpcodeRow& opcode = trace::opcode_rows()[below(trace::opcode_rows().size())];
    it.opcode = opcode.opcode;
    flags |= opcode.flags;
    give(it, opcode.required, true);
    give(it, opcode.one_of, true);
    give(it, below(2) == 0 ? opcode.either : opcode.or_all, true);
    give(it, opcode.either | opcode.or_all | opcode.optional, false);
  }
  it.flags = static_cast<std::uint32_t>(random_()) & flags;
  give_timing(it);
  if (it.has(Arg::kDest)) {
    for (Object& object : objects) object.has_peer = object.has_peer || object.name == it.object;
  }
  if (row.role == Role::kCreates) objects.push_back({it.object, row.object, false});
  if (row.role == Role::kDestroys) {
    std::erase_if(objects, [&](const Object& object) { return object.name == it.object; });
  }
  return true;
}

void RandomTrace::give(Operation& it, const trace::KeySet& keys, bool all) {
  keys.any([&](std::size_t key) {
    const trace::KeyRow& row = trace::key_rows()[key];
    const bool has = row.arg != Arg::kCount && it.has(row.arg);
    if (!has && (all || below(2) == 0)) give_value(it, row);
    return false;
  });
}

void RandomTrace::give_value(Operation& it, const trace::KeyRow& row) {
  const auto word = [&](auto words) { it.set(row.arg, words[below(words.size())].value); };
  const std::size_t peer = 1 - node_;
  switch (row.kind) {
    case Kind::kNumber:
    case Kind::kHex:
      return it.set(row.arg, between(row.min, row.max));
    case Kind::kMemory:
      return;  // the nodes do not share a host
    case Kind::kMtu:
      return it.set(row.arg, trace::mtus()[below(5)]);
    case Kind::kAccess:
      return it.set(row.arg, below(16));
    case Kind::kServiceType:
      return word(trace::service_types());
    case Kind::kState:
      return word(trace::state_words());
    case Kind::kCq:
      return it.set(row.arg, pick(node_, ObjectKind::kCq));
    case Kind::kMr:
      return it.set(row.arg, pick(node_, ObjectKind::kMr));
    case Kind::kMrOrPeerMr:
      return it.set(row.arg,
                    pick(it.opcode == SendOpcode::kLocalInv ? node_ : peer, ObjectKind::kMr));
    case Kind::kSrq:
      if (const NameId srq = pick(node_, ObjectKind::kSrq); srq != kNoName) it.set(row.arg, srq);
      return;
    case Kind::kDest: {
      const std::uint64_t qp = pick(peer, ObjectKind::kQp);
      if (qp != kNoName) it.set(row.arg, std::uint64_t{nodes_[peer].name} << 32 | qp);
      return;
    }
    case Kind::kGid:
      it.set(Arg::kGid, between(0xff00'0000'0000'0000, ~0ULL));
      return it.set(Arg::kGidLow, between(0, ~0ULL));
    case Kind::kPsnPair:
      it.set(Arg::kPsn, between(row.min, row.max));
      return it.set(Arg::kPsnPeer, between(row.min, row.max));
    case Kind::kRemote:
      it.set(Arg::kRemoteMr, pick(peer, ObjectKind::kMr));
      return it.set(Arg::kRemoteOffset, between(row.min, row.max));
    case Kind::kSges:
      for (std::uint64_t i = below(kMaxSges + 1); i > 0; --i) {
        it.add_sge({pick(node_, ObjectKind::kMr),
                    static_cast<std::uint32_t>(between(0, kMaxLength)), between(0, ~0ULL)});
      }
      return;
    case Kind::kDataLength:
    case Kind::kLabel:
    case Kind::kAt:
    case Kind::kAfter:
      return;
  }
}

void RandomTrace::give_timing(Operation& it) {
  std::vector<NameId>& labels = nodes_[node_].labels;
  it.timing = static_cast<Timing>(below(labels.empty() ? 2 : 3));
  if (it.timing != Timing::kAsap) {
    it.time = static_cast<hw::Time>(random_() >> (1 + below(63))) % (kLongestTime + 1);
  }
  if (it.timing == Timing::kAfter) it.after = labels[below(labels.size())];
  if (below(3) == 0) {
    it.label = names_.intern("l" + std::to_string(below(50)));
    labels.push_back(it.label);
  }
}

}  // namespace hcasim::sim::test
