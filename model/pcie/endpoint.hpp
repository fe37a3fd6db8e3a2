// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "fabric/link_clock.hpp"
#include "fabric/link_ring.hpp"
#include "pcie/credits.hpp"
#include "pcie/dma.hpp"
#include "pcie/link_rates.hpp"
#include "pcie/slots.hpp"
#include "pcie/tlp_layout.hpp"
#include "pcie/transactions.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::pcie {

/// What an endpoint did so far.
struct EndpointCounters {
  std::uint64_t reads = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t read_errors = 0;
  std::uint64_t writes = 0;  ///< interrupts included
  std::uint64_t write_bytes = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t read_waits = 0;   ///< reads that had to wait for a tag or a credit
  std::uint64_t write_waits = 0;  ///< TLPs that had to wait for a posted credit
};

/// The adapter's end of the PCIe link: takes DMA operations, keeps tags and credits, and puts TLPs
/// on the upstream link in the order of the calls. A write costs no event; a read one when its data
/// is there. A read waits for tags and credits in line behind earlier reads, until it can send all
/// its requests or as many as a quarter of the tags and credits, whichever is less; a write may
/// pass it, as PCIe lets posted requests do, but no read passes a write called before it.
class Endpoint final : public DmaPort, public sim::Unit, public ReadSink {
 public:
  Endpoint(sim::Engine& engine, const std::string& name, const Parameters& parameters,
           HostSide& host);
  /// Another way to the same host, to be taken from now on.
  void set_host(HostSide& host) { host_ = &host; }

  void read(std::uint64_t address, void* to, std::uint32_t bytes, DmaClient& client,
            std::uint64_t token) override;
  Time write(std::uint64_t address, const void* from, std::uint32_t bytes) override;
  void interrupt(std::uint32_t vector) override;

  /// Answers an MMIO read of up to 8 bytes: a completion behind all earlier writes. Returns when it
  /// has arrived at the host.
  Time complete_mmio_read(std::uint32_t bytes);

  const EndpointCounters& counters() const { return counters_; }
  /// The upstream direction of the link: its rate, and bytes for its utilisation.
  const fabric::LinkClock& upstream() const { return upstream_; }
  /// Read requests that have no answer yet, and reads not yet completely asked for.
  std::uint32_t requests_outstanding() const { return requests_outstanding_; }

  void on_event(std::uint64_t argument) override;
  void on_completion(std::uint64_t token, std::uint64_t address, std::uint32_t bytes, Time at,
                     bool error) override;

 private:
  struct Read {  // a DMA read; asked for in parts when tags or credits are short
    std::uint64_t address;
    std::uint8_t* to;
    DmaClient* client;
    std::uint64_t token;
    std::uint32_t bytes_to_ask;
    std::uint32_t parts_out;
    bool error;
  };

  // Whether all requests of a read could be sent.
  bool ask(std::uint32_t index) {
    const std::uint32_t wanted = requests_of(reads_[index]);
    const bool possible =
        tags_.available(wanted, now()) >= wanted && nonposted_.available(wanted, now()) >= wanted;
    if (!possible) return ask_for_part(index, wanted);
    send_requests(index, reads_[index].bytes_to_ask, wanted);
    return true;
  }
  [[gnu::noinline]] bool ask_for_part(std::uint32_t index, std::uint32_t wanted);
  [[gnu::noinline]] void wait_in_line(std::uint32_t index);
  std::uint32_t requests_of(const Read& read) const {
    return layout_.read_requests(read.address, read.bytes_to_ask).tlps;
  }
  std::uint32_t least_batch(std::uint32_t wanted) const { return std::min(wanted, batch_); }
  void send_requests(std::uint32_t index, std::uint32_t bytes, std::uint32_t requests);
  std::uint32_t bytes_of_requests(const Read& read, std::uint32_t requests) const;
  void serve_waiting();
  void arm();
  void finish(std::uint32_t index);
  Time send_write(std::uint64_t address, std::uint32_t bytes, std::uint32_t tlps,
                  std::uint32_t data) {
    // Credits count from the moment the link is free for this write: those before it go first.
    const Time free = std::max(now(), upstream_.free_at());
    if (posted_.enough(tlps, data, free)) return put_write(address, bytes, tlps, data, now());
    return send_write_slowly(address, bytes);
  }
  [[gnu::noinline]] Time send_long_write(std::uint64_t address, std::uint32_t bytes);
  [[gnu::noinline]] Time send_write_slowly(std::uint64_t address, std::uint32_t bytes);
  Time put_write(std::uint64_t address, std::uint32_t bytes, std::uint32_t tlps, std::uint32_t data,
                 Time at) {
    const Time end = upstream_.reserve(at, bytes + tlps * layout_.write_overhead()).end;
    const Time arrival = end + propagation_;
    posted_.spend(address, bytes, tlps, data, arrival + drain_ + propagation_);
    return arrival;
  }

  static constexpr std::uint64_t kServe = ~std::uint64_t{0};

  HostSide* host_;
  TlpLayout layout_;
  fabric::LinkClock upstream_;
  Time propagation_;
  Time drain_;  // a posted TLP leaves the root complex's buffer this long after its arrival
  PostedCredits posted_;
  RequestCredits nonposted_;
  Tags tags_;
  std::uint32_t batch_;  // a waiting read goes on when it can send as many requests
  Slots<Read> reads_;
  fabric::LinkRing<std::uint32_t> waiting_;
  Time armed_at_ = hw::kNever;
  std::uint32_t requests_outstanding_ = 0;
  EndpointCounters counters_;
};

}  // namespace hcasim::pcie
