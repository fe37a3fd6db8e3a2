// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/violations.hpp"

#include <array>
#include <cstdio>

namespace hcasim::monitor {

namespace {

constexpr std::array<const char*, 10> kOperations{
    "no operation", "SEND",       "WRITE",        "READ request", "READ response",
    "ACK",          "atomic ACK", "compare swap", "fetch add",    "CNP"};

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string part(const hw::OpcodeInfo& info) {
  if (info.operation != hw::Operation::kSend && info.operation != hw::Operation::kWrite &&
      info.operation != hw::Operation::kReadResponse) {
    return {};
  }
  std::string text =
      info.starts ? (info.ends ? " only" : " first") : (info.ends ? " last" : " middle");
  if ((info.headers & hw::kHasImmDt) != 0) text += " with immediate";
  if ((info.headers & hw::kHasIeth) != 0) text += " with invalidate";
  return text;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

std::string describe(const fabric::Packet& packet) {
  const hw::OpcodeInfo& info = packet.info();
  std::string text = kOperations[static_cast<std::size_t>(info.operation)] + part(info);
  text += " (" + hex(static_cast<std::uint8_t>(packet.opcode)) + ") to " + hex(packet.dest_qp) +
          ", PSN " + number(packet.psn) + ", " + number(packet.payload_size()) + " bytes";
  if (packet.ack_req) text += ", AckReq";
  if (packet.solicited) text += ", SE";
  if ((info.headers & hw::kHasReth) != 0) {
    text += ", at " + hex(packet.reth.addr) + " length " + number(packet.reth.length);
  }
  if ((info.headers & hw::kHasAeth) != 0) {
    text += ", syndrome " + hex(packet.aeth.syndrome) + " MSN " + number(packet.aeth.msn);
  }
  return text;
}

std::string describe(const Violation& violation) {
  return number(static_cast<std::uint64_t>(violation.at / hw::kNanosecond)) + " ns, port " +
         number(violation.port) + ", QP " + hex(violation.qpn) + ": " +
         std::string(name_of(violation.rule)) + " (" + std::string(text_of(violation.rule)) +
         "; section " + std::string(section_of(violation.rule)) + "): " + violation.packet +
         "; expected: " + violation.expected;
}

void Violations::add(Violation violation) {
  ++count_;
  if (kept_.size() < kKept) kept_.push_back(std::move(violation));
}

std::string Violations::text() const {
  std::string all;
  for (const Violation& violation : kept_) all += describe(violation) + "\n";
  if (count_ > kept_.size()) all += "and " + number(count_ - kept_.size()) + " more\n";
  return all;
}

void Violations::clear() {
  count_ = 0;
  kept_.clear();
}

void Judge::report(Rule rule, const Observation& seen, std::string expected) const {
  violations_->add({seen.at, rule, port_, qpn_, describe(seen.packet), std::move(expected)});
}

}  // namespace hcasim::monitor
