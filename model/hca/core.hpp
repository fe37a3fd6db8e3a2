// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "fabric/packet_pool.hpp"
#include "fabric/port.hpp"
#include "hca/clock.hpp"
#include "hca/context_caches.hpp"
#include "hca/context_store.hpp"
#include "hca/multicast_table.hpp"
#include "hca/observer.hpp"
#include "hca/parameters.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::hca {

class DoorbellUnit;
class WqeFetch;
class SendScheduler;
class Requester;
class ResponseHandler;
class Responder;
class ResponseUnit;
class AtomicUnit;
class LocalOperations;
class Departures;
class Loopback;
class ReceiveQueuePort;
class CompletionUnit;
class EventModeration;
class EventUnit;
class CommandUnit;
class QpControl;
class SrqControl;
class MrControl;

/// A port of the adapter, as its units see it.
struct CorePort {
  fabric::PacketPort* out = nullptr;
  hw::Time lead = 0;     ///< how long before it runs dry new packets are made
  bool active = true;    ///< its link is up
  bool stopped = false;  ///< packets stay in its transmit queues
};

/// What every unit of an adapter reaches: the machine around it, the contexts, the other units.
struct Core {
  sim::Engine& engine;
  const Parameters& parameters;
  CoreClock clock;
  pcie::DmaPort& dma;
  fabric::PacketPool& packets;
  MessageObserver* observer = nullptr;
  TransportObserver* transport_observer = nullptr;
  TimerObserver* timer_observer = nullptr;
  std::array<CorePort, hw::kMaxPorts> ports{};  ///< as many as the parameters say
  ContextStore contexts;
  ContextCaches caches{dma, parameters};
  MulticastTable multicast{parameters.device.max_mcast_grp, parameters.device.max_mcast_qp_attach};

  DoorbellUnit* doorbell = nullptr;
  WqeFetch* wqe_fetch = nullptr;
  SendScheduler* scheduler = nullptr;
  Requester* requester = nullptr;
  ResponseHandler* response_handler = nullptr;
  Responder* responder = nullptr;
  ResponseUnit* response = nullptr;
  AtomicUnit* atomic = nullptr;
  LocalOperations* local = nullptr;
  Departures* departures = nullptr;
  Loopback* loopback = nullptr;
  ReceiveQueuePort* receive_queue = nullptr;
  CompletionUnit* completion = nullptr;
  EventModeration* moderation = nullptr;
  EventUnit* event = nullptr;
  CommandUnit* command = nullptr;
  QpControl* qp_control = nullptr;
  SrqControl* srq_control = nullptr;
  MrControl* mr_control = nullptr;

  bool several_ports() const { return parameters.ports > 1; }
  QueuePair* qp(std::uint32_t qpn) const { return contexts.qps.find(qpn); }
  void stamp(std::uint64_t message, Stamp what, hw::Time at) const {
    if (observer != nullptr && message != 0) observer->stamp(message, what, at);
  }
  void discarded(const fabric::Packet& packet) const {
    if (transport_observer != nullptr) transport_observer->on_discarded(packet, engine.now());
  }
};

}  // namespace hcasim::hca
