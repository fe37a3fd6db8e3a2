// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "driver/command.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "hcasim/hw/bar.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

int errno_of(hw::CommandStatus status) {
  switch (status) {
    case hw::CommandStatus::kOk:
      return 0;
    case hw::CommandStatus::kBadOpcode:
      return -EOPNOTSUPP;
    case hw::CommandStatus::kBadObject:
    case hw::CommandStatus::kBadState:
    case hw::CommandStatus::kBadParameter:
      return -EINVAL;
    case hw::CommandStatus::kNoResources:
      return -ENOMEM;
    case hw::CommandStatus::kPending:
      break;
  }
  return -EIO;
}

}  // namespace

CommandChannel::~CommandChannel() {
  // An adapter that never answered may still write to the mailbox: that memory is lost.
  if (mailbox_ != 0 && !unanswered_) rdi_->port->release(mailbox_);
}

int CommandChannel::start() {
  mailbox_ = rdi_->port->allocate(sizeof(hw::Mailbox), hw::kDmaAlignment);
  if (mailbox_ == 0) return -ENOMEM;
  answered_ = rdi_->port->make_wait_point();
  return 0;
}

int CommandChannel::execute(const Command& command, std::span<const std::uint8_t> in,
                            std::span<std::uint8_t> out) {
  assert_no_lock_held("a command");
  if (!usable()) return -EIO;  // nor is there anything to wait for
  if (!rdi_->port->may_wait()) return -EDEADLK;
  const MutexGuard guard(mutex_, *rdi_->port);
  return run(command, in, out);
}

int CommandChannel::run(const Command& command, std::span<const std::uint8_t> in,
                        std::span<std::uint8_t> out) {
  if (!usable()) return -EIO;
  issue(command, in);
  return await(command, out);
}

void CommandChannel::issue(const Command& command, std::span<const std::uint8_t> in) {
  hw::Mailbox mailbox{};
  mailbox.opcode = command.opcode;
  mailbox.token = ++token_;
  mailbox.object = command.object;
  mailbox.mask = command.mask;
  mailbox.status = hw::CommandStatus::kPending;
  if (!in.empty()) std::memcpy(mailbox.payload, in.data(), in.size());
  rdi_->port->write(mailbox_, &mailbox, sizeof mailbox);
  pending_ = true;
  rdi_->port->mmio_write64(hw::bar::kCommand, mailbox_);
}

int CommandChannel::await(const Command& command, std::span<std::uint8_t> out) {
  const hw::Time timeout = command.timeout != 0 ? command.timeout : rdi_->dparms.command_timeout;
  if (!answered_->wait(timeout)) {
    unanswered_ = true;
    fail();
    return -EIO;
  }
  hw::Mailbox mailbox{};
  rdi_->port->read(mailbox_, &mailbox, sizeof mailbox);
  if (command.output != nullptr) *command.output = mailbox.output;
  const int error = errno_of(mailbox.status);
  if (error == 0 && !out.empty()) std::memcpy(out.data(), mailbox.payload, out.size());
  return error;
}

void CommandChannel::check_destroyed(int error) {
  // Without a task nothing was asked, and -EIO has been reported.
  if (error != 0 && error != -EIO && error != -EDEADLK) fail();
}

void CommandChannel::fail() {
  if (failed_) return;
  failed_ = true;
  pending_ = false;
  if (rdi_->event_handler == nullptr) return;
  ib_event event;
  event.device = &rdi_->ibdev;
  event.event = IB_EVENT_DEVICE_FATAL;
  event.element.port_num = 0;
  rdi_->event_handler(&event, rdi_->event_context);
}

void CommandChannel::done(std::uint32_t token) {
  if (!pending_ || token != token_) {
    ++rdi_->stats.stray_events;
    return;
  }
  pending_ = false;
  answered_->signal();
}

}  // namespace hcasim::rvt
