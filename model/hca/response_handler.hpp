// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "hca/requester.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// The requester's ear: ACKs, NAKs, READ responses and atomic answers; and its clock: the local ACK
/// timeout and the RNR wait. Anything lost is sent again from the oldest missing packet on.
///
/// Each queue pair has one timer, whose event is moved only when it fires too early, so that
/// progress costs nothing.
class ResponseHandler : public sim::Unit {
 public:
  /// mlx5 hw_counters of the requester side.
  struct Counters {
    std::uint64_t packet_seq_err = 0;
    std::uint64_t implied_nak_seq_err = 0;
    std::uint64_t local_ack_timeout_err = 0;
    std::uint64_t rnr_nak_retry_err = 0;
    std::uint64_t req_remote_invalid_request = 0;
    std::uint64_t req_remote_access_errors = 0;
    std::uint64_t req_remote_op_errors = 0;
    std::uint64_t req_transport_retries_exceeded = 0;
    std::uint64_t req_rnr_retries_exceeded = 0;
    std::uint64_t rnr_naks = 0;    ///< rdmavt n_rnr_naks: received
    std::uint64_t ghost_acks = 0;  ///< answers to nothing that is outstanding
  };

  explicit ResponseHandler(Core& core);

  /// An answer came in at the present time. False: translations for its data are being fetched, and
  /// it is to be given again, with `fetched` set, once Responder::fetch_for_answer has done so.
  bool on_response(QueuePair& qp, const fabric::Packet& packet, bool fetched);
  /// A request packet was made.
  void packet_sent(QueuePair& qp);

  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t argument) override;

 private:
  void on_acknowledge(QueuePair& qp, const fabric::Packet& packet);
  void on_nak(QueuePair& qp, const fabric::Packet& packet);
  void on_rnr(QueuePair& qp, const fabric::Packet& packet);
  enum class Scatter : std::uint8_t { kDone, kWait, kFailed };

  bool on_data(QueuePair& qp, const fabric::Packet& packet, bool fetched);
  Scatter scatter(QueuePair& qp, InFlight& node, const fabric::Packet& packet, bool fetched);
  bool acknowledge_before(QueuePair& qp, std::uint32_t psn);
  void advance(QueuePair& qp, std::uint32_t psn);
  void progress(QueuePair& qp);
  void take_credit(QueuePair& qp, const fabric::Packet& packet);
  void response_lost(QueuePair& qp, std::uint32_t psn);
  void retry_from(QueuePair& qp, std::uint32_t psn);
  void restart_timer(QueuePair& qp);
  hw::Time timeout(const QueuePair& qp) const;
  void timer_fired(QueuePair& qp);
  void rnr_over(QueuePair& qp);

  Core& core_;
  Counters counters_;
};

}  // namespace hcasim::hca
