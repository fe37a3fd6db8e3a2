// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Other people's SystemC modules on the sockets: initiators that call b_transport from a thread,
// and targets that answer late.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <gtest/gtest.h>

#include "hcasim/hw/bar.hpp"
#include "support/host_system.hpp"

namespace hcasim {
namespace {

using sc_core::sc_time;
using testing::default_link_ps;
using testing::System;
using Time = hw::Time;

// An initiator that runs a script in a thread.
class Thread : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  Thread(const sc_core::sc_module_name& name, std::function<void(Thread&)> body)
      : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
    sc_core::sc_spawn([this, body] { body(*this); });
  }
  tlm::tlm_initiator_socket<> socket;

  // Returns when the access is complete, as the delay tells it.
  Time access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned int bytes,
              Time delay_ps = 0) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_time delay = sc_time::from_value(static_cast<std::uint64_t>(delay_ps));
    socket->b_transport(payload, delay);
    response = payload.get_response_status();
    return sim::EngineModule::time_of(delay);
  }
  tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                     sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

// A host alone, for foreign adapters; its MMIO goes to a target that takes nothing.
struct NoBar : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  explicit NoBar(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  tlm::tlm_target_socket<> socket;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_time&) override {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
};

TEST(ForeignAdapter, WritesAndReadsMemoryByBlockingCalls) {
  sim::Conductor conductor(true);
  sim::EngineModule node("node", conductor);
  pcie::Parameters p;
  p.read_latency_min_ns = p.read_latency_median_ns = p.read_latency_max_ns = 200;
  host::HostModule host("host", node, p, host::Parameters{}, 1 << 20, 1);
  NoBar no_bar("no_bar");
  host.mmio_initiator().bind(no_bar.socket);
  const std::uint64_t a = host.memory().allocate(4096, 4096);
  std::vector<std::pair<int, Time>> log;
  // The CPU sleeps on a watch; only the foreign thread can wake the node.
  struct Woken {
    std::vector<std::pair<int, Time>>* log;
    host::CpuPort* cpu;
  } woken{&log, &host.cpu()};
  host.cpu().watch(a, 64,
                   {[](void* context, std::uint64_t) {
                      auto* w = static_cast<Woken*>(context);
                      w->log->push_back({1, w->cpu->now()});
                    },
                    &woken, 0});
  std::uint64_t got[3] = {};
  Thread adapter("adapter", [&](Thread& thread) {
    sc_core::wait(sc_time(3, sc_core::SC_US));
    std::uint64_t value = 11;
    const Time visible = thread.access(tlm::TLM_WRITE_COMMAND, a, &value, 8, 500);
    EXPECT_EQ(visible, 3'000'500 + 60'000);
    thread.access(tlm::TLM_READ_COMMAND, a, &got[0], 8);
    sc_core::wait(sc_time(60'500, sc_core::SC_PS));
    const Time read = thread.access(tlm::TLM_READ_COMMAND, a, &got[1], 8);
    EXPECT_EQ(read, visible + 200'000 + 20'000 + default_link_ps(28));
    EXPECT_EQ(thread.response, tlm::TLM_OK_RESPONSE);
    thread.access(tlm::TLM_READ_COMMAND, 0x10, &got[2], 8);
    EXPECT_EQ(thread.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    log.push_back({2, visible});
  });
  adapter.socket.bind(host.dma_target());
  conductor.schedule_next();
  sc_core::sc_start();
  EXPECT_EQ(got[0], 0u);   // not visible yet
  EXPECT_EQ(got[1], 11u);  // and now
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].second, log[1].second);
}

// An adapter's sockets alone, for foreign hosts.
struct Adapter {
  Adapter()
      : node("node", conductor),
        dma("dma", node, pcie::Parameters{}),
        bar_socket("bar", node, pcie::Parameters{}, dma.endpoint()),
        bar(node.engine()),
        client(node.engine()),
        at(node.engine()) {
    bar_socket.set_target(bar);
  }
  sim::Conductor conductor{true};
  sim::EngineModule node;
  pcie::DmaInitiator dma;
  pcie::BarTargetSocket bar_socket;
  testing::RecordingBar bar;
  testing::RecordingClient client;
  testing::At at;
};

// A root complex that answers reads after a while from a process of its own, one at a time, and
// holds the request channel until then.
class SlowHost : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  explicit SlowHost(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
    sc_core::sc_spawn([this] { serve(); });
  }
  tlm::tlm_target_socket<> socket;
  int requests = 0;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_time& delay) override {
    if (payload.is_write()) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    ++requests;
    payload.acquire();
    held_ = &payload;
    begin_.notify(delay + sc_time(1, sc_core::SC_US));
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

 private:
  void serve() {
    for (;;) {
      wait(begin_);
      tlm::tlm_generic_payload& payload = *held_;
      payload.get_data_ptr()[0] = 77;
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_bw(payload, phase, delay);
      payload.release();
    }
  }
  tlm::tlm_generic_payload* held_ = nullptr;
  sc_core::sc_event begin_;
};

TEST(ForeignHost, MayHoldTheRequestChannelAndAnswerLate) {
  Adapter adapter;
  SlowHost slow("slow");
  testing::BaseProtocolChecker checker("checker");
  adapter.dma.socket().bind(checker.in);
  checker.out.bind(slow.socket);
  Thread nobody("nobody", [](Thread&) {});
  nobody.socket.bind(adapter.bar_socket.socket);
  std::uint8_t data[3][8] = {};
  adapter.at.at(0, [&] {
    for (std::uint64_t i = 0; i < 3; ++i)
      adapter.dma.port().read(64, data[i], 8, adapter.client, i);
  });
  // Something of the node's own far beyond: it must not run before the foreign answers.
  Time seen = 0;
  adapter.at.at(50'000'000, [&] { seen = static_cast<Time>(adapter.client.done.size()); });
  adapter.conductor.schedule_next();
  sc_core::sc_start();
  ASSERT_EQ(adapter.client.done.size(), 3u);
  EXPECT_EQ(seen, 3);
  const Time first = default_link_ps(24) + 20'000 + hw::kMicrosecond;
  EXPECT_EQ(adapter.client.done[0].at, first);
  EXPECT_EQ(adapter.client.done[1].at, first + hw::kMicrosecond);
  EXPECT_EQ(data[2][0], 77);
  EXPECT_EQ(checker.report(), "");
  EXPECT_EQ(checker.completed(), 3u);
}

TEST(ForeignHost, WritesAndReadsTheBarByBlockingCalls) {
  Adapter adapter;
  SlowHost slow("slow");
  adapter.dma.socket().bind(slow.socket);
  std::uint64_t value = 5;
  std::uint64_t got = 0;
  Time returned = 0;
  Thread host("host", [&](Thread& thread) {
    sc_core::wait(sc_time(2, sc_core::SC_US));
    EXPECT_EQ(thread.access(tlm::TLM_WRITE_COMMAND, 0x100000, &value, 8, 700), 2'000'700);
    value = 6;  // the first value was copied
    thread.access(tlm::TLM_WRITE_COMMAND, 0x100008, &value, 8, 600);
    returned = thread.access(tlm::TLM_READ_COMMAND, 0x20, &got, 8, 900);
    EXPECT_EQ(sim::EngineModule::time_of(sc_core::SC_ZERO_TIME), returned);
    thread.access(tlm::TLM_WRITE_COMMAND, hw::bar::kBytes, &value, 8);
    EXPECT_EQ(thread.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
  host.socket.bind(adapter.bar_socket.socket);
  adapter.conductor.schedule_next();
  sc_core::sc_start();
  ASSERT_EQ(adapter.bar.writes.size(), 2u);
  EXPECT_EQ(adapter.bar.writes[0].at, 2'000'600);  // by time, not by call
  EXPECT_EQ(adapter.bar.writes[0].value(), 6u);
  EXPECT_EQ(adapter.bar.writes[1].at, 2'000'700);
  EXPECT_EQ(adapter.bar.writes[1].value(), 5u);
  EXPECT_EQ(adapter.bar.read_at, 2'000'900);
  EXPECT_EQ(got, 0x60u);
  EXPECT_EQ(returned, 2'000'900 + default_link_ps(28) + 20'000);
}

// A BAR that ends each request only after a microsecond.
class SlowBar : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  explicit SlowBar(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
    sc_core::sc_spawn([this] { serve(); });
  }
  tlm::tlm_target_socket<> socket;
  std::vector<Time> taken;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_time& delay) override {
    payload.acquire();
    held_ = &payload;
    begin_.notify(delay + sc_time(1, sc_core::SC_US));
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

 private:
  void serve() {
    for (;;) {
      wait(begin_);
      tlm::tlm_generic_payload& payload = *held_;
      taken.push_back(sim::EngineModule::time_of(sc_core::SC_ZERO_TIME));
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_time delay = sc_core::SC_ZERO_TIME;
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      socket->nb_transport_bw(payload, phase, delay);
      phase = tlm::BEGIN_RESP;
      socket->nb_transport_bw(payload, phase, delay);
      payload.release();
    }
  }
  tlm::tlm_generic_payload* held_ = nullptr;
  sc_core::sc_event begin_;
};

TEST(ForeignAdapter, BarMayHoldBackTheEndOfARequest) {
  sim::Conductor conductor(true);
  sim::EngineModule node("node", conductor);
  host::HostModule host("host", node, pcie::Parameters{}, host::Parameters{}, 1 << 20, 1);
  SlowBar bar("bar");
  testing::BaseProtocolChecker checker("checker");
  host.mmio_initiator().bind(checker.in);
  checker.out.bind(bar.socket);
  Thread nobody("nobody", [](Thread&) {});
  nobody.socket.bind(host.dma_target());
  testing::At at(node.engine());
  at.at(0, [&] {
    host.cpu().begin_activity();
    for (std::uint64_t i = 0; i < 3; ++i) host.cpu().mmio_write64(0x100000, i);
    host.cpu().end_activity();
  });
  conductor.schedule_next();
  sc_core::sc_start();
  const Time way = default_link_ps(32) + 20'000 + hw::kMicrosecond;
  EXPECT_EQ(bar.taken.at(0), way);
  // The next store leaves when the request before has ended, and takes link and flight again.
  ASSERT_EQ(bar.taken.size(), 3u);
  EXPECT_EQ(bar.taken[1], 2 * way);
  EXPECT_EQ(bar.taken[2], 3 * way);
  EXPECT_EQ(checker.report(), "");
}

}  // namespace
}  // namespace hcasim
