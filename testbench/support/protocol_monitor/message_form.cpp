// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/message_form.hpp"

#include <algorithm>

namespace hcasim::monitor {

std::uint32_t psns_of(const fabric::Packet& request, std::uint32_t mtu) {
  if (request.info().operation != hw::Operation::kReadRequest) return 1;
  const std::uint64_t packets = (std::uint64_t{request.reth.length} + mtu - 1) / mtu;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, packets));
}

std::optional<Rule> MessageForm::broken_by(const fabric::Packet& packet) const {
  const hw::OpcodeInfo& info = packet.info();
  const bool goes_on = open_ != hw::Operation::kNone;
  if (info.operation == hw::Operation::kNone || info.response) return Rule::kOpcodeSequence;
  if (info.starts == goes_on) return Rule::kOpcodeSequence;
  if (goes_on && info.operation != open_) return Rule::kOpcodeSequence;
  return length_broken_by(packet);
}

std::optional<Rule> MessageForm::length_broken_by(const fabric::Packet& packet) const {
  const hw::OpcodeInfo& info = packet.info();
  const std::size_t bytes = packet.payload_size();
  if (info.operation == hw::Operation::kReadRequest) {
    if (bytes != 0) return Rule::kPayloadLength;
    if (packet.reth.length > kMaxMessageBytes) return Rule::kDmaLength;
    return std::nullopt;
  }
  const bool data =
      info.operation == hw::Operation::kSend || info.operation == hw::Operation::kWrite;
  if (!data) return bytes == 0 ? std::nullopt : std::optional(Rule::kPayloadLength);
  const bool full = bytes == mtu_;
  const bool fits = info.ends ? bytes <= mtu_ && (info.starts || bytes != 0) : full;
  const std::uint64_t total = (info.starts ? 0 : bytes_) + bytes;
  if (!fits || total > kMaxMessageBytes) return Rule::kPayloadLength;
  if (info.operation == hw::Operation::kSend) return std::nullopt;
  const std::uint64_t promised = info.starts ? packet.reth.length : dma_length_;
  const bool adds_up = info.ends ? total == promised : total < promised;
  return adds_up && promised <= kMaxMessageBytes ? std::nullopt : std::optional(Rule::kDmaLength);
}

void MessageForm::take(const fabric::Packet& packet) {
  const hw::OpcodeInfo& info = packet.info();
  if (info.starts) {
    bytes_ = 0;
    dma_length_ = packet.reth.length;
  }
  bytes_ += packet.payload_size();
  open_ = info.ends ? hw::Operation::kNone : info.operation;
}

void MessageForm::resume(hw::Operation operation, std::uint64_t bytes, std::uint32_t dma_length) {
  open_ = operation;
  bytes_ = bytes;
  dma_length_ = dma_length;
}

}  // namespace hcasim::monitor
