// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/pairing.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/import/psn_line.hpp"

namespace hcasim::sim {

namespace {

/// The flows between two addresses in one service, by direction.
struct Neighbours {
  std::vector<std::size_t> there;
  std::vector<std::size_t> back;
};

/// A request, or an answer, of one of several flows.
struct Sighting {
  std::uint32_t psn;
  std::uint64_t frame;
  std::size_t flow;
  const SeenPacket* packet;
  std::uint32_t messages;  ///< a request: that its flow has ended up to this packet

  auto order() const { return std::tie(psn, frame, flow); }
};

/// What is asked for, or answered: a response of one kind fits no request of another.
enum class Kind : std::uint8_t { kMessage, kRead, kAtomic };

Kind kind_of(const SeenPacket& packet) {
  switch (packet.info().operation) {
    case hw::Operation::kReadRequest:
    case hw::Operation::kReadResponse:
      return Kind::kRead;
    case hw::Operation::kCompareSwap:
    case hw::Operation::kFetchAdd:
    case hw::Operation::kAtomicAcknowledge:
      return Kind::kAtomic;
    default:
      return Kind::kMessage;
  }
}

bool is_nak(const SeenPacket& answer) {
  return answer.info().operation == hw::Operation::kAcknowledge &&
         hw::syndrome_kind(answer.syndrome) != hw::SyndromeKind::kAck;
}

/// How well the answers of one flow fit the requests of another.
struct Vote {
  std::uint64_t fitting = 0;  ///< answers to a PSN, and a kind, that the other flow has sent before
  /// Those whose count of messages is as far from that of the requests as the one before.
  std::uint64_t counted = 0;
  std::uint64_t in_turn = 0;  ///< those that also came in the turn of the requests of this PSN
  std::uint32_t ahead = 0;    ///< messages that the last answer counts more than were seen

  void count(std::uint32_t messages_answered, std::uint32_t messages_seen) {
    const std::uint32_t now = (messages_answered - messages_seen) & hw::kPsnMask;
    if (now == ahead) ++counted;
    ahead = now;
  }
  /// Time is the weakest witness: without it the two would be equal.
  auto evidence() const { return std::tie(fitting, counted); }
  auto rank() const { return std::tie(fitting, counted, in_turn); }
};

using Votes = std::map<std::pair<std::size_t, std::size_t>, Vote>;

class Pairing {
 public:
  Pairing(const std::vector<const Flow*>& flows, const std::vector<EndpointPair>& setups)
      : flows_(flows), setups_(setups) {}

  std::vector<Connection> run() {
    pair_by_setup();
    for (const Neighbours& group : groups()) pair_group(group);
    std::vector<Connection> connections;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const std::size_t partner = partner_.contains(i) ? partner_.at(i) : i;
      const bool uncertain = uncertain_.contains(i);
      if (partner == i) connections.push_back({flows_[i], nullptr, source_of(i), uncertain});
      if (partner > i) connections.push_back({flows_[i], flows_[partner], {}, uncertain});
    }
    return connections;
  }

 private:
  std::vector<Neighbours> groups() const {
    std::map<std::tuple<hw::Transport, hw::Gid, hw::Gid>, Neighbours> by_addresses;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const FlowKey& key = flows_[i]->key;
      const bool there = key.src <= key.dst;
      Neighbours& group =
          by_addresses[{key.transport, there ? key.src : key.dst, there ? key.dst : key.src}];
      (there ? group.there : group.back).push_back(i);
    }
    std::vector<Neighbours> groups;
    groups.reserve(by_addresses.size());
    for (auto& [addresses, group] : by_addresses) groups.push_back(std::move(group));
    return groups;
  }

  void pair_group(const Neighbours& group) {
    Votes votes;
    cast_votes(group.there, group.back, votes, false);
    cast_votes(group.back, group.there, votes, true);
    elect(votes);
    find_uncertain(votes);
    pair_the_only_ones(group);
  }

  /// A number that was used again, by connections with different peers, tells nothing.
  void pair_by_setup() {
    std::map<Endpoint, std::set<Endpoint>> peers;
    for (const EndpointPair& pair : setups_) {
      peers[pair.active].insert(pair.passive);
      peers[pair.passive].insert(pair.active);
    }
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const Endpoint receiver{flows_[i]->key.dst, flows_[i]->key.dest_qp};
      const auto found = peers.find(receiver);
      if (found == peers.end() || found->second.size() != 1) continue;
      const Endpoint& sender = *found->second.begin();
      if (sender.address == flows_[i]->key.src) sources_[i] = sender.qpn;
    }
    for (const auto& [flow, source] : sources_) {
      if (const auto back = flow_back(flow)) marry({flow, *back});
    }
  }

  /// The flow from the receiver of `flow` to the queue pair that is known to send it.
  std::optional<std::size_t> flow_back(std::size_t flow) const {
    const FlowKey& key = flows_[flow]->key;
    for (const auto& [other, source] : sources_) {
      const FlowKey& candidate = flows_[other]->key;
      if (candidate.src == key.dst && candidate.dst == key.src && source == key.dest_qp &&
          candidate.dest_qp == sources_.at(flow) && candidate.transport == key.transport) {
        return other;
      }
    }
    return std::nullopt;
  }

  std::optional<std::uint32_t> source_of(std::size_t flow) const {
    const auto found = sources_.find(flow);
    return found == sources_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The requests, or the answers, of some flows by PSN, and by time where PSNs are equal.
  std::vector<Sighting> sightings(const std::vector<std::size_t>& senders, bool answers) const {
    std::vector<Sighting> found;
    for (const std::size_t flow : senders) {
      PsnLine line;
      std::uint32_t messages = 0;
      for (const SeenPacket& packet : flows_[flow]->packets) {
        if (packet.is_response() != answers) continue;
        // The packets of a response behind its first answer no request of their PSN.
        if (answers && !packet.info().starts) continue;
        const LinePsn place = line.place(packet.psn);
        if (place > line.highest() && packet.info().ends) ++messages;
        line.raise(place);
        found.push_back({packet.psn, packet.frame, flow, &packet, messages});
      }
    }
    std::ranges::sort(found, {}, &Sighting::order);
    return found;
  }

  /// Every answer votes for the flows that sent a request of its PSN before it.
  void cast_votes(const std::vector<std::size_t>& senders,
                  const std::vector<std::size_t>& answerers, Votes& votes, bool swapped) const {
    const std::vector<Sighting> requests = sightings(senders, false);
    std::uint32_t psn = 0;
    std::map<Kind, std::size_t> turns;
    for (const Sighting& answer : sightings(answerers, true)) {
      if (answer.psn != psn) turns.clear();
      psn = answer.psn;
      vote(requests, answer, turns[kind_of(*answer.packet)]++, votes, swapped);
    }
  }

  static void vote(const std::vector<Sighting>& requests, const Sighting& answer, std::size_t turn,
                   Votes& votes, bool swapped) {
    auto request = std::ranges::lower_bound(requests, answer.psn, {}, &Sighting::psn);
    std::vector<std::size_t> voted;
    for (std::size_t place = 0;
         request != requests.end() && request->psn == answer.psn && request->frame < answer.frame;
         ++request) {
      if (!is_nak(*answer.packet) && kind_of(*answer.packet) != kind_of(*request->packet)) continue;
      const auto pair =
          swapped ? std::pair(answer.flow, request->flow) : std::pair(request->flow, answer.flow);
      Vote& cast = votes[pair];
      if (place++ == turn) ++cast.in_turn;
      if (std::ranges::find(voted, request->flow) != voted.end()) continue;
      ++cast.fitting;
      cast.count(answer.packet->msn, request->messages);
      voted.push_back(request->flow);
    }
  }

  void elect(const Votes& votes) {
    std::vector<std::pair<Vote, std::pair<std::size_t, std::size_t>>> ranking;
    for (const auto& [pair, vote] : votes) ranking.emplace_back(vote, pair);
    // Stable: where votes are equal the older flows, first in the map, come first.
    std::ranges::stable_sort(
        ranking, [](const auto& a, const auto& b) { return a.first.rank() > b.first.rank(); });
    for (const auto& [vote, pair] : ranking) {
      if (!partner_.contains(pair.first) && !partner_.contains(pair.second)) marry(pair);
    }
    // A flow that was left alone may take the place of one that fits elsewhere as well.
    for (const auto& [vote, pair] : ranking) {
      std::set<std::size_t> asked;
      if (!partner_.contains(pair.first)) find_place(votes, pair.first, {}, asked);
    }
  }

  /// Finds `first` a partner with at least as much evidence as `least`; partners that are taken are
  /// asked to let go of theirs for another that fits them as well.
  bool find_place(const Votes& votes, std::size_t first, const Vote& least,
                  std::set<std::size_t>& asked) {
    for (auto it = votes.lower_bound({first, 0}); it != votes.end() && it->first.first == first;
         ++it) {
      const std::size_t second = it->first.second;
      if (it->second.evidence() < least.evidence() || sources_.contains(second)) continue;
      if (!asked.insert(second).second) continue;
      if (partner_.contains(second)) {
        const std::size_t taken_by = partner_.at(second);
        const auto vote = votes.find({taken_by, second});
        if (vote == votes.end() || !find_place(votes, taken_by, vote->second, asked)) continue;
      }
      marry({first, second});
      return true;
    }
    return false;
  }

  /// Two connections whose answers would do as well the other way round, but for their order.
  void find_uncertain(const Votes& votes) {
    for (const auto& [pair, vote] : votes) {
      const auto& [first, second] = pair;
      if (!partner_.contains(first) || !partner_.contains(second)) continue;
      if (sources_.contains(first) || sources_.contains(second)) continue;
      const std::size_t chosen = partner_.at(first);
      const std::size_t other = partner_.at(second);
      if (chosen == second) continue;
      if (!alike(votes, {first, chosen}, pair) || !alike(votes, {other, second}, {other, chosen})) {
        continue;
      }
      uncertain_.insert({first, second, chosen, other});
    }
  }

  /// True when there are votes for `other`, with as much evidence as those for `elected`.
  static bool alike(const Votes& votes, std::pair<std::size_t, std::size_t> elected,
                    std::pair<std::size_t, std::size_t> other) {
    const auto mine = votes.find(elected);
    const auto his = votes.find(other);
    return mine != votes.end() && his != votes.end() &&
           mine->second.evidence() <= his->second.evidence();
  }

  /// Without any answer to go by, one flow each way is taken for one connection.
  void pair_the_only_ones(const Neighbours& group) {
    const auto free = [this](const std::vector<std::size_t>& all) {
      std::vector<std::size_t> left;
      std::ranges::copy_if(all, std::back_inserter(left),
                           [this](std::size_t flow) { return !partner_.contains(flow); });
      return left;
    };
    const std::vector<std::size_t> there = free(group.there);
    const std::vector<std::size_t> back = free(group.back);
    if (there.size() == 1 && back.size() == 1) marry({there[0], back[0]});
  }

  void marry(std::pair<std::size_t, std::size_t> pair) {
    partner_[pair.first] = pair.second;
    partner_[pair.second] = pair.first;
  }

  const std::vector<const Flow*>& flows_;
  const std::vector<EndpointPair>& setups_;
  std::map<std::size_t, std::uint32_t> sources_;  // queue pair that sends a flow, if known
  std::map<std::size_t, std::size_t> partner_;
  std::set<std::size_t> uncertain_;
};

}  // namespace

std::vector<Connection> pair_flows(const std::vector<const Flow*>& flows,
                                   const std::vector<EndpointPair>& setups) {
  return Pairing(flows, setups).run();
}

}  // namespace hcasim::sim
