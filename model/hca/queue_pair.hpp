// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "hca/pool.hpp"
#include "hca/services.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wire/psn.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

struct FetchBuffer;
struct InFlight;
struct Replay;
struct Response;
struct SharedQueue;
struct TakenWqe;

/// A position in a ring: the slot, and how many slots were passed since the ring began.
struct RingPointer {
  std::uint64_t count = 0;
  std::uint32_t slot = 0;

  void advance(std::uint32_t steps, std::uint32_t size) {
    count += steps;
    slot += steps;
    if (slot >= size) slot -= size;
  }
};

/// The message that the requester is cutting into packets: that of the WQE at the front.
struct Message {
  hw::SendWqeControl control{};
  std::uint64_t tag = 0;     ///< its number for the observer
  std::uint32_t offset = 0;  ///< bytes already in packets
  bool open = false;
};

/// The send side of a queue pair. done <= send <= fetch <= head around the ring.
struct SendState {
  RingPointer head;                     ///< posted up to here
  RingPointer fetch;                    ///< asked for up to here
  RingPointer send;                     ///< WQE that is cut into packets, or the next one
  RingPointer done;                     ///< oldest WQE without completion
  PoolList<FetchBuffer> buffers;        ///< fetch buffers from `send` on
  const std::uint8_t* front = nullptr;  ///< WQE at `send`, null while it is not on chip
  hw::Time front_arrival = 0;           ///< since when it has been there
  std::uint32_t fetches = 0;            ///< fetch buffers still under way
  PoolList<InFlight> in_flight;         ///< what was begun and is not done, the oldest first
  InFlight* repeat = nullptr;           ///< is to be sent again next; null: all was sent
  Message message;
  hw::Time timer_deadline = hw::kNever;
  hw::Time rnr_until = 0;
  std::uint32_t next_psn = 0;     ///< of the next packet
  std::uint32_t unacked_psn = 0;  ///< oldest PSN that is not acknowledged
  std::uint32_t repeat_end = 0;   ///< while it repeats: PSN behind all that was ever sent
  std::uint32_t ssn = 1;          ///< of the next WQE
  std::uint32_t ssn_begun = 0;    ///< highest SSN that was ever begun
  std::uint32_t lsn = 0;          ///< highest SSN that credits allow, less one
  std::uint32_t packets_without_request = 0;
  std::uint16_t gathers = 0;  ///< packets in the transmit queue, messages of UC and UD that leave
  std::uint8_t rd_outstanding = 0;
  std::uint8_t retry = 0;
  std::uint8_t rnr_retry = 0;
  bool unlimited_credit = false;
  bool fetch_queued = false;
  bool active = false;  ///< in the scheduler's ring
  bool rnr_wait = false;
  bool response_lost = false;  ///< a READ or atomic was asked for again: no answer to it yet
  bool timer_pending = false;  ///< an event of the timer is scheduled
};

/// What kind of message the responder is receiving.
enum class Receiving : std::uint8_t { kNothing, kSend, kWrite };

/// What keeps the responder of a QP from its next packet.
enum class Waiting : std::uint8_t { kNothing, kTake, kAtomic, kTranslation };

/// The receive side of a queue pair.
struct ReceiveState {
  fabric::Packet* pending_first = nullptr;  ///< arrived, waiting for their turn
  fabric::Packet* pending_last = nullptr;
  std::uint64_t write_addr = 0;
  std::uint64_t message = 0;  ///< observer's number
  std::uint32_t write_rkey = 0;
  std::uint32_t write_left = 0;
  std::uint32_t received = 0;  ///< bytes of the message in hand
  std::uint32_t expected_psn = 0;
  std::uint32_t msn = 0;
  TakenWqe* rwqe = nullptr;        ///< receive WQE in hand
  Replay* replay = nullptr;        ///< answers of recent atomics
  std::uint32_t rq_head = 0;       ///< of the own ring, as of the last doorbell
  std::uint32_t rq_remaining = 0;  ///< receive WQEs known to be posted
  PoolList<Response> responses;
  std::uint32_t responses_due = 0;  ///< READs and atomics not answered yet
  std::uint16_t gathers = 0;        ///< response packets in the transmit queue
  Receiving receiving = Receiving::kNothing;
  Waiting waiting = Waiting::kNothing;
  bool nak_sent = false;  ///< nothing more is said until the expected packet comes
  bool rq_ready = false;  ///< the own receive queue was handed to the unit
  bool comm_est = false;
  bool respond_active = false;
  bool silent = false;  ///< stopped by software, or a NAK ended it: no answer is sent any more
};

/// Why a queue pair is being stopped.
enum class Stop : std::uint8_t { kNothing, kError, kErrorByCommand, kReset };

/// A number that the receive-queue unit does not know: it has fewer than 2^24 queues.
inline constexpr std::uint32_t kNoReceiveQueue = 0xff'ffff;

/// A queue pair on the adapter.
struct QueuePair {
  hw::QpContext context{};
  Service service = service_of(hw::QpType::kRc);
  fabric::PacketHeaders headers;  ///< what all packets of the queue pair begin with
  SendState send;
  ReceiveState receive;
  SharedQueue* srq = nullptr;  ///< where receives come from instead of an own queue
  std::uint32_t rq_number =
      kNoReceiveQueue;      ///< in the receive-queue unit, of the own queue or SRQ
  std::uint32_t rq_pd = 0;  ///< domain of the regions that receives name
  std::uint32_t tail_at_stop = 0;
  fabric::Packet* held_first = nullptr;  ///< arrived, waiting for the context; before all pending
  fabric::Packet* held_last = nullptr;
  std::uint32_t lookups = 0;   ///< its context or something it needs is being read, so often
  Stop stop = Stop::kNothing;  ///< under way
  bool held = false;           ///< packets that arrive wait
  std::uint8_t port = 0;       ///< bound to it, from 0: what comes in at others is not for it
  std::uint8_t out_port = 0;   ///< its packets leave by it; of UD the one of the latest address

  /// Takes over a context, with the addresses that its packets carry.
  void set_context(const hw::QpContext& from) {
    context = from;
    service = service_of(from.type);
    set_address(headers, from.av, from.remote_qpn);
    headers.src_qp = from.qpn;
    headers.qkey = from.qkey;
    port = static_cast<std::uint8_t>(from.port == 0 ? 0 : from.port - 1);
    if (!datagram()) out_port = port;
  }
  static void set_address(fabric::PacketHeaders& headers, const hw::AddressVector& av,
                          std::uint32_t qpn) {
    fabric::Addressing& address = headers.address;
    address.src_mac = av.smac;
    address.dst_mac = av.dmac;
    address.src_gid = av.sgid;
    address.dst_gid = av.dgid;
    address.udp_src_port = av.udp_sport;
    address.traffic_class = av.traffic_class;
    address.hop_limit = av.hop_limit;
    headers.dest_qp = qpn;
  }
  /// RC: everything is acknowledged.
  bool reliable() const { return context.type == hw::QpType::kRc; }
  /// UD: each work request says where it goes.
  bool datagram() const { return context.type == hw::QpType::kUd; }
  std::uint32_t mtu() const { return 1u << mtu_shift(); }
  unsigned mtu_shift() const { return 7u + context.path_mtu; }
  bool receives() const {
    return context.state >= hw::QpState::kRtr && context.state <= hw::QpState::kSqe;
  }
  /// May begin the next work request: in SQD only one that was begun before and is to be repeated.
  bool begins() const {
    return context.state == hw::QpState::kRts ||
           (context.state == hw::QpState::kSqd && hw::psn_distance(send.ssn_begun, send.ssn) <= 0);
  }
  /// A packet of this PSN, not before `next_psn`, was sent once and is to be sent again.
  bool repeats(std::uint32_t psn) const {
    return send.repeat != nullptr && hw::psn_before(psn, send.repeat_end);
  }
  bool flushes() const {
    return context.state == hw::QpState::kErr || context.state == hw::QpState::kSqe;
  }
};

}  // namespace hcasim::hca
