// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/requester.hpp"

#include <algorithm>

namespace hcasim::pcie {

// Answers of foreign processes: they wait until the engine's time has come to that of the kernel,
// at which they were given.
class Requester::Late final : public sim::Unit {
 public:
  Late(Requester& owner, sim::Engine& engine) : Unit(engine, "answers"), owner_(owner) {}

  void add(const Answer& answer) {
    const sim::Time kernel_now = sim::EngineModule::time_of(sc_core::SC_ZERO_TIME);
    answers_.push(answer);
    engine().schedule_from_outside(*this, std::max(now(), kernel_now));
  }
  void on_event(std::uint64_t) override { owner_.take(answers_.pop()); }

 private:
  Requester& owner_;
  fabric::LinkRing<Answer> answers_;
};

Requester::Requester(const sc_core::sc_module_name& name, sim::EngineModule& node,
                     ResponseSink& sink)
    : sc_core::sc_module(name),
      socket("socket"),
      node_(node),
      sink_(sink),
      calls_(node),
      late_(std::make_unique<Late>(*this, node.engine())) {
  socket.bind(*this);
}

Requester::~Requester() = default;

void Requester::start_of_simulation() {
  calls_.set_peer(socket.operator->());
}

void Requester::begin(PooledPayload& payload, sim::Time at) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = node_.delay_to(at);
  holding_ = &payload;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  calls_.after_call_out();
  if (status == tlm::TLM_ACCEPTED) return;
  holding_ = nullptr;
  const bool responds = status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP;
  if (responds) end_response(payload);
  if (responds || status == tlm::TLM_COMPLETED) {
    take({&payload, sim::EngineModule::time_of(delay), true, false});
  }
}

tlm::tlm_sync_enum Requester::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const bool ends_request = holding_ == &payload;
  if (ends_request) holding_ = nullptr;
  const bool responds = phase == tlm::BEGIN_RESP;
  const Answer answer{static_cast<PooledPayload*>(&payload), sim::EngineModule::time_of(delay),
                      responds, ends_request};
  if (calls_.called_from_outside()) {
    late_->add(answer);
  } else {
    take(answer);
  }
  return responds ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void Requester::take(const Answer& answer) {
  if (answer.responds) {
    sink_.on_response(*answer.payload, answer.at);
    answer.payload->release();
  }
  if (answer.ends_request) sink_.on_request_end();
}

// For a target that answered within the request.
void Requester::end_response(tlm::tlm_generic_payload& payload) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->nb_transport_fw(payload, phase, delay);
}

}  // namespace hcasim::pcie
