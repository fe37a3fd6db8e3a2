// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A plan to lines. Receives are written as many lines ahead of their messages as the queue is deep,
// so that whoever reads the trace as a stream never has to hold more than a queue of them.
#include "sim/import/trace_from_capture.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "sim/import/refusal.hpp"
#include "sim/import/replay_lengths.hpp"
#include "sim/import/replay_plan.hpp"
#include "sim/import/replay_regions.hpp"
#include "sim/import/trace_labels.hpp"
#include "sim/import/trace_names.hpp"
#include "sim/trace/grammar.hpp"

namespace hcasim::sim {
namespace {

// Time that is left for a REG_MR before the first send: more than an adapter needs.
constexpr hw::Time kRegistration = 3 * hw::kMicrosecond;
constexpr hw::Time kRegistrationOfPage = 10 * hw::kNanosecond;
constexpr std::uint64_t kDefaultCqe = 16384;
constexpr std::uint64_t kMaxCqe = 4194303;

std::string address_text(const hw::Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv4 = hw::is_ipv4_gid(gid);
  inet_ntop(ipv4 ? AF_INET : AF_INET6, gid.data() + (ipv4 ? 12 : 0), text.data(), text.size());
  return text.data();
}

class TraceMaker {
 public:
  TraceMaker(const CaptureAnalysis& analysis, const ImportOptions& options,
             const std::filesystem::path& path)
      : options_(options),
        plan_(make_plan(analysis, options)),
        regions_(plan_),
        named_(names_, plan_, regions_),
        labels_(names_, plan_.nodes.size(), plan_.messages.size()),
        successor_(plan_.messages.size(), Region::kNone),
        lead_(static_cast<hw::Time>(options.lead_ns) * hw::kNanosecond),
        writer_(path, names_) {
    default_mr_ = names_.intern(kDefaultMr);
    no_rights_ = names_.intern("no_rights");
    buffer_bytes_ = buffer_bytes_for(plan_, options_);
  }

  ImportResult run() {
    count_references();
    write_head();
    write_regions();
    write_first_registrations();
    for (std::size_t i = 0; i < plan_.connections.size(); ++i) write_first_receives(i);
    for (std::size_t i = 0; i < plan_.messages.size(); ++i) write_message(i);
    writer_.close();
    result_.nodes = plan_.nodes.size();
    result_.connections = plan_.connections.size();
    result_.left_out = plan_.unfinished + plan_.other_transports;
    return result_;
  }

 private:
  void count_references() {
    for (const PlannedMessage& message : plan_.messages) {
      if (message.after != PlannedMessage::kNone) {
        labels_.add_use(message.after, message.after_receive);
      }
      if (!is_late(message)) continue;
      const std::size_t before = receive_before(message);
      if (before != PlannedMessage::kNone) labels_.add_use(before, true);
    }
    for (std::size_t i = 0; i < regions_.regions().size(); ++i) {
      const std::size_t before = regions_.regions()[i].takes_over;
      if (before == Region::kNone) continue;
      const std::size_t end = regions_.regions()[before].last_use;
      successor_[end] = i;
      labels_.add_use(end, true);
    }
  }

  // Head.
  void write_head() {
    for (const Assumption& assumption : list_assumptions(options_)) writer_.assume(assumption);
    if (plan_.unfinished != 0) {
      writer_.comment(std::to_string(plan_.unfinished) +
                      " messages without an end in the capture are not in this trace");
    }
    if (plan_.other_transports != 0) {
      writer_.comment(std::to_string(plan_.other_transports) +
                      " messages on other transports than RC, UC and UD are not in this trace");
    }
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      writer_.comment(std::string(names_.text(named_.node_at(i))) + " is " +
                      address_text(plan_.nodes[i]));
      writer_.node(named_.node_at(i));
    }
    for (std::size_t i = 0; i < plan_.connections.size(); ++i) write_connection(i);
  }

  void write_connection(std::size_t index) {
    const PlannedConnection& connection = plan_.connections[index];
    writer_.comment("QP " + std::to_string(connection.ends[0].qpn) + " and QP " +
                    std::to_string(connection.ends[1].qpn));
    Operation line;
    line.reset(Verb::kConnect);
    line.node = named_.node(connection.ends[0].address);
    line.peer_node = named_.node(connection.ends[1].address);
    line.object = named_.qp(index, 0);
    line.peer_object = named_.qp(index, 1);
    set_service(line, connection);
    line.set(Arg::kMtu, connection.mtu);
    line.set(Arg::kPsn, connection.first_psn[0]);
    line.set(Arg::kPsnPeer, connection.first_psn[1]);
    line.set(Arg::kMaxSendWr, options_.max_send_wr);
    line.set(Arg::kMaxRecvWr, options_.max_recv_wr);
    if (connection.transport == hw::Transport::kRc) {
      line.set(Arg::kTimeout, options_.timeout);
      line.set(Arg::kRetryCnt, options_.retry_cnt);
      line.set(Arg::kRnrRetry, options_.rnr_retry);
      line.set(Arg::kMinRnrTimer, rnr_timer_code(connection));
      line.set(Arg::kMaxRdAtomic, options_.max_rd_atomic);
    }
    line.set(Arg::kCqe, cq_entries());
    line.set(Arg::kMrLength, buffer_bytes_);
    writer_.write(line);
  }

  static void set_service(Operation& line, const PlannedConnection& connection) {
    if (connection.transport == hw::Transport::kRc) return;
    const bool datagram = connection.transport == hw::Transport::kUd;
    const ServiceType type = datagram ? ServiceType::kUd : ServiceType::kUc;
    line.set(Arg::kType, static_cast<std::uint64_t>(type));
    if (datagram) line.set(Arg::kQkey, connection.qkey);
  }

  // All QPs of a node share one CQ, which must hold what all of them can complete at once.
  std::uint64_t cq_entries() const {
    const std::uint64_t each = options_.max_send_wr + options_.max_recv_wr;
    return std::clamp(2 * each * plan_.connections.size(), kDefaultCqe, kMaxCqe);
  }

  // Regions.
  void write_regions() {
    for (std::size_t i = 0; i < regions_.regions().size(); ++i) {
      const Region& region = regions_.regions()[i];
      const NameId node = named_.node(region.node);
      if (!region.invalidated) {
        write_region(node, named_.region(i), region.length, kAllAccess);
      } else if (region.takes_over == Region::kNone) {
        write_invalidated_region(node, named_.region(i), region.length);
      }
    }
    std::vector<bool> needed(plan_.nodes.size());
    for (const PlannedMessage& message : plan_.messages) {
      if (failure_of(message) != Failure::kNoRights) continue;
      needed[named_.index_of(message.record->responder.address)] = true;
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) write_region(named_.node_at(i), no_rights_, buffer_bytes_, 0);
    }
  }

  void write_region(NameId node, NameId mr, std::uint64_t length, std::uint32_t access) {
    Operation line;
    line.reset(Verb::kRegMr);
    line.node = node;
    line.object = mr;
    line.set(Arg::kLength, length);
    line.set(Arg::kAccess, access);
    writer_.write(line);
  }

  // Regions that peers invalidate are registered by work requests.
  void write_invalidated_region(NameId node, NameId mr, std::uint64_t length) {
    Operation line;
    line.reset(Verb::kAllocMr);
    line.node = node;
    line.object = mr;
    line.set(Arg::kLength, length);
    writer_.write(line);
    lead_ += kRegistration + static_cast<hw::Time>(length / kPage) * kRegistrationOfPage;
  }

  void write_first_registrations() {
    for (std::size_t i = 0; i < regions_.regions().size(); ++i) {
      const Region& region = regions_.regions()[i];
      if (!region.invalidated || region.takes_over != Region::kNone) continue;
      writer_.write(registration(i));
    }
  }

  /// A REG_MR of a region on the queue pair that its first message comes to.
  Operation registration(std::size_t region) const {
    const PlannedMessage& message = plan_.messages[regions_.regions()[region].first_use];
    Operation line;
    line.reset(Verb::kPostSend);
    line.node = named_.node(message.record->responder.address);
    line.object = named_.qp(message.connection, 1 - message.side);
    line.opcode = SendOpcode::kRegMr;
    line.set(Arg::kMr, named_.region(region));
    line.set(Arg::kAccess, kAllAccess);
    return line;
  }

  /// The region that takes over what the message at `place` has invalidated, if there is one.
  void write_next_registration(std::size_t place) {
    if (successor_[place] == Region::kNone) return;
    Operation line = registration(successor_[place]);
    labels_.refer_to(line, named_.index_of(plan_.messages[place].record->responder.address), place,
                     true);
    writer_.write(line);
  }

  // Receives.
  void write_first_receives(std::size_t connection) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t count = plan_.connections[connection].received[side].size();
      for (std::size_t i = 0; i < std::min<std::size_t>(count, options_.max_recv_wr); ++i) {
        write_receive(connection, side, i);
      }
    }
  }

  /// The receive for the `index`-th message that `side` sends into one.
  void write_receive(std::size_t connection, std::size_t side, std::size_t index) {
    const PlannedConnection& planned = plan_.connections[connection];
    const std::size_t place = planned.received[side][index];
    const PlannedMessage& message = plan_.messages[place];
    const hw::Gid& address = planned.ends[1 - side].address;
    Operation line;
    line.reset(Verb::kPostRecv);
    line.node = named_.node(address);
    line.object = named_.qp(connection, 1 - side);
    const std::uint64_t needed = receive_for(planned.transport, planned.longest[side]);
    set_receive_buffer(line, message, std::max(needed, options_.receive_length));
    if (is_late(message)) delay_receive(line, message);
    labels_.give(line, named_.index_of(address), place, true);
    writer_.write(line);
    ++result_.receives;
  }

  void set_receive_buffer(Operation& line, const PlannedMessage& message,
                          std::uint64_t length) const {
    const Failure failure = failure_of(message);
    if (failure == Failure::kShortReceive) length = length_of(*message.record) - 1;
    std::uint64_t offset = 0;
    if (failure == Failure::kBadReceive) {
      offset = buffer_bytes_;
      length = std::max<std::uint64_t>(length, 1);
    }
    set_buffer(line, std::min(length, kMaxLength), offset);
  }

  bool is_late(const PlannedMessage& message) const {
    return options_.receives == ReceivePolicy::kAsSeen && message.uses_receive() &&
           !message.record->rnr_naks.empty();
  }

  /// The message whose receive is the one before, or kNone when the message was first sent after
  /// that one was accepted, so that its RNR NAKs do not follow from it.
  std::size_t receive_before(const PlannedMessage& message) const {
    if (message.receive_place == 0) return PlannedMessage::kNone;
    const auto& received = plan_.connections[message.connection].received[message.side];
    const std::size_t before = received[message.receive_place - 1];
    const bool follows = options_.timing == TimingPolicy::kAsap ||
                         plan_.messages[before].record->accepted >= message.record->first_packet;
    return follows ? before : PlannedMessage::kNone;
  }

  // The receive comes half an RNR timer after the last NAK, counted in timers of the replay and not
  // in those of the captured hosts, so that there are as many NAKs.
  void delay_receive(Operation& line, const PlannedMessage& message) {
    const CapturedMessage& record = *message.record;
    const auto naks = static_cast<hw::Time>(record.rnr_naks.size());
    const hw::Time timer = hw::rnr_timer(rnr_timer_code(plan_.connections[message.connection]));
    const hw::Time delay = timer * naks - timer / 2;
    const std::size_t before = receive_before(message);
    const bool captured = options_.timing == TimingPolicy::kCaptured;
    if (before == PlannedMessage::kNone) {
      set_time(line, delay + (captured ? record.rnr_naks.front() - plan_.start : 0));
      return;
    }
    const std::size_t node = named_.index_of(record.responder.address);
    labels_.refer_to(line, node, before, true);
    line.time = delay;
  }

  std::uint8_t rnr_timer_code(const PlannedConnection& connection) const {
    return connection.rnr_timer_code.value_or(static_cast<std::uint8_t>(options_.min_rnr_timer));
  }

  // Sends.
  void write_message(std::size_t place) {
    const PlannedMessage& message = plan_.messages[place];
    const CapturedMessage& record = *message.record;
    Operation line;
    line.reset(Verb::kPostSend);
    line.node = named_.node(record.requester.address);
    line.object = named_.qp(message.connection, message.side);
    line.opcode = static_cast<SendOpcode>(record.opcode);
    // A damaged packet may ask for an event that its opcode does not know.
    const bool may_solicit = (trace::opcode_row(line.opcode)->flags & kSolicited) != 0;
    if (record.solicited && may_solicit) line.flags |= kSolicited;
    set_buffer(line, length_of(record), 0);
    set_arguments(line, place, record);
    set_timing(line, place);
    if (message.refused()) writer_.comment(describe_refusal(message));
    writer_.write(line);
    ++result_.sends;
    if (message.uses_receive()) write_receive_ahead(message);
    write_next_registration(place);
  }

  void write_receive_ahead(const PlannedMessage& message) {
    const std::size_t next = message.receive_place + options_.max_recv_wr;
    const auto& received = plan_.connections[message.connection].received[message.side];
    if (next < received.size()) write_receive(message.connection, message.side, next);
  }

  void set_buffer(Operation& line, std::uint64_t length, std::uint64_t offset) const {
    if (length != 0) line.add_sge({default_mr_, static_cast<std::uint32_t>(length), offset});
  }

  void set_arguments(Operation& line, std::size_t place, const CapturedMessage& record) const {
    if (record.imm) line.set(Arg::kImm, *record.imm);
    if (record.opcode == hw::WrOpcode::kSendWithInv) {
      line.set(Arg::kInvalidate, named_.region(regions_.region_of(place)));
    }
    if (hw::has_remote_address(record.opcode)) set_remote(line, place, record);
    if (record.opcode == hw::WrOpcode::kAtomicCmpAndSwp) {
      line.set(Arg::kCompare, record.compare);
      line.set(Arg::kSwap, record.swap_add);
    }
    if (record.opcode == hw::WrOpcode::kAtomicFetchAndAdd) line.set(Arg::kAdd, record.swap_add);
  }

  void set_remote(Operation& line, std::size_t place, const CapturedMessage& record) const {
    const Failure failure = failure_of(plan_.messages[place]);
    if (failure == Failure::kNoRights) {
      line.set(Arg::kRemoteMr, no_rights_);
      line.set(Arg::kRemoteOffset, 0);
      return;
    }
    std::uint64_t offset = regions_.offset_of(place, record);
    if (failure == Failure::kMisaligned) offset |= 1;
    line.set(Arg::kRemoteMr, named_.region(regions_.region_of(place)));
    line.set(Arg::kRemoteOffset, offset);
  }

  void set_timing(Operation& line, std::size_t place) {
    const PlannedMessage& message = plan_.messages[place];
    const std::size_t node = named_.index_of(message.record->requester.address);
    if (options_.timing == TimingPolicy::kCaptured) {
      set_time(line, message.time);
    } else if (message.after == PlannedMessage::kNone) {
      set_time(line, 0);
    } else {
      labels_.refer_to(line, node, message.after, message.after_receive);
    }
    labels_.give(line, node, place, false);
  }

  void set_time(Operation& line, hw::Time time) const {
    line.timing = Timing::kAt;
    line.time = std::max<hw::Time>(time + lead_, 0);  // stamps may step back
  }

  const ImportOptions& options_;
  NameTable names_;
  ReplayPlan plan_;
  RegionMap regions_;
  TraceNames named_;
  TraceLabels labels_;
  std::vector<std::size_t> successor_;  // by place: see write_next_registration
  hw::Time lead_;                       // from the epoch to the first send
  NameId default_mr_ = kNoName;
  NameId no_rights_ = kNoName;
  std::uint64_t buffer_bytes_ = 0;  // of the region that all local buffers are in
  ImportResult result_;
  TraceWriter writer_;
};

}  // namespace

ImportResult trace_from_capture(const CaptureAnalysis& analysis, const ImportOptions& options,
                                const std::filesystem::path& trace) {
  return TraceMaker(analysis, options, trace).run();
}

}  // namespace hcasim::sim
