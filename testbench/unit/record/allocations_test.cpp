// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Recording takes no memory from the heap once it has seen its peak.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "folder.hpp"
#include "pair.hpp"

namespace {
std::size_t allocations = 0;
}

// Not inlined: the compiler would then see free() meet what it believes to be new's memory.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace hcasim::sim::test {
namespace {

/// A stream of messages, 16 at a time under way, of several opcodes and a latency that varies.
class Stream {
 public:
  explicit Stream(const std::string& csv) : pair_(csv) {}

  void run(std::uint64_t batches) {
    for (std::uint64_t i = 0; i < batches; ++i) batch();
  }

 private:
  void batch() {
    now_ += 2000;
    for (int i = 0; i < 16; ++i) pair_.receive_posted(now_);
    std::uint64_t messages[16];
    for (std::uint64_t& message : messages) {
      message = pair_.post(i_++ % 5 == 0 ? WrOpcode::kRdmaRead : WrOpcode::kSend, 64, now_);
      pair_.sent(message, now_);
      pair_.received(message, now_ + 500);
    }
    for (int i = 0; i < 16; ++i) pair_.receive_polled(64, now_ + 600);
    for (const std::uint64_t message : messages) {
      pair_.acknowledged(message, now_ + 700);
      pair_.send_cqe(message, now_ + 900);
      pair_.send_polled(polled_, now_ + 1000 + static_cast<Time>(polled_ % 900));
      ++polled_;
    }
  }

  Pair pair_;
  Time now_ = 0;
  std::uint64_t i_ = 0;
  std::uint64_t polled_ = 0;
};

std::size_t allocations_after_warm_up(const std::string& csv) {
  Stream stream(csv);
  stream.run(2000);
  const std::size_t before = allocations;
  stream.run(2000);
  return allocations - before;
}

TEST(Allocations, NoneAfterTheFirstMessages) {
  EXPECT_EQ(allocations_after_warm_up(""), 0u);
}

TEST(Allocations, NoneWithACsvEither) {
  const Folder folder;
  EXPECT_EQ(allocations_after_warm_up(folder / "c.csv"), 0u);
}

TEST(Allocations, SlotsOfFinishedMessagesServeAgain) {
  RecordStore store;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t message = store.open();
    EXPECT_NE(message, 0u);
    store.close(*store.find(message), 0);
    EXPECT_EQ(store.find(message), nullptr);
  }
  EXPECT_EQ(store.capacity(), 1024u);
}

TEST(Allocations, ManyMessagesUnderWayAtOnceAreAllKnown) {
  RecordStore store;
  std::vector<std::uint64_t> messages;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    messages.push_back(store.open());
    store.find(messages.back())->wqe = i;
  }
  for (std::uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(store.find(messages[i])->wqe, i);
  EXPECT_EQ(store.find(0), nullptr);
  EXPECT_EQ(store.find(~std::uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace hcasim::sim::test
