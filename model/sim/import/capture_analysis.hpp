// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wire/infiniband.hpp"
#include "hcasim/hw/wire/opcode.hpp"
#include "hcasim/hw/wire/syndrome.hpp"
#include "hcasim/hw/wqe.hpp"

/// What a capture of RDMA traffic says about the work requests behind it.
namespace hcasim::sim {

/// One end of a connection.
struct Endpoint {
  hw::Gid address{};
  std::uint32_t qpn = 0;

  // clang-tidy 14 sees a null pointer in a defaulted comparison.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// How a message ended. Each opening packet that is no retransmission begins one message.
enum class MessageOutcome : std::uint8_t {
  kCompleted,   ///< RC: acknowledged or answered; UC, UD: all packets seen in order
  kRefused,     ///< by a NAK that ends the connection
  kUnfinished,  ///< cut off, given up or never answered
};

/// One work request as seen on the wire. Times count from the first record of the capture.
struct CapturedMessage {
  hw::Transport transport = hw::Transport::kRc;
  hw::WrOpcode opcode = hw::WrOpcode::kSend;
  MessageOutcome outcome = MessageOutcome::kUnfinished;
  Endpoint requester;
  Endpoint responder;
  bool requester_qpn_known = false;  ///< false: nothing in the capture tells requester.qpn

  std::uint64_t bytes = 0;        ///< payload; READ: as requested; atomic: 8
  std::uint32_t first_psn = 0;    ///< 24 bits
  std::uint32_t last_psn = 0;     ///< READ: of the last response; unfinished: the last one seen
  std::uint32_t path_mtu = 0;     ///< of the connection, deduced from FIRST and MIDDLE; 0: unknown
  std::uint64_t first_frame = 0;  ///< number of the record with the first packet
  hw::Time first_packet = 0;      ///< when the opening packet was first seen
  std::optional<hw::Time> completed;        ///< of a completed message: when it was known to be
  std::optional<hw::NakCode> refused_with;  ///< of a refused message
  bool solicited = false;                   ///< SE bit of the last packet

  std::optional<std::uint32_t> imm;              ///< immediate data
  std::optional<std::uint32_t> invalidate_rkey;  ///< SEND_WITH_INV
  std::uint64_t remote_addr = 0;                 ///< RDMA and atomics
  std::uint32_t rkey = 0;                        ///< RDMA and atomics
  std::uint64_t compare = 0;                     ///< ATOMIC_CMP_AND_SWP
  std::uint64_t swap_add = 0;                    ///< atomics: the new value, or what to add
  std::uint32_t qkey = 0;                        ///< UD

  std::vector<hw::Time> rnr_naks;  ///< when the message was refused for want of a receive
  std::optional<std::uint8_t> rnr_timer_code;  ///< of the last of rnr_naks
  /// SEND and WRITE_WITH_IMM on RC: the first answer that shows that a receive was taken.
  std::optional<hw::Time> accepted;
};

/// NAK packets by kind, repeated ones included.
struct NakCounts {
  std::uint64_t rnr = 0;
  std::uint64_t psn_sequence = 0;
  std::uint64_t invalid_request = 0;
  std::uint64_t remote_access = 0;
  std::uint64_t remote_operational = 0;

  friend bool operator==(const NakCounts&, const NakCounts&) = default;
};

/// Packets by the result of the check of their ICRC.
struct IcrcCounts {
  std::uint64_t ok = 0;
  std::uint64_t bad = 0;        ///< counted here and otherwise ignored, as a receiver would
  std::uint64_t unchecked = 0;  ///< not wholly captured

  friend bool operator==(const IcrcCounts&, const IcrcCounts&) = default;
};

/// All that an import finds in a capture.
struct CaptureAnalysis {
  std::uint64_t frames = 0;                        ///< records of the file
  std::uint64_t packets = 0;                       ///< RoCEv2 packets among them
  IcrcCounts icrc;                                 ///< adds up to `packets`
  std::map<hw::WrOpcode, std::uint64_t> messages;  ///< completed ones
  std::uint64_t refused = 0;                       ///< messages
  std::uint64_t unfinished = 0;                    ///< messages
  std::uint64_t bytes = 0;                         ///< of completed messages
  std::uint64_t retransmitted = 0;                 ///< request packets whose PSN was seen before
  NakCounts naks;
  std::uint64_t management = 0;                      ///< packets to QP 0 and QP 1
  std::uint64_t not_modelled = 0;                    ///< packets: CNP, XRC, RD, manufacturers'
  std::map<std::string, std::uint64_t> unexplained;  ///< packets by reason
  /// Connections that might be paired otherwise: see Connection::uncertain.
  std::uint64_t uncertain = 0;
  std::vector<Endpoint> endpoints;       ///< that packets were sent to, sorted
  std::vector<CapturedMessage> records;  ///< in the order of their first packets
  std::int64_t start_seconds = 0;        ///< first record, since 1970
  std::int64_t start_nanoseconds = 0;
};

/// How far apart two captures may show the same packet, where nothing else is said.
inline constexpr hw::Time kTwinWindow = hw::kMillisecond;

/// Reads captures and finds the messages in them. Several captures are merged by time; a packet
/// that more than one shows within `window` counts once.
/// @throws fabric::CaptureError when a file cannot be read or its link layer is not known
CaptureAnalysis analyse_captures(std::span<const std::filesystem::path> files,
                                 hw::Time window = kTwinWindow);

/// The same for one capture.
inline CaptureAnalysis analyse_capture(const std::filesystem::path& file) {
  return analyse_captures({&file, 1});
}

}  // namespace hcasim::sim
