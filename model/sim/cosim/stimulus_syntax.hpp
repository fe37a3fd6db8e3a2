// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What reader and writer of stimulus files share.
#pragma once

#include <hcasim/hw/receive_queue_ports.hpp>
#include <string_view>

namespace hcasim::sim::cosim {

inline constexpr std::string_view kFirstLine = "hcasim-receive-queue-stimulus 1";
inline constexpr std::string_view kParametersWord = "parameters";

struct ParameterField {
  std::string_view name;
  std::uint32_t hw::rq::Parameters::*member;
};

inline constexpr ParameterField kParameterFields[] = {
    {"queues", &hw::rq::Parameters::queues},           {"takes", &hw::rq::Parameters::takes},
    {"prefetch", &hw::rq::Parameters::prefetch},       {"tags", &hw::rq::Parameters::tags},
    {"fetch_bytes", &hw::rq::Parameters::fetch_bytes}, {"lines", &hw::rq::Parameters::lines},
    {"events", &hw::rq::Parameters::events},
};

}  // namespace hcasim::sim::cosim
