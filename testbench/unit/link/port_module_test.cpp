// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Two nodes over TLM sockets: directly, through the protocol checker, and through a foreign module
// with a process of its own.
#include "fabric/port_module.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "fabric/packet_pool.hpp"
#include "support/base_protocol_checker.hpp"

namespace hcasim::fabric {
namespace {

// Sends a packet on each event, and one back for each that arrives.
class Talker final : public sim::Unit, public PacketSink {
 public:
  Talker(sim::Engine& engine, EthernetPort& port) : Unit(engine, "talker"), port_(port) {
    port.set_sink(*this);
  }
  void start(Time at, std::uint32_t psn) { schedule(at, psn); }
  void on_event(std::uint64_t argument) override { send(static_cast<std::uint32_t>(argument)); }
  void on_packet(PacketPtr packet) override {
    log.push_back({packet->psn, now()});
    if (packet->psn < 200) send(packet->psn + 2);
  }
  std::vector<std::pair<std::uint32_t, Time>> log;

 private:
  void send(std::uint32_t psn) {
    PacketPtr packet = pool_.acquire();
    packet->psn = psn;
    packet->resize_payload(psn * 7 % 1000);
    port_.send(std::move(packet));
  }
  EthernetPort& port_;
  PacketPool pool_;
};

struct Node {
  Node(const char* name, sim::Conductor& conductor)
      : module(name, conductor),
        port((std::string(name) + "_port").c_str(), module, Parameters{}),
        talker(module.engine(), port.port()) {}
  sim::EngineModule module;
  PortModule port;
  Talker talker;
};

struct PortModuleTest : ::testing::Test {
  void run() {
    couple(conductor.coupling(), a.port, b.port);
    a.talker.start(0, 0);
    b.talker.start(100, 1);
    conductor.schedule_next();
    sc_core::sc_start();
    EXPECT_EQ(a.port.payloads_in_use() + b.port.payloads_in_use(), 0u);
  }
  sim::Conductor conductor{true};
  Node a{"a", conductor};
  Node b{"b", conductor};
};

TEST_F(PortModuleTest, PacketsCrossDirectly) {
  connect(a.port, b.port);
  run();
  EXPECT_EQ(a.talker.log.size() + b.talker.log.size(), 202u);
  EXPECT_EQ(b.talker.log.at(0).first, 0u);
}

TEST_F(PortModuleTest, CheckerInBetweenChangesNothingAndFindsNothing) {
  hcasim::testing::BaseProtocolChecker forth("forth");
  hcasim::testing::BaseProtocolChecker back("back");
  a.port.out.bind(forth.in);
  forth.out.bind(b.port.in);
  b.port.out.bind(back.in);
  back.out.bind(a.port.in);
  // The same conversation without the checkers, in the same kernel.
  sim::Conductor other_conductor{false};
  Node c{"c", other_conductor};
  Node d{"d", other_conductor};
  connect(c.port, d.port);
  couple(other_conductor.coupling(), c.port, d.port);
  c.talker.start(0, 0);
  d.talker.start(100, 1);
  other_conductor.schedule_next();
  run();
  EXPECT_EQ(forth.report(), "");
  EXPECT_EQ(back.report(), "");
  EXPECT_EQ(forth.completed() + back.completed(), 202u);
  EXPECT_EQ(a.talker.log, c.talker.log);
  EXPECT_EQ(b.talker.log, d.talker.log);
}

// Holds each packet for a time of its own, in a process of its own, and drops some.
class Delayer : public sc_core::sc_module,
                public tlm::tlm_fw_transport_if<>,
                public tlm::tlm_bw_transport_if<> {
 public:
  SC_HAS_PROCESS(Delayer);
  Delayer(const sc_core::sc_module_name& name, sc_core::sc_time extra, int drop)
      : sc_core::sc_module(name), in("in"), out("out"), extra_(extra), drop_(drop) {
    in.bind(*this);
    out.bind(*this);
    SC_METHOD(forward);
    sensitive << due_;
    dont_initialize();
  }
  tlm::tlm_target_socket<> in;
  tlm::tlm_initiator_socket<> out;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time& delay) override {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (++count_ == drop_) return tlm::TLM_COMPLETED;
    payload.acquire();
    held_.push_back({&payload, sc_core::sc_time_stamp() + delay + extra_});
    due_.notify(held_.front().at - sc_core::sc_time_stamp());
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                     sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  struct Held {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_time at;
  };
  void forward() {
    const Held held = held_.front();
    held_.pop_front();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->b_transport(*held.payload, delay);
    held.payload->release();
    if (!held_.empty()) due_.notify(held_.front().at - sc_core::sc_time_stamp());
  }
  sc_core::sc_time extra_;
  int drop_;
  int count_ = 0;
  std::deque<Held> held_;
  sc_core::sc_event due_;
};

TEST_F(PortModuleTest, ForeignModuleMayDelay) {
  Delayer forth("forth", sc_core::sc_time(1, sc_core::SC_US), 0);
  a.port.out.bind(forth.in);
  forth.out.bind(b.port.in);
  b.port.out.bind(a.port.in);
  run();
  EXPECT_EQ(a.talker.log.size() + b.talker.log.size(), 202u);
  const Time bytes = 84 * 80;
  EXPECT_GE(b.talker.log.at(0).second, hw::kMicrosecond + 310'000 + bytes);
  EXPECT_LE(b.talker.log.at(0).second, hw::kMicrosecond + 310'000 + 2 * bytes);
}

TEST_F(PortModuleTest, ForeignModuleMayDrop) {
  Delayer forth("forth", sc_core::SC_ZERO_TIME, 3);
  a.port.out.bind(forth.in);
  forth.out.bind(b.port.in);
  b.port.out.bind(a.port.in);
  run();
  EXPECT_LT(a.talker.log.size() + b.talker.log.size(), 202u);
  EXPECT_GT(a.talker.log.size() + b.talker.log.size(), 100u);
}

}  // namespace
}  // namespace hcasim::fabric
