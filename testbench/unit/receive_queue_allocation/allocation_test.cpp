// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Once its queues are initialised the model allocates nothing, and an idle queue stays small.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace hcasim::testbench {
namespace {

using namespace hw::rq;

TEST(ReceiveQueueAllocation, NoneAfterInit) {
  Parameters parameters;
  parameters.queues = 200;
  hca::ReceiveQueueModel model(parameters);
  hca::Cycle n = 0;
  const auto step = [&](const Inputs& in) { model.step(n++, in); };
  for (std::uint32_t queue = 0; queue < parameters.queues; ++queue) {
    Inputs in;
    in.cmd_valid = true;
    in.cmd.op = CommandOp::kInit;
    in.cmd.queue = queue;
    in.cmd.size = 100;
    in.cmd.stride = 256;
    in.cmd.head = 20;
    step(in);
    for (unsigned i = 0; i < 4; ++i) step({});
  }
  const std::size_t before = allocations;
  Inputs in;
  for (unsigned i = 0; i < 100'000; ++i) {
    const Outputs& out = model.outputs();
    in.take_valid = in.dma_rsp_valid = in.doorbell_valid = true;
    in.take = {i % 211, i, i % 7 == 0 ? TakeKind::kPeek : TakeKind::kTake};
    in.doorbell = {i % 203, static_cast<std::uint16_t>(20 + i / 300 % 80)};
    in.dma_rsp.tag = static_cast<std::uint8_t>(i / 8 % 32);
    in.dma_rsp.last = i % 8 == 7;
    in.cmd_valid = i % 50 == 0;
    in.cmd.op = CommandOp::kQuery;
    in.take_rsp_ready = out.take_rsp_valid;
    step(in);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(model.counters().takes_ok, 100U);
}

TEST(ReceiveQueueAllocation, QueueCostsLittleAndOnlyWhenInitialised) {
  static_assert(sizeof(hca::RqQueue) <= 64);
  Parameters parameters;
  parameters.queues = 1U << 24U;
  const std::size_t before = allocations;
  hca::ReceiveQueueModel model(parameters);
  EXPECT_LT(allocations - before, 16U);
}

}  // namespace
}  // namespace hcasim::testbench
