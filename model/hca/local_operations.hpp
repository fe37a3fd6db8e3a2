// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hca/core.hpp"
#include "hcasim/hw/cqe.hpp"
#include "pcie/dma.hpp"

namespace hcasim::hca {

/// Work requests that do not leave the adapter: LOCAL_INV and REG_MR. Each is the oldest of its
/// queue pair when it starts, and nothing of the queue is begun before it ends. A REG_MR reads the
/// region's translation table anew; one at a time.
class LocalOperations final : public pcie::DmaClient {
 public:
  explicit LocalOperations(Core& core) : core_(core) {}

  /// Carries out the WQE of the queue pair's oldest work request; Requester::local_done follows.
  void start(QueuePair& qp, const std::uint8_t* wqe);
  /// REG_MRs that were ever begun, and those of them that are over.
  std::uint64_t begun() const { return ended_ + waiting_.size(); }
  std::uint64_t ended() const { return ended_; }
  void on_dma_read(std::uint64_t token, bool error) override;

 private:
  struct Work {
    std::uint32_t qpn = 0;
    std::uint32_t current_key = 0;
    std::uint32_t new_key = 0;
    std::uint32_t access = 0;
    std::uint32_t length = 0;
    std::uint32_t entries = 0;
    std::uint32_t first_offset = 0;
    std::uint64_t iova = 0;
  };

  hw::WcStatus invalidate(const QueuePair& qp, std::uint32_t key);
  void next();
  void read_more();
  void finish(bool done);

  Core& core_;
  Fifo<Work> waiting_;
  std::vector<std::uint64_t> pages_;
  std::uint32_t read_ = 0;  // entries
  std::uint64_t ended_ = 0;
  bool busy_ = false;
};

}  // namespace hcasim::hca
