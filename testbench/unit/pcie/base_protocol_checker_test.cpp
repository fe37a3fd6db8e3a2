// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The checker is silent on right traffic and speaks up for each rule that is broken.
#include "support/base_protocol_checker.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "pcie/payload_pool.hpp"

namespace hcasim::testing {
namespace {

using Payload = tlm::tlm_generic_payload;
using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

// Both ends do what the test says.
class Script : public sc_core::sc_module,
               public tlm::tlm_fw_transport_if<>,
               public tlm::tlm_bw_transport_if<> {
 public:
  using Answer = std::function<tlm_sync_enum(Payload&, tlm_phase&, sc_time&)>;

  explicit Script(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), initiator("initiator"), target("target") {
    initiator.bind(*this);
    target.bind(*this);
  }
  tlm::tlm_initiator_socket<> initiator;
  tlm::tlm_target_socket<> target;
  Answer forward = [](Payload&, tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };
  Answer backward = [](Payload&, tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };

  tlm_sync_enum nb_transport_fw(Payload& p, tlm_phase& phase, sc_time& t) override {
    return forward(p, phase, t);
  }
  tlm_sync_enum nb_transport_bw(Payload& p, tlm_phase& phase, sc_time& t) override {
    return backward(p, phase, t);
  }
  void b_transport(Payload& p, sc_time& t) override {
    tlm_phase phase = tlm::BEGIN_REQ;
    forward(p, phase, t);
  }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(Payload&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

struct CheckerTest : ::testing::Test {
  CheckerTest() {
    script.initiator.bind(checker.in);
    checker.out.bind(script.target);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Payload& payload(tlm::tlm_command command = tlm::TLM_WRITE_COMMAND) {
    return pool.acquire(command, 64, data, 8);
  }
  tlm_sync_enum forward(Payload& p, const tlm_phase& phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm_phase ph = phase;
    return script.initiator->nb_transport_fw(p, ph, delay);
  }
  tlm_sync_enum backward(Payload& p, const tlm_phase& phase,
                         sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm_phase ph = phase;
    return script.target->nb_transport_bw(p, ph, delay);
  }
  static void ok(Payload& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); }
  bool only(Rule rule) const {
    for (const auto& violation : checker.violations()) {
      if (violation.rule != rule) return false;
    }
    return !checker.violations().empty();
  }

  Script script{"script"};
  BaseProtocolChecker checker{"checker"};
  pcie::PayloadPool pool;
  unsigned char data[8] = {};
};

TEST_F(CheckerTest, IsSilentOnFourPhases) {
  Payload& a = payload();
  Payload& b = payload();
  forward(a, tlm::BEGIN_REQ);
  backward(a, tlm::END_REQ);
  forward(b, tlm::BEGIN_REQ);
  ok(a);
  backward(a, tlm::BEGIN_RESP);
  forward(a, tlm::END_RESP);
  ok(b);
  backward(b, tlm::BEGIN_RESP);  // ends the request as well
  forward(b, tlm::END_RESP);
  EXPECT_EQ(checker.report(), "");
  EXPECT_EQ(checker.completed(), 2u);
  EXPECT_EQ(checker.under_way(), 0u);
}

TEST_F(CheckerTest, IsSilentOnShortCuts) {
  script.forward = [](Payload& p, tlm_phase&, sc_time& t) {
    ok(p);
    t += sc_time(5, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  };
  forward(payload(), tlm::BEGIN_REQ);
  script.forward = [](Payload& p, tlm_phase& phase, sc_time&) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    ok(p);
    phase = tlm::BEGIN_RESP;
    return tlm::TLM_UPDATED;
  };
  Payload& p = payload(tlm::TLM_READ_COMMAND);
  forward(p, tlm::BEGIN_REQ);
  forward(p, tlm::END_RESP);
  EXPECT_EQ(checker.report(), "");
  EXPECT_EQ(checker.completed(), 2u);
}

TEST_F(CheckerTest, HearsAPhaseThatTravelsTheWrongWay) {
  forward(payload(), tlm::END_REQ);
  EXPECT_TRUE(only(Rule::kPhase));
}

TEST_F(CheckerTest, HearsAResponseWithoutRequest) {
  Payload& p = payload();
  ok(p);
  backward(p, tlm::BEGIN_RESP);
  EXPECT_TRUE(only(Rule::kPhaseOrder));
}

TEST_F(CheckerTest, HearsEndOfRequestTwice) {
  Payload& p = payload();
  forward(p, tlm::BEGIN_REQ);
  backward(p, tlm::END_REQ);
  backward(p, tlm::END_REQ);
  EXPECT_TRUE(only(Rule::kPhaseOrder));
}

TEST_F(CheckerTest, HearsEndOfResponseBeforeItsBegin) {
  Payload& p = payload();
  forward(p, tlm::BEGIN_REQ);
  forward(p, tlm::END_RESP);
  EXPECT_TRUE(only(Rule::kPhaseOrder));
}

TEST_F(CheckerTest, HearsARequestDuringAnother) {
  forward(payload(), tlm::BEGIN_REQ);
  forward(payload(), tlm::BEGIN_REQ);
  EXPECT_TRUE(only(Rule::kRequestExclusion));
}

TEST_F(CheckerTest, HearsAResponseDuringAnother) {
  Payload& a = payload();
  Payload& b = payload();
  for (Payload* p : {&a, &b}) {
    forward(*p, tlm::BEGIN_REQ);
    backward(*p, tlm::END_REQ);
    ok(*p);
  }
  backward(a, tlm::BEGIN_RESP);
  backward(b, tlm::BEGIN_RESP);
  EXPECT_TRUE(only(Rule::kResponseExclusion));
}

TEST_F(CheckerTest, HearsChangedAndMissingFields) {
  Payload& p = payload();
  forward(p, tlm::BEGIN_REQ);
  p.set_address(65);
  ok(p);
  backward(p, tlm::BEGIN_RESP);
  EXPECT_TRUE(only(Rule::kFields));
  Payload& empty = payload();
  empty.set_data_length(0);
  forward(empty, tlm::BEGIN_REQ);
  EXPECT_EQ(checker.violations().size(), 2u);
  EXPECT_TRUE(only(Rule::kFields));
}

TEST_F(CheckerTest, HearsAMissingResponseAndAnEarlyOne) {
  Payload& p = payload();
  forward(p, tlm::BEGIN_REQ);
  backward(p, tlm::BEGIN_RESP);
  EXPECT_TRUE(only(Rule::kResponseStatus));
  forward(p, tlm::END_RESP);
  Payload& early = payload();
  ok(early);
  forward(early, tlm::BEGIN_REQ);
  EXPECT_EQ(checker.violations().size(), 2u);
  EXPECT_TRUE(only(Rule::kResponseStatus));
}

TEST_F(CheckerTest, HearsAPayloadThatNobodyManages) {
  Payload p;
  p.set_command(tlm::TLM_WRITE_COMMAND);
  p.set_data_ptr(data);
  p.set_data_length(8);
  p.set_streaming_width(8);
  forward(p, tlm::BEGIN_REQ);
  EXPECT_TRUE(only(Rule::kMemoryManager));
}

TEST_F(CheckerTest, HearsTimeGoingBack) {
  forward(payload(), tlm::BEGIN_REQ, sc_time::from_value(~std::uint64_t{0} - 5));  // minus six
  EXPECT_TRUE(only(Rule::kDelay));
}

TEST_F(CheckerTest, HearsADelayThatIsLessOnReturn) {
  script.forward = [](Payload& p, tlm_phase&, sc_time& t) {
    ok(p);
    t = sc_core::SC_ZERO_TIME;
    return tlm::TLM_COMPLETED;
  };
  forward(payload(), tlm::BEGIN_REQ, sc_time(1, sc_core::SC_NS));
  EXPECT_TRUE(only(Rule::kDelay));
}

TEST_F(CheckerTest, HearsAnUpdateThatIsNone) {
  script.forward = [](Payload&, tlm_phase&, sc_time&) { return tlm::TLM_UPDATED; };
  forward(payload(), tlm::BEGIN_REQ);
  EXPECT_TRUE(only(Rule::kSync));
}

TEST_F(CheckerTest, HearsAWriteThatOvertakes) {
  int delay_ns = 10;
  script.forward = [&](Payload& p, tlm_phase&, sc_time& t) {
    ok(p);
    t += sc_time(delay_ns, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  };
  forward(payload(), tlm::BEGIN_REQ);
  delay_ns = 9;
  forward(payload(tlm::TLM_READ_COMMAND), tlm::BEGIN_REQ);  // a read may
  EXPECT_EQ(checker.report(), "");
  forward(payload(), tlm::BEGIN_REQ);
  EXPECT_TRUE(only(Rule::kPostedOrder));
}

TEST_F(CheckerTest, WatchesBlockingCalls) {
  script.forward = [](Payload& p, tlm_phase&, sc_time&) {
    ok(p);
    return tlm::TLM_COMPLETED;
  };
  sc_time delay = sc_core::SC_ZERO_TIME;
  script.initiator->b_transport(payload(), delay);
  EXPECT_EQ(checker.report(), "");
  script.forward = [](Payload&, tlm_phase&, sc_time&) { return tlm::TLM_COMPLETED; };
  script.initiator->b_transport(payload(), delay);
  EXPECT_TRUE(only(Rule::kResponseStatus));
}

}  // namespace
}  // namespace hcasim::testing
