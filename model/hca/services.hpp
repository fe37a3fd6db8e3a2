// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <initializer_list>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/wire/opcode.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

/// What follows from the type of a queue pair: its opcodes on the wire, and what it can be asked.
struct Service {
  hw::Transport transport = hw::Transport::kRc;
  std::uint32_t data_offset = 0;  ///< of the data in a send WQE that sends or writes
  std::uint64_t operations = 0;   ///< bit n: the send opcode with value n

  bool has(hw::WrOpcode opcode) const {
    const auto value = static_cast<unsigned>(opcode);
    return value < 64 && (operations >> value & 1) != 0;
  }
  /// True when a packet is of this service, for services differ in the top three bits.
  bool carries(hw::BthOpcode opcode) const {
    return (static_cast<unsigned>(opcode) ^ static_cast<unsigned>(transport)) < 0x20;
  }
  /// The opcode of this service for the operation of an RC one.
  hw::BthOpcode on_wire(hw::BthOpcode rc) const {
    return static_cast<hw::BthOpcode>(static_cast<std::uint8_t>(rc) |
                                      static_cast<std::uint8_t>(transport));
  }
};

constexpr std::uint64_t operation_bits(std::initializer_list<hw::WrOpcode> opcodes) {
  std::uint64_t bits = 0;
  for (const hw::WrOpcode opcode : opcodes) bits |= std::uint64_t{1} << static_cast<int>(opcode);
  return bits;
}

inline constexpr std::uint64_t kDatagramOperations =
    operation_bits({hw::WrOpcode::kSend, hw::WrOpcode::kSendWithImm});
inline constexpr std::uint64_t kConnectedOperations =
    kDatagramOperations | operation_bits({hw::WrOpcode::kRdmaWrite, hw::WrOpcode::kRdmaWriteWithImm,
                                          hw::WrOpcode::kLocalInv, hw::WrOpcode::kRegMr});
inline constexpr std::uint64_t kReliableOperations =
    kConnectedOperations |
    operation_bits({hw::WrOpcode::kRdmaRead, hw::WrOpcode::kAtomicCmpAndSwp,
                    hw::WrOpcode::kAtomicFetchAndAdd, hw::WrOpcode::kSendWithInv});

/// Table of work request operations by transport service type (InfiniBand specification 10.8.2).
constexpr Service service_of(hw::QpType type) {
  const std::uint32_t data_offset = hw::send_wqe_data_offset(hw::WrOpcode::kSend, type);
  switch (type) {
    case hw::QpType::kRc:
      return {hw::Transport::kRc, data_offset, kReliableOperations};
    case hw::QpType::kUc:
      return {hw::Transport::kUc, data_offset, kConnectedOperations};
    default:
      return {hw::Transport::kUd, data_offset, kDatagramOperations};
  }
}

}  // namespace hcasim::hca
