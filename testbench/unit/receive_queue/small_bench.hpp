// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <vector>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::testbench {

/// A model with neighbours that accept everything and a memory that answers when told to.
class SmallBench {
 public:
  explicit SmallBench(const hw::rq::Parameters& parameters = {}) : model(parameters) {}

  /// One cycle with these inputs; what the outputs of that cycle held is noted.
  void cycle(hw::rq::Inputs in = {}) {
    const hw::rq::Outputs& out = model.outputs();
    if (out.event_valid && in.event_ready) events.push_back(out.event);
    if (out.take_rsp_valid && in.take_rsp_ready) answers.push_back(out.take_rsp);
    if (out.dma_req_valid && in.dma_req_ready) requests.push_back(out.dma_req);
    if (out.cmd_rsp_valid && in.cmd_rsp_ready) command_answers.push_back(out.cmd_rsp);
    model.step(now++, in);
  }

  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

  hw::rq::CommandAnswer command(const hw::rq::Command& command) {
    hw::rq::Inputs in;
    in.cmd_valid = true;
    in.cmd = command;
    cycle(in);
    const std::size_t before = command_answers.size();
    for (unsigned i = 0; i < 100 && command_answers.size() == before; ++i) cycle();
    EXPECT_EQ(command_answers.size(), before + 1) << "no answer to a command";
    return command_answers.empty() ? hw::rq::CommandAnswer{} : command_answers.back();
  }

  hw::rq::CommandAnswer init(std::uint32_t queue, unsigned size, unsigned head,
                             unsigned stride = 64) {
    hw::rq::Command c;
    c.op = hw::rq::CommandOp::kInit;
    c.queue = queue;
    c.base = base(queue);
    c.size = static_cast<std::uint16_t>(size);
    c.head = static_cast<std::uint16_t>(head);
    c.stride = static_cast<std::uint16_t>(stride);
    return command(c);
  }

  hw::rq::CommandAnswer simple(hw::rq::CommandOp op, std::uint32_t queue, unsigned limit = 0,
                               std::uint32_t arm = 0) {
    hw::rq::Command c;
    c.op = op;
    c.queue = queue;
    c.limit = static_cast<std::uint16_t>(limit);
    c.arm = arm;
    return command(c);
  }

  static hw::rq::Inputs take(std::uint32_t queue, std::uint32_t tag,
                             hw::rq::TakeKind kind = hw::rq::TakeKind::kTake) {
    hw::rq::Inputs in;
    in.take_valid = true;
    in.take = {queue, tag, kind};
    return in;
  }

  static hw::rq::Inputs doorbell(std::uint32_t queue, unsigned head) {
    hw::rq::Inputs in;
    in.doorbell_valid = true;
    in.doorbell = {queue, static_cast<std::uint16_t>(head)};
    return in;
  }

  static hw::rq::Inputs beat(unsigned tag, bool last, bool error = false) {
    hw::rq::Inputs in;
    in.dma_rsp_valid = true;
    in.dma_rsp.tag = static_cast<std::uint8_t>(tag);
    in.dma_rsp.last = last;
    in.dma_rsp.error = error;
    return in;
  }

  /// Answers every request, and those that follow, until none is left.
  void answer_all() {
    for (run(4); !requests.empty(); run(4)) {
      const hw::rq::DmaRequest request = requests.front();
      requests.pop_front();
      for (unsigned done = 0; done < request.bytes; done += hw::rq::kBeatBytes) {
        cycle(beat(request.tag, done + hw::rq::kBeatBytes >= request.bytes));
      }
    }
  }

  static std::uint64_t base(std::uint32_t queue) { return (std::uint64_t{queue} + 1) << 20U; }

  hca::ReceiveQueueModel model;
  hca::Cycle now = 0;
  std::deque<hw::rq::DmaRequest> requests;
  std::vector<hw::rq::TakeBeat> answers;
  std::vector<hw::rq::Event> events;
  std::vector<hw::rq::CommandAnswer> command_answers;
};

}  // namespace hcasim::testbench
