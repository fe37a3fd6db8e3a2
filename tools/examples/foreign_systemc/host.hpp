// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A host that knows nothing of hcasim but its hardware contract (hcasim/hw) and TLM-2.0.

#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <hcasim/hw/layout.hpp>
#include <hcasim/model/pcie/transactions.hpp>
#include <stdexcept>
#include <systemc>
#include <tlm>
#include <vector>

/// Memory that the adapter reads and writes, and to whose interrupt address it writes its MSI-X
/// messages. The adapter speaks the non-blocking protocol and wants a write to be answered within
/// the call: the delay says from when on it can be seen.
class Memory : public sc_core::sc_module {
 public:
  explicit Memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name), bytes_(kBytes) {
    socket.register_nb_transport_fw(this, &Memory::transport);
  }

  tlm_utils::simple_target_socket<Memory> socket{"socket"};
  sc_core::sc_event interrupt{"interrupt"};

  // What the CPU of this host sees. Structures in memory are the C++ structs of hcasim/hw.
  template <typename T>
  T load(std::uint64_t address) const {
    return hcasim::hw::load<T>(&bytes_.at(address));
  }
  template <typename T>
  void store(std::uint64_t address, const T& value) {
    hcasim::hw::store(&bytes_.at(address), value);
  }

 private:
  static constexpr std::uint64_t kBytes = 1 << 20;

  tlm::tlm_sync_enum transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    if (payload.is_write() && address == hcasim::pcie::kMsixAddress) {
      // PCIe keeps posted writes in order: once the interrupt is there, so is all before it.
      interrupt.notify(delay);
    } else if (address > kBytes || length > kBytes - address) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else if (payload.is_write()) {
      std::memcpy(&bytes_[address], payload.get_data_ptr(), length);
    } else {
      std::memcpy(payload.get_data_ptr(), &bytes_[address], length);
    }
    return tlm::TLM_COMPLETED;
  }

  std::vector<std::uint8_t> bytes_;
};

/// Registers, as a CPU reaches them: each access is one blocking transaction. Addresses are offsets
/// into the adapter's BAR.
class Registers : public sc_core::sc_module {
 public:
  explicit Registers(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}

  tlm_utils::simple_initiator_socket<Registers> socket{"socket"};

  void write(std::uint64_t offset, std::uint64_t value) {
    access(tlm::TLM_WRITE_COMMAND, offset, value);
  }
  std::uint64_t read(std::uint64_t offset) {
    std::uint64_t value = 0;
    access(tlm::TLM_READ_COMMAND, offset, value);
    return value;
  }

 private:
  void access(tlm::tlm_command command, std::uint64_t offset, std::uint64_t& value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (payload.is_response_error()) throw std::runtime_error(payload.get_response_string());
    sc_core::wait(delay);
  }
};
