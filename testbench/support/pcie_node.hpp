// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "host/root_complex.hpp"
#include "pcie/endpoint.hpp"

namespace hcasim::testing {

using hw::Time;

/// Time of TLP bytes, from the formula of the data sheet and independent of the model's arithmetic.
inline Time link_ps(double raw_gbps, double ack, double fc, double bytes) {
  const long double gbps = raw_gbps * (1.0L - 8.0L / ack - 8.0L / fc - 4.0L / 1538.0L);
  return static_cast<Time>(std::ceil(bytes * 8000.0L / gbps - 1e-6L));
}
/// The same for the default link, Gen4 x16 with an MPS of 256.
inline Time default_link_ps(double bytes) {
  return link_ps(16.0 * 16 * 128 / 130, 168, 168, bytes);
}

/// A host that writes down what arrives and answers when the test says so.
class RecordingHost : public pcie::HostSide {
 public:
  struct Write {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
    Time arrival;
  };
  struct Read {
    pcie::ReadSink* sink;
    std::uint64_t token;
    std::uint64_t address;
    void* to;
    std::uint32_t bytes;
    Time arrival;
    void complete(Time at, bool error = false) const {
      sink->on_completion(token, address, bytes, at, error);
    }
  };

  Time write(std::uint64_t address, const void* from, std::uint32_t bytes, Time arrival) override {
    const auto* data = static_cast<const std::uint8_t*>(from);
    writes.push_back({address, {data, data + bytes}, arrival});
    return arrival + 60'000;
  }
  void read(pcie::ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
            std::uint32_t bytes, Time arrival) override {
    reads.push_back({&sink, token, address, to, bytes, arrival});
  }

  std::vector<Write> writes;
  std::vector<Read> reads;
};

/// Writes down when reads end.
class RecordingClient final : public pcie::DmaClient {
 public:
  explicit RecordingClient(const sim::Engine& engine) : engine_(engine) {}
  struct Done {
    std::uint64_t token;
    bool error;
    Time at;
    friend bool operator==(const Done&, const Done&) = default;
  };
  void on_dma_read(std::uint64_t token, bool error) override {
    done.push_back({token, error, engine_.now()});
  }
  std::vector<Done> done;

 private:
  const sim::Engine& engine_;
};

/// Runs a function at a time.
class At : public sim::Unit {
 public:
  explicit At(sim::Engine& engine) : Unit(engine, "test") {}
  void at(Time when, std::function<void()> what) {
    actions_.push_back(std::move(what));
    schedule(when, actions_.size() - 1);
  }
  void on_event(std::uint64_t argument) override { actions_[argument](); }

 private:
  std::vector<std::function<void()>> actions_;
};

/// Endpoint and root complex, joined without sockets.
struct PcieNode {
  explicit PcieNode(const pcie::Parameters& parameters = {}, std::uint64_t seed = 1,
                    std::uint64_t memory_bytes = 64 << 20)
      : memory(engine, memory_bytes),
        interrupts(engine, host::Parameters{}),
        root_complex(engine, parameters, memory, interrupts, seed),
        endpoint(engine, "pcie", parameters, root_complex),
        client(engine),
        at(engine) {}

  sim::Engine engine{"node"};
  host::Memory memory;
  host::InterruptController interrupts;
  host::RootComplex root_complex;
  pcie::Endpoint endpoint;
  RecordingClient client;
  At at;
};

}  // namespace hcasim::testing
