// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace hcasim::testing {

/// The rules of the TLM-2.0 base protocol (IEEE 1666) that the checker knows, and one of ours.
enum class Rule {
  kPhase,              ///< a phase that is unknown, or travels the wrong way
  kPhaseOrder,         ///< a phase that does not follow the one before
  kRequestExclusion,   ///< BEGIN_REQ before the end of another request
  kResponseExclusion,  ///< BEGIN_RESP before the end of another response
  kFields,             ///< attributes not set as they must be, or changed under way
  kResponseStatus,     ///< not incomplete at the start, or incomplete in the response
  kMemoryManager,      ///< no memory manager or no reference held
  kDelay,              ///< negative, or less on return than on the call
  kSync,               ///< a return value that does not fit the phase
  kPostedOrder,        ///< a write is complete before an earlier one
};

/// A module between an initiator and a target that passes everything on and notes what breaks a
/// rule.
class BaseProtocolChecker : public sc_core::sc_module,
                            public tlm::tlm_fw_transport_if<>,
                            public tlm::tlm_bw_transport_if<> {
 public:
  struct Violation {
    Rule rule;
    std::string what;
  };

  explicit BaseProtocolChecker(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), in("in"), out("out") {
    in.bind(*this);
    out.bind(*this);
  }

  tlm::tlm_target_socket<> in;
  tlm::tlm_initiator_socket<> out;

  const std::vector<Violation>& violations() const { return violations_; }
  /// All of them in one line, for messages of tests.
  std::string report() const {
    std::string text;
    for (const Violation& v : violations_) text += v.what + "; ";
    return text;
  }
  std::uint64_t completed() const { return completed_; }
  std::size_t under_way() const { return transactions_.size(); }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const sc_core::sc_time delay_in = delay;
    const tlm::tlm_phase phase_in = phase;
    check_call(payload, delay);
    if (phase == tlm::BEGIN_REQ) {
      begin_request(payload);
    } else if (phase == tlm::END_RESP) {
      end_response(payload);
    } else {
      note(Rule::kPhase, "forward call with phase " + name_of(phase));
    }
    const tlm::tlm_sync_enum status = out->nb_transport_fw(payload, phase, delay);
    check_return(status, phase_in, phase, delay_in, delay);
    if (phase_in == tlm::BEGIN_REQ) after_request(payload, status, phase, delay);
    return status;
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const sc_core::sc_time delay_in = delay;
    const tlm::tlm_phase phase_in = phase;
    check_call(payload, delay);
    if (phase == tlm::END_REQ) {
      end_request(payload);
    } else if (phase == tlm::BEGIN_RESP) {
      begin_response(payload, delay);
    } else {
      note(Rule::kPhase, "backward call with phase " + name_of(phase));
    }
    const tlm::tlm_sync_enum status = in->nb_transport_bw(payload, phase, delay);
    check_return(status, phase_in, phase, delay_in, delay);
    const bool ends =
        status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP);
    if (phase_in == tlm::BEGIN_RESP && ends) end_response(payload);
    return status;
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    const sc_core::sc_time before = sc_core::sc_time_stamp() + delay;
    check_fields(payload);
    out->b_transport(payload, delay);
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
      note(Rule::kResponseStatus, "b_transport returned without a response");
    }
    if (sc_core::sc_time_stamp() + delay < before) note(Rule::kDelay, "b_transport went back");
    ++completed_;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return out->get_direct_mem_ptr(payload, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    in->invalidate_direct_mem_ptr(start, end);
  }
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override {
    return out->transport_dbg(payload);
  }

 private:
  enum class State { kRequest, kBetween, kResponse };
  struct Transaction {
    State state;
    tlm::tlm_command command;
    std::uint64_t address;
    unsigned char* data;
    unsigned int bytes;
    unsigned int width;
  };
  using Payload = tlm::tlm_generic_payload;

  void note(Rule rule, const std::string& what) { violations_.push_back({rule, what}); }
  static std::string name_of(const tlm::tlm_phase& phase) { return phase.get_name(); }
  static std::uint64_t time_of(const sc_core::sc_time& delay) {
    return sc_core::sc_time_stamp().value() + delay.value();
  }

  void check_call(const Payload& payload, const sc_core::sc_time& delay) {
    if (!payload.has_mm() || payload.get_ref_count() < 1) {
      note(Rule::kMemoryManager, "no memory manager or no reference");
    }
    check_delay(delay);
  }
  // Time is unsigned: what was negative is huge.
  void check_delay(const sc_core::sc_time& delay) {
    if (delay.value() >> 62 != 0) note(Rule::kDelay, "negative delay");
  }
  void check_fields(const Payload& payload) {
    const bool has_data = payload.get_command() != tlm::TLM_IGNORE_COMMAND;
    if (has_data && (payload.get_data_ptr() == nullptr || payload.get_data_length() == 0 ||
                     payload.get_streaming_width() == 0)) {
      note(Rule::kFields, "no data, length or streaming width");
    }
    if (payload.is_dmi_allowed()) note(Rule::kFields, "DMI hint set by the initiator");
    if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
      note(Rule::kResponseStatus, "a new transaction has a response already");
    }
  }

  void begin_request(Payload& payload) {
    check_fields(payload);
    if (transactions_.count(&payload) != 0) {
      note(Rule::kPhaseOrder, "BEGIN_REQ of a transaction under way");
    }
    if (request_ != nullptr) note(Rule::kRequestExclusion, "BEGIN_REQ during another request");
    request_ = &payload;
    transactions_[&payload] = {State::kRequest,           payload.get_command(),
                               payload.get_address(),     payload.get_data_ptr(),
                               payload.get_data_length(), payload.get_streaming_width()};
  }

  void after_request(Payload& payload, tlm::tlm_sync_enum status, const tlm::tlm_phase& phase,
                     const sc_core::sc_time& delay) {
    if (status == tlm::TLM_COMPLETED) {
      check_response(payload, delay);
      finish(payload);
    } else if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      end_request(payload);
    } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      begin_response(payload, delay);
    }
  }

  Transaction* find(Payload& payload, const char* phase) {
    const auto found = transactions_.find(&payload);
    if (found != transactions_.end()) return &found->second;
    note(Rule::kPhaseOrder, std::string(phase) + " of a transaction that did not begin");
    return nullptr;
  }

  void end_request(Payload& payload) {
    Transaction* transaction = find(payload, "END_REQ");
    if (transaction == nullptr) return;
    if (transaction->state != State::kRequest) {
      note(Rule::kPhaseOrder, "END_REQ outside a request");
      return;
    }
    transaction->state = State::kBetween;
    if (request_ == &payload) request_ = nullptr;
  }

  void begin_response(Payload& payload, const sc_core::sc_time& delay) {
    Transaction* transaction = find(payload, "BEGIN_RESP");
    if (transaction == nullptr) return;
    if (transaction->state == State::kResponse) note(Rule::kPhaseOrder, "BEGIN_RESP twice");
    if (response_ != nullptr && response_ != &payload) {
      note(Rule::kResponseExclusion, "BEGIN_RESP during another response");
    }
    transaction->state = State::kResponse;
    if (request_ == &payload) request_ = nullptr;  // it ends the request as well
    response_ = &payload;
    check_response(payload, delay);
  }

  void end_response(Payload& payload) {
    const auto found = transactions_.find(&payload);
    if (found == transactions_.end() || found->second.state != State::kResponse) {
      note(Rule::kPhaseOrder, "END_RESP outside a response");
      return;
    }
    if (response_ == &payload) response_ = nullptr;
    finish(payload);
  }

  void check_response(Payload& payload, const sc_core::sc_time& delay) {
    const Transaction& t = transactions_[&payload];
    if (t.command != payload.get_command() || t.address != payload.get_address() ||
        t.data != payload.get_data_ptr() || t.bytes != payload.get_data_length() ||
        t.width != payload.get_streaming_width()) {
      note(Rule::kFields, "attributes changed under way");
    }
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
      note(Rule::kResponseStatus, "a response without status");
    }
    if (t.command != tlm::TLM_WRITE_COMMAND) return;
    if (time_of(delay) < last_write_) note(Rule::kPostedOrder, "a write overtook an earlier one");
    last_write_ = time_of(delay);
  }

  void finish(Payload& payload) {
    if (request_ == &payload) request_ = nullptr;
    transactions_.erase(&payload);
    ++completed_;
  }

  void check_return(tlm::tlm_sync_enum status, const tlm::tlm_phase& before,
                    const tlm::tlm_phase& after, const sc_core::sc_time& delay_before,
                    const sc_core::sc_time& delay_after) {
    if (status == tlm::TLM_ACCEPTED) return;  // phase and delay say nothing then
    check_delay(delay_after);
    if (delay_after < delay_before) note(Rule::kDelay, "delay less on return");
    if (status == tlm::TLM_UPDATED && after == before) {
      note(Rule::kSync, "TLM_UPDATED with the phase as it was");
    }
    if (status == tlm::TLM_COMPLETED && before == tlm::END_REQ) {
      note(Rule::kSync, "TLM_COMPLETED from an initiator that has no response yet");
    }
  }

  std::vector<Violation> violations_;
  std::map<const Payload*, Transaction> transactions_;
  const Payload* request_ = nullptr;
  const Payload* response_ = nullptr;
  std::uint64_t last_write_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace hcasim::testing
