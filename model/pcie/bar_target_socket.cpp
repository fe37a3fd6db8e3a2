// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/bar_target_socket.hpp"

#include <algorithm>
#include <cstring>

#include "hcasim/hw/bar.hpp"

namespace hcasim::pcie {

namespace {

std::uint64_t token_of(tlm::tlm_generic_payload& payload) {
  return reinterpret_cast<std::uintptr_t>(&payload);
}
tlm::tlm_generic_payload& payload_of(std::uint64_t token) {
  // A token is the address of what it stands for. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return *reinterpret_cast<tlm::tlm_generic_payload*>(token);
}
BarAccess access_of(tlm::tlm_generic_payload& payload, std::uint64_t token) {
  return {token, payload.get_address(), payload.get_data_ptr(), payload.get_data_length(),
          payload.is_write()};
}

}  // namespace

// Copies of the bytes of writes whose caller has gone on, and the wait of reads.
class BarTargetSocket::BlockingCalls final : public BarSink {
 public:
  explicit BlockingCalls(BarTargetSocket& owner) : owner_(owner) {}

  void write(tlm::tlm_generic_payload& payload, Time at) {
    const std::uint32_t index = allocate();
    const unsigned char* data = payload.get_data_ptr();
    copies_[index].assign(data, data + payload.get_data_length());
    BarAccess access = access_of(payload, index);
    access.data = copies_[index].data();
    owner_.port_.access(*this, access, at);
  }

  void read(tlm::tlm_generic_payload& payload, Time at) {
    sc_core::sc_event done;
    BarAccess access = access_of(payload, token_of_event(done));
    owner_.port_.access(*this, access, at);
    owner_.calls_.after_call_in();
    sc_core::wait(done);
  }

  void on_bar_done(std::uint64_t token, Time at) override {
    if ((token & kEventBit) == 0) {
      free_.push_back(static_cast<std::uint32_t>(token));
      return;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the token holds its address
    auto* done = reinterpret_cast<sc_core::sc_event*>(token & ~kEventBit);
    done->notify(owner_.node_.delay_to(at));
    owner_.node_.engine().request_stop();  // so that the waiting process runs on time
  }
  void on_bar_free() override {}

 private:
  static constexpr std::uint64_t kEventBit = std::uint64_t{1} << 63;

  static std::uint64_t token_of_event(sc_core::sc_event& event) {
    return reinterpret_cast<std::uintptr_t>(&event) | kEventBit;
  }
  std::uint32_t allocate() {
    if (free_.empty()) {
      copies_.emplace_back();
      return static_cast<std::uint32_t>(copies_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  BarTargetSocket& owner_;
  std::vector<std::vector<std::uint8_t>> copies_;
  std::vector<std::uint32_t> free_;
};

BarTargetSocket::BarTargetSocket(const sc_core::sc_module_name& name, sim::EngineModule& node,
                                 const Parameters& p, Endpoint& endpoint)
    : sc_core::sc_module(name),
      socket("socket"),
      node_(node),
      port_(node.engine(), "bar", p, endpoint),
      calls_(node),
      blocking_(std::make_unique<BlockingCalls>(*this)) {
  socket.bind(*this);
}

BarTargetSocket::~BarTargetSocket() = default;

void BarTargetSocket::start_of_simulation() {
  calls_.set_peer(socket.operator->());
}

void BarTargetSocket::set_target(BarTarget& target) {
  target_ = &target;
  port_.set_target(target);
}

bool BarTargetSocket::inside(std::uint64_t offset, std::uint64_t bytes) {
  return offset < hw::bar::kBytes && bytes <= hw::bar::kBytes - offset;
}

// What the short cut has to look at itself.
bool BarTargetSocket::fits(const BarAccess& access) {
  const std::uint64_t most = access.is_write ? hw::bar::kBlueFlameBytes : sizeof(std::uint64_t);
  return inside(access.offset, access.bytes) && access.bytes != 0 && access.bytes <= most;
}

bool BarTargetSocket::access(BarSink& sink, const BarAccess& access, Time arrival) {
  if (fits(access)) [[likely]]
    return port_.access_in_order(sink, access, arrival);
  refuse(sink, access, arrival);
  return true;
}

void BarTargetSocket::refuse(BarSink& sink, const BarAccess& access, Time arrival) {
  if (!access.is_write) std::fill_n(access.data, access.bytes, std::uint8_t{0xff});
  sink.on_bar_done(access.token, arrival);
}

// Answers what no BAR access can be.
bool BarTargetSocket::acceptable(tlm::tlm_generic_payload& payload) {
  const std::uint64_t bytes = payload.get_data_length();
  if (!inside(payload.get_address(), bytes)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (bytes == 0 || bytes > hw::bar::kBlueFlameBytes ||
             payload.get_streaming_width() < bytes || (payload.is_read() && bytes > 8)) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  } else {
    return true;
  }
  return false;
}

tlm::tlm_sync_enum BarTargetSocket::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                    tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (!acceptable(payload)) return tlm::TLM_COMPLETED;
  payload.acquire();
  port_.access(*this, access_of(payload, token_of(payload)), sim::EngineModule::time_of(delay));
  calls_.after_call_in();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void BarTargetSocket::on_bar_done(std::uint64_t token, Time at) {
  tlm::tlm_generic_payload& payload = payload_of(token);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = node_.delay_to(at);
  socket->nb_transport_bw(payload, phase, delay);
  calls_.after_call_out();
  payload.release();
}

void BarTargetSocket::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!acceptable(payload)) return;
  const Time at = sim::EngineModule::time_of(delay);
  if (payload.is_write()) {
    blocking_->write(payload, at);
    calls_.after_call_in();
  } else {
    blocking_->read(payload, at);
    delay = sc_core::SC_ZERO_TIME;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned int BarTargetSocket::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read() || !acceptable(payload)) return 0;
  const std::uint64_t value = target_->bar_read(payload.get_address());
  std::memcpy(payload.get_data_ptr(), &value, payload.get_data_length());
  return payload.get_data_length();
}

}  // namespace hcasim::pcie
