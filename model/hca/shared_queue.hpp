// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/queue_pair.hpp"
#include "hcasim/hw/contexts.hpp"

namespace hcasim::hca {

/// A shared receive queue on the adapter.
struct SharedQueue {
  hw::SrqContext context{};
  std::uint32_t rq_number = kNoReceiveQueue;  ///< in the receive-queue unit
  std::uint32_t users = 0;                    ///< queue pairs that take from it
  std::uint32_t take_tag = 0;                 ///< of the driver's latest take
};

}  // namespace hcasim::hca
