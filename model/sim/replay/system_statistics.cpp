// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/system_statistics.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {

class Collector : public hca::CounterVisitor {
 public:
  Collector(std::string node, std::vector<Counter>& out) : node_(std::move(node)), out_(out) {}
  void unit(const char* name) override { unit_ = name; }
  void counter(const char* name, std::uint64_t value) override {
    out_.push_back({node_, unit_, name, value});
  }

 private:
  std::string node_;
  std::string unit_;
  std::vector<Counter>& out_;
};

void visit_buses(NodeSystem& node, hca::CounterVisitor& visitor) {
  const pcie::EndpointCounters& pcie = node.adapter().endpoint().counters();
  visitor.unit("pcie");
  visitor.counter("dma_reads", pcie.reads);
  visitor.counter("dma_read_bytes", pcie.read_bytes);
  visitor.counter("dma_read_errors", pcie.read_errors);
  visitor.counter("dma_read_waits", pcie.read_waits);
  visitor.counter("dma_writes", pcie.writes);
  visitor.counter("dma_write_bytes", pcie.write_bytes);
  visitor.counter("dma_write_waits", pcie.write_waits);
  const host::MmioCounters& mmio = node.host().mmio().counters();
  visitor.counter("mmio_writes", mmio.writes);
  visitor.counter("mmio_credit_waits", mmio.credit_waits);
  const fabric::PortCounters& port = node.adapter().port().port().counters();
  visitor.unit("port");
  visitor.counter("packets_out", port.packets_out);
  visitor.counter("packets_in", port.packets_in);
}

}  // namespace

SystemSnapshot snapshot(NodeSystem& node) {
  SystemSnapshot out;
  Collector collector(node.node_name(), out.counters);
  node.adapter().adapter().visit_counters(collector);
  visit_buses(node, collector);
  const auto add = [&](const char* name, hw::Time busy) { out.busy.emplace_back(name, busy); };
  const auto add_link = [&](const char* name, const fabric::LinkClock& link) {
    add(name, static_cast<hw::Time>(link.busy_ps()));
  };
  add_link("wire", node.adapter().port().port().clock());
  add_link("pcie_up", node.adapter().endpoint().upstream());
  add_link("pcie_down", node.host().root_complex().downstream());
  node.adapter().adapter().visit_busy(add);
  out.engine_events = node.engine().events_run();
  return out;
}

void append_statistics(NodeSystem& node, const SystemSnapshot& before, hw::Time time,
                       RunStatistics& statistics) {
  SystemSnapshot after = snapshot(node);
  for (std::size_t i = 0; i < after.counters.size(); ++i) {
    after.counters[i].value -= before.counters[i].value;
    statistics.counters.push_back(std::move(after.counters[i]));
  }
  for (std::size_t i = 0; i < after.busy.size(); ++i) {
    const hw::Time busy = after.busy[i].second - before.busy[i].second;
    const double part = time > 0 ? static_cast<double>(busy) / static_cast<double>(time) : 0;
    const double share = std::min(part, 1.0);  // a link may be taken beyond the end
    statistics.utilisation.push_back({node.node_name(), after.busy[i].first, share});
  }
}

}  // namespace hcasim::sim
