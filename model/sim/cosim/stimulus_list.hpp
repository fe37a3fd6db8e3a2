// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hcasim/hw/receive_queue_ports.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cosim/operation.hpp"

namespace hcasim::sim::cosim {

/// What a unit is driven with: a list of operations, and the size of the unit that it is meant for.
/// As text, one operation a line:
///
///     hcasim-receive-queue-stimulus 1
///     # why this file exists
///     parameters queues=64 takes=16 prefetch=8 tags=32 fetch_bytes=512 lines=64 events=8
///     init queue=0 size=4 stride=64 head=0 offset=0
///     post queue=0 slots=2
///     wait cycles=10
struct StimulusList {
  hw::rq::Parameters parameters;
  std::vector<Operation> operations;

  friend bool operator==(const StimulusList&, const StimulusList&) = default;
};

/// One line, without its end.
std::string to_text(const Operation& operation);

/// The whole file. @param remark lines of comment below the first line; may be empty
std::string to_text(const StimulusList& list, std::string_view remark = {});

/// Reads a whole file. @param name stands in error texts
/// @throws InputError
StimulusList read_stimulus(std::string_view text, const std::string& name);

/// Reads the file at `path`, or stdin if it is `-`. @throws InputError
StimulusList load_stimulus(const std::string& path);

}  // namespace hcasim::sim::cosim
