// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/text.hpp"

#include <array>
#include <charconv>

namespace hcasim::sim {

std::string_view name_of(hw::WcStatus status) {
  switch (status) {
    case hw::WcStatus::kSuccess:
      return "SUCCESS";
    case hw::WcStatus::kLocLenErr:
      return "LOC_LEN_ERR";
    case hw::WcStatus::kLocQpOpErr:
      return "LOC_QP_OP_ERR";
    case hw::WcStatus::kLocProtErr:
      return "LOC_PROT_ERR";
    case hw::WcStatus::kWrFlushErr:
      return "WR_FLUSH_ERR";
    case hw::WcStatus::kBadRespErr:
      return "BAD_RESP_ERR";
    case hw::WcStatus::kLocAccessErr:
      return "LOC_ACCESS_ERR";
    case hw::WcStatus::kRemInvReqErr:
      return "REM_INV_REQ_ERR";
    case hw::WcStatus::kRemAccessErr:
      return "REM_ACCESS_ERR";
    case hw::WcStatus::kRemOpErr:
      return "REM_OP_ERR";
    case hw::WcStatus::kRetryExcErr:
      return "RETRY_EXC_ERR";
    case hw::WcStatus::kRnrRetryExcErr:
      return "RNR_RETRY_EXC_ERR";
    case hw::WcStatus::kFatalErr:
      return "FATAL_ERR";
    case hw::WcStatus::kGeneralErr:
      return "GENERAL_ERR";
  }
  return "UNKNOWN";
}

std::string_view name_of(hca::Stamp stamp) {
  static constexpr std::array<std::string_view, hca::kStamps> kNames = {
      "posted",          "doorbell_seen",    "wqe_fetched",  "first_packet_out", "last_packet_out",
      "first_packet_in", "rwqe_taken",       "data_visible", "recv_cqe_visible", "recv_polled",
      "acknowledged",    "send_cqe_visible", "send_polled"};
  return kNames[static_cast<std::size_t>(stamp)];
}

std::string_view name_of(QueueKind queue) {
  switch (queue) {
    case QueueKind::kReceive:
      return "receive_queue";
    case QueueKind::kSend:
      return "send_queue";
    case QueueKind::kCompletion:
      return "completion_queue";
  }
  return "unknown";
}

namespace {

// The scale is a constant, for these divisions are most of the cost of a row of the CSV.
template <std::uint64_t scale>
void append_scaled(std::string& text, std::uint64_t parts) {
  std::array<char, 24> buffer;
  const auto whole = std::to_chars(buffer.data(), buffer.data() + buffer.size(), parts / scale);
  text.append(buffer.data(), whole.ptr);
  std::uint64_t rest = parts % scale;
  if (rest == 0) return;
  text += '.';
  for (std::uint64_t digit = scale / 10; rest != 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
}

}  // namespace

void append_decimal(std::string& text, std::int64_t parts, Decimals decimals) {
  if (parts < 0) text += '-';
  const auto bits = static_cast<std::uint64_t>(parts);
  const std::uint64_t size = parts < 0 ? 0 - bits : bits;
  switch (decimals) {
    case Decimals::kNone:
      return append_scaled<1>(text, size);
    case Decimals::kThree:
      return append_scaled<1000>(text, size);
    case Decimals::kSix:
      return append_scaled<1'000'000>(text, size);
  }
}

}  // namespace hcasim::sim
