// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// That the data verbs of these tests come from where HCASIM_CALL_FROM says, and what that forbids.
#include <cerrno>
#include <stdexcept>
#include <string>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using support::CallFrom;

/// How a call looks from inside.
struct Place {
  bool may_wait = false;
  bool in_interrupt = false;
  bool in_method = false;
  friend bool operator==(const Place&, const Place&) = default;
  friend void PrintTo(const Place& place, std::ostream* os) {
    *os << "{may wait: " << place.may_wait << ", interrupt: " << place.in_interrupt
        << ", SC_METHOD: " << place.in_method << "}";
  }
};

class CallFromTest : public DriverTest {
 protected:
  Place here() const { return {host.may_wait(), host.in_interrupt(), support::inside_method()}; }
  static Place wanted() {
    return {.may_wait = support::call_from() == CallFrom::kThread,
            .in_interrupt = support::call_from() == CallFrom::kHandler,
            .in_method = support::call_from() == CallFrom::kMethod};
  }
  /// Where a verb is when it rings or stores for the first time.
  template <typename Verb>
  Place place_of(Verb verb) {
    std::vector<Place> seen;
    host.on_write = [&](std::uint64_t, std::uint64_t) { seen.push_back(here()); };
    host.on_ring = [&](const FakeHost::Doorbell&) { seen.push_back(here()); };
    verb();
    host.on_write = nullptr;
    host.on_ring = nullptr;
    return seen.at(0);
  }

  static inline const FakeHost* watched = nullptr;
  static inline Place of_handle;
};

TEST_F(CallFromTest, EveryDataVerbComesFromThere) {
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  ib_srq* srq = make_srq();
  const ib_recv_wr wr;
  for (int round = 0; round < 4; ++round) {  // a handler comes at another point each time
    EXPECT_EQ(place_of([&] { EXPECT_EQ(post_send(qp, 1), 0); }), wanted());
    EXPECT_EQ(place_of([&] { EXPECT_EQ(post_recv(qp, 1), 0); }), wanted());
    EXPECT_EQ(place_of([&] { EXPECT_EQ(ib_post_srq_recv(srq, &wr, nullptr), 0); }), wanted());
    EXPECT_EQ(place_of([&] { EXPECT_EQ(ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0); }), wanted());
    complete_send(qp, static_cast<std::uint32_t>(round));
    EXPECT_EQ(place_of([&] { EXPECT_EQ(poll().size(), 1u); }), wanted());
    ibcq_to_rvtcq(cq)->notify = RVT_CQ_NONE;
  }
  EXPECT_TRUE(host.may_wait());
}

TEST_F(CallFromTest, CreationOfAnAddressHandleComesFromThere) {
  watched = &host;
  device->driver_f.notify_new_ah = [](ib_device*, const rdma_ah_attr*, rvt_ah*) {
    of_handle = {watched->may_wait(), watched->in_interrupt(), support::inside_method()};
  };
  rdma_ah_attr attr;
  attr.port_num = 1;
  ib_ah* ah = rdma_create_ah(pd, &attr);
  ASSERT_FALSE(IS_ERR(ah));
  EXPECT_EQ(of_handle, wanted());
  EXPECT_EQ(rdma_destroy_ah(ah), 0);
}

TEST_F(CallFromTest, ControlVerbsAreRefusedThereUnlessItIsATask) {
  const bool task = support::call_from() == CallFrom::kThread;
  const int error = task ? 0 : -EDEADLK;
  ib_qp* qp = make_qp_in(IB_QPS_RTS);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(call(ibdev, [&] { return ib_resize_cq(cq, 64 + round); }), error);
    EXPECT_EQ(call(ibdev, [&] { return create_error(init_attr()); }), error);
  }
  EXPECT_EQ(call(ibdev, [&] { return to_state(qp, IB_QPS_ERR); }), error);
  EXPECT_EQ(rvt(qp)->state, task ? IB_QPS_ERR : IB_QPS_RTS);
}

// What a verb throws, as the checker of locks does, comes out of any place.
TEST_F(CallFromTest, AnExceptionComesBack) {
  const auto fault = [](bool wanted) {
    if (wanted) throw std::runtime_error("fault");
    return 0;
  };
  EXPECT_THROW(call(ibdev, [&] { return fault(true); }), std::runtime_error);
  EXPECT_TRUE(host.may_wait());
  EXPECT_EQ(call(ibdev, [&] { return fault(false); }), 0);
}

TEST(CallFromSetting, IsOneOfThreeWords) {
  EXPECT_EQ(support::parse_call_from(nullptr), CallFrom::kThread);
  EXPECT_EQ(support::parse_call_from("thread"), CallFrom::kThread);
  EXPECT_EQ(support::parse_call_from("method"), CallFrom::kMethod);
  EXPECT_EQ(support::parse_call_from("handler"), CallFrom::kHandler);
  try {
    support::parse_call_from("Handler");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "HCASIM_CALL_FROM: expected thread, method or handler, found 'Handler'");
  }
}

}  // namespace
}  // namespace hcasim::rvt
