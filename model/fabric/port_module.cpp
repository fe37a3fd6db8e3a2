// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/port_module.hpp"

#include <utility>

namespace hcasim::fabric {

// Targets complete a packet within the request; whatever else comes back is the end of one.
class PortModule::Backward final : public tlm::tlm_bw_transport_if<>, public EnginePeer {
 public:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

PortModule::PortModule(const sc_core::sc_module_name& name, sim::EngineModule& node,
                       const Parameters& p, std::uint64_t seed)
    : sc_core::sc_module(name),
      out("out"),
      in("in"),
      node_(node),
      port_(node.engine(), "port", p),
      beyond_(this),
      calls_(node),
      backward_(std::make_unique<Backward>()) {
  out.bind(*backward_);
  in.bind(*this);
  port_.set_wire(*this);
  if (p.faults.any()) set_faults(p.faults, seed);
}

PortModule::~PortModule() = default;

void PortModule::start_of_simulation() {
  calls_.set_peer(out.operator->());
  Wire* peer = ShortCut<Wire>::behind(out.operator->(), node_);
  if (peer != nullptr) put_on(*peer);
}

void PortModule::put_on(Wire& wire) {
  beyond_ = &wire;
  if (!faults_) return port_.set_wire(wire);
  faults_->set_wire(wire);
  port_.set_wire(*faults_);
}

void PortModule::set_faults(const Parameters::Faults& faults, std::uint64_t seed) {
  fault_parameters_ = faults;
  faults_ = std::make_unique<FaultyWire>(port_, faults, seed);
  put_on(*beyond_);
}

void PortModule::set_link_listener(LinkListener& listener) {
  link_state_ = std::make_unique<LinkState>(node_.engine(), "link_state", listener);
}

bool PortModule::link_goes_down() const {
  return far_end_ != nullptr &&
         (fault_parameters_.down_for_ns != 0 || far_end_->fault_parameters_.down_for_ns != 0);
}

LinkOutage PortModule::outage(Time begin) const {
  return {begin + fault_parameters_.down_at_ns * hw::kNanosecond,
          fault_parameters_.down_for_ns * hw::kNanosecond, port_.latency()};
}

void PortModule::begin_faults(hw::Time time) {
  if (faults_) faults_->begin(time);
  if (link_state_ && link_goes_down() && time != hw::kNever) {
    link_state_->expect(far_end_->outage(time), outage(time));
  }
}

tlm::tlm_generic_payload& PortModule::acquire() {
  if (free_.empty()) {
    payloads_.emplace_back(new tlm::tlm_generic_payload(this));
    payloads_.back()->set_extension(new PacketExtension);  // deleted by the payload
    payloads_.back()->set_command(tlm::TLM_IGNORE_COMMAND);
    free_.reserve(payloads_.capacity());
    free_.push_back(payloads_.back().get());
  }
  tlm::tlm_generic_payload& payload = *free_.back();
  free_.pop_back();
  payload.acquire();
  return payload;
}

tlm::tlm_generic_payload& PortModule::acquire_for(const Packet& packet) {
  tlm::tlm_generic_payload& payload = acquire();
  const auto bytes = static_cast<unsigned int>(packet.wire_bytes());
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

void PortModule::free(tlm::tlm_generic_payload* payload) {
  payload->get_extension<PacketExtension>()->packet.reset();
  payload->get_extension<PacketExtension>()->damaged.clear();
  free_.push_back(payload);
}

void PortModule::carry(PacketPtr packet, Time arrival) {
  tlm::tlm_generic_payload& payload = acquire_for(*packet);
  payload.get_extension<PacketExtension>()->packet = std::move(packet);
  send(payload, arrival);
}

void PortModule::carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame,
                               Time arrival) {
  tlm::tlm_generic_payload& payload = acquire_for(*packet);
  auto* extension = payload.get_extension<PacketExtension>();
  extension->packet = std::move(packet);
  extension->damaged.assign(frame.begin(), frame.end());
  send(payload, arrival);
}

void PortModule::send(tlm::tlm_generic_payload& payload, Time arrival) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = node_.delay_to(arrival);
  const tlm::tlm_sync_enum status = out->nb_transport_fw(payload, phase, delay);
  calls_.after_call_out();
  const bool done =
      status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
  if (done) payload.release();
}

void PortModule::take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  auto* extension = payload.get_extension<PacketExtension>();
  if (extension == nullptr || !extension->packet) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  const Time arrival = sim::EngineModule::time_of(delay);
  if (extension->damaged.empty()) {
    port_.carry(std::move(extension->packet), arrival);
  } else {
    port_.carry_damaged(std::move(extension->packet), extension->damaged, arrival);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum PortModule::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  take(payload, delay);
  return tlm::TLM_COMPLETED;
}

void PortModule::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  take(payload, delay);
}

void connect(PortModule& a, PortModule& b) {
  a.out.bind(b.in);
  if (&a != &b) b.out.bind(a.in);
  a.far_end_ = &b;
  b.far_end_ = &a;
}

void couple(sim::Coupling& coupling, PortModule& a, PortModule& b) {
  couple(coupling, a.node().index(), a.port(), b.node().index(), b.port());
}

}  // namespace hcasim::fabric
