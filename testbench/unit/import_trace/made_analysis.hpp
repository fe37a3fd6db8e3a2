// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What an import found in a capture, made by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace_file.hpp"

namespace hcasim::sim {

using hw::kMicrosecond;
using Lines = std::vector<std::string>;

inline Endpoint host(std::uint8_t last, std::uint32_t qpn = 17) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}, qpn};
}

/// A capture under construction; messages take 1 us, one after the other unless told otherwise.
struct Capture {
  CaptureAnalysis analysis;

  CapturedMessage& add(hw::WrOpcode opcode, std::uint64_t bytes, Endpoint from = host(1),
                       Endpoint to = host(2)) {
    CapturedMessage record;
    record.opcode = opcode;
    record.bytes = bytes;
    record.requester = from;
    record.responder = to;
    record.outcome = MessageOutcome::kCompleted;
    record.first_frame = analysis.records.size() + 1;
    record.first_psn = static_cast<std::uint32_t>(100 + analysis.records.size());
    record.first_packet = static_cast<hw::Time>(analysis.records.size() + 5) * kMicrosecond;
    record.completed = record.first_packet + kMicrosecond / 2;
    record.accepted = record.completed;
    analysis.records.push_back(record);
    return analysis.records.back();
  }
  CapturedMessage& refuse(hw::WrOpcode opcode, std::uint64_t bytes, hw::NakCode code) {
    CapturedMessage& record = add(opcode, bytes);
    record.outcome = MessageOutcome::kRefused;
    record.refused_with = code;
    record.completed.reset();
    record.accepted.reset();
    return record;
  }
};

inline test::TraceFile convert(const Capture& capture, const ImportOptions& options = {}) {
  return {capture.analysis, options};
}

}  // namespace hcasim::sim
