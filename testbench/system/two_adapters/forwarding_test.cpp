// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A host with two adapters: what one receives the other sends on from the same memory. Data is
// looked at on its whole way.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/set_up.hpp"
#include "sim/system/system.hpp"

namespace hcasim {
namespace {

constexpr std::uint32_t kBytes = 100'000;
constexpr std::uint32_t kOffset = 4321;

constexpr const char* kTrace =
    "hcasim-trace 1\n"
    "node in\n"
    "node out host=in\n"
    "connect src.q in.q mr_length=131072\n"
    "connect out.q dst.q mr_length=131072\n"
    "in reg_mr block length=131072\n"
    "out reg_mr again length=100000 memory=in.block:4321\n";

/// The objects of a trace have no program that uses them.
class NoProgram final : public sim::ObjectListener {
 public:
  void cq_created(sim::NameId, sim::TraceCq&) override {}
  void cq_destroyed(sim::NameId) override {}
  void qp_created(sim::NameId, sim::TraceQp&) override {}
  void qp_reset(sim::NameId, const sim::TraceQp&) override {}
  void qp_destroyed(sim::NameId, const sim::TraceQp&) override {}
  void srq_created(sim::NameId, sim::TraceSrq&) override {}
  void srq_resized(sim::NameId, const sim::TraceSrq&) override {}
  void srq_destroyed(sim::NameId) override {}
  void srq_limit_reached(sim::NameId) override {}
};

enum Machine : std::uint32_t { kIn, kOut, kSource, kSink };

class Forwarding : public testing::Test {
 protected:
  Forwarding() : reader_(text_, "t"), directory_(reader_.names()) {
    system_ = std::make_unique<sim::System>(
        sim::load_config({}), sim::SystemOptions{{"in", {"out", 0}, "src", "dst"}, 1, true});
    for (std::uint32_t i = 0; i < system_->size(); ++i) {
      objects_.push_back(std::make_unique<sim::NodeObjects>(system_->node(i), directory_));
      objects_.back()->set_default_names(reader_.names().find("cq"), reader_.names().find("mr"));
      objects_.back()->set_listener(nobody_);
      directory_.add(reader_.nodes()[i], *objects_.back());
    }
    EXPECT_EQ(system_->start_devices(), 0);
    sim::SetUp(*system_, directory_, "t").run(reader_);
  }
  ~Forwarding() override {
    for (std::uint32_t i = 0; i < system_->size(); ++i) {
      system_->run_task(i, [&, i] { objects_[i]->tear_down(); });
    }
  }

  host::CpuPort& cpu(std::uint32_t node) { return system_->node(node).host().cpu(); }
  sim::TraceMr& mr(std::uint32_t node, const char* name) {
    return *objects_[node]->mr(reader_.names().find(name));
  }
  rvt::ib_qp* qp(std::uint32_t node) { return objects_[node]->qp(reader_.names().find("q"))->qp; }

  // A task that begins later than all that was, on whichever node, and when every write is visible.
  void task(std::uint32_t node, const std::function<void()>& body) {
    const hw::Time later = system_->now() + 10 * hw::kMicrosecond;
    system_->run_task(node, [&] {
      system_->node(node).host().tasks().sleep_until(later);
      body();
    });
  }

  void receive(std::uint32_t node, const sim::TraceMr& into, std::uint32_t offset) {
    const rvt::ib_sge sge{into.address + offset, kBytes, into.key};
    rvt::ib_recv_wr wr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    task(node, [&] { EXPECT_EQ(rvt::ib_post_recv(qp(node), &wr, nullptr), 0); });
  }
  void send(std::uint32_t node, const sim::TraceMr& from) {
    const rvt::ib_sge sge{from.address, kBytes, from.key};
    rvt::ib_send_wr wr;
    wr.opcode = rvt::IB_WR_SEND;
    wr.send_flags = rvt::IB_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    task(node, [&] { EXPECT_EQ(rvt::ib_post_send(qp(node), &wr, nullptr), 0); });
  }
  std::vector<std::uint8_t> bytes_at(std::uint32_t node, std::uint64_t address) {
    std::vector<std::uint8_t> bytes(kBytes);
    task(node, [&] { cpu(node).read(address, bytes.data(), bytes.size()); });
    return bytes;
  }

  std::istringstream text_{kTrace};
  sim::TraceReader reader_;
  NoProgram nobody_;
  std::unique_ptr<sim::System> system_;
  sim::ObjectDirectory directory_;
  std::vector<std::unique_ptr<sim::NodeObjects>> objects_;
};

TEST_F(Forwarding, SecondAdapterSendsWhatTheFirstReceivedWithoutACopy) {
  std::vector<std::uint8_t> data(kBytes);
  for (std::uint32_t i = 0; i < kBytes; ++i) data[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  cpu(kSource).write(mr(kSource, "mr").host_address, data.data(), data.size());
  const sim::TraceMr& block = mr(kIn, "block");
  const sim::TraceMr& again = mr(kOut, "again");
  EXPECT_EQ(again.host_address, block.host_address + kOffset);
  const std::uint64_t allocations = system_->node(kIn).host().memory().allocations();

  receive(kIn, block, kOffset);
  send(kSource, mr(kSource, "mr"));
  EXPECT_EQ(bytes_at(kOut, again.host_address), data);
  receive(kSink, mr(kSink, "mr"), 0);
  send(kOut, again);
  EXPECT_EQ(bytes_at(kSink, mr(kSink, "mr").host_address), data);
  EXPECT_EQ(system_->node(kOut).host().memory().allocations(), allocations);
}

TEST_F(Forwarding, NodesOfAHostShareEngineAndMemoryAndNothingElse) {
  sim::System& s = *system_;
  EXPECT_EQ(&s.node(kIn).engine(), &s.node(kOut).engine());
  EXPECT_EQ(&s.node(kIn).host().memory(), &s.node(kOut).host().memory());
  EXPECT_NE(&s.node(kIn).engine(), &s.node(kSource).engine());
  EXPECT_NE(&s.node(kIn).host().interrupts(), &s.node(kOut).host().interrupts());
  EXPECT_TRUE(s.node(kOut).shares_host());
  EXPECT_FALSE(s.node(kIn).shares_host());
  EXPECT_EQ(&s.node(kOut).host_owner(), &s.node(kIn));
  EXPECT_EQ(s.apart(kIn, kOut), 0);
  EXPECT_EQ(s.apart(kIn, kSource), s.apart(kOut, kSource));
  EXPECT_GT(s.apart(kIn, kSource), 0);
  EXPECT_LT(s.apart(kSource, kSink), hw::kNever);
}

// An error ends the run under the name of the node in which it happened.
TEST(SharedHosts, ErrorsNameTheNodeOfTheirSlot) {
  sim::System system(sim::load_config({}), {{"a", {"b", 0}}, 1, true});
  try {
    system.run_task(1, [&] { system.node(1).host().cpu().read(0, nullptr, 1); });
    FAIL() << "no error";
  } catch (const sim::SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find(" in b.cpu:"), std::string::npos) << error.what();
  }
}

TEST(SharedHosts, MustBeThoseOfEarlierNodes) {
  const auto refused = [](std::vector<sim::NodeOptions> nodes) {
    EXPECT_THROW(sim::System(sim::load_config({}), {std::move(nodes), 1, true}),
                 std::invalid_argument);
  };
  refused({{"a", 0}, "b"});
  refused({{"a", 1}, "b"});
  refused({"a", {"b", 0}, {"c", 1}});
}

}  // namespace
}  // namespace hcasim
