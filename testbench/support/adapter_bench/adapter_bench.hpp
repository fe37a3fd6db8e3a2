// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hca/adapter.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wire/syndrome.hpp"
#include "hcasim/hw/wqe.hpp"
#include "support/adapter_bench/scripted_dma.hpp"
#include "support/adapter_bench/scripted_port.hpp"
#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::testing {

struct BenchOptions {
  hca::Parameters parameters{};
  Time read_latency = 400 * hw::kNanosecond;
  Time write_latency = 100 * hw::kNanosecond;
  Time byte_time = 0;                ///< of the wire; 0: packets take no time
  Time port_lead = hw::kSecond;      ///< time's worth of packets that the port holds
  std::uint32_t event_slots = 1024;  ///< of event queue 0
};

/// A completion queue as its consumer sees it.
struct BenchCq {
  hw::CqContext context{};
  std::uint64_t seen = 0;
};

/// A queue pair as its driver sees it.
struct BenchQp {
  hw::QpContext context{};
  BenchCq send_cq;
  BenchCq recv_cq;
  std::uint32_t send_head = 0;
  std::uint32_t recv_head = 0;

  std::uint32_t qpn() const { return context.qpn; }
};

/// A send work request in the words of a test.
struct SendWr {
  hw::WrOpcode opcode = hw::WrOpcode::kSend;
  std::uint8_t flags = hw::kWqeSignaled;
  std::vector<std::uint8_t> inline_data{};
  std::vector<hw::Sge> sges{};
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  std::uint32_t imm_or_key = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  hw::SendWqeDatagram datagram{};  ///< UD only
};

/// A packet that the peer sends.
struct PeerPacket {
  fabric::PacketHeaders headers{};
  std::vector<std::uint8_t> payload{};
};

/// One adapter with everything around it in the hands of the test: host memory, doorbells, the
/// port, and the packets that come in. No SystemC. A function that lets time pass says so. What the
/// adapter sends is held against the rules of the transport; what the test sends is not.
class AdapterBench : public pcie::BarHost {
 public:
  static constexpr std::uint32_t kPd = 7;
  static constexpr std::uint32_t kPeerQpn = 0x51;
  static constexpr std::uint32_t kQkey = 0x1111'1111;

  explicit AdapterBench(const BenchOptions& options = {});
  ~AdapterBench() override;

  // Time.
  Time now() const { return engine.now(); }
  Time cycles(std::uint64_t count) const { return clock.cycles(count); }
  Time edge_after(Time time) const { return clock.edge_after(time); }
  /// Runs everything up to and including `time`; now() is `time` then.
  void run_to(Time time);
  void run_for(Time duration) { run_to(now() + duration); }
  /// Runs until nothing is left to do; fails the test if that is not within `limit`.
  void run_idle(Time limit = 10 * hw::kSecond);
  /// Calls `what` at `time`.
  void at(Time time, std::function<void()> what);

  // Host memory.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 64);
  template <typename T>
  T load(std::uint64_t address) {
    return hw::load<T>(dma.bytes_at(address));
  }
  template <typename T>
  void store(std::uint64_t address, const T& value) {
    hw::store(dma.bytes_at(address), value);
  }
  std::vector<std::uint8_t> bytes(std::uint64_t address, std::size_t count);
  void fill(std::uint64_t address, const std::vector<std::uint8_t>& data);

  // Control: each takes time.
  hw::Mailbox issue(hw::CommandOpcode opcode, std::uint32_t object, const void* input = nullptr,
                    std::size_t bytes = 0, std::uint32_t mask = 0);
  template <typename T>
  hw::CommandStatus command(hw::CommandOpcode opcode, std::uint32_t object, const T& input) {
    return issue(opcode, object, &input, sizeof input).status;
  }
  BenchCq create_cq(std::uint32_t entries = 1024, std::uint32_t eqn = 0);
  /// A region at [address, address + length) with its host address as virtual address. Returns its
  /// key.
  std::uint32_t create_mr(std::uint64_t address, std::uint64_t length,
                          std::uint32_t access = hw::kLocalWrite | hw::kRemoteWrite |
                                                 hw::kRemoteRead | hw::kRemoteAtomic,
                          bool invalidatable = false, std::uint32_t pd = kPd);
  /// A context that a test may change before it makes the queue pair.
  static hw::QpContext rc_context();
  static hw::QpContext uc_context();
  /// With kQkey, and a path MTU of 1024 bytes.
  static hw::QpContext ud_context();
  /// Makes a queue pair and moves it up to `state`. Rings and completion queues of its own where
  /// the context names none.
  BenchQp create_qp(hw::QpContext context = rc_context(), hw::QpState state = hw::QpState::kRts);
  hw::CommandStatus modify(BenchQp& qp, hw::QpState state);
  hw::QpContext query(const BenchQp& qp);

  // Data: no time passes. Each is done in the context that HCASIM_CALL_FROM names.
  /// Does `body` there: in an SC_METHOD, or in the handler of a vector of the test's own.
  void enter(const std::function<void()>& body);
  static constexpr std::uint32_t kCallVector = 0xca11;
  void post_send(BenchQp& qp, const SendWr& wr);
  void ring_send(const BenchQp& qp);
  void send(BenchQp& qp, const SendWr& wr) {
    post_send(qp, wr);
    ring_send(qp);
  }
  void post_recv(BenchQp& qp, std::uint64_t wr_id, const std::vector<hw::Sge>& sges);
  void ring_recv(const BenchQp& qp);
  void receive(BenchQp& qp, std::uint64_t wr_id, const std::vector<hw::Sge>& sges) {
    post_recv(qp, wr_id, sges);
    ring_recv(qp);
  }
  bool ring(std::uint64_t doorbell, std::uint32_t number, std::uint32_t index);
  /// Completions that came in since the last call. The consumer's count in memory follows them
  /// unless told otherwise.
  std::vector<hw::Cqe> poll(BenchCq& cq, bool publish = true);
  /// Events of queue 0 since the last call, without those of commands.
  std::vector<hw::Eqe> events();
  std::vector<hw::Eqe> events(hw::EqeType type);

  // The wire.
  void arrive(const BenchQp& qp, const PeerPacket& packet);
  void arrive_at(Time time, const BenchQp& qp, const PeerPacket& packet);
  /// The wire tells of the packet now, ahead of its arrival.
  void arrive_ahead(Time arrival, const BenchQp& qp, const PeerPacket& packet);
  static PeerPacket request(hw::BthOpcode opcode, std::uint32_t psn,
                            const std::vector<std::uint8_t>& payload = {}, bool ack_req = true);
  static PeerPacket ack(std::uint32_t psn, std::uint32_t msn = 0,
                        std::uint8_t syndrome = hw::ack_syndrome(hw::kNoCredits));
  static PeerPacket nak(std::uint32_t psn, hw::NakCode code) {
    return ack(psn, 0, hw::nak_syndrome(code));
  }
  static PeerPacket rnr_nak(std::uint32_t psn, std::uint8_t timer) {
    return ack(psn, 0, hw::rnr_syndrome(timer));
  }
  /// Packets sent since the last call.
  std::vector<SentPacket> sent();

  std::uint64_t counter(const std::string& unit, const std::string& name) const;
  hw::EqContext event_queue(std::uint32_t eqn, std::uint32_t entries);  ///< takes time
  const hw::EqContext& event_queue_0() const { return eq_; }

  hca::Adapter& adapter() { return *adapter_; }

  void bar_ready() override { ready_at.push_back(now()); }

  sim::Engine engine{"bench"};
  hca::CoreClock clock;
  ScriptedDma dma;
  ScriptedPort port;
  fabric::PacketPool packets;
  std::vector<Time> ready_at;  ///< calls of bar_ready
  monitor::ProtocolMonitor rules;

 private:
  class Actions;

  void store_send(BenchQp& qp, const SendWr& wr);
  void store_recv(BenchQp& qp, std::uint64_t wr_id, const std::vector<hw::Sge>& sges);
  std::vector<hw::Cqe> take_completions(BenchCq& cq, bool publish);
  void provide(BenchQp& qp);
  fabric::PacketPtr make_packet(const BenchQp& qp, const PeerPacket& packet);

  std::unique_ptr<hca::Parameters> parameters_;
  std::unique_ptr<Actions> actions_;
  std::unique_ptr<hca::Adapter> adapter_;
  std::uint64_t free_ = 4096;
  std::uint64_t mailbox_ = 0;
  hw::EqContext eq_{};
  std::uint64_t events_seen_ = 0;
  std::size_t sent_seen_ = 0;
  std::uint32_t next_qpn_ = 0x10;
  std::uint32_t next_cqn_ = 1;
  std::uint32_t next_key_ = 0x100;
  std::uint16_t token_ = 0;
};

/// `count` bytes that differ from their neighbours and with the seed.
std::vector<std::uint8_t> pattern(std::size_t count, unsigned seed = 1);

/// Statuses of completions, for comparison in one line.
std::vector<hw::WcStatus> statuses(const std::vector<hw::Cqe>& cqes);
/// Opcodes of packets likewise.
std::vector<hw::BthOpcode> opcodes(const std::vector<SentPacket>& packets);
std::vector<std::uint32_t> psns(const std::vector<SentPacket>& packets);

}  // namespace hcasim::testing
