// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/context_cache.hpp"
#include "hca/translation.hpp"

namespace hcasim::hca {

/// The caches of an adapter, and the area in host memory that is behind them: the contexts of queue
/// pairs, those of completion queues, the protection table. Translations lie where the driver put
/// each region's list.
struct ContextCaches {
  ContextCaches(pcie::DmaPort& dma, const Parameters& all)
      : parameters(all),
        qpc(dma, all.qpc_cache, true),
        cqc(dma, all.cqc_cache, true),
        translation(dma, all) {}

  /// What the driver is to provide: a power of two, and the area is aligned to it.
  std::uint64_t area_bytes() const;
  /// 0 takes the area away: all contexts are on chip then.
  void set_area(std::uint64_t base);

  const Parameters& parameters;
  ContextCache qpc;
  ContextCache cqc;
  Translation translation;
};

}  // namespace hcasim::hca
