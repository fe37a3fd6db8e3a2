// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/tlp_layout.hpp"

namespace hcasim::pcie {

TlpLayout::Total TlpLayout::completions_of_all(std::uint64_t address, std::uint32_t bytes) const {
  std::uint32_t tlps = 0;
  for (std::uint32_t left = bytes; left != 0;) {
    const std::uint32_t request = first_read(address, left);
    tlps += completions_of_request(address, request);
    address += request;
    left -= request;
  }
  return {tlps, bytes + tlps * cpld_};
}

std::uint32_t TlpLayout::data_credits_of_pages(std::uint64_t address, std::uint32_t bytes) {
  std::uint32_t credits = 0;
  for (std::uint32_t page = to_boundary(address); bytes != 0; page = kBoundary) {
    const std::uint32_t part = std::min(bytes, page);
    // Every TLP but the last of a page is full, and a full one is a whole number of credits.
    credits += up(part, kCreditShift);
    bytes -= part;
  }
  return credits;
}

}  // namespace hcasim::pcie
