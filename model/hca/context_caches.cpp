// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/context_caches.hpp"

#include <bit>

namespace hcasim::hca {

namespace {

// Regions whose numbers are the same modulo this share a place, as only the traffic is modelled.
constexpr std::uint64_t kProtectionPlaces = 4096;

std::uint64_t qp_bytes(const Parameters& parameters) {
  return std::bit_ceil(std::uint64_t{parameters.device.max_qp}) * parameters.qpc_cache.entry_bytes;
}
std::uint64_t cq_bytes(const Parameters& parameters) {
  return std::bit_ceil(std::uint64_t{parameters.device.max_cq}) * parameters.cqc_cache.entry_bytes;
}

}  // namespace

std::uint64_t ContextCaches::area_bytes() const {
  return std::bit_ceil(qp_bytes(parameters) + cq_bytes(parameters) +
                       kProtectionPlaces * parameters.mpt_cache.entry_bytes);
}

// The largest contexts first, for each part is aligned to one of its own.
void ContextCaches::set_area(std::uint64_t base) {
  const bool on = base != 0;
  const std::uint64_t cqs = base + qp_bytes(parameters);
  qpc.set_area(on, base, std::bit_ceil(std::uint64_t{parameters.device.max_qp}));
  cqc.set_area(on, cqs, std::bit_ceil(std::uint64_t{parameters.device.max_cq}));
  translation.mpt().set_area(on, cqs + cq_bytes(parameters), kProtectionPlaces);
  translation.mtt().set_area(on, 0, std::uint64_t{1} << 63);
}

}  // namespace hcasim::hca
