// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A link that goes down for a while, as the drivers of both ends hear of it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "support/connected_pair.hpp"

namespace hcasim::support {
namespace {

constexpr hw::Time kDownAt = 20 * hw::kMicrosecond;
constexpr hw::Time kDownFor = 30 * hw::kMicrosecond;
constexpr hw::Time kFlight = (150 + 10 + 150) * hw::kNanosecond;

struct Heard {
  struct Event {
    rvt::ib_event_type type;
    std::uint32_t port;
    hw::Time at;
  };
  sim::NodeSystem* node = nullptr;
  std::vector<Event> events;

  static void take(rvt::ib_event* event, void* self) {
    auto& heard = *static_cast<Heard*>(self);
    heard.events.push_back({event->event, event->element.port_num, heard.node->host().cpu().now()});
  }
};

// `cut`: the node that is not heard any more.
void expect_events(std::size_t cut) {
  const std::string faults = cut == 0 ? "node.a.fabric.faults." : "node.b.fabric.faults.";
  ConnectedPair pair(4096, 1,
                     {"hca.ports=2", faults + "down_at_ns=20000", faults + "down_for_ns=30000"});
  std::array<Heard, 2> heard;
  for (std::size_t i = 0; i < 2; ++i) {
    heard[i].node = &pair.system().node(i);
    rvt::rvt_set_event_handler(pair.system().node(i).device(), Heard::take, &heard[i]);
  }
  const hw::Time begin = (pair.system().now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
  pair.system().begin_faults(begin);
  pair.system().run_until(hw::kNever);
  for (const Heard& end : heard) {
    ASSERT_EQ(end.events.size(), 4u);  // each of the two links
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(end.events[i].type, i < 2 ? rvt::IB_EVENT_PORT_ERR : rvt::IB_EVENT_PORT_ACTIVE);
      EXPECT_EQ(end.events[i].port, i % 2 + 1);
    }
    EXPECT_EQ(end.events[2].at - end.events[0].at, kDownFor);
    EXPECT_GE(end.events[0].at, begin + kDownAt + kFlight);
  }
  // The one that sends in vain hears of it from the other.
  EXPECT_EQ(heard[cut].events[0].at - heard[1 - cut].events[0].at, kFlight);
  EXPECT_EQ(heard[cut].events[2].at - heard[1 - cut].events[2].at, kFlight);
  rvt::ib_port_attr attr;
  pair.system().run_task(0, [&] {
    EXPECT_EQ(rvt::ib_query_port(rvt::rvt_ib_device(pair.system().node(0).device()), 2, &attr), 0);
  });
  EXPECT_EQ(attr.state, rvt::IB_PORT_ACTIVE);
}

TEST(PortEvents, OfALinkWhoseFirstEndIsNotHeard) {
  expect_events(0);
}

TEST(PortEvents, OfALinkWhoseSecondEndIsNotHeard) {
  expect_events(1);
}

}  // namespace
}  // namespace hcasim::support
