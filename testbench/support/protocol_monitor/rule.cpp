// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/rule.hpp"

#include <array>

namespace hcasim::monitor {

namespace {

struct Row {
  std::string_view name;
  std::string_view section;
  std::string_view text;
};

// In the order of the enumeration.
constexpr std::array<Row, static_cast<std::size_t>(Rule::kCount)> kRows{{
    {"destination", "9.2", "a packet goes to the queue pair that its sender is connected to"},
    {"partition", "9.2, 10.9", "the P_Key is that of the connection"},
    {"header", "9.2", "the version is 0 and reserved bits are 0"},
    {"service", "9.2, 9.4", "the opcode is one of the queue pair's service"},
    {"solicited", "9.2", "SE is set on the last packet of a SEND or a WRITE with immediate only"},
    {"no-answer", "9.8", "an unreliable service answers nothing"},
    {"qkey", "9.3.1", "a datagram carries the Q_Key of its destination"},
    {"source-qp", "9.3.1", "a datagram names its sender"},

    {"psn-order", "9.7.1", "a packet has the PSN after the one before it"},
    {"opcode-sequence", "9.7.4.1", "FIRST, MIDDLE and LAST, or ONLY, of one operation"},
    {"payload-length", "9.7.4.1", "FIRST and MIDDLE are full, LAST is not empty, no more than MTU"},
    {"dma-length", "9.3.2", "the DMA length is the sum of the payloads, at most 2^31"},
    {"read-limit", "9.7.4.1", "no more READs and atomics outstanding than agreed"},
    {"psn-window", "9.7.1", "less than 2^23 PSNs from the oldest without answer to the newest"},
    {"credit", "9.7.7.2", "one request at most that needs a receive goes beyond the credit"},
    {"credit-ack-request", "9.7.7.2", "a request beyond the credit asks for an acknowledgement"},
    {"request-after-nak", "9.7.5.2", "nothing is requested after a NAK that ends the connection"},

    {"repeat-acknowledged", "9.7.3", "what is acknowledged is not sent again"},
    {"repeat-cause", "9.7.3, 9.7.6", "it takes a NAK, a lost answer or the timer to send again"},
    {"repeat-same", "9.7.3", "what is sent again is the same request"},
    {"rnr-wait", "9.7.5.2.8", "after an RNR NAK the request waits as long as that says"},

    {"syndrome", "9.7.5.1", "the syndrome is one of those defined for the packet"},
    {"credit-code", "9.7.7.2", "a responder with a shared receive queue gives no credits"},
    {"msn-order", "9.7.7.1", "the MSN never decreases"},
    {"msn-count", "9.7.7.1", "the MSN counts the messages completed"},
    {"ack-arrived", "9.7.5.1", "only what arrived, and is no fault, is acknowledged"},
    {"ack-order", "9.7.5.1", "the PSN of an ACK goes back for a duplicate only"},
    {"ack-passes-response", "9.7.5.1", "requests are answered in their order"},
    {"nak-arrived", "9.7.5.2", "a NAK refuses a packet that arrived"},
    {"sequence-nak", "9.7.5.2.1", "a sequence NAK has the PSN that is missed, when one is"},
    {"sequence-nak-once", "9.7.5.2.1", "no second NAK until the packet missed arrives"},
    {"rnr-nak", "9.7.5.2.8", "only what needs a receive finds the responder not ready"},
    {"access-nak", "9.7.5.2.4", "only what names a remote key is refused access"},
    {"answer-after-nak", "9.7.5.2", "nothing is answered beyond a NAK that ends the connection"},
    {"read-unasked", "9.7.5.1", "a READ response begins at a READ request that arrived"},
    {"read-opcode", "9.7.5.1", "READ responses are FIRST, MIDDLE and LAST, or ONLY"},
    {"read-psn", "9.7.5.1", "READ responses have the PSNs of their request, one by one"},
    {"read-length", "9.7.5.1",
     "READ responses add up to what was asked for, all full but the last"},
    {"atomic-unasked", "9.7.5.1", "an atomic response answers an atomic that arrived"},
    {"atomic-value", "9.7.5.1", "a duplicate of an atomic is answered with the same value"},
}};

const Row& row(Rule rule) {
  return kRows[static_cast<std::size_t>(rule)];
}

}  // namespace

std::string_view name_of(Rule rule) {
  return row(rule).name;
}

std::string_view text_of(Rule rule) {
  return row(rule).text;
}

std::string_view section_of(Rule rule) {
  return row(rule).section;
}

}  // namespace hcasim::monitor
