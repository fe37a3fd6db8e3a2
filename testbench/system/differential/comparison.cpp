// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace hcasim::differential {
namespace {

using namespace rvt;

constexpr std::size_t kMostDue = kCqEntries / 2;

bool is_receive(const ib_wc& wc) {
  return (wc.opcode & IB_WC_RECV) != 0;
}

}  // namespace

Comparison::Comparison(const Rules& rules, std::uint64_t seed)
    : reference_(rules, seed), machine_(reference_) {
  connect_all();
}

void Comparison::connect_all() {
  Operation op;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    op.slot = static_cast<std::uint8_t>(slot);
    op.kind = Kind::kCreateQp;
    control(op);
  }
  op.kind = Kind::kModifyQp;
  for (const ib_qp_state to : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS}) {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      op.slot = static_cast<std::uint8_t>(slot);
      op.to = to;
      control(op);
    }
  }
  quiet();
}

void Comparison::differ(const std::string& what) {
  if (!difference_.empty()) difference_ += '\n';
  difference_ += what;
}

void Comparison::expect(const char* what, long long is, long long should) {
  if (is == should) return;
  differ(std::string(what) + ": is " + std::to_string(is) + ", should be " +
         std::to_string(should));
}

std::string Comparison::step(const Operation& op) {
  if (reference_.skips(op)) return {};
  if (reference_.wants_quiet(op)) quiet();
  if (reference_.may_race(op)) {
    race(op);
    return difference_;
  }
  switch (op.kind) {
    case Kind::kPostSend:
    case Kind::kPostRecv:
    case Kind::kPostSrqRecv:
      post(op);
      break;
    case Kind::kPoll:
      poll(op.slot, op.count);
      break;
    case Kind::kArmCq: {
      const bool report = op.length % 2 != 0;
      const int should = reference_.arm(op.slot, op.solicited, report);
      expect("return value", machine_.arm(op.slot, op.solicited, report), should);
      break;
    }
    case Kind::kQuiet:
      break;  // it was
    case Kind::kQueryQp:
      expect("state", machine_.state(op.slot), reference_.queues(op.slot).state);
      break;
    case Kind::kRefused: {
      const auto what = static_cast<Refusal>(op.slot);
      expect("return value", machine_.refused(what), reference_.refusal(what));
      quiet();
      break;
    }
    default:
      control(op);
      quiet();
      break;
  }
  return difference_;
}

void Comparison::control(const Operation& op) {
  const ib_qp_state before = reference_.queues(op.slot).state;
  switch (op.kind) {
    case Kind::kResizeCq: {
      const int should = reference_.resize_cq(op.slot, op.length);
      expect("return value", machine_.resize_cq(op.slot, op.length), should);
      break;
    }
    case Kind::kResizeSrq:
      expect("return value", machine_.resize_srq(op.length), reference_.resize_srq(op.length));
      break;
    case Kind::kReregister:
      reference_.reregister(op.slot);
      expect("return value", machine_.reregister(op.slot), 0);
      break;
    case Kind::kArmSrq:
      expect("return value", machine_.set_limit(op.length), reference_.set_limit(op.length));
      break;
    case Kind::kCreateQp:
      reference_.create(op.slot);
      expect("return value", machine_.create(op.slot), 0);
      break;
    case Kind::kDestroyQp:
      reference_.destroy(op.slot);
      expect("return value", machine_.destroy(op.slot), 0);
      break;
    default: {
      const int should = reference_.modify(op);
      expect("return value", machine_.modify(op, before), should);
      if (should == 0) ++census_.moves[before][op.to];
      break;
    }
  }
}

void Comparison::post(const Operation& op) {
  Posted is;
  Posted should;
  if (op.kind == Kind::kPostSend) {
    is = machine_.post_send(op);
    should = reference_.post_send(op);
  } else {
    is = machine_.post_recv(op);
    should = op.kind == Kind::kPostRecv ? reference_.post_recv(op) : reference_.post_srq_recv(op);
  }
  expect("return value", is.error, should.error);
  expect("bad_wr", is.bad, should.bad);
  census_.full += should.error == -ENOMEM ? 1 : 0;
  census_.invalid += should.error == -EINVAL ? 1 : 0;
  for (std::size_t cq = 0; cq < kCqs; ++cq) {
    if (reference_.due(cq) > kMostDue) drain(cq);
  }
}

void Comparison::poll(std::size_t cq, std::size_t entries) {
  std::vector<ib_wc> wcs(entries);
  const std::size_t should = std::min(entries, reference_.due(cq));
  const int got = machine_.poll(cq, static_cast<int>(entries), wcs.data());
  expect("completions polled", got, static_cast<long long>(should));
  for (int i = 0; i < got; ++i) compare(wcs[static_cast<std::size_t>(i)]);
}

void Comparison::drain(std::size_t cq) {
  poll(cq, reference_.due(cq) + 1);
}

void Comparison::compare(const ib_wc& wc) {
  ++census_.completions;
  ++census_.statuses[wc.status];
  const bool receive = is_receive(wc);
  Expected expected;
  if (!reference_.take_expected(wc.wr_id, receive, expected)) {
    differ("a completion that should not be: wr_id " + std::to_string(wc.wr_id) + ", status " +
           std::to_string(wc.status));
    return;
  }
  expect("wr_id", static_cast<long long>(wc.wr_id), static_cast<long long>(expected.wr_id));
  expect("status", wc.status, expected.status);
  expect("opcode", wc.opcode, expected.opcode);
  if (wc.status != IB_WC_SUCCESS || !receive) return;
  expect("byte_len", wc.byte_len, expected.byte_len);
  expect("flag of immediate data", wc.wc_flags & IB_WC_WITH_IMM,
         expected.has_imm ? IB_WC_WITH_IMM : 0);
  if (expected.has_imm) expect("immediate data", be32_to_cpu(wc.ex.imm_data), expected.imm);
}

void Comparison::quiet() {
  machine_.settle();
  ++census_.quiet;
  settle_and_compare({});
}

// Receives of the SRQ come first: they tell which queue pair got which, where time decides.
void Comparison::settle_and_compare(const std::vector<ib_wc>& seen) {
  std::vector<ib_wc> shared(kMostSharedSlots + kSlots);
  const int got = machine_.poll(kSharedCq, static_cast<int>(shared.size()), shared.data());
  shared.resize(static_cast<std::size_t>(got));
  Owners owners;
  for (const ib_wc& wc : shared) owners[wc.wr_id] = machine_.slot_of(wc.qp);
  reference_.settle(owners);
  expect("completions of the SRQ", got, static_cast<long long>(reference_.due(kSharedCq)));
  for (const ib_wc& wc : shared) compare(wc);
  for (const ib_wc& wc : seen) compare(wc);
  compare_states();
  compare_calls();
  compare_touched();
}

// Completions that were due before are not news.
SeenEnd Comparison::look_at(std::size_t end, const std::vector<ib_wc>& all) const {
  SeenEnd seen;
  std::array<std::size_t, 2> before = {reference_.waiting(end, false),
                                       reference_.waiting(end, true)};
  for (const ib_wc& wc : all) {
    if (wc.wr_id >> kMarkShift != end) continue;
    std::size_t& old = before[is_receive(wc) ? 1 : 0];
    if (old != 0) {
      --old;
    } else if (is_receive(wc)) {
      seen.received += wc.status == IB_WC_SUCCESS ? 1 : 0;
    } else if (wc.status != IB_WC_SUCCESS && seen.first_failed == 0) {
      seen.first_failed = wc.wr_id;
    }
  }
  return seen;
}

// What the queue pair and its peer have completed since is looked at first: it tells how far the
// messages came.
void Comparison::race(const Operation& op) {
  const std::array<std::size_t, 2> ends = {op.slot, peer_of(op.slot)};
  const std::size_t posted = reference_.queues(op.slot).sends.size();
  expect("return value", machine_.modify(op, IB_QPS_RTS), 0);
  machine_.settle();
  std::vector<ib_wc> all;
  for (const std::size_t end : ends) {
    ib_wc wc;
    while (machine_.poll(send_cq_of(end), 1, &wc) == 1) all.push_back(wc);
  }
  const std::array<SeenEnd, 2> seen = {look_at(ends[0], all), look_at(ends[1], all)};
  const std::string wrong = reference_.race(op.slot, seen);
  if (!wrong.empty()) return differ(wrong);
  const std::size_t flushed = reference_.queues(op.slot).sends.size();
  ++census_.races;
  if (flushed != 0 && flushed != posted) ++census_.split_races;
  settle_and_compare(all);
}

void Comparison::compare_states() {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const Queues& q = reference_.queues(slot);
    if (!q.exists || machine_.state(slot) == q.state) continue;
    differ("queue pair " + std::to_string(slot) + ":");
    expect("state", machine_.state(slot), q.state);
  }
}

// Since all was quiet before. The order of different calls is a matter of time.
void Comparison::compare_calls() {
  Calls is = machine_.take_calls();
  Calls should = reference_.take_calls();
  for (const auto& [call, times] : should) {
    census_.calls[static_cast<std::size_t>(call.first)] += static_cast<std::uint64_t>(times);
    is.try_emplace(call, 0);
  }
  for (const auto& [call, times] : is) {
    const auto& [what, about] = call;
    const std::string name =
        what == kNotification ? "notifications" : "events " + std::to_string(what);
    expect((name + " of " + std::to_string(about)).c_str(), times, should[call]);
  }
  expect("limit of the SRQ", machine_.limit(), reference_.limit());
}

// What a message that failed has left is anything, but where a later one was written over it.
void Comparison::resynchronise(std::size_t index) {
  const std::vector<Touched>& touched = reference_.touched();
  const Touched& area = touched[index];
  std::uint32_t known = 0;
  for (std::size_t i = index + 1; i < touched.size(); ++i) {
    const Touched& later = touched[i];
    const bool same = later.node == area.node && later.offset == area.offset && !later.undefined;
    if (same) known = std::max(known, later.bytes);
  }
  machine_.read(area.node, area.offset + known,
                reference_.memory(area.node).data() + area.offset + known, area.bytes - known);
}

void Comparison::compare_touched() {
  std::vector<Touched>& touched = reference_.touched();
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (touched[i].undefined) resynchronise(i);
  }
  for (const Touched& area : touched) {
    if (!area.undefined) compare_memory(area.node, area.offset, area.bytes);
  }
  touched.clear();
}

void Comparison::compare_memory(std::size_t node, std::uint32_t offset, std::uint32_t bytes) {
  if (bytes == 0) return;
  std::vector<std::uint8_t> is(bytes);
  machine_.read(node, offset, is.data(), bytes);
  const auto should = reference_.memory(node).begin() + offset;
  if (std::memcmp(is.data(), &*should, bytes) == 0) return;
  const auto [wrong, right] = std::mismatch(is.begin(), is.end(), should);
  differ("memory of node " + std::to_string(node) + " at " +
         std::to_string(offset + (wrong - is.begin())) + ":");
  expect("byte", *wrong, *right);
}

std::string Comparison::finish() {
  if (!difference_.empty()) return difference_;
  quiet();
  for (std::size_t cq = 0; cq < kCqs; ++cq) drain(cq);
  for (std::size_t node = 0; node < kNodes; ++node) compare_memory(node, 0, kMemoryBytes);
  if (!reference_.retries_without_end() && !machine_.comes_to_rest()) {
    differ("it does not come to rest");
  }
  return difference_;
}

}  // namespace hcasim::differential
