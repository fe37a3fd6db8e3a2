// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/port.hpp"
#include "hca/core.hpp"
#include "hca/receive_queue/receive_queue_unit.hpp"
#include "pcie/dma.hpp"

namespace hcasim::hca {

/// Receives the counters of an adapter, unit by unit.
class CounterVisitor {
 public:
  virtual ~CounterVisitor() = default;
  virtual void unit(const char* name) = 0;
  virtual void counter(const char* name, std::uint64_t value) = 0;
};

/// A host channel adapter: its units, the BAR in front of them and the port behind. Plain C++; the
/// buses are tied to it from outside.
class Adapter : public pcie::BarTarget {
 public:
  /// `unit` is the receive-queue unit to use: any implementation of its contract.
  Adapter(sim::Engine& engine, const Parameters& parameters, pcie::DmaPort& dma,
          fabric::PacketPool& packets, std::unique_ptr<ReceiveQueueUnit> unit);
  ~Adapter() override;

  /// The receive-queue unit's parameters that go with those of the adapter.
  static hw::rq::Parameters receive_queue_parameters(const Parameters& parameters);

  void set_bar_host(pcie::BarHost& host);
  /// `buffered` is how much time's worth of packets the port holds beyond the one on the wire;
  /// `index` counts the ports from 0.
  void set_port(fabric::PacketPort& port, hw::Time buffered, std::uint32_t index = 0);
  /// Who takes the packets that come in at a port.
  fabric::PacketSink& packet_sink(std::uint32_t index = 0);
  /// The link of a port went down, or came up: the driver hears of it.
  void link_changed(std::uint32_t index, bool up);
  void set_observer(MessageObserver* observer);
  void set_transport_observer(TransportObserver* observer);
  /// Null: nobody is told.
  void set_timer_observer(TimerObserver* observer);

  bool bar_write(std::uint64_t offset, const void* data, std::uint32_t bytes) override;
  bool bar_write_ahead(std::uint64_t offset, const void* data, std::uint32_t bytes,
                       hw::Time arrival) override;
  std::uint64_t bar_read(std::uint64_t offset) override;

  void visit_counters(CounterVisitor& visitor) const;
  /// Calls visit(name, busy time) for each unit that has a share of time to tell.
  void visit_busy(const std::function<void(const char*, hw::Time)>& visit) const;

 private:
  struct Units;

  void write_register(std::uint64_t offset, std::uint64_t value);
  bool burst_write(std::uint64_t offset, const void* data, std::uint32_t bytes);

  std::unique_ptr<Core> core_;
  std::unique_ptr<Units> units_;
  std::uint64_t eq_base_ = 0;
};

}  // namespace hcasim::hca
