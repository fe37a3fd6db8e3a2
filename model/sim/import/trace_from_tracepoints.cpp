// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plan to lines. As many receives stand ahead of their messages as the queue is deep.
#include "sim/import/trace_from_tracepoints.hpp"

#include <algorithm>
#include <bit>

#include "hcasim/hw/wire/syndrome.hpp"
#include "hcasim/rvt/ib_enums.hpp"
#include "sim/import/label_pool.hpp"
#include "sim/import/tracepoint_plan.hpp"
#include "sim/import/tracepoint_requests.hpp"
#include "sim/trace/grammar.hpp"

namespace hcasim::sim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kFastRegionBytes = kPage;
constexpr std::uint64_t kDefaultCqe = 16384;
constexpr std::uint64_t kMaxCqe = 4194303;
constexpr std::uint64_t kMaxSendWr = 65534;

/// A line behind the set-up.
struct TimedLine {
  hw::Time time = 0;
  std::size_t end = 0;
  std::size_t send = kNobody;  ///< kNobody: the end goes to ERR
};

class TracepointWriter {
 public:
  TracepointWriter(const TracepointAnalysis& analysis, const ImportOptions& options,
                   const std::filesystem::path& path)
      : analysis_(analysis),
        options_(options),
        plan_(plan_tracepoints(analysis, options)),
        labels_(plan_.nodes.size()),
        next_receive_(plan_.ends.size()),
        lead_(static_cast<hw::Time>(options.lead_ns) * hw::kNanosecond),
        writer_(path, names_) {
    default_mr_ = names_.intern(kDefaultMr);
    no_rights_ = names_.intern("no_rights");
  }

  TracepointImport run() {
    find_buffer_bytes();
    write_head();
    write_regions();
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) write_first_posts(i);
    for (const TimedLine& line : lines_by_time()) {
      if (line.send == kNobody) {
        write_error(line);
      } else {
        write_send(line.end, line.send);
      }
    }
    writer_.close();
    return count();
  }

 private:
  const SeenQp* seen(const PlannedEnd& end) const {
    return end.qp == kNobody ? nullptr : &analysis_.qps[end.qp];
  }
  const SeenQp& real_of(const PlannedEnd& end) const {
    return end.qp != kNobody ? *seen(end) : *seen(plan_.ends[end.peer]);
  }
  NameId node_of(const PlannedEnd& end) { return names_.intern(plan_.nodes[end.node].name); }
  NameId name_of(const PlannedEnd& end) { return names_.intern(end.name); }
  NameId region_name(std::size_t region) { return names_.intern("f" + std::to_string(region + 1)); }
  Operation begin(Verb verb, const PlannedEnd& end) {
    Operation line;
    line.reset(verb);
    line.node = node_of(end);
    line.object = name_of(end);
    return line;
  }

  TracepointImport count() const {
    TracepointImport result = result_;
    result.nodes = plan_.nodes.size();
    result.connections = plan_.ends.size() / 2;
    result.made_up_peers = plan_.made_up_peers;
    result.made_up_sends = plan_.made_up_sends;
    result.unfinished = plan_.unfinished;
    result.not_repeated = plan_.not_repeated;
    result.without_sender = plan_.without_sender;
    result.idle = plan_.idle;
    return result;
  }

  // Head.
  void find_buffer_bytes() {
    buffer_bytes_ = kPage;
    for (const PlannedEnd& end : plan_.ends) {
      for (const PlannedSend& send : end.sends) {
        if (send.post != nullptr) grow_buffer(send.post->length);
      }
      for (const PlannedReceive& receive : end.receives) grow_buffer(receive.length);
    }
  }
  void grow_buffer(std::uint64_t bytes) {
    const std::uint64_t pages = (std::min(bytes, kMaxLength) + kPage - 1) / kPage;
    buffer_bytes_ = std::max(buffer_bytes_, pages * kPage);
  }

  void write_head() {
    for (const Assumption& assumption : list_tracepoint_assumptions(options_)) {
      writer_.assume(assumption);
    }
    write_doubts();
    for (const PlannedNode& node : plan_.nodes) {
      writer_.comment(node.name + ' ' + node.meaning);
      writer_.node(names_.intern(node.name));
    }
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) {
      if (plan_.ends[i].peer > i) write_connection(i);
    }
  }

  void write_doubts() {
    const auto say = [&](std::uint64_t count, const char* what) {
      if (count != 0) writer_.comment(std::to_string(count) + what);
    };
    say(plan_.made_up_peers, " queue pairs have a peer that is made up, of queue depth 128");
    say(plan_.made_up_sends, " sends are made up, for receives whose sender is not in the file");
    say(plan_.unfinished, " posts without an end in the file are not in this trace");
    say(plan_.not_repeated, " posts that failed in a way no replay can are not in this trace");
    say(plan_.without_sender,
        " receives whose message the peer posted before the file begins, or "
        "where events were lost, are not in this trace");
    say(analysis_.not_modelled, " posts of other opcodes and services are not in this trace");
  }

  void write_connection(std::size_t index) {
    const PlannedEnd& one = plan_.ends[index];
    const PlannedEnd& two = plan_.ends[one.peer];
    if (real_of(one).uncertain) writer_.comment("other queue pairs would fit as well");
    Operation line = begin(Verb::kConnect, one);
    line.peer_node = node_of(two);
    line.peer_object = name_of(two);
    const std::uint32_t type = real_of(one).type;
    const bool reliable = type == 0 || type == rvt::IB_QPT_RC;
    if (!reliable) line.set(Arg::kType, type);
    if (type == rvt::IB_QPT_UD) line.set(Arg::kQkey, 0x1111'1111);
    line.set(Arg::kMtu, mtu_of(one, two));
    line.set(Arg::kPsn, first_psn(one));
    line.set(Arg::kPsnPeer, first_psn(two));
    line.set(Arg::kMaxSendWr, send_depth(one, two));
    line.set(Arg::kMaxRecvWr, options_.max_recv_wr);
    const auto all = [&](const PlannedEnd& end) {
      return end.qp != kNobody && seen(end)->all_signaled;
    };
    if (all(one) || all(two)) line.set(Arg::kSqSigAll, 1);
    if (reliable) set_retries(line, one, two);
    line.set(Arg::kCqe, cq_entries());
    line.set(Arg::kMrLength, buffer_bytes_);
    writer_.write(line);
  }

  void set_retries(Operation& line, const PlannedEnd& one, const PlannedEnd& two) const {
    line.set(Arg::kTimeout, options_.timeout);
    line.set(Arg::kRetryCnt, options_.retry_cnt);
    std::uint64_t rnr_retry = options_.rnr_retry;
    std::uint64_t timer = options_.min_rnr_timer;
    for (const PlannedEnd* const end : {&one, &two}) {
      if (end->qp != kNobody && seen(*end)->rnr_us != 0) {
        timer = hw::rnr_timer_code_for(seen(*end)->rnr_us * hw::kMicrosecond);
      }
      for (const PlannedSend& send : end->sends) {
        if (send.spoilt != Spoilt::kNoReceive) continue;
        rnr_retry = std::min<std::uint64_t>(send.post->rnr_waits, 6);
      }
    }
    line.set(Arg::kRnrRetry, rnr_retry);
    line.set(Arg::kMinRnrTimer, timer);
    line.set(Arg::kMaxRdAtomic, options_.max_rd_atomic);
  }

  // From a message of several packets, which tells it but for a factor; else assumed.
  std::uint64_t mtu_of(const PlannedEnd& one, const PlannedEnd& two) const {
    const bool datagram = real_of(one).type == rvt::IB_QPT_UD;
    std::uint64_t mtu = 0;
    std::uint64_t longest = 0;
    for (const PlannedEnd* const end : {&one, &two}) {
      for (const PlannedSend& send : end->sends) {
        if (send.post == nullptr) continue;
        longest = std::max<std::uint64_t>(longest, send.post->length);
        if (send.post->packets < 2) continue;
        const std::uint64_t least =
            (send.post->length + send.post->packets - 1) / send.post->packets;
        mtu = std::max(mtu, std::bit_ceil(least));
      }
    }
    if (datagram) mtu = std::max(options_.mtu, std::bit_ceil(longest));
    if (mtu == 0) mtu = options_.mtu;
    const auto known = trace::mtus();
    const auto found = std::ranges::lower_bound(known, mtu);
    return found == known.end() ? known.back() : *found;
  }

  std::uint64_t first_psn(const PlannedEnd& end) const {
    for (const PlannedSend& send : end.sends) {
      if (send.post != nullptr && send.post->packets != 0) return send.post->psn;
    }
    return 0;
  }
  // One slot of a send queue is always empty.
  std::uint64_t send_depth(const PlannedEnd& one, const PlannedEnd& two) const {
    std::uint64_t slots = 0;
    for (const PlannedEnd* const end : {&one, &two}) {
      if (end->qp != kNobody) slots = std::max<std::uint64_t>(slots, seen(*end)->size);
    }
    return slots < 2 ? options_.max_send_wr : std::min(slots - 1, kMaxSendWr);
  }
  std::uint64_t cq_entries() const {
    std::uint64_t needed = kDefaultCqe;
    const std::uint64_t each = options_.max_send_wr + options_.max_recv_wr;
    needed = std::max({needed, std::uint64_t{analysis_.longest_cq}, each * plan_.ends.size()});
    return std::min(needed, kMaxCqe);
  }

  // Regions.
  void write_regions() {
    for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
      Operation line = begin(Verb::kAllocMr, plan_.ends[plan_.regions[i].end]);
      line.object = region_name(i);
      line.set(Arg::kLength, kFastRegionBytes);
      writer_.write(line);
    }
    std::vector<bool> needed(plan_.nodes.size());
    for (const PlannedEnd& end : plan_.ends) {
      for (const PlannedSend& send : end.sends) {
        if (send.spoilt == Spoilt::kNoRights) needed[plan_.ends[end.peer].node] = true;
      }
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      Operation line;
      line.reset(Verb::kRegMr);
      line.node = names_.intern(plan_.nodes[i].name);
      line.object = no_rights_;
      line.set(Arg::kLength, buffer_bytes_);
      line.set(Arg::kAccess, 0);
      writer_.write(line);
    }
  }

  // Receives.
  void write_first_posts(std::size_t index) {
    const PlannedEnd& end = plan_.ends[index];
    for (const std::size_t region : end.registered_first) {
      Operation line = begin(Verb::kPostSend, end);
      line.opcode = SendOpcode::kRegMr;
      line.set(Arg::kMr, region_name(region));
      line.flags = kUnsignaled;
      writer_.write(line);
    }
    for (std::size_t i = 0; i < options_.max_recv_wr; ++i) write_next_receive(index);
  }

  void write_next_receive(std::size_t index) {
    PlannedEnd& end = plan_.ends[index];
    if (next_receive_[index] == end.receives.size()) return;
    PlannedReceive& receive = end.receives[next_receive_[index]++];
    Operation line = begin(Verb::kPostRecv, end);
    set_buffer(line, default_mr_, receive.length, receive.bad ? buffer_bytes_ : 0);
    if (receive.time) set_time(line, *receive.time);
    give_label(line, end.node, receive.label);
    writer_.write(line);
    ++result_.receives;
  }

  // Sends.
  std::vector<TimedLine> lines_by_time() const {
    std::vector<TimedLine> lines;
    for (std::size_t i = 0; i < plan_.ends.size(); ++i) {
      for (std::size_t k = 0; k < plan_.ends[i].sends.size(); ++k) {
        lines.push_back({plan_.ends[i].sends[k].time, i, k});
      }
      if (plan_.ends[i].fails_at) lines.push_back({*plan_.ends[i].fails_at, i, kNobody});
    }
    std::ranges::stable_sort(lines, {}, &TimedLine::time);
    return lines;
  }

  void write_error(const TimedLine& at) {
    Operation line = begin(Verb::kModifyQp, plan_.ends[at.end]);
    line.set(Arg::kState, static_cast<std::uint64_t>(QpState::kErr));
    set_time(line, at.time);
    writer_.write(line);
  }

  void write_send(std::size_t index, std::size_t place) {
    PlannedEnd& end = plan_.ends[index];
    PlannedSend& send = end.sends[place];
    Operation line = begin(Verb::kPostSend, end);
    if (send.post != nullptr) {
      fill_request(line, send, receive_of(end, send), {default_mr_, no_rights_});
      ++result_.sends;
    } else {
      const bool datagram = real_of(end).type == rvt::IB_QPT_UD;
      fill_made_up(line, *send.receive, datagram, {default_mr_, no_rights_});
    }
    const SendOpcode opcode = line.opcode;
    if (opcode == SendOpcode::kRegMr) {
      line.set(Arg::kMr, region_name(send.mr));
    } else if (send.mr != kNobody) {
      line.set(Arg::kInvalidate, region_name(send.mr));
    }
    line.flags &= trace::opcode_row(opcode)->flags;
    set_timing(line, end.node, send);
    writer_.write(line);
    if (send.receive_place != kNobody) write_next_receive(end.peer);
  }

  const SeenReceive* receive_of(const PlannedEnd& end, const PlannedSend& send) const {
    if (send.post->receive == kNobody) return nullptr;
    return &analysis_.qps[seen(end)->peer].receives[send.post->receive];
  }

  // Times and labels.
  void set_timing(Operation& line, std::size_t node, PlannedSend& send) {
    const bool asap = options_.timing == TimingPolicy::kAsap && send.post != nullptr;
    if (!asap) {
      set_time(line, send.time);
    } else if (send.after.qp == kNobody) {
      set_time(line, send.post->after.qp == kNobody ? plan_.start : send.time);
    } else {
      refer_to(line, node, send);
    }
    give_label(line, node, send.label);
  }

  void set_time(Operation& line, hw::Time time) const {
    line.timing = Timing::kAt;
    line.time = std::clamp<hw::Time>(time - plan_.start + lead_, 0, kLongestTime);
  }

  void give_label(Operation& line, std::size_t node, PlannedLabel& label) {
    if (label.uses == 0) return;
    label.number = labels_[node].take();
    line.label = names_.intern("l" + std::to_string(label.number));
  }
  void refer_to(Operation& line, std::size_t node, const PlannedSend& send) {
    PlannedEnd& end = plan_.ends[send.after.qp];
    PlannedLabel& label = send.after.receive ? end.receives[send.after.index].label
                                             : end.sends[send.after.index].label;
    --label.uses;
    // Where lines were lost a completion may stand before what it completes.
    if (label.number == 0) return set_time(line, send.time);
    line.timing = Timing::kAfter;
    line.after = names_.intern("l" + std::to_string(label.number));
    if (label.uses == 0) labels_[node].give_back(label.number);
  }

  const TracepointAnalysis& analysis_;
  const ImportOptions& options_;
  NameTable names_;
  TracepointPlan plan_;
  std::vector<LabelPool> labels_;          // by node
  std::vector<std::size_t> next_receive_;  // by end: to be written next
  hw::Time lead_;                          // from the epoch to the first send
  NameId default_mr_ = kNoName;
  NameId no_rights_ = kNoName;
  std::uint64_t buffer_bytes_ = 0;  // of the region that all buffers are in
  TracepointImport result_;
  TraceWriter writer_;
};

}  // namespace

TracepointImport trace_from_tracepoints(const TracepointAnalysis& analysis,
                                        const ImportOptions& options,
                                        const std::filesystem::path& trace) {
  return TracepointWriter(analysis, options, trace).run();
}

}  // namespace hcasim::sim
