// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

namespace hcasim::pcie {

/// A generic payload that knows what its initiator calls the transaction.
class PooledPayload : public tlm::tlm_generic_payload {
 public:
  std::uint64_t token = 0;
};

/// Generic payloads for one initiator. It grows to the number that is under way at most.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  /// One reference, for the caller to release; command, address and bytes set, and all else as the
  /// base protocol wants it of a new transaction.
  PooledPayload& acquire(tlm::tlm_command command, std::uint64_t address, void* data,
                         std::uint32_t bytes);
  void free(tlm::tlm_generic_payload* payload) override;

  /// Payloads that somebody holds a reference to.
  std::size_t in_use() const { return payloads_.size() - free_.size(); }
  /// Payloads ever made.
  std::size_t capacity() const { return payloads_.size(); }

 private:
  std::vector<std::unique_ptr<PooledPayload>> payloads_;
  std::vector<PooledPayload*> free_;
};

}  // namespace hcasim::pcie
