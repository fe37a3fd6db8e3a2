// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "workloads.hpp"

#include <algorithm>
#include <string>

namespace hcasim::bench {

namespace {

using Op = sim::SendOpcode;

std::string numbered(const std::string& name, std::size_t number) {
  return name + std::to_string(number);
}

std::string depths(std::uint32_t depth) {
  return " mtu=4096 max_send_sge=1 max_recv_sge=1 max_send_wr=" + std::to_string(depth) +
         " max_recv_wr=" + std::to_string(depth);
}

/// Node a sends to node b over queue pairs of this depth.
Workload pair(std::string name, std::uint64_t messages, std::size_t queues, std::uint32_t depth) {
  Workload workload;
  workload.name = std::move(name);
  workload.messages = std::max<std::uint64_t>(messages, 2 * queues);
  workload.read_ahead = 2 * depth;
  workload.nodes = {{.name = "a"}, {.name = "b"}};
  NodeTraffic& sender = workload.nodes[0];
  NodeTraffic& receiver = workload.nodes[1];
  for (std::size_t i = 0; i < queues; ++i) {
    const std::string queue = numbered("q", i);
    workload.set_up.push_back("connect a." + queue + " b." + queue + depths(depth));
    sender.send_queues.push_back(queue);
    receiver.receive_queues.push_back(queue);
  }
  sender.sends = receiver.receives = workload.messages;
  // A receiver posts one in less than 100 ns.
  const std::uint64_t ahead = std::min<std::uint64_t>(queues * depth, workload.messages);
  sender.start_after =
      queues == 1 ? 2 * hw::kMicrosecond : static_cast<hw::Time>(100 * ahead) * hw::kNanosecond;
  return workload;
}

Workload one_queue(std::string name, std::uint64_t messages, Op opcode, std::uint32_t bytes) {
  Workload workload = pair(std::move(name), messages, 1, 128);
  workload.opcode = opcode;
  workload.bytes = workload.receive_bytes = bytes;
  workload.inline_data = bytes <= 64;
  if (opcode != Op::kSend) workload.nodes[1].receives = 0;
  return workload;
}

Workload lists_of_16(std::uint64_t messages) {
  Workload workload = one_queue("RC SEND 64 B inline, post list 16", messages, Op::kSend, 64);
  workload.post_list = workload.cq_moderation = 16;
  return workload;
}

Workload many_queues(std::uint64_t messages, std::size_t queues) {
  Workload workload =
      pair("RC SEND 64 B, " + std::to_string(queues) + " QPs", messages, queues, 16);
  workload.inline_data = true;
  return workload;
}

Workload datagrams(std::uint64_t messages) {
  Workload workload = pair("UD SEND 64 B", messages, 1, 128);
  workload.set_up.front() += " type=UD qkey=1";
  workload.inline_data = true;
  workload.receive_bytes = 40 + 64;  // with room for a GRH
  return workload;
}

/// Eight nodes send to one, which takes all from one shared receive queue.
Workload into_shared_queue(std::uint64_t messages) {
  constexpr std::size_t kSenders = 8;
  constexpr std::uint32_t kDepth = 1024;
  Workload workload;
  workload.name = "RC SEND 64 B, 8 senders, one SRQ";
  workload.messages = messages / kSenders * kSenders;
  workload.inline_data = true;
  workload.nodes = {{.name = "server", .receive_queues = {"srq"}, .receives = workload.messages}};
  workload.read_ahead = kDepth;
  workload.set_up = {"server create_srq srq max_sge=1 max_wr=" + std::to_string(kDepth)};
  for (std::size_t i = 0; i < kSenders; ++i) {
    const std::string client = numbered("client", i);
    workload.set_up.push_back("connect " + client + ".q server." + numbered("q", i) + " srq=srq" +
                              depths(64));
    workload.nodes.push_back({.name = client,
                              .send_queues = {"q"},
                              .sends = workload.messages / kSenders,
                              .start_after = 100 * hw::kMicrosecond});
  }
  return workload;
}

/// Every node sends to every other.
Workload all_to_all(std::uint64_t messages, std::size_t nodes) {
  constexpr std::uint32_t kDepth = 16;
  Workload workload;
  workload.name = "RC SEND 64 B, " + std::to_string(nodes) + " nodes all-to-all";
  workload.inline_data = true;
  const std::uint64_t each = messages / nodes;
  workload.messages = each * nodes;
  for (std::size_t i = 0; i < nodes; ++i) {
    workload.nodes.push_back({.name = numbered("n", i),
                              .sends = each,
                              .receives = each,
                              .receives_ahead = (nodes - 1) * kDepth});
    for (std::size_t j = 1; j < nodes; ++j) {
      // Each begins with another peer; what a node sends to the peer behind it, that one receives.
      workload.nodes[i].send_queues.push_back(numbered("q", (i + j) % nodes));
      workload.nodes[i].receive_queues.push_back(numbered("q", (i + nodes - j) % nodes));
    }
    for (std::size_t j = 0; j < i; ++j) {
      workload.set_up.push_back("connect " + numbered("n", j) + "." + numbered("q", i) + " " +
                                numbered("n", i) + "." + numbered("q", j) + depths(kDepth));
    }
  }
  return workload;
}

}  // namespace

Workload idle_queues(std::size_t queues) {
  return pair("idle", 0, queues, 128);
}

std::vector<Workload> workloads(std::uint64_t messages) {
  return {
      one_queue("RC SEND 64 B inline, post list 1", messages, Op::kSend, 64),
      lists_of_16(messages),
      one_queue("RC WRITE 4 KiB", messages, Op::kRdmaWrite, 4096),
      one_queue("RC READ 4 KiB", messages, Op::kRdmaRead, 4096),
      many_queues(messages, 1),
      many_queues(messages, 100),
      many_queues(messages, 10'000),
      many_queues(messages, 100'000),
      datagrams(messages),
      into_shared_queue(messages),
      all_to_all(messages, 64),
  };
}

}  // namespace hcasim::bench
