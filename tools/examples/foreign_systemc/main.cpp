// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// hcasim's adapter in a SystemC model of one's own: a thread drives its registers, a foreign memory
// serves its DMA. The thread brings up event queue 0, asks the adapter for its limits and prints
// them. Exit status 0 when the adapter answered as it should, else 1.

#include <exception>
#include <hcasim/hw/bar.hpp>
#include <hcasim/hw/commands.hpp>
#include <hcasim/hw/cqe.hpp>
#include <hcasim/model/hca/adapter_module.hpp>
#include <hcasim/model/hca/receive_queue/receive_queue_model.hpp>
#include <hcasim/sim/config.hpp>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "host.hpp"

namespace hw = hcasim::hw;

namespace {

// Where this host keeps what it shares with the adapter.
constexpr std::uint64_t kMailbox = 0x1000;    // aligned to 64 bytes
constexpr std::uint64_t kEventRing = 0x2000;  // all zeroes at first
constexpr std::uint64_t kEvents = 16;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

class Driver : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Driver);
  Driver(const sc_core::sc_module_name& name, Registers& registers, Memory& memory)
      : sc_core::sc_module(name), registers_(registers), memory_(memory) {
    SC_THREAD(run);
  }

  bool succeeded() const { return succeeded_; }

 private:
  void run() {
    try {
      bring_up();
      print(query_device());
      succeeded_ = true;
    } catch (const std::runtime_error& error) {
      std::cerr << "foreign_systemc: " << error.what() << '\n';
    }
  }

  void bring_up() {
    require(registers_.read(hw::bar::kDeviceId) == hw::bar::kDeviceIdValue, "no adapter there");
    registers_.write(hw::bar::kEqBase, kEventRing);
    registers_.write(hw::bar::kEqSize, kEvents);  // enables the event queue
  }

  // A command is a mailbox in memory, whose address goes to a register. The adapter writes its
  // answer into the mailbox, then an event into the ring, then raises the interrupt.
  hw::DeviceLimits query_device() {
    hw::Mailbox mailbox{};
    mailbox.opcode = hw::CommandOpcode::kQueryDevice;
    mailbox.token = 42;
    mailbox.status = hw::CommandStatus::kPending;
    memory_.store(kMailbox, mailbox);
    registers_.write(hw::bar::kCommand, kMailbox);

    sc_core::wait(sc_core::sc_time(1, sc_core::SC_MS), memory_.interrupt);
    const auto event = memory_.load<hw::Eqe>(kEventRing);
    require(event.owner == 1, "no event within a millisecond");  // 1 on the ring's first lap
    require(event.type == hw::EqeType::kCommandDone && event.value == mailbox.token, "wrong event");
    registers_.write(hw::bar::kUarBase + hw::bar::kEqConsumerDoorbell, hw::bar::doorbell(0, 1));

    mailbox = memory_.load<hw::Mailbox>(kMailbox);
    require(mailbox.status == hw::CommandStatus::kOk, "the command failed");
    return hw::load<hw::DeviceLimits>(mailbox.payload);
  }

  static void print(const hw::DeviceLimits& limits) {
    require(limits.max_qp != 0 && limits.ports == 1, "limits that make no sense");
    std::cout << "queue pairs              " << limits.max_qp << '\n'
              << "work requests per queue  " << limits.max_qp_wr << '\n'
              << "completion queues        " << limits.max_cq << '\n'
              << "memory regions           " << limits.max_mr << '\n'
              << "largest MTU              " << limits.max_mtu << " bytes\n"
              << "known at                 " << sc_core::sc_time_stamp().to_seconds() * 1e9
              << " ns\n";
  }

  Registers& registers_;
  Memory& memory_;
  bool succeeded_ = false;
};

}  // namespace

int sc_main(int, char**) try {
  // Each node of hcasim has one engine, which wakes when it is called or has something to do. The
  // conductor lets the engines of several nodes take turns; here there is one.
  const hcasim::sim::NodeConfig config = hcasim::sim::load_config({}).defaults;
  hcasim::sim::Conductor conductor(true);
  hcasim::sim::EngineModule node("node", conductor);
  hcasim::hca::AdapterModule adapter(
      "adapter", node, config.hca, config.pcie, config.fabric,
      std::make_unique<hcasim::hca::ReceiveQueueModel>(
          hcasim::hca::Adapter::receive_queue_parameters(config.hca)));

  Memory memory("memory");
  Registers registers("registers");
  Driver driver("driver", registers, memory);
  registers.socket.bind(adapter.bar());
  adapter.dma().bind(memory.socket);
  adapter.port().out.bind(adapter.port().in);  // a cable from the network port to itself

  sc_core::sc_start();
  // An engine that cannot go on keeps the reason and stops.
  if (node.engine().error() != nullptr) std::rethrow_exception(node.engine().error());
  return driver.succeeded() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "foreign_systemc: " << error.what() << '\n';
  return 1;
}
