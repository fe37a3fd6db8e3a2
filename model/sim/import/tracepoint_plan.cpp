// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/tracepoint_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "hcasim/hw/wire/syndrome.hpp"
#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "hcasim/rvt/ib_enums.hpp"

namespace hcasim::sim {
namespace {

// By how much earlier than the send that it must not answer a peer is brought to ERR. Chosen: some
// times what a modify_qp takes, a command of the adapter (`hca.command`) and two mailboxes by DMA.
constexpr hw::Time kTimeToError = 5 * hw::kMicrosecond;

bool is_datagram(std::uint32_t type) {
  return type == rvt::IB_QPT_UD;
}
bool is_reliable(std::uint32_t type) {
  return type == rvt::IB_QPT_RC || type == 0;
}

/// How to make a post fail again; none where no replay does.
std::optional<Spoilt> spoilt(const SeenPost& post) {
  if (!post.failed()) return Spoilt::kNothing;
  const bool send = hw::is_send(post.opcode);
  switch (*post.status) {
    case hw::WcStatus::kRemAccessErr:
      if (!send) return Spoilt::kNoRights;
      return std::nullopt;
    case hw::WcStatus::kRemInvReqErr:
      return send                         ? Spoilt::kShortReceive
             : hw::is_atomic(post.opcode) ? Spoilt::kMisaligned
                                          : Spoilt::kNoRights;
    case hw::WcStatus::kRemOpErr:
      return send ? Spoilt::kBadReceive : Spoilt::kNoRights;
    case hw::WcStatus::kRnrRetryExcErr:
      return Spoilt::kNoReceive;
    case hw::WcStatus::kRetryExcErr:
      return Spoilt::kNoAnswer;
    default:
      return std::nullopt;
  }
}

/// A name as traces allow it.
std::string clean(const std::string& name) {
  constexpr std::size_t kLongest = 40;  // leaves room for what makes it unique
  std::string text;
  for (const char c : name.substr(0, kLongest)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    text += good ? c : '_';
  }
  const bool letter = (text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z';
  return letter || text[0] == '_' ? text : '_' + text;
}

class Planner {
 public:
  Planner(const TracepointAnalysis& analysis, const ImportOptions& options)
      : analysis_(analysis), options_(options), end_of_(analysis.qps.size(), kNobody) {}

  TracepointPlan run() {
    make_nodes();
    make_ends();
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) make_sends(i);
    for (PlannedEnd& end : plan_.ends) make_receives(end);
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) make_failures(i);
    find_start();
    choose_regions();
    if (options_.timing == TimingPolicy::kAsap) find_order();
    return std::move(plan_);
  }

 private:
  const SeenQp* seen(const PlannedEnd& end) const {
    return end.qp == kNobody ? nullptr : &analysis_.qps[end.qp];
  }
  std::uint32_t type_of(const PlannedEnd& end) const {
    const SeenQp* const qp = seen(end);
    return qp != nullptr ? qp->type : analysis_.qps[plan_.ends[end.peer].qp].type;
  }

  std::string unique(std::string name) {
    const std::string base = name;
    for (int i = 2; !names_.insert(name).second; ++i) name = base + '_' + std::to_string(i);
    return name;
  }

  std::size_t add_node(const std::string& name, const std::string& meaning) {
    plan_.nodes.push_back({unique(name), meaning});
    return plan_.nodes.size() - 1;
  }

  void make_nodes() {
    for (const std::string& device : analysis_.devices) {
      add_node(clean(device), "is device " + device);
    }
  }

  void make_ends() {
    for (std::size_t i = 0; i < analysis_.qps.size(); ++i) {
      const SeenQp& qp = analysis_.qps[i];
      if (qp.posts.empty() && qp.receives.empty()) {
        ++plan_.idle;
        continue;
      }
      end_of_[i] = plan_.ends.size();
      const std::string name = plan_.nodes[qp.device].name + ".qp" + std::to_string(qp.qpn);
      plan_.ends.push_back({.qp = i, .node = qp.device, .name = unique(name)});
      plan_.ends.back().name.erase(0, plan_.nodes[qp.device].name.size() + 1);
    }
    const std::size_t real = plan_.ends.size();
    for (std::size_t i = 0; i < real; ++i) give_peer(i);
  }

  void give_peer(std::size_t index) {
    const std::size_t peer = analysis_.qps[plan_.ends[index].qp].peer;
    if (peer != kNobody) {
      plan_.ends[index].peer = end_of_[peer];
      if (is_datagram(type_of(plan_.ends[index]))) {
        move_apart(plan_.ends[index], plan_.ends[end_of_[peer]]);
      }
      return;
    }
    const std::string name = "of_" + plan_.nodes[plan_.ends[index].node].name + '_';
    const std::size_t made_up = plan_.ends.size();
    plan_.ends.push_back({.peer = index, .node = others(), .name = name + plan_.ends[index].name});
    plan_.ends[index].peer = made_up;
    ++plan_.made_up_peers;
  }

  // The node that stands for all that is not in the file.
  std::size_t others() {
    if (!others_) others_ = add_node("peer", "stands for all that is not in the file");
    return *others_;
  }

  // The driver loops back what is connected. Datagrams take the wire, and a cable leads to another
  // node.
  void move_apart(PlannedEnd& one, PlannedEnd& two) {
    if (one.node != two.node) return;
    const std::string name = plan_.nodes[one.node].name;
    auto [twin, is_new] = twins_.try_emplace(one.node, 0);
    if (is_new) twin->second = add_node(name, "is " + name + " too: peers of datagrams there");
    two.node = twin->second;
  }

  // What nothing tells the end of, and needs a receive that nothing tells of, was cut off.
  bool is_unfinished(const PlannedEnd& end, const SeenPost& post) const {
    if (post.ended) return false;
    const SeenQp& qp = *seen(end);
    if ((post.send_flags & rvt::IB_SEND_SIGNALED) != 0 || qp.all_signaled) return true;
    return hw::takes_receive(post.opcode) && is_reliable(qp.type) && qp.peer != kNobody &&
           post.receive == kNobody;
  }

  void make_sends(std::size_t index) {
    PlannedEnd& end = plan_.ends[index];
    const SeenQp* const qp = seen(end);
    if (qp == nullptr) return make_up_sends(end);
    for (const SeenPost& post : qp->posts) {
      if (is_unfinished(end, post)) {
        ++plan_.unfinished;
        continue;
      }
      const auto how = spoilt(post);
      if (!how) {
        ++plan_.not_repeated;
        end.fails_at = end.fails_at.value_or(post.completed);
        continue;
      }
      end.sends.push_back({.post = &post, .time = post.time, .spoilt = *how});
    }
  }

  // Whatever a queue pair without peer has received, something must have sent.
  void make_up_sends(PlannedEnd& end) {
    for (const SeenReceive& receive : analysis_.qps[plan_.ends[end.peer].qp].receives) {
      if (receive.status != hw::WcStatus::kSuccess) continue;
      end.sends.push_back({.receive = &receive, .time = receive.time});
      ++plan_.made_up_sends;
    }
  }

  std::uint64_t bytes_of(const PlannedEnd& sender, const PlannedSend& send) const {
    if (send.post == nullptr) return send.receive->length;
    return send.post->length + (is_datagram(type_of(sender)) ? hw::kGrhAreaBytes : 0);
  }

  bool needs_receive(const PlannedEnd& sender, const PlannedSend& send) const {
    if (send.post == nullptr) return true;
    if (!hw::takes_receive(send.post->opcode) || send.post->flushed()) return false;
    if (send.spoilt == Spoilt::kNoReceive || send.spoilt == Spoilt::kNoAnswer) return false;
    if (send.spoilt == Spoilt::kNoRights) return false;
    return is_reliable(type_of(sender)) || seen(sender)->peer == kNobody ||
           send.post->receive != kNobody;
  }

  // Receives of an end in the order in which its peer's sends take them, then those that were
  // flushed.
  void make_receives(PlannedEnd& end) {
    PlannedEnd& sender = plan_.ends[end.peer];
    std::uint64_t longest = options_.receive_length;
    for (const PlannedSend& send : sender.sends) {
      if (needs_receive(sender, send)) longest = std::max(longest, bytes_of(sender, send));
    }
    longest = std::min(longest, kMaxLength);
    bool lost = false;
    for (PlannedSend& send : sender.sends) {
      if (!needs_receive(sender, send)) {
        lost = lost || (send.post != nullptr && hw::takes_receive(send.post->opcode));
        continue;
      }
      send.receive_place = end.receives.size();
      end.receives.push_back(receive_for(sender, send, longest, lost));
    }
    const SeenQp* const qp = seen(end);
    if (qp == nullptr) return;
    for (const SeenReceive& receive : qp->receives) {
      if (receive.status == hw::WcStatus::kWrFlushErr) end.receives.push_back({.length = longest});
      const bool mine = receive.status == hw::WcStatus::kSuccess && qp->peer != kNobody;
      if (mine && receive.post == kNobody) ++plan_.without_sender;
    }
  }

  PlannedReceive receive_for(const PlannedEnd& sender, const PlannedSend& send,
                             std::uint64_t longest, bool lost) const {
    PlannedReceive receive{.length = longest};
    if (send.post == nullptr) return receive;
    if (send.spoilt == Spoilt::kShortReceive) {
      receive.length = std::max<std::uint64_t>(bytes_of(sender, send), 1) - 1;
    }
    if (send.spoilt == Spoilt::kBadReceive) {
      receive.bad = true;
      receive.length = std::max<std::uint64_t>(longest, 1);
    }
    // The message before must not find it.
    if (lost && !is_reliable(type_of(sender))) receive.time = send.time;
    if (options_.receives == ReceivePolicy::kAsSeen && send.post->rnr_waits != 0) {
      const hw::Time pause = seen(sender)->rnr_us * hw::kMicrosecond;
      receive.time = send.post->last_rnr + pause / 2;
    }
    return receive;
  }

  // Flushes for which nothing went wrong are its program's doing.
  void make_failures(std::size_t index) {
    PlannedEnd& end = plan_.ends[index];
    for (const PlannedSend& send : end.sends) {
      if (send.spoilt != Spoilt::kNoAnswer) continue;
      PlannedEnd& peer = plan_.ends[end.peer];
      peer.fails_at = std::max<hw::Time>(send.time - kTimeToError, 0);
    }
    const SeenQp* const qp = seen(end);
    if (qp == nullptr || end.fails_at || went_wrong(*qp)) return;
    if (qp->peer != kNobody && went_wrong(analysis_.qps[qp->peer])) return;
    for (const SeenReceive& receive : qp->receives) {
      if (receive.status == hw::WcStatus::kWrFlushErr) note_failure(end, receive.time);
    }
    for (const SeenPost& post : qp->posts) {
      if (post.flushed()) note_failure(end, post.completed);
    }
  }
  static void note_failure(PlannedEnd& end, hw::Time at) {
    end.fails_at = std::min(end.fails_at.value_or(at), at);
  }
  static bool went_wrong(const SeenQp& qp) {
    const auto bad = [](const SeenReceive& receive) {
      return receive.status != hw::WcStatus::kSuccess &&
             receive.status != hw::WcStatus::kWrFlushErr;
    };
    return std::ranges::any_of(qp.posts, [](const SeenPost& post) { return post.failed(); }) ||
           std::ranges::any_of(qp.receives, bad);
  }

  void find_start() {
    plan_.start = hw::kNever;
    for (const PlannedEnd& end : plan_.ends) {
      if (!end.sends.empty()) plan_.start = std::min(plan_.start, end.sends.front().time);
      if (end.fails_at) plan_.start = std::min(plan_.start, *end.fails_at);
    }
    if (plan_.start == hw::kNever) plan_.start = 0;
  }

  // The oldest free region for a REG_MR, the oldest registered one for what invalidates.
  std::size_t region_of(std::size_t end, bool valid) {
    for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
      FastRegion& region = plan_.regions[i];
      if (region.end != end || region.valid != valid) continue;
      region.valid = !valid;
      return i;
    }
    plan_.regions.push_back({end, !valid});
    if (valid) plan_.ends[end].registered_first.push_back(plan_.regions.size() - 1);
    return plan_.regions.size() - 1;
  }

  void choose_regions() {
    std::vector<std::pair<std::size_t, PlannedSend*>> sends;
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) {
      for (PlannedSend& send : plan_.ends[i].sends) sends.emplace_back(i, &send);
    }
    std::ranges::stable_sort(sends, {}, [](const auto& it) { return it.second->time; });
    for (auto& [end, send] : sends) {
      if (send->post == nullptr) {
        if (send->receive->invalidates) send->mr = region_of(plan_.ends[end].peer, true);
        continue;
      }
      const hw::WrOpcode opcode = send->post->opcode;
      if (opcode == hw::WrOpcode::kRegMr) send->mr = region_of(end, false);
      if (opcode == hw::WrOpcode::kLocalInv) send->mr = region_of(end, true);
      if (opcode == hw::WrOpcode::kSendWithInv) send->mr = region_of(plan_.ends[end].peer, true);
    }
  }

  // The completion before each post, as far as the replay has it.
  void find_order() {
    for (PlannedEnd& end : plan_.ends) {
      for (PlannedSend& send : end.sends) {
        if (send.post == nullptr || send.post->after.qp == kNobody) continue;
        send.after = place_of(send.post->after);
        if (send.after.qp == kNobody) continue;
        if (plan_.ends[send.after.qp].node != end.node) {
          send.after = {};
          continue;
        }
        PlannedEnd& before = plan_.ends[send.after.qp];
        (send.after.receive ? before.receives[send.after.index].label
                            : before.sends[send.after.index].label)
            .uses++;
      }
    }
  }
  CompletionPlace place_of(const CompletionPlace& seen_place) const {
    const SeenQp& qp = analysis_.qps[seen_place.qp];
    const std::size_t index = end_of_[seen_place.qp];
    if (!seen_place.receive) return place_of_send(index, &qp.posts[seen_place.index]);
    const std::size_t sender = plan_.ends[index].peer;
    const SeenReceive& receive = qp.receives[seen_place.index];
    const PlannedSend* const send = find_send(sender, receive);
    if (send == nullptr || send->receive_place == kNobody) return {};
    return {index, send->receive_place, true};
  }
  CompletionPlace place_of_send(std::size_t end, const SeenPost* post) const {
    const std::vector<PlannedSend>& sends = plan_.ends[end].sends;
    const auto found = std::ranges::lower_bound(sends, post, {}, &PlannedSend::post);
    if (found == sends.end() || found->post != post) return {};
    return {end, static_cast<std::size_t>(found - sends.begin()), false};
  }
  // Posts and receives of a queue pair lie in one array, in the order of sends.
  const PlannedSend* find_send(std::size_t sender, const SeenReceive& receive) const {
    const std::vector<PlannedSend>& sends = plan_.ends[sender].sends;
    if (plan_.ends[sender].qp == kNobody) {
      const auto found = std::ranges::lower_bound(sends, &receive, {}, &PlannedSend::receive);
      return found != sends.end() && found->receive == &receive ? &*found : nullptr;
    }
    if (receive.post == kNobody) return nullptr;
    const SeenPost* const post = &analysis_.qps[plan_.ends[sender].qp].posts[receive.post];
    const CompletionPlace place = place_of_send(sender, post);
    return place.qp == kNobody ? nullptr : &sends[place.index];
  }

  const TracepointAnalysis& analysis_;
  const ImportOptions& options_;
  TracepointPlan plan_;
  std::vector<std::size_t> end_of_;  // by queue pair of the analysis
  std::set<std::string> names_;
  std::optional<std::size_t> others_;
  std::map<std::size_t, std::size_t> twins_;  // by node: that of its queue pairs' peers
};

}  // namespace

TracepointPlan plan_tracepoints(const TracepointAnalysis& analysis, const ImportOptions& options) {
  return Planner(analysis, options).run();
}

}  // namespace hcasim::sim
