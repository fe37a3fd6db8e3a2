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

  auto order() const { return std::tie(psn, frame, flow); }
};

/// How many answers of one flow fit the requests of another.
struct Vote {
  std::uint64_t fitting = 0;  ///< answers to a PSN that the other flow has sent before
  std::uint64_t in_turn = 0;  ///< those that also came in the turn of the requests of this PSN
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
      if (partner == i) connections.push_back({flows_[i], nullptr, source_of(i)});
      if (partner > i) connections.push_back({flows_[i], flows_[partner], {}});
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
      for (const SeenPacket& packet : flows_[flow]->packets) {
        if (packet.is_response() == answers) found.push_back({packet.psn, packet.frame, flow});
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
    std::size_t turn = 0;
    for (const Sighting& answer : sightings(answerers, true)) {
      turn = answer.psn == psn ? turn : 0;
      psn = answer.psn;
      vote(requests, answer, turn++, votes, swapped);
    }
  }

  static void vote(const std::vector<Sighting>& requests, const Sighting& answer, std::size_t turn,
                   Votes& votes, bool swapped) {
    auto request = std::ranges::lower_bound(requests, answer.psn, {}, &Sighting::psn);
    std::vector<std::size_t> voted;
    for (std::size_t place = 0;
         request != requests.end() && request->psn == answer.psn && request->frame < answer.frame;
         ++request, ++place) {
      const auto pair =
          swapped ? std::pair(answer.flow, request->flow) : std::pair(request->flow, answer.flow);
      Vote& cast = votes[pair];
      if (place == turn) ++cast.in_turn;
      if (std::ranges::find(voted, request->flow) != voted.end()) continue;
      ++cast.fitting;
      voted.push_back(request->flow);
    }
  }

  void elect(const Votes& votes) {
    std::vector<std::pair<Vote, std::pair<std::size_t, std::size_t>>> ranking;
    for (const auto& [pair, vote] : votes) ranking.emplace_back(vote, pair);
    // Stable: where votes are equal the older flows, first in the map, come first.
    std::ranges::stable_sort(ranking, [](const auto& a, const auto& b) {
      return std::tie(a.first.fitting, a.first.in_turn) >
             std::tie(b.first.fitting, b.first.in_turn);
    });
    for (const auto& [vote, pair] : ranking) {
      if (!partner_.contains(pair.first) && !partner_.contains(pair.second)) marry(pair);
    }
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
};

}  // namespace

std::vector<Connection> pair_flows(const std::vector<const Flow*>& flows,
                                   const std::vector<EndpointPair>& setups) {
  return Pairing(flows, setups).run();
}

}  // namespace hcasim::sim
