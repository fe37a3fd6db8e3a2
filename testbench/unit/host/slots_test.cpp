// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Two PCIe slots of one host: what they share and what each has to itself.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "host/host_module.hpp"
#include "pcie/bar_target_socket.hpp"
#include "pcie/dma_initiator.hpp"
#include "support/pcie_node.hpp"
#include "support/recording_bar.hpp"

namespace hcasim {
namespace {

using hw::Time;
using testing::default_link_ps;

/// A slot with the sockets of an adapter in it.
struct Slot {
  Slot(const char* name, std::shared_ptr<host::Machine> machine, const pcie::Parameters& p = {},
       const host::Parameters& cpu = {}, std::uint64_t seed = 1)
      : engine(machine->engine),
        host((std::string(name) + "_host").c_str(), machine, p, cpu, seed),
        dma((std::string(name) + "_dma").c_str(), engine, p),
        bar_socket((std::string(name) + "_bar").c_str(), engine, p, dma.endpoint()),
        bar(engine.engine()),
        client(engine.engine()) {
    bar_socket.set_target(bar);
    dma.socket().bind(host.dma_target());
    host.mmio_initiator().bind(bar_socket.socket);
  }
  void interrupt(std::uint32_t vector) {
    dma.port().write(pcie::kMsixAddress, &vector, sizeof vector);
  }

  sim::EngineModule& engine;
  host::HostModule host;
  pcie::DmaInitiator dma;
  pcie::BarTargetSocket bar_socket;
  testing::RecordingBar bar;
  testing::RecordingClient client;
};

/// Writes down when it is called.
struct Noted {
  hw::Callback callback() {
    return {[](void* self, std::uint64_t) {
              auto* it = static_cast<Noted*>(self);
              it->times.push_back(it->engine.now());
            },
            this, 0};
  }

  sim::Engine& engine;
  std::vector<Time> times;
};

struct Slots : ::testing::Test {
  void run() {
    conductor.schedule_next();
    sc_core::sc_start();
  }
  std::uint64_t read64(std::uint64_t address) {
    std::uint64_t value = 0;
    machine->memory.read(address, &value, sizeof value);
    return value;
  }

  sim::Conductor conductor{true};
  sim::EngineModule node{"n", conductor};
  std::shared_ptr<host::Machine> machine = std::make_shared<host::Machine>(node, 64 << 20);
  testing::At at{node.engine()};
};

TEST_F(Slots, ShareMemoryAndItsAddresses) {
  Slot a("a", machine);
  Slot b("b", a.host.machine());
  const std::uint64_t first = a.host.cpu().allocate(4096, 4096);
  const std::uint64_t second = b.host.cpu().allocate(4096, 4096);
  EXPECT_NE(first, second);
  const std::uint64_t sent = 42;
  std::uint64_t got = 0;
  at.at(0, [&] { a.dma.port().write(first, &sent, sizeof sent); });
  at.at(1'000'000, [&] { b.dma.port().read(first, &got, sizeof got, b.client, 1); });
  run();
  EXPECT_EQ(got, 42u);
  b.host.cpu().release(first);
  EXPECT_EQ(machine->memory.allocations(), 1u);
}

TEST_F(Slots, WriteOfOneSlotDoesNotWaitForThatOfTheOther) {
  pcie::Parameters slow;
  slow.write_latency_ns = 900;
  Slot a("a", machine, slow);
  Slot b("b", machine);
  const std::uint64_t place = a.host.cpu().allocate(64, 64);
  const auto write = [&](Slot& slot, std::uint64_t value) {
    return slot.dma.port().write(place, &value, sizeof value);
  };
  const auto expect_from = [&](Time time, std::uint64_t before, std::uint64_t value) {
    at.at(time - 1, [=, this] { EXPECT_EQ(read64(place), before); });
    at.at(time, [=, this] { EXPECT_EQ(read64(place), value); });
  };
  at.at(0, [&] {
    const Time visible_a = write(a, 1);
    const Time visible_b = write(b, 2);
    const Time again_b = write(b, 3);
    EXPECT_EQ(visible_b, default_link_ps(24 + 8) + 20'000 + 60'000);
    EXPECT_EQ(visible_a, visible_b + 840'000);
    expect_from(visible_b, 0, 2);
    expect_from(again_b, 2, 3);
    expect_from(visible_a, 3, 1);
  });
  run();
  EXPECT_EQ(read64(place), 1u);
}

TEST_F(Slots, EachHasTheWholeRateOfItsLink) {
  Slot a("a", machine);
  Slot b("b", machine);
  constexpr std::uint32_t kBytes = 1 << 20;
  constexpr std::uint32_t kTlps = kBytes / 256;
  const std::uint64_t place = a.host.cpu().allocate(2 * kBytes, 4096);
  std::vector<std::uint8_t> data(kBytes, 7);
  const auto write = [&](Slot& slot, std::uint64_t to) {
    Time visible = 0;
    for (std::uint32_t done = 0; done < kBytes; done += 4096) {
      visible = slot.dma.port().write(to + done, data.data(), 4096);
    }
    // Each block is rounded up to a picosecond.
    const Time whole = default_link_ps(kBytes + 24.0 * kTlps) + 20'000 + 60'000;
    EXPECT_GE(visible, whole);
    EXPECT_LE(visible, whole + kBytes / 4096);
  };
  at.at(0, [&] {
    write(a, place);
    write(b, place + kBytes);
  });
  run();
}

TEST_F(Slots, EachDrawsItsReadLatenciesFromItsSeed) {
  Slot a("a", machine, {}, {}, 1);
  Slot b("b", machine, {}, {}, 2);
  testing::PcieNode plain_a({}, 1);
  testing::PcieNode plain_b({}, 2);
  const std::uint64_t place = a.host.cpu().allocate(64, 64);
  ASSERT_EQ(plain_a.memory.allocate(64, 64), place);
  ASSERT_EQ(plain_b.memory.allocate(64, 64), place);
  std::uint64_t got = 0;
  const auto read = [&](pcie::DmaPort& port, testing::RecordingClient& client, testing::At& when) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      when.at(static_cast<Time>(i) * 10'000'000,
              [&, i] { port.read(place, &got, sizeof got, client, i); });
    }
  };
  read(a.dma.port(), a.client, at);
  read(b.dma.port(), b.client, at);
  read(plain_a.endpoint, plain_a.client, plain_a.at);
  read(plain_b.endpoint, plain_b.client, plain_b.at);
  run();
  plain_a.engine.run_before(hw::kNever);
  plain_b.engine.run_before(hw::kNever);
  EXPECT_EQ(a.client.done, plain_a.client.done);
  EXPECT_EQ(b.client.done, plain_b.client.done);
  EXPECT_NE(a.client.done, b.client.done);
}

TEST_F(Slots, InterruptsReachTheHandlersOfTheirSlot) {
  host::Parameters quick;
  quick.interrupt_ns = 500;
  Slot a("a", machine);
  Slot b("b", machine, {}, quick);
  Noted of_a{node.engine()};
  Noted of_b{node.engine()};
  a.host.cpu().set_interrupt_handler(3, of_a.callback());
  b.host.cpu().set_interrupt_handler(3, of_b.callback());
  at.at(0, [&] { b.interrupt(3); });
  run();
  const Time visible = default_link_ps(24 + 4) + 20'000 + 60'000;
  EXPECT_EQ(of_b.times, std::vector<Time>{visible + 500'000});
  EXPECT_TRUE(of_a.times.empty());
  EXPECT_EQ(a.host.interrupts().spurious(), 0u);
}

TEST_F(Slots, StoresGoToTheDeviceOfTheirSlot) {
  Slot a("a", machine);
  Slot b("b", machine);
  at.at(0, [&] {
    b.host.cpu().begin_activity();
    b.host.cpu().mmio_write64(0x100, 9);
    b.host.cpu().end_activity();
  });
  run();
  EXPECT_TRUE(a.bar.writes.empty());
  EXPECT_EQ(b.bar.writes.size(), 1u);
}

// A task of one slot may wait while one of the other runs, and each pays for its own work.
TEST_F(Slots, TasksOfBothTakeTurns) {
  Slot a("a", machine);
  Slot b("b", machine);
  std::vector<Time> steps;
  const auto work = [&](Slot& slot, Time cost) {
    slot.host.cpu().start_task([&, cost] {
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(a.host.cpu().may_wait() && b.host.cpu().may_wait());
        slot.host.cpu().charge(cost);
        slot.host.cpu().make_wait_point()->wait(0);
        steps.push_back(node.engine().now());
      }
    });
  };
  work(a, 1000);
  work(b, 1500);
  run();
  EXPECT_EQ(steps, (std::vector<Time>{1000, 1500, 2000, 3000}));
}

}  // namespace
}  // namespace hcasim
