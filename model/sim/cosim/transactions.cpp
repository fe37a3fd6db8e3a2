// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Handshakes in words.
#include "sim/cosim/transactions.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

template <std::size_t N, typename Enum>
std::string name(const char* const (&names)[N], Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "undefined (" + std::to_string(index) + ")";
}

constexpr const char* kOps[] = {"INIT",     "SET_LIMIT",  "PAUSE", "RESUME",
                                "TO_ERROR", "INVALIDATE", "QUERY"};
constexpr const char* kStates[] = {"INVALID", "READY", "PAUSED", "ERROR"};
constexpr const char* kCommandStatus[] = {"OK", "BAD_STATE", "BAD_QUEUE", "BAD_ARGUMENT"};
constexpr const char* kTakeStatus[] = {"OK", "EMPTY", "FLUSHED", "BAD_QUEUE", "FETCH_ERROR"};
constexpr const char* kEvents[] = {"SRQ_LIMIT", "BAD_DOORBELL", "FETCH_ERROR"};

std::string pair(const char* word, std::uint64_t value) {
  return std::string(" ") + word + " " + std::to_string(value);
}

std::string hex(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15U]);
    value >>= 4U;
  } while (value != 0);
  return "0x" + text;
}

std::string text_of(const Command& c) {
  std::string text = name(kOps, c.op);
  const bool ring = c.op == CommandOp::kInit || c.op == CommandOp::kResume;
  if (ring) text += " base " + hex(c.base) + pair("size", c.size) + pair("head", c.head);
  if (c.op == CommandOp::kInit) text += pair("stride", c.stride);
  if (c.op == CommandOp::kResume) text += pair("tail", c.tail);
  if (c.op == CommandOp::kSetLimit) text += pair("limit", c.limit) + pair("arm", c.arm);
  return text;
}

std::string text_of(const CommandAnswer& a) {
  const Snapshot& s = a.snapshot;
  return name(kCommandStatus, a.status) + " " + name(kStates, s.state) + pair("size", s.size) +
         pair("head", s.head) + pair("fetch", s.fetch) + pair("tail", s.tail) +
         pair("limit", s.limit);
}

std::string text_of(const TakeBeat& b) {
  return "tag " + hex(b.tag) + " " + name(kTakeStatus, b.status) + pair("slot", b.slot) +
         pair("remaining", b.remaining) + (b.last ? " last" : "");
}

}  // namespace

void TransactionLog::note(std::uint32_t queue, const char* port, const std::string& text) {
  if (queue_ && *queue_ != queue) return;
  std::string line = "cycle " + std::to_string(cycle_) + "  " + port + "  queue " +
                     std::to_string(queue) + "  " + text;
  lines_.push_back(std::move(line));
  if (lines_.size() > most_) lines_.pop_front();
}

void TransactionLog::cycle(hca::Cycle n, const Inputs& in, const Outputs& now,
                           const hca::ReceiveQueueUnit&, const Scoreboard&) {
  cycle_ = n;
  outputs(in, now);
  inputs(in, now);
}

void TransactionLog::inputs(const Inputs& in, const Outputs& now) {
  if (in.dma_rsp_valid) {
    const auto found = queue_of_tag_.find(in.dma_rsp.tag);
    const std::string text = pair("tag", in.dma_rsp.tag).substr(1) +
                             (in.dma_rsp.error ? " error" : "") + (in.dma_rsp.last ? " last" : "");
    if (found != queue_of_tag_.end()) note(found->second, "dma_rsp ", text);
  }
  if (in.doorbell_valid && now.doorbell_ready) {
    note(in.doorbell.queue, "doorbell", pair("head", in.doorbell.head).substr(1));
  }
  if (in.cmd_valid && now.cmd_ready) {
    queue_of_command_.push_back(in.cmd.queue);
    note(in.cmd.queue, "cmd     ", text_of(in.cmd));
  }
  if (in.take_valid && now.take_ready) {
    queue_of_take_[in.take.tag] = in.take.queue;
    note(in.take.queue, "take    ",
         "tag " + hex(in.take.tag) + (in.take.kind == TakeKind::kPeek ? " PEEK" : " TAKE"));
  }
}

void TransactionLog::outputs(const Inputs& in, const Outputs& now) {
  if (now.dma_req_valid && in.dma_req_ready) {
    const auto queue = static_cast<std::uint32_t>((now.dma_req.address >> 32U) - 1);
    queue_of_tag_[now.dma_req.tag] = queue;
    note(queue, "dma_req ",
         pair("tag", now.dma_req.tag).substr(1) + " address " + hex(now.dma_req.address) +
             pair("bytes", now.dma_req.bytes));
  }
  if (now.take_rsp_valid && in.take_rsp_ready) {
    note(queue_of_take_[now.take_rsp.tag], "take_rsp", text_of(now.take_rsp));
  }
  if (now.event_valid && in.event_ready) {
    note(now.event.queue, "event   ",
         name(kEvents, now.event.kind) + pair("value", now.event.value));
  }
  if (now.cmd_rsp_valid && in.cmd_rsp_ready && !queue_of_command_.empty()) {
    note(queue_of_command_.front(), "cmd_rsp ", text_of(now.cmd_rsp));
    queue_of_command_.pop_front();
  }
}

}  // namespace hcasim::sim::cosim
