// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which queue pairs talk to each other. No tracepoint says so: the receives of the one must be the
// sends of the other.
#include <algorithm>
#include <tuple>
#include <vector>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "hcasim/rvt/ib_enums.hpp"
#include "sim/import/tracepoints.hpp"

namespace hcasim::sim {
namespace {

// Sends that a receive may be late for: lost ones, or those whose completion was lost.
constexpr std::int64_t kLookAhead = 64;

/// How well the receives of one fit the sends of another.
struct Fit {
  std::int64_t matched = 0;
  std::int64_t missed = 0;
  hw::Time apart = 0;  ///< sum of the times from posts to receives
};

bool fits(const SeenQp& from, const SeenPost& post, const SeenReceive& receive) {
  // A message that its receiver refused ends the receive with an error of the receiver's.
  const bool refused =
      post.status == hw::WcStatus::kRemInvReqErr || post.status == hw::WcStatus::kRemOpErr;
  if (refused != (receive.status != hw::WcStatus::kSuccess)) return false;
  if (refused) return post.time <= receive.time;
  if (post.status == hw::WcStatus::kRnrRetryExcErr) return false;  // there was none for it
  const std::uint64_t header = from.type == rvt::IB_QPT_UD ? hw::kGrhAreaBytes : 0;
  return (post.opcode == hw::WrOpcode::kRdmaWriteWithImm) == receive.write &&
         (post.opcode == hw::WrOpcode::kSendWithInv) == receive.invalidates &&
         post.length + header == receive.length && post.time <= receive.time;
}

/// Each receive is that of the oldest send which fits and is behind the one before.
/// @param on_match called with places of post and receive
template <typename OnMatch>
Fit match(const SeenQp& from, const SeenQp& to, OnMatch on_match) {
  Fit fit;
  std::size_t next = 0;
  for (std::size_t r = 0; r < to.receives.size(); ++r) {
    const SeenReceive& receive = to.receives[r];
    if (receive.status == hw::WcStatus::kWrFlushErr) continue;
    std::size_t at = next;
    std::int64_t skipped = 0;
    for (; at < from.posts.size() && from.posts[at].time <= receive.time; ++at) {
      if (!hw::takes_receive(from.posts[at].opcode)) continue;
      if (fits(from, from.posts[at], receive) || ++skipped == kLookAhead) break;
    }
    if (at == from.posts.size() || !fits(from, from.posts[at], receive)) {
      if (++fit.missed > fit.matched + kLookAhead) break;
      continue;
    }
    ++fit.matched;
    fit.missed += skipped;
    fit.apart += receive.time - from.posts[at].time;
    on_match(at, r);
    next = at + 1;
  }
  return fit;
}

bool may_be_peers(const SeenQp& a, const SeenQp& b) {
  return a.type == b.type || a.type == 0 || b.type == 0;
}

struct Candidate {
  std::int64_t score = 0;
  hw::Time apart = 0;
  std::size_t a = 0;
  std::size_t b = 0;
};

std::vector<Candidate> candidates_of(const std::vector<SeenQp>& qps) {
  const auto ignore = [](std::size_t, std::size_t) {};
  std::vector<Candidate> found;
  for (std::size_t a = 0; a < qps.size(); ++a) {
    for (std::size_t b = a + 1; b < qps.size(); ++b) {
      if (!may_be_peers(qps[a], qps[b])) continue;
      const Fit there = match(qps[a], qps[b], ignore);
      const Fit back = match(qps[b], qps[a], ignore);
      const std::int64_t score = there.matched + back.matched - there.missed - back.missed;
      if (score > 0) found.push_back({score, there.apart + back.apart, a, b});
    }
  }
  std::ranges::sort(found, [](const Candidate& x, const Candidate& y) {
    return std::tie(y.score, x.apart, x.a, x.b) < std::tie(x.score, y.apart, y.a, y.b);
  });
  return found;
}

void join(SeenQp& from, SeenQp& to) {
  match(from, to, [&](std::size_t post, std::size_t receive) {
    from.posts[post].receive = receive;
    to.receives[receive].post = post;
  });
}

}  // namespace

void pair_queue_pairs(TracepointAnalysis& analysis) {
  std::vector<SeenQp>& qps = analysis.qps;
  const std::vector<Candidate> found = candidates_of(qps);
  std::vector<std::int64_t> score_of(qps.size());
  for (const Candidate& best : found) {
    if (qps[best.a].peer != kNobody || qps[best.b].peer != kNobody) continue;
    const auto is_free = [&](std::size_t qp) {
      return qps[qp].peer == kNobody || score_of[qp] == best.score;
    };
    const auto rival = [&](const Candidate& other) {
      const bool same = other.a == best.a && other.b == best.b;
      const bool one =
          other.a == best.a || other.b == best.b || other.a == best.b || other.b == best.a;
      return !same && one && other.score == best.score && is_free(other.a) && is_free(other.b);
    };
    const bool uncertain = std::ranges::any_of(found, rival);
    qps[best.a].uncertain = qps[best.b].uncertain = uncertain;
    score_of[best.a] = score_of[best.b] = best.score;
    qps[best.a].peer = best.b;
    qps[best.b].peer = best.a;
    join(qps[best.a], qps[best.b]);
    join(qps[best.b], qps[best.a]);
  }
  for (SeenQp& qp : qps) {
    if (qp.type != 0) continue;
    const bool datagram = std::ranges::any_of(qp.receives, &SeenReceive::grh);
    if (datagram) qp.type = rvt::IB_QPT_UD;
    if (qp.peer != kNobody) qp.type = qps[qp.peer].type;
  }
}

}  // namespace hcasim::sim
