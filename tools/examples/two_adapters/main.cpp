// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Two hosts with an adapter each, joined by a cable, and a program on both that uses the verbs:
// alice writes into bob's memory (RDMA WRITE), then sends him a message (SEND). Prints how long
// that took. Exit status 0 when every byte arrived, else 1.

#include <exception>
#include <hcasim/model/sim/system/system.hpp>
#include <hcasim/sim/config.hpp>
#include <iostream>

#include "node.hpp"

namespace hw = hcasim::hw;
namespace rvt = hcasim::rvt;
namespace sim = hcasim::sim;

namespace {

const std::string kWritten = "written into your memory";
const std::string kSent = "sent as a message";

// Where they lie in the regions of both.
constexpr std::uint32_t kWrittenAt = 0;
constexpr std::uint32_t kSentAt = 2048;

void print(const char* what, hw::Time duration) {
  std::cout << what << static_cast<double>(duration) / hw::kNanosecond << " ns\n";
}

struct Times {
  hw::Time posted, written, sent, received;
};

void send(Node& alice, const Node& bob, Times& times) {
  alice.write(kWrittenAt, kWritten);
  alice.write(kSentAt, kSent);
  times.posted = alice.now();
  alice.post_write(kWrittenAt, static_cast<std::uint32_t>(kWritten.size()), bob, kWrittenAt);
  alice.post_send(kSentAt, static_cast<std::uint32_t>(kSent.size()));
  const rvt::ib_wc first = alice.await_completion();
  times.written = alice.now();
  require(first.opcode == rvt::IB_WC_RDMA_WRITE, "the write did not complete first");
  const rvt::ib_wc second = alice.await_completion();
  times.sent = alice.now();
  require(second.opcode == rvt::IB_WC_SEND, "the send did not complete second");
}

// A queue pair keeps its order: when the message is there, so is what was written before it.
void receive(Node& bob, Times& times) {
  const rvt::ib_wc wc = bob.await_completion();
  times.received = bob.now();
  require(wc.opcode == rvt::IB_WC_RECV && wc.byte_len == kSent.size(), "another message came");
  require(bob.read(kSentAt, kSent.size()) == kSent, "the message has other bytes");
  require(bob.read(kWrittenAt, kWritten.size()) == kWritten, "other bytes were written");
}

void run() {
  sim::System system(sim::load_config({}), {{"alice", "bob"}});
  require(system.start_devices() == 0, "a device does not start");
  Node alice(system.node(0));
  Node bob(system.node(1));

  // run_task runs the task and simulates until nothing is left to do.
  system.run_task(0, [&] { alice.create(); });
  system.run_task(1, [&] { bob.create(); });
  system.run_task(0, [&] { alice.connect(bob); });
  system.run_task(1, [&] { bob.connect(alice); });
  system.run_task(1, [&] { bob.post_receive(kSentAt, Node::kBytes - kSentAt); });

  // These two run side by side.
  Times times{};
  system.node(1).host().cpu().start_task([&] { receive(bob, times); });
  system.run_task(0, [&] { send(alice, bob, times); });
  require(times.received != 0, "bob received nothing");

  print("RDMA WRITE, posted to completed  ", times.written - times.posted);
  print("SEND, posted to completed        ", times.sent - times.posted);
  print("SEND, posted to received         ", times.received - times.posted);
  system.run_task(0, [&] { alice.destroy(); });
  system.run_task(1, [&] { bob.destroy(); });
}

}  // namespace

int sc_main(int, char**) try {
  run();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "two_adapters: " << error.what() << '\n';
  return 1;
}
