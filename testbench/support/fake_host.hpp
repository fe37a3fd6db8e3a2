// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/host_port.hpp"
#include "hcasim/rvt/sync.hpp"

/// A machine without a simulator: host memory that notices stray accesses, timers that run while
/// somebody waits, and an adapter that answers commands and does what a test tells it to.
namespace hcasim::testing_support {

class FakeHost : public hw::HostPort {
 public:
  /// A doorbell that was rung.
  struct Doorbell {
    std::uint64_t offset;  ///< within the UAR page
    std::uint32_t number;
    std::uint32_t index;
    bool operator==(const Doorbell&) const = default;
  };
  /// A burst of lines.
  struct Block {
    std::uint64_t offset;  ///< within the BAR
    std::vector<std::uint8_t> bytes;
  };

  FakeHost() {
    limits.max_qp = 64;
    limits.max_qp_wr = 0x3fff;
    limits.max_send_sge = 30;
    limits.max_recv_sge = 31;
    limits.max_inline_data = 512;
    limits.max_cq = 64;
    limits.max_cqe = 4096;
    limits.max_srq = 8;
    limits.max_mcast_grp = 3;
    limits.max_mcast_qp_attach = 2;
    limits.max_rd_atomic = 16;
    limits.max_mr = 1024;
    limits.ports = 1;
    limits.max_mtu = 4096;
  }

  // --- What a test sets and sees
  // ------------------------------------------------------------------

  hw::DeviceLimits limits{};
  std::uint64_t device_id = hw::bar::kDeviceIdValue;
  std::uint32_t down_port = 0;         ///< 1-based; 0: all are up
  bool answers = true;                 ///< false: commands are lost
  bool knows_objects = false;          ///< true: destroying an unknown region fails
  bool answers_takes = true;           ///< kTakeGrant follows a take doorbell, from the ring
  bool answers_error_doorbell = true;  ///< kQpErrorDone follows a QP-error doorbell
  hw::Time command_time = hw::kMicrosecond;
  int allocations_until_failure = -1;  ///< counts down; -1: never
  int commands_until_failure = -1;     ///< the command that gets 0 fails with failure_status
  hw::CommandStatus failure_status = hw::CommandStatus::kBadState;
  std::function<void(const hw::Mailbox&)> on_command;          ///< before a command is answered
  std::function<void(std::uint64_t, std::uint64_t)> on_write;  ///< address, bytes: after a store
  std::function<void(const Doorbell&)> on_ring;                ///< before it takes effect
  std::map<std::uint32_t, std::uint32_t> tails;                ///< of receive queues, by QPN
  std::map<std::uint32_t, hw::QpContext> qps;                  ///< as last created or modified
  std::function<void()> on_answer;  ///< after it was carried out, before its event
  std::map<std::uint32_t, hw::CqContext> cqs;
  std::map<std::uint32_t, hw::SrqContext> srqs;  ///< by number with kSrqBit, as last modified
  std::map<std::uint32_t, hw::MptEntry> mrs;
  std::set<std::pair<hw::Gid, std::uint32_t>> members;  ///< of multicast groups: MGID and QPN
  std::vector<hw::Mailbox> commands;                    ///< in order
  std::vector<Doorbell> doorbells;                      ///< in order
  std::vector<Block> blocks;                            ///< in order
  hw::Time charged = 0;

  std::size_t blocks_allocated() const { return memory_.size(); }
  std::size_t timers_pending() const { return timers_.size(); }
  void set_may_wait(bool may) { may_wait_ = may; }
  /// True while the handler of a vector runs.
  bool in_interrupt() const { return in_interrupt_; }

  /// Doorbells of one kind, oldest first.
  std::vector<Doorbell> rung(std::uint64_t offset) const {
    std::vector<Doorbell> found;
    for (const Doorbell& bell : doorbells)
      if (bell.offset == offset) found.push_back(bell);
    return found;
  }

  /// Runs timers up to `until`.
  void run(hw::Time until) {
    while (!timers_.empty() && timers_.begin()->first.first <= until) run_one();
    if (until > now_) now_ = until;
  }
  /// Runs timers until there are none.
  void settle() {
    while (!timers_.empty()) run_one();
  }

  // --- What the adapter does
  // ------------------------------------------------------------------------

  /// Writes a completion; false when the ring is full, as the adapter sees it.
  bool complete(std::uint32_t cqn, hw::Cqe cqe) {
    CqState& state = cq_state_[cqn];
    const hw::CqContext& cq = cqs.at(cqn);
    hw::ConsumerRecord record;
    read(cq.consumer_record, &record, sizeof record);
    if (state.produced - record.count == cq.cqe) return false;
    cqe.owner = state.owner;
    write(cq.base + state.index * sizeof cqe, &cqe, sizeof cqe);
    ++state.produced;
    if (++state.index == cq.cqe) {
      state.index = 0;
      state.owner ^= 1;
    }
    return true;
  }

  /// Posts an event and raises its vector.
  void event(std::uint32_t eqn, hw::EqeType type, std::uint32_t number, std::uint32_t value = 0,
             std::uint32_t value2 = 0) {
    EqState& eq = eqs_.at(eqn);
    hw::Eqe eqe{};
    eqe.type = type;
    eqe.number = number;
    eqe.value = value;
    eqe.value2 = value2;
    eqe.owner = eq.owner;
    write(eq.base + eq.index * sizeof eqe, &eqe, sizeof eqe);
    if (++eq.index == eq.entries) {
      eq.index = 0;
      eq.owner ^= 1;
    }
    interrupt(eqn);
  }

  /// Answers a take doorbell: hands out the slot at the tail, as a real adapter would, or says that
  /// there is none. Receives that the test itself takes move the tail of `srqs` on.
  void answer_take(std::uint32_t srqn, std::uint32_t tag) {
    hw::SrqContext& srq = srqs.at(srqn);
    for (const Doorbell& bell : doorbells)
      if (bell.offset == hw::bar::kReceiveDoorbell && bell.number == srqn) srq.head = bell.index;
    const std::uint32_t slot = srq.tail;
    const bool empty = srq.head == slot;
    if (!empty) {
      std::vector<std::uint8_t> wqe(srq.stride);
      read(srq.base + std::uint64_t{slot} * srq.stride, wqe.data(), wqe.size());
      write(srq.take_record, wqe.data(), wqe.size());
      srq.tail = slot + 1 == srq.size ? 0 : slot + 1;
      write(srq.tail_record, &srq.tail, sizeof srq.tail);
    }
    event(0, hw::EqeType::kTakeGrant, srqn, tag << 8 | (empty ? 1 : 0), empty ? 0 : slot);
  }

  /// Sends the completion event of a CQ. `solicited`: completions up to the last solicited one.
  void notify(std::uint32_t cqn, std::uint32_t solicited = 0) {
    event(cqs.at(cqn).eqn, hw::EqeType::kCompletion, cqn, solicited);
  }

  /// Raises a vector.
  void interrupt(std::uint32_t vector) {
    const auto found = handlers_.find(vector);
    if (found == handlers_.end() || !found->second) return;
    const Restored interrupt(in_interrupt_, true);
    in_handler(found->second);
  }

  /// Runs `body` as a timer or a handler does: it may not wait.
  void run_outside_tasks(const std::function<void()>& body) {
    const auto call = [](void* what, std::uint64_t) {
      (*static_cast<const std::function<void()>*>(what))();
    };
    in_handler({call, const_cast<std::function<void()>*>(&body), 0});
  }

  // --- hw::HostPort
  // -----------------------------------------------------------------------------------

  void mmio_write64(std::uint64_t offset, std::uint64_t value) override {
    if (offset >= hw::bar::kUarBase) {
      ring((offset - hw::bar::kUarBase) % hw::bar::kUarBytes, value);
    } else if (offset == hw::bar::kCommand) {
      start_command(value);
    } else if (offset == hw::bar::kEqBase) {
      eqs_[0].base = value;
    } else if (offset == hw::bar::kEqSize) {
      eqs_[0] = {eqs_[0].base, static_cast<std::uint32_t>(value), 0, 1};
    } else if (offset == hw::bar::kReset) {
      forget();
    }
  }
  void mmio_write_block(std::uint64_t offset, std::span<const std::uint8_t> bytes) override {
    blocks.push_back({offset, {bytes.begin(), bytes.end()}});
  }
  std::uint64_t mmio_read64(std::uint64_t offset) override {
    rvt::assert_no_lock_held("mmio_read64");
    return offset == hw::bar::kDeviceId ? device_id : 0;
  }

  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override {
    if (allocations_until_failure == 0) return 0;
    if (allocations_until_failure > 0) --allocations_until_failure;
    next_address_ = (next_address_ + alignment - 1) / alignment * alignment;
    const std::uint64_t address = next_address_;
    memory_[address].assign(bytes, 0);
    next_address_ += bytes + 4096;  // a gap, so that overruns are noticed
    return address;
  }
  void release(std::uint64_t address) override {
    if (memory_.erase(address) != 1) throw std::logic_error("released what was not allocated");
  }
  void read(std::uint64_t address, void* to, std::uint64_t bytes) override {
    std::memcpy(to, at(address, bytes), bytes);
  }
  void write(std::uint64_t address, const void* from, std::uint64_t bytes) override {
    std::memcpy(at(address, bytes), from, bytes);
    if (on_write) on_write(address, bytes);
  }

  void set_interrupt_handler(std::uint32_t vector, hw::Callback handler) override {
    handlers_[vector] = handler;
  }
  void watch(std::uint64_t, std::uint64_t, hw::Callback) override {
    throw std::logic_error("no watch expected");
  }
  hw::Time now() override { return now_; }
  void charge(hw::Time duration) override {
    now_ += duration;
    charged += duration;
  }
  std::uint64_t start_timer(hw::Time when, hw::Callback callback) override {
    return add_timer(when, [this, callback] { in_handler(callback); });
  }
  bool cancel_timer(std::uint64_t id) override {
    for (auto i = timers_.begin(); i != timers_.end(); ++i) {
      if (i->first.second != id) continue;
      timers_.erase(i);
      return true;
    }
    return false;
  }

  void start_task(std::function<void()> body) override { add_timer(now_, std::move(body)); }
  bool may_wait() const override { return may_wait_; }
  std::unique_ptr<hw::WaitPoint> make_wait_point() override {
    return std::make_unique<Point>(*this);
  }

 private:
  class Point : public hw::WaitPoint {
   public:
    explicit Point(FakeHost& host) : host_(host) {}
    void signal() override { ++signals_; }
    bool wait(hw::Time timeout) override {
      rvt::assert_no_lock_held("WaitPoint::wait");
      if (!host_.may_wait_) throw std::logic_error("wait outside a task");
      const hw::Time end = timeout == hw::kNever ? hw::kNever : host_.now_ + timeout;
      while (signals_ == 0) {
        if (host_.timers_.empty() || host_.timers_.begin()->first.first > end) {
          if (end == hw::kNever) throw std::logic_error("waits for ever");
          host_.now_ = end;
          return false;
        }
        host_.run_one();
      }
      --signals_;
      return true;
    }

   private:
    FakeHost& host_;
    int signals_ = 0;
  };

  // Changes a flag for its own life.
  class Restored {
   public:
    Restored(bool& flag, bool value) : flag_(flag), before_(std::exchange(flag, value)) {}
    ~Restored() { flag_ = before_; }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;

   private:
    bool& flag_;
    bool before_;
  };

  struct CqState {
    std::uint32_t index = 0;
    std::uint32_t produced = 0;
    std::uint8_t owner = 1;
  };
  struct EqState {
    std::uint64_t base = 0;
    std::uint32_t entries = 0;
    std::uint32_t index = 0;
    std::uint8_t owner = 1;
  };

  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) {
    auto block = memory_.upper_bound(address);
    if (block == memory_.begin()) throw std::logic_error("access to memory not allocated");
    --block;
    const std::uint64_t offset = address - block->first;
    if (offset + bytes > block->second.size()) throw std::logic_error("access outside a block");
    return block->second.data() + offset;
  }

  std::uint64_t add_timer(hw::Time when, std::function<void()> body) {
    const std::uint64_t id = ++last_timer_;
    timers_.emplace(std::make_pair(when, id), std::move(body));
    return id;
  }
  void run_one() {
    const auto first = timers_.begin();
    if (first->first.first > now_) now_ = first->first.first;
    const std::function<void()> body = std::move(first->second);
    timers_.erase(first);
    body();
  }
  void in_handler(const hw::Callback& callback) {
    const Restored context(may_wait_, false);
    callback();
  }

  void ring(std::uint64_t offset, std::uint64_t value) {
    const Doorbell bell{offset, hw::bar::doorbell_number(value), hw::bar::doorbell_index(value)};
    doorbells.push_back(bell);
    if (on_ring) on_ring(bell);
    if (offset == hw::bar::kTakeDoorbell && answers_takes) {
      add_timer(now_ + command_time, [this, bell] { answer_take(bell.number, bell.index); });
    }
    if (offset != hw::bar::kQpErrorDoorbell || !answers_error_doorbell) return;
    add_timer(now_ + command_time, [this, bell] {
      event(0, hw::EqeType::kQpErrorDone, bell.number, tails[bell.number]);
    });
  }

  void start_command(std::uint64_t mailbox) {
    if (answers) add_timer(now_ + command_time, [this, mailbox] { answer(mailbox); });
  }
  void answer(std::uint64_t address) {
    hw::Mailbox mailbox;
    read(address, &mailbox, sizeof mailbox);
    commands.push_back(mailbox);
    if (on_command) on_command(mailbox);
    const bool fails = commands_until_failure == 0;
    if (commands_until_failure >= 0) --commands_until_failure;
    mailbox.status = fails ? failure_status : hw::CommandStatus::kOk;
    if (!fails) carry_out(mailbox);
    write(address, &mailbox, sizeof mailbox);
    if (on_answer) on_answer();
    event(0, hw::EqeType::kCommandDone, 0, mailbox.token);
  }
  void carry_out(hw::Mailbox& mailbox) {
    const std::uint32_t object = mailbox.object;
    switch (mailbox.opcode) {
      case hw::CommandOpcode::kQueryDevice:
        hw::store(mailbox.payload, limits);
        break;
      case hw::CommandOpcode::kCreateEq: {
        const auto eq = hw::load<hw::EqContext>(mailbox.payload);
        eqs_[eq.eqn] = {eq.base, eq.entries, 0, 1};
        break;
      }
      case hw::CommandOpcode::kCreateCq:
        cqs[object] = hw::load<hw::CqContext>(mailbox.payload);
        cq_state_[object] = {};
        break;
      case hw::CommandOpcode::kDestroyCq:
        cqs.erase(object);
        break;
      case hw::CommandOpcode::kResizeCq: {
        const auto in = hw::load<hw::CqContext>(mailbox.payload);
        cqs.at(object).base = in.base;
        cqs.at(object).cqe = in.cqe;
        cq_state_.at(object).index = 0;
        cq_state_.at(object).owner = 1;
        break;
      }
      case hw::CommandOpcode::kModifyCq: {
        const auto in = hw::load<hw::CqContext>(mailbox.payload);
        cqs.at(object).cq_count = in.cq_count;
        cqs.at(object).cq_period = in.cq_period;
        break;
      }
      case hw::CommandOpcode::kCreateMr:
        mrs[object] = hw::load<hw::MptEntry>(mailbox.payload);
        break;
      case hw::CommandOpcode::kDestroyMr:
        if (mrs.erase(object) == 0 && knows_objects) mailbox.status = hw::CommandStatus::kBadObject;
        break;
      case hw::CommandOpcode::kCreateQp:
      case hw::CommandOpcode::kModifyQp:
        qps[object] = hw::load<hw::QpContext>(mailbox.payload);
        mailbox.output = tails[object];
        if (qps[object].state == hw::QpState::kReset) tails[object] = 0;
        break;
      case hw::CommandOpcode::kQueryQp:
        hw::store(mailbox.payload, qps.at(object));
        break;
      case hw::CommandOpcode::kDestroyQp:
        qps.erase(object);
        tails.erase(object);
        break;
      case hw::CommandOpcode::kCreateSrq:
        srqs[object] = hw::load<hw::SrqContext>(mailbox.payload);
        break;
      case hw::CommandOpcode::kModifySrq:
        modify_srq(mailbox);
        break;
      case hw::CommandOpcode::kQuerySrq:
        hw::store(mailbox.payload, srqs.at(object));
        break;
      case hw::CommandOpcode::kDestroySrq:
        srqs.erase(object);
        break;
      case hw::CommandOpcode::kAttachMcast:
        members.insert({hw::load<hw::McastGroup>(mailbox.payload).gid, object});
        break;
      case hw::CommandOpcode::kDetachMcast:
        members.erase({hw::load<hw::McastGroup>(mailbox.payload).gid, object});
        break;
      case hw::CommandOpcode::kQueryPort:
        hw::store(mailbox.payload, hw::PortInfo{object == down_port ? 0u : 1u, 0});
        break;
      default:
        mailbox.status = hw::CommandStatus::kBadOpcode;
    }
  }
  void modify_srq(hw::Mailbox& mailbox) {
    hw::SrqContext& srq = srqs.at(mailbox.object);
    const auto in = hw::load<hw::SrqContext>(mailbox.payload);
    if ((mailbox.mask & hw::kSrqRing) != 0) {
      srq.base = in.base;
      srq.size = in.size;
      srq.head = in.head;
      srq.tail = in.tail;
      write(srq.tail_record, &srq.tail, sizeof srq.tail);
    }
    if ((mailbox.mask & hw::kSrqLimit) != 0) {
      srq.limit = in.limit;
      srq.arm_number = in.arm_number;
    }
    if ((mailbox.mask & hw::kSrqPause) != 0) hw::store(mailbox.payload, srq);
  }
  void forget() {
    eqs_.clear();
    cqs.clear();
    qps.clear();
    srqs.clear();
    mrs.clear();
  }

  std::map<std::uint64_t, std::vector<std::uint8_t>> memory_;
  std::uint64_t next_address_ = 0x1000'0000;
  std::map<std::pair<hw::Time, std::uint64_t>, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
  hw::Time now_ = 0;
  bool may_wait_ = true;
  bool in_interrupt_ = false;
  std::map<std::uint32_t, hw::Callback> handlers_;
  std::map<std::uint32_t, EqState> eqs_;
  std::map<std::uint32_t, CqState> cq_state_;
};

}  // namespace hcasim::testing_support
