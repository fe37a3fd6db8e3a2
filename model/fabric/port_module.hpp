// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "fabric/faulty_wire.hpp"
#include "fabric/link.hpp"
#include "fabric/link_calls.hpp"
#include "fabric/link_state.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::fabric {

/// The packet that a payload stands for; belongs to the payload until somebody takes it. A module
/// between two ports may look at it, replace it, hold it back or drop it.
class PacketExtension : public tlm::tlm_extension<PacketExtension> {
 public:
  PacketPtr packet;
  std::vector<std::uint8_t> damaged;  ///< bytes that arrive in the packet's place, if any

  tlm::tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base&) override {}
};

/// A network port as a module with two sockets: packets leave at `out` and come in at `in`. A
/// packet is a transaction without data (TLM_IGNORE_COMMAND, the length is that on the wire) with a
/// PacketExtension; its delay tells when the last bit arrives at the far end. The target takes it
/// within BEGIN_REQ and answers TLM_COMPLETED.
class PortModule : public sc_core::sc_module,
                   public tlm::tlm_fw_transport_if<>,
                   public EnginePeer,
                   public ShortCut<Wire>,
                   private Wire,
                   private tlm::tlm_mm_interface {
 public:
  /// `seed` is that of the faults of the link.
  PortModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
             const Parameters& parameters, std::uint64_t seed = 0);
  ~PortModule() override;

  tlm::tlm_initiator_socket<> out;
  tlm::tlm_target_socket<> in;

  EthernetPort& port() { return port_; }
  const EthernetPort& port() const { return port_; }
  sim::EngineModule& node() { return node_; }
  /// Other faults for what is sent from now on, which begin_faults() lets happen.
  void set_faults(const Parameters::Faults& faults, std::uint64_t seed);
  /// From this time on the link has the faults that it was given, and its listener hears of its
  /// outages; kNever: no more.
  void begin_faults(hw::Time time);
  /// Who hears when the link goes down and comes up. Before the simulation starts.
  void set_link_listener(LinkListener& listener);
  /// Either direction is to be down for a while. Known once the cable is there.
  bool link_goes_down() const;
  FaultCounters fault_counters() const { return faults_ ? faults_->counters() : FaultCounters{}; }
  /// Payloads that somebody holds a reference to.
  std::size_t payloads_in_use() const { return payloads_.size() - free_.size(); }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  Wire* short_cut(const sim::EngineModule&) override { return &port_; }

 private:
  class Backward;

  void start_of_simulation() override;
  void put_on(Wire& wire);
  LinkOutage outage(Time begin) const;
  void carry(PacketPtr packet, Time arrival) override;
  void carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame, Time arrival) override;
  void send(tlm::tlm_generic_payload& payload, Time arrival);
  void take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  tlm::tlm_generic_payload& acquire();
  tlm::tlm_generic_payload& acquire_for(const Packet& packet);
  void free(tlm::tlm_generic_payload* payload) override;

  friend void connect(PortModule& a, PortModule& b);

  sim::EngineModule& node_;
  EthernetPort port_;
  Parameters::Faults fault_parameters_;
  const PortModule* far_end_ = nullptr;  // of a cable, if known
  std::unique_ptr<LinkState> link_state_;
  std::unique_ptr<FaultyWire> faults_;  // null: the link has none
  Wire* beyond_;                        // what packets are put on, behind the faults
  SocketCalls calls_;
  std::unique_ptr<Backward> backward_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads_;
  std::vector<tlm::tlm_generic_payload*> free_;
};

/// Lays a cable between two ports, or from one to itself: binds their sockets both ways.
void connect(PortModule& a, PortModule& b);
/// Tells how far the nodes of two ports may run apart. Also right when modules stand in between, as
/// they can only add delay.
void couple(sim::Coupling& coupling, PortModule& a, PortModule& b);

}  // namespace hcasim::fabric
