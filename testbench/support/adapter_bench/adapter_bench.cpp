// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/adapter_bench/adapter_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "support/call_from/call_from.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim::testing {

/// Runs the test's functions at their times. It is the last unit of the engine, so that at equal
/// times the adapter comes first.
class AdapterBench::Actions final : public sim::Unit {
 public:
  explicit Actions(sim::Engine& engine) : Unit(engine, "test") {}
  void at(Time time, std::function<void()> what) {
    actions_.push_back(std::move(what));
    schedule(time, actions_.size() - 1);
  }
  void on_event(std::uint64_t argument) override {
    const auto what = std::move(actions_[argument]);
    running_ = true;
    what();
    running_ = false;
  }
  bool running() const { return running_; }

 private:
  bool running_ = false;
  std::vector<std::function<void()>> actions_;
};

AdapterBench::AdapterBench(const BenchOptions& options)
    : clock(options.parameters.core_clock_mhz),
      dma(engine, options.read_latency, options.write_latency),
      port(engine, options.byte_time) {
  hca::Parameters small = options.parameters;
  small.device.max_qp = std::min(small.device.max_qp, 256u);
  parameters_ = std::make_unique<hca::Parameters>(small);
  adapter_ = std::make_unique<hca::Adapter>(
      engine, *parameters_, dma, packets,
      std::make_unique<hca::ReceiveQueueModel>(hca::Adapter::receive_queue_parameters(small)));
  adapter_->set_bar_host(*this);
  adapter_->set_port(port, options.port_lead);
  monitor::MonitoredPort& monitored = rules.add_port();
  port.set_observer(&monitored);
  adapter_->set_transport_observer(&monitored);
  actions_ = std::make_unique<Actions>(engine);
  mailbox_ = allocate(sizeof(hw::Mailbox));
  eq_.entries = options.event_slots;
  eq_.base = allocate(std::uint64_t{32} * eq_.entries);
  const std::uint64_t registers[][2] = {{hw::bar::kEqBase, eq_.base},
                                        {hw::bar::kEqSize, eq_.entries}};
  for (const auto& one : registers) adapter_->bar_write(one[0], &one[1], 8);
}

AdapterBench::~AdapterBench() {
  monitor::expect_clean(rules);
}

void AdapterBench::at(Time time, std::function<void()> what) {
  actions_->at(time, std::move(what));
}

// What an event of the test does is done by the engine already.
void AdapterBench::enter(const std::function<void()>& body) {
  const support::CallFrom where =
      actions_->running() ? support::CallFrom::kThread : support::call_from();
  switch (where) {
    case support::CallFrom::kThread:
      body();
      break;
    case support::CallFrom::kMethod:
      support::run_in_method(body);
      break;
    case support::CallFrom::kHandler:
      dma.set_handler(kCallVector, body);
      at(now(), [this] { dma.interrupt(kCallVector); });
      engine.run_before(now() + 1);
      break;
  }
}

void AdapterBench::run_to(Time time) {
  at(time, [] {});
  engine.run_before(time + 1);
}

void AdapterBench::run_idle(Time limit) {
  const Time end = now() + limit;
  engine.run_before(end);
  EXPECT_EQ(engine.next_time(), hw::kNever) << "the adapter does not come to rest";
}

std::uint64_t AdapterBench::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  free_ = (free_ + alignment - 1) / alignment * alignment;
  const std::uint64_t address = free_;
  free_ += bytes;
  if (free_ > dma.size()) throw std::length_error("the bench is out of memory");
  return address;
}

std::vector<std::uint8_t> AdapterBench::bytes(std::uint64_t address, std::size_t count) {
  return {dma.bytes_at(address), dma.bytes_at(address) + count};
}

void AdapterBench::fill(std::uint64_t address, const std::vector<std::uint8_t>& data) {
  std::copy(data.begin(), data.end(), dma.bytes_at(address));
}

hw::Mailbox AdapterBench::issue(hw::CommandOpcode opcode, std::uint32_t object, const void* input,
                                std::size_t bytes, std::uint32_t mask) {
  hw::Mailbox mailbox{};
  mailbox.opcode = opcode;
  mailbox.token = ++token_;
  mailbox.object = object;
  mailbox.mask = mask;
  mailbox.status = hw::CommandStatus::kPending;
  if (bytes != 0) std::memcpy(mailbox.payload, input, bytes);
  store(mailbox_, mailbox);
  adapter_->bar_write(hw::bar::kCommand, &mailbox_, 8);
  const Time limit = now() + hw::kSecond;
  while (load<hw::Mailbox>(mailbox_).status == hw::CommandStatus::kPending) {
    if (engine.next_time() > limit) {
      ADD_FAILURE() << "a command is not answered";
      break;
    }
    engine.step();
  }
  return load<hw::Mailbox>(mailbox_);
}

hw::EqContext AdapterBench::event_queue(std::uint32_t eqn, std::uint32_t entries) {
  hw::EqContext context{};
  context.eqn = eqn;
  context.entries = entries;
  context.base = allocate(std::uint64_t{32} * entries);
  EXPECT_EQ(command(hw::CommandOpcode::kCreateEq, eqn, context), hw::CommandStatus::kOk);
  return context;
}

BenchCq AdapterBench::create_cq(std::uint32_t entries, std::uint32_t eqn) {
  BenchCq cq;
  cq.context.cqn = next_cqn_++;
  cq.context.cqe = entries;
  cq.context.base = allocate(std::uint64_t{64} * entries);
  cq.context.consumer_record = allocate(sizeof(hw::ConsumerRecord));
  cq.context.eqn = eqn;
  EXPECT_EQ(command(hw::CommandOpcode::kCreateCq, cq.context.cqn, cq.context),
            hw::CommandStatus::kOk);
  return cq;
}

std::uint32_t AdapterBench::create_mr(std::uint64_t address, std::uint64_t length,
                                      std::uint32_t access, bool invalidatable, std::uint32_t pd) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t first_page = address / kPage * kPage;
  hw::MptEntry mpt{};
  mpt.key = next_key_++;
  mpt.pd = pd;
  mpt.access = access;
  mpt.page_shift = 12;
  mpt.valid = 1;
  mpt.invalidatable = invalidatable ? 1 : 0;
  mpt.iova = address;
  mpt.length = length;
  mpt.first_offset = static_cast<std::uint32_t>(address - first_page);
  mpt.mtt_entries = static_cast<std::uint32_t>((mpt.first_offset + length + kPage - 1) / kPage);
  mpt.mtt = allocate(std::uint64_t{8} * mpt.mtt_entries);
  for (std::uint32_t i = 0; i < mpt.mtt_entries; ++i) {
    store(mpt.mtt + std::uint64_t{8} * i, first_page + i * kPage);
  }
  EXPECT_EQ(command(hw::CommandOpcode::kCreateMr, mpt.key, mpt), hw::CommandStatus::kOk);
  return mpt.key;
}

hw::QpContext AdapterBench::rc_context() {
  hw::QpContext context{};
  context.pd = kPd;
  context.type = hw::QpType::kRc;
  context.path_mtu = 1;
  context.retry_cnt = 7;
  context.rnr_retry = 7;
  context.min_rnr_timer = 1;
  context.remote_qpn = kPeerQpn;
  context.sq_psn = 100;
  context.rq_psn = 500;
  context.access_flags = hw::kRemoteWrite | hw::kRemoteRead | hw::kRemoteAtomic;
  context.max_rd_atomic = 4;
  context.max_dest_rd_atomic = 4;
  context.sq_size = 64;
  context.sq_stride = 128;
  context.rq_size = 64;
  context.rq_stride = 64;
  return context;
}

hw::QpContext AdapterBench::uc_context() {
  hw::QpContext context = rc_context();
  context.type = hw::QpType::kUc;
  context.max_rd_atomic = context.max_dest_rd_atomic = 0;
  context.retry_cnt = context.rnr_retry = context.min_rnr_timer = 0;
  return context;
}

hw::QpContext AdapterBench::ud_context() {
  hw::QpContext context = uc_context();
  context.type = hw::QpType::kUd;
  context.path_mtu = 3;
  context.remote_qpn = 0;
  context.access_flags = 0;
  context.qkey = kQkey;
  context.sq_stride = 192;
  return context;
}

void AdapterBench::provide(BenchQp& qp) {
  hw::QpContext& context = qp.context;
  if (context.qpn == 0) context.qpn = next_qpn_++;
  if (context.send_cqn == 0) {
    qp.send_cq = create_cq();
    context.send_cqn = qp.send_cq.context.cqn;
  }
  if (context.recv_cqn == 0) {
    qp.recv_cq = create_cq();
    context.recv_cqn = qp.recv_cq.context.cqn;
  }
  context.sq_base = allocate(std::uint64_t{context.sq_size} * context.sq_stride, 64);
  if (context.uses_srq != 0) return;
  context.rq_base = allocate(std::uint64_t{context.rq_size} * context.rq_stride, 512);
  context.tail_record = allocate(sizeof(hw::TailRecord));
}

BenchQp AdapterBench::create_qp(hw::QpContext context, hw::QpState state) {
  BenchQp qp;
  qp.context = context;
  qp.context.state = hw::QpState::kReset;
  provide(qp);
  EXPECT_EQ(command(hw::CommandOpcode::kCreateQp, qp.qpn(), qp.context), hw::CommandStatus::kOk);
  for (const auto next : {hw::QpState::kInit, hw::QpState::kRtr, hw::QpState::kRts}) {
    if (next > state) break;
    EXPECT_EQ(modify(qp, next), hw::CommandStatus::kOk);
  }
  return qp;
}

hw::CommandStatus AdapterBench::modify(BenchQp& qp, hw::QpState state) {
  hw::QpContext changed = qp.context;
  changed.state = state;
  changed.rq_head = qp.recv_head;
  const hw::CommandStatus status = command(hw::CommandOpcode::kModifyQp, qp.qpn(), changed);
  if (status == hw::CommandStatus::kOk) qp.context = changed;
  return status;
}

hw::QpContext AdapterBench::query(const BenchQp& qp) {
  return hw::load<hw::QpContext>(issue(hw::CommandOpcode::kQueryQp, qp.qpn()).payload);
}

}  // namespace hcasim::testing
