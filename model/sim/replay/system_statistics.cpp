// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/system_statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

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

// Packets that an adapter has sent for the first time. Resends are counted in PSNs, so with READs
// among them it may be fewer.
class NewPackets : public hca::CounterVisitor {
 public:
  void unit(const char*) override {}
  void counter(const char* name, std::uint64_t value) override {
    const std::string_view text = name;
    if (text == "packets" || text == "read_response_packets") {
      sum += static_cast<std::int64_t>(value);
    } else if (text == "n_rc_resends") {
      sum -= static_cast<std::int64_t>(value);
    }
  }
  std::int64_t sum = 0;
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
}

// The first port has the names that an only one has.
std::string of_port(const char* name, std::uint32_t index) {
  return index == 0 ? name : std::string(name) + '.' + std::to_string(index + 1);
}

void visit_port(NodeSystem& node, std::uint32_t index, hca::CounterVisitor& visitor) {
  const fabric::PortCounters& port = node.adapter().port(index).port().counters();
  visitor.unit(of_port("port", index).c_str());
  visitor.counter("packets_out", port.packets_out);
  visitor.counter("packets_in", port.packets_in);
  if (const fabric::PausablePort* pausable = node.adapter().pausable_port(index)) {
    visitor.counter("rx_prio0_pause", pausable->frames_in());
  }
  visitor.counter("rx_icrc_encapsulated", port.rx_icrc_encapsulated);
}

// Of all ports: what the driver has done in loopback.
void visit_driver(NodeSystem& node, hca::CounterVisitor& visitor) {
  const rvt::rvt_loop_counters loop = rvt::rvt_count_loopback(node.device());
  visitor.unit("rvt");
  visitor.counter("n_loop_pkts", loop.n_loop_pkts);
  visitor.counter("n_rnr_naks", loop.n_rnr_naks);
  visitor.counter("n_pkt_drops", loop.n_pkt_drops);
}

void visit_link_faults(NodeSystem& node, std::uint32_t index, hca::CounterVisitor& visitor) {
  const fabric::FaultCounters link = node.adapter().port(index).fault_counters();
  visitor.unit(of_port("faults", index).c_str());
  visitor.counter("packets_lost", link.lost);
  visitor.counter("packets_duplicated", link.duplicated);
  visitor.counter("packets_reordered", link.reordered);
  visitor.counter("packets_corrupted", link.corrupted);
  visitor.counter("packets_lost_link_down", link.lost_link_down);
}

void visit_faults(NodeSystem& node, hca::CounterVisitor& visitor) {
  visit_link_faults(node, 0, visitor);
  const host::FaultCounters host = node.host().fault_counters();
  visitor.counter("dma_read_errors_injected", host.read_errors);
  visitor.counter("dma_reads_slow", host.slow_reads);
  for (std::uint32_t i = 1; i < node.adapter().ports(); ++i) visit_link_faults(node, i, visitor);
}

}  // namespace

SystemSnapshot snapshot(NodeSystem& node) {
  SystemSnapshot out;
  Collector collector(node.node_name(), out.counters);
  node.adapter().adapter().visit_counters(collector);
  visit_buses(node, collector);
  for (std::uint32_t i = 0; i < node.adapter().ports(); ++i) visit_port(node, i, collector);
  visit_driver(node, collector);
  visit_faults(node, collector);
  const auto add = [&](const std::string& name, hw::Time busy) {
    out.busy.emplace_back(name, busy);
  };
  const auto add_link = [&](const std::string& name, const fabric::LinkClock& link) {
    add(name, static_cast<hw::Time>(link.busy_ps()));
  };
  for (std::uint32_t i = 0; i < node.adapter().ports(); ++i) {
    add_link(of_port("wire", i), node.adapter().port(i).port().clock());
  }
  add_link("pcie_up", node.adapter().endpoint().upstream());
  add_link("pcie_down", node.host().root_complex().downstream());
  node.adapter().adapter().visit_busy(add);
  out.engine_events = node.engine().events_run();
  return out;
}

std::vector<Counter> switch_counters(fabric::SwitchModule& module) {
  std::vector<Counter> out;
  Collector collector("switch", out);
  fabric::Switch& network_switch = module.core();
  for (std::size_t i = 0; i < network_switch.size(); ++i) {
    const std::string unit = "port_" + network_switch.name_of(i);
    collector.unit(unit.c_str());
    const fabric::SwitchCounters& port = network_switch.counters(i);
    collector.counter("rx_packets_phy", port.rx_packets_phy);
    collector.counter("rx_bytes_phy", port.rx_bytes_phy);
    collector.counter("rx_crc_errors_phy", module.port(i).port().counters().rx_icrc_encapsulated);
    collector.counter("tx_packets_phy", port.tx_packets_phy);
    collector.counter("tx_bytes_phy", port.tx_bytes_phy);
    collector.counter("tx_discards_phy", port.tx_discards_phy);
    collector.counter("discard_ingress_general", port.discard_ingress_general);
    collector.counter("ecn_marked", port.ecn_marked);
    collector.counter("tx_prio0_pause", network_switch.pause_control(i).frames_sent());
  }
  return out;
}

void append_difference(const std::vector<Counter>& before, std::vector<Counter> after,
                       RunStatistics& statistics) {
  if (before.size() != after.size()) throw std::logic_error("counters come and go");
  for (std::size_t i = 0; i < after.size(); ++i) {
    after[i].value -= before[i].value;
    statistics.counters.push_back(std::move(after[i]));
  }
}

void append_statistics(NodeSystem& node, const SystemSnapshot& before, hw::Time time,
                       RunStatistics& statistics) {
  SystemSnapshot after = snapshot(node);
  append_difference(before.counters, std::move(after.counters), statistics);
  for (std::size_t i = 0; i < after.busy.size(); ++i) {
    const hw::Time busy = after.busy[i].second - before.busy[i].second;
    const double part = time > 0 ? static_cast<double>(busy) / static_cast<double>(time) : 0;
    const double share = std::min(part, 1.0);  // a link may be taken beyond the end
    statistics.utilisation.push_back({node.node_name(), after.busy[i].first, share});
  }
}

std::int64_t new_packets(NodeSystem& node) {
  NewPackets packets;
  node.adapter().adapter().visit_counters(packets);
  return packets.sum;
}

}  // namespace hcasim::sim
