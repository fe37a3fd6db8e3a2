// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The work request of a line: opcode, flags, buffer, operands, place at the peer.
#pragma once

#include <cstdint>

#include <hcasim/sim/trace_operation.hpp>
#include "sim/import/tracepoint_plan.hpp"

namespace hcasim::sim {

/// Regions that every node of the trace has.
struct RegionNames {
  NameId buffers = kNoName;    ///< with all rights; local and remote buffers are in it
  NameId no_rights = kNoName;  ///< for what is to be refused
};

/// A buffer of one element; none for 0 bytes.
void set_buffer(Operation& line, NameId mr, std::uint64_t length, std::uint64_t offset);

/// A post of the file. @param receive that it ended in, or null
void fill_request(Operation& line, const PlannedSend& send, const SeenReceive* receive,
                  const RegionNames& regions);

/// What a peer that is made up sends for a receive of the file.
void fill_made_up(Operation& line, const SeenReceive& receive, bool datagram,
                  const RegionNames& regions);

}  // namespace hcasim::sim
