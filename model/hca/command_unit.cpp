// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/command_unit.hpp"

#include <algorithm>
#include <utility>

#include "hca/event_moderation.hpp"
#include "hca/event_unit.hpp"
#include "hca/wqe_fetch.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

namespace {

// What an arriving DMA read holds.
constexpr std::uint64_t kMailbox = 0;
constexpr std::uint64_t kTranslation = 1;
constexpr std::uint32_t kTranslationBytes = 4096;

template <typename T>
T input(const hw::Mailbox& mailbox) {
  static_assert(sizeof(T) <= sizeof(mailbox.payload));
  return hw::load<T>(mailbox.payload);
}

bool power_of_two_between(std::uint32_t value, std::uint32_t low, std::uint32_t high) {
  return value >= low && value <= high && (value & (value - 1)) == 0;
}

bool valid(const hw::QpContext& context, const ContextStore& contexts, std::uint32_t ports) {
  const bool rings = context.sq_size >= 1 && context.sq_stride >= hw::kWqeBlockBytes &&
                     context.sq_stride <= FetchBuffer::kBytes &&
                     context.sq_stride % hw::kWqeBlockBytes == 0 &&
                     context.sq_base % hw::kDmaAlignment == 0 &&
                     context.sq_stride >= hw::send_wqe_stride(0, 0, context.type);
  const bool receive = context.rq_size == 0 ||
                       (context.rq_size <= hw::rq::kMaxRingSlots &&
                        power_of_two_between(context.rq_stride, 32, 512) &&
                        context.rq_base % std::max(hw::kDmaAlignment, context.rq_stride) == 0 &&
                        context.rq_head < context.rq_size);
  const bool shared = context.uses_srq == 0 || (context.rq_size == 0 && context.tail_record == 0 &&
                                                contexts.srq(context.srqn) != nullptr);
  return rings && receive && shared && context.port <= ports &&
         contexts.cqs.find(context.send_cqn) != nullptr &&
         contexts.cqs.find(context.recv_cqn) != nullptr;
}

bool valid_path(const hw::QpContext& context) {
  if (context.state < hw::QpState::kRtr || context.state == hw::QpState::kErr) return true;
  return context.path_mtu >= 1 && context.path_mtu <= 5 && context.min_rnr_timer <= 31 &&
         context.retry_cnt <= 7 && context.rnr_retry <= 7;
}

}  // namespace

CommandUnit::CommandUnit(Core& core) : Unit(core.engine, "command"), core_(core) {}

void CommandUnit::start(std::uint64_t mailbox) {
  waiting_.push(mailbox);
  if (!busy_) next();
}

void CommandUnit::next() {
  busy_ = !waiting_.empty();
  if (!busy_) return;
  address_ = waiting_.pop();
  core_.dma.read(address_, &mailbox_, sizeof mailbox_, *this, kMailbox);
}

void CommandUnit::on_dma_read(std::uint64_t token, bool error) {
  if (error && token == kMailbox) return next();  // nowhere to answer: the driver times out
  if (error) return finish(hw::CommandStatus::kBadParameter);
  if (token == kTranslation) return read_translation();
  schedule(core_.clock.edge_after(now()) +
           core_.clock.cycles(core_.parameters.command.latency_cycles));
}

void CommandUnit::on_event(std::uint64_t) {
  ++counters_.commands;
  const hw::CommandStatus status = dispatch();
  if (status != hw::CommandStatus::kPending) finish(status);
}

hw::CommandStatus CommandUnit::dispatch() {
  using hw::CommandOpcode;
  struct Command {
    CommandOpcode opcode;
    hw::CommandStatus (CommandUnit::*carry_out)();
  };
  static constexpr Command kCommands[] = {
      {CommandOpcode::kQueryDevice, &CommandUnit::query_device},
      {CommandOpcode::kCreateEq, &CommandUnit::create_eq},
      {CommandOpcode::kDestroyEq, &CommandUnit::destroy_eq},
      {CommandOpcode::kCreateCq, &CommandUnit::create_cq},
      {CommandOpcode::kDestroyCq, &CommandUnit::destroy_cq},
      {CommandOpcode::kResizeCq, &CommandUnit::resize_cq},
      {CommandOpcode::kModifyCq, &CommandUnit::modify_cq},
      {CommandOpcode::kCreateMr, &CommandUnit::start_mr},
      {CommandOpcode::kDestroyMr, &CommandUnit::destroy_mr},
      {CommandOpcode::kCreateQp, &CommandUnit::create_qp},
      {CommandOpcode::kModifyQp, &CommandUnit::modify_qp},
      {CommandOpcode::kQueryQp, &CommandUnit::query_qp},
      {CommandOpcode::kDestroyQp, &CommandUnit::destroy_qp},
      {CommandOpcode::kCreateSrq, &CommandUnit::create_srq},
      {CommandOpcode::kModifySrq, &CommandUnit::modify_srq},
      {CommandOpcode::kQuerySrq, &CommandUnit::query_srq},
      {CommandOpcode::kDestroySrq, &CommandUnit::destroy_srq},
      {CommandOpcode::kAttachMcast, &CommandUnit::attach_mcast},
      {CommandOpcode::kDetachMcast, &CommandUnit::detach_mcast},
      {CommandOpcode::kQueryPort, &CommandUnit::query_port},
  };
  const auto* const command = std::ranges::find(kCommands, mailbox_.opcode, &Command::opcode);
  if (command == std::end(kCommands)) return hw::CommandStatus::kBadOpcode;
  return (this->*command->carry_out)();
}

hw::CommandStatus CommandUnit::query_device() {
  const Parameters::Device& device = core_.parameters.device;
  hw::DeviceLimits limits{};
  limits.max_qp = device.max_qp;
  limits.max_qp_wr = device.max_qp_wr;
  limits.max_send_sge = device.max_send_sge;
  limits.max_recv_sge = device.max_recv_sge;
  limits.max_inline_data = device.max_inline_bytes;
  limits.max_cq = device.max_cq;
  limits.max_cqe = device.max_cqe;
  limits.max_srq = device.max_srq;
  limits.max_rd_atomic = device.max_rd_atomic;
  limits.max_mr = 1u << 23;
  limits.ports = core_.parameters.ports;
  limits.max_mtu = 4096;
  limits.max_mcast_grp = device.max_mcast_grp;
  limits.max_mcast_qp_attach = device.max_mcast_qp_attach;
  limits.icm_bytes = core_.caches.area_bytes();
  hw::store(mailbox_.payload, limits);
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::create_eq() {
  const auto context = input<hw::EqContext>(mailbox_);
  return core_.event->create(context.eqn, context.base, context.entries)
             ? hw::CommandStatus::kOk
             : hw::CommandStatus::kBadParameter;
}

hw::CommandStatus CommandUnit::destroy_eq() {
  return core_.event->destroy(mailbox_.object) ? hw::CommandStatus::kOk
                                               : hw::CommandStatus::kBadObject;
}

hw::CommandStatus CommandUnit::create_cq() {
  const auto context = input<hw::CqContext>(mailbox_);
  if (context.cqe == 0 || context.cqe > core_.parameters.device.max_cqe ||
      context.base % hw::kDmaAlignment != 0 || context.cqn > hw::bar::kNumberMask ||
      context.cq_period > hw::kMaxCqPeriod) {
    return hw::CommandStatus::kBadParameter;
  }
  if (core_.contexts.cqs.size() >= core_.parameters.device.max_cq) {
    return hw::CommandStatus::kNoResources;
  }
  CompletionQueue* cq = core_.contexts.cqs.create(context.cqn);
  if (cq == nullptr) return hw::CommandStatus::kBadObject;
  cq->context = context;
  core_.caches.cqc.install(context.cqn);
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::destroy_cq() {
  core_.caches.cqc.drop(mailbox_.object);
  return core_.contexts.cqs.destroy(mailbox_.object) ? hw::CommandStatus::kOk
                                                     : hw::CommandStatus::kBadObject;
}

// What is completed from now on goes to the new ring, from its start. The counts go on, so that
// what the consumer has not taken of the old ring still counts, and so does what it has armed.
hw::CommandStatus CommandUnit::resize_cq() {
  const auto context = input<hw::CqContext>(mailbox_);
  CompletionQueue* cq = core_.contexts.cqs.find(mailbox_.object);
  if (cq == nullptr) return hw::CommandStatus::kBadObject;
  if (context.cqe == 0 || context.cqe > core_.parameters.device.max_cqe ||
      context.base % hw::kDmaAlignment != 0) {
    return hw::CommandStatus::kBadParameter;
  }
  cq->context.base = context.base;
  cq->context.cqe = context.cqe;
  cq->slot = 0;
  cq->owner = 1;
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::modify_cq() {
  const auto context = input<hw::CqContext>(mailbox_);
  CompletionQueue* cq = core_.contexts.cqs.find(mailbox_.object);
  if (cq == nullptr) return hw::CommandStatus::kBadObject;
  if (mailbox_.mask != hw::kCqModeration || context.cq_period > hw::kMaxCqPeriod) {
    return hw::CommandStatus::kBadParameter;
  }
  core_.moderation->modify(*cq, context.cq_count, context.cq_period);
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::start_mr() {
  const auto mpt = input<hw::MptEntry>(mailbox_);
  if (mpt.mtt_entries > (1u << 28) || mpt.page_shift > 62) return hw::CommandStatus::kBadParameter;
  pages_.assign(mpt.mtt_entries, 0);
  pages_read_ = 0;
  if (pages_.empty()) return create_mr();
  const auto bytes = std::min<std::uint64_t>(kTranslationBytes, 8 * pages_.size());
  core_.dma.read(mpt.mtt, pages_.data(), static_cast<std::uint32_t>(bytes), *this, kTranslation);
  return hw::CommandStatus::kPending;
}

void CommandUnit::read_translation() {
  const auto mpt = input<hw::MptEntry>(mailbox_);
  const std::uint64_t total = 8 * pages_.size();
  pages_read_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(total, std::uint64_t{pages_read_} + kTranslationBytes));
  if (pages_read_ == total) return finish(create_mr());
  const auto bytes = std::min<std::uint64_t>(kTranslationBytes, total - pages_read_);
  core_.dma.read(mpt.mtt + pages_read_,
                 reinterpret_cast<std::uint8_t*>(pages_.data()) + pages_read_,
                 static_cast<std::uint32_t>(bytes), *this, kTranslation);
}

hw::CommandStatus CommandUnit::create_mr() {
  const auto mpt = input<hw::MptEntry>(mailbox_);
  if (!core_.contexts.memory.create(mpt, std::move(pages_))) {
    return hw::CommandStatus::kBadParameter;
  }
  core_.caches.translation.install(*core_.contexts.memory.find(mpt.key));
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::destroy_mr() {
  return core_.mr_control->destroy(mailbox_.object);
}

hw::CommandStatus CommandUnit::create_qp() {
  const auto context = input<hw::QpContext>(mailbox_);
  const bool served = context.type == hw::QpType::kRc || context.type == hw::QpType::kUc ||
                      context.type == hw::QpType::kUd;
  if (!served || context.qpn > hw::bar::kNumberMask ||
      !valid(context, core_.contexts, core_.parameters.ports)) {
    return hw::CommandStatus::kBadParameter;
  }
  if (core_.contexts.qps.size() >= core_.parameters.device.max_qp) {
    return hw::CommandStatus::kNoResources;
  }
  QueuePair* qp = core_.contexts.qps.create(context.qpn);
  if (qp == nullptr) return hw::CommandStatus::kBadObject;
  qp->set_context(context);
  qp->context.state = hw::QpState::kReset;
  core_.caches.qpc.install(context.qpn);
  if (context.uses_srq != 0) {
    qp->srq = core_.contexts.srq(context.srqn);
    ++qp->srq->users;
  }
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::modify_qp() {
  const auto context = input<hw::QpContext>(mailbox_);
  QueuePair* qp = core_.qp(mailbox_.object);
  if (qp == nullptr || context.qpn != mailbox_.object) return hw::CommandStatus::kBadObject;
  if (!valid(context, core_.contexts, core_.parameters.ports) || !valid_path(context)) {
    return hw::CommandStatus::kBadParameter;
  }
  bool pending = false;
  // Set before: a queue pair that has nothing to stop answers from within.
  destroying_ = kNone;
  if (!core_.qp_control->modify(*qp, context, mailbox_.mask, pending)) {
    return hw::CommandStatus::kBadState;
  }
  return pending ? hw::CommandStatus::kPending : hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::query_qp() {
  const QueuePair* qp = core_.qp(mailbox_.object);
  if (qp == nullptr) return hw::CommandStatus::kBadObject;
  hw::QpContext context = qp->context;
  context.sq_psn = qp->send.next_psn;
  context.rq_psn = qp->receive.expected_psn;
  hw::store(mailbox_.payload, context);
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::destroy_qp() {
  QueuePair* qp = core_.qp(mailbox_.object);
  if (qp == nullptr) return hw::CommandStatus::kBadObject;
  destroying_ = mailbox_.object;
  core_.qp_control->destroy(*qp);
  return hw::CommandStatus::kPending;
}

hw::CommandStatus CommandUnit::query_port() {
  const std::uint32_t port = mailbox_.object;
  if (port == 0 || port > core_.parameters.ports) return hw::CommandStatus::kBadObject;
  hw::store(mailbox_.payload, hw::PortInfo{core_.ports[port - 1].active ? 1u : 0u, 0});
  return hw::CommandStatus::kOk;
}

hw::CommandStatus CommandUnit::create_srq() {
  return core_.srq_control->create(input<hw::SrqContext>(mailbox_));
}

hw::CommandStatus CommandUnit::modify_srq() {
  return core_.srq_control->modify(mailbox_.object, input<hw::SrqContext>(mailbox_), mailbox_.mask);
}

hw::CommandStatus CommandUnit::query_srq() {
  return core_.srq_control->query(mailbox_.object);
}

hw::CommandStatus CommandUnit::destroy_srq() {
  return core_.srq_control->destroy(mailbox_.object);
}

hw::CommandStatus CommandUnit::detach_mcast() {
  return core_.multicast.detach(input<hw::McastGroup>(mailbox_).gid, mailbox_.object);
}

hw::CommandStatus CommandUnit::attach_mcast() {
  const QueuePair* qp = core_.qp(mailbox_.object);
  if (qp == nullptr) return hw::CommandStatus::kBadObject;
  if (!qp->datagram()) return hw::CommandStatus::kBadParameter;
  return core_.multicast.attach(input<hw::McastGroup>(mailbox_).gid, mailbox_.object);
}

void CommandUnit::qp_stopped(std::uint32_t qpn, std::uint32_t tail) {
  if (destroying_ == qpn) {
    destroying_ = kNone;
    if (SharedQueue* srq = core_.qp(qpn)->srq) --srq->users;
    core_.multicast.remove(qpn);
    core_.contexts.qps.destroy(qpn);
    core_.caches.qpc.drop(qpn);
  }
  mailbox_.output = tail;
  finish(hw::CommandStatus::kOk);
}

void CommandUnit::srq_done(hw::CommandStatus status, const hw::SrqContext& now) {
  hw::store(mailbox_.payload, now);
  finish(status);
}

void CommandUnit::finish(hw::CommandStatus status) {
  if (status != hw::CommandStatus::kOk) ++counters_.failed;
  mailbox_.status = status;
  core_.dma.write(address_, &mailbox_, sizeof mailbox_);
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kCommandDone;
  eqe.value = mailbox_.token;
  core_.event->raise(eqe);
  next();
}

}  // namespace hcasim::hca
