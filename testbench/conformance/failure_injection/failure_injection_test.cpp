// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Each allocation and each command of each control verb fails once in turn.
#include <cerrno>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/failure_injection/world.hpp"

namespace hcasim::rvt {
namespace {

/// A verb that has all or nothing of its effect. `act` is 0 or an errno and makes nothing of its
/// own.
struct Verb {
  std::string name;
  std::function<void(World&)> prepare;
  std::function<int(World&)> act;
};
void PrintTo(const Verb& verb, std::ostream* out) {
  *out << verb.name;
}
std::string name_of(const testing::TestParamInfo<Verb>& info) {
  return info.param.name;
}

// What a good run takes.
struct Needs {
  int allocations = 0;
  int commands = 0;
};
Needs needs_of(const Verb& verb) {
  World world;
  verb.prepare(world);
  const std::size_t commands = world.host.commands.size();
  Needs needs;
  {
    const FailingMemory counting(FailingHost::kNever);
    EXPECT_EQ(verb.act(world), 0);
    needs.allocations = FailingMemory::count();
  }
  needs.commands = static_cast<int>(world.host.commands.size() - commands);
  return needs;
}

// Act with the machine failing at one place.
int act_without_memory(const Verb& verb, World& world, int step) {
  const FailingMemory failing(step);
  return verb.act(world);
}
int act_refused(const Verb& verb, World& world, int step, hw::CommandStatus status) {
  world.host.failure_status = status;
  world.host.commands_until_failure = step;
  const int error = verb.act(world);
  EXPECT_LT(world.host.commands_until_failure, 0);
  return error;
}
int act_unanswered(const Verb& verb, World& world, int step) {
  world.host.commands_until_lost = step;
  world.lost_mailbox = true;
  return verb.act(world);
}
void expect_failed(const World& world) {
  EXPECT_TRUE(rvt_device_failed(world.device.get()));
  EXPECT_EQ(world.fatal, 1);
}

// --- Verbs that make or change something
// ------------------------------------------------------------------------------------------

class AllOrNothing : public testing::TestWithParam<Verb> {};

TEST_P(AllOrNothing, WithoutMemory) {
  const Needs needs = needs_of(GetParam());
  for (int step = 0; step < needs.allocations; ++step) {
    SCOPED_TRACE(step);
    World world;
    GetParam().prepare(world);
    const Books before = world.books();
    EXPECT_EQ(act_without_memory(GetParam(), world, step), -ENOMEM);
    EXPECT_EQ(world.books(), before);
    EXPECT_EQ(GetParam().act(world), 0);
    EXPECT_FALSE(rvt_device_failed(world.device.get()));
  }
}

TEST_P(AllOrNothing, Refused) {
  const Needs needs = needs_of(GetParam());
  for (const auto& [status, expected] : {std::pair{hw::CommandStatus::kBadState, -EINVAL},
                                         {hw::CommandStatus::kNoResources, -ENOMEM}}) {
    for (int step = 0; step < needs.commands; ++step) {
      SCOPED_TRACE(step);
      World world;
      GetParam().prepare(world);
      const Books before = world.books();
      EXPECT_EQ(act_refused(GetParam(), world, step, status), expected);
      EXPECT_EQ(world.books(), before);
      EXPECT_EQ(GetParam().act(world), 0);
      EXPECT_FALSE(rvt_device_failed(world.device.get()));
    }
  }
}

TEST_P(AllOrNothing, Unanswered) {
  const Needs needs = needs_of(GetParam());
  for (int step = 0; step < needs.commands; ++step) {
    SCOPED_TRACE(step);
    World world;
    GetParam().prepare(world);
    const Books before = world.books();
    EXPECT_EQ(act_unanswered(GetParam(), world, step), -EIO);
    EXPECT_EQ(world.books(), before);
    expect_failed(world);
    EXPECT_EQ(GetParam().act(world), -EIO);
    EXPECT_EQ(world.fatal, 1);
  }
}

void nothing(World&) {}

std::vector<Verb> makers() {
  std::vector<Verb> verbs = {
      {"alloc_pd", nothing, [](World& w) { return w.make_pd(w.other_pd); }},
      {"create_cq", nothing, [](World& w) { return w.make_cq(w.other_cq); }},
      {"resize_cq", nothing, [](World& w) { return ib_resize_cq(w.cq, 5); }},
      {"modify_cq", nothing, [](World& w) { return rdma_set_cq_moderation(w.cq, 3, 4); }},
      {"query_port", nothing, [](World& w) { return w.query_port(); }},
      {"create_srq", nothing, [](World& w) { return w.make_srq(); }},
      {"srq_limit", [](World& w) { w.make_srq(); },
       [](World& w) { return w.modify_srq(IB_SRQ_LIMIT, 0, 2); }},
      {"reg_user_mr", nothing, [](World& w) { return w.reg_mr(); }},
      {"alloc_mr", nothing, [](World& w) { return w.alloc_mr(); }},
      {"map_mr_sg", [](World& w) { w.alloc_mr(); }, [](World& w) { return w.map_mr(); }},
      {"create_ah", nothing, [](World& w) { return w.make_ah(); }},
  };
  const auto member = [](World& w, ib_qp*& slot) {
    EXPECT_EQ(w.make_qp(IB_QPT_UD, slot), 0);
    EXPECT_EQ(World::move(slot, IB_QPS_INIT), 0);
  };
  verbs.push_back({"attach_mcast", [=](World& w) { member(w, w.qp); },
                   [](World& w) { return w.attach(w.qp); }});
  verbs.push_back({"attach_second",
                   [=](World& w) {
                     member(w, w.qp);
                     member(w, w.peer);
                     EXPECT_EQ(w.attach(w.peer), 0);
                   },
                   [](World& w) { return w.attach(w.qp); }});
  for (const bool limit : {false, true}) {
    verbs.push_back({limit ? "srq_resize_and_limit" : "srq_resize",
                     [](World& w) {
                       w.make_srq();
                       for (int i = 0; i < 3; ++i) {
                         const ib_recv_wr wr;
                         EXPECT_EQ(ib_post_srq_recv(w.srq, &wr, nullptr), 0);
                       }
                     },
                     [=](World& w) {
                       const std::uint32_t mask =
                           limit ? IB_SRQ_MAX_WR | IB_SRQ_LIMIT : std::uint32_t{IB_SRQ_MAX_WR};
                       return w.modify_srq(mask, 9, 2);
                     }});
  }
  return verbs;
}

const std::vector<std::pair<ib_qp_type, std::string>> kTypes = {{IB_QPT_RC, "rc"},
                                                                {IB_QPT_UC, "uc"},
                                                                {IB_QPT_UD, "ud"},
                                                                {IB_QPT_SMI, "smi"},
                                                                {IB_QPT_GSI, "gsi"}};

std::vector<Verb> creations() {
  std::vector<Verb> verbs;
  for (const auto& [type, name] : kTypes) {
    const auto create = [type = type](World& w) { return w.make_qp(type, w.qp); };
    verbs.push_back({"create_" + name, nothing, create});
    verbs.push_back({"create_" + name + "_with_srq", [](World& w) { w.make_srq(); }, create});
  }
  return verbs;
}

std::vector<Verb> moves() {
  struct Move {
    const char* name;
    ib_qp_state from;
    ib_qp_state to;
  };
  constexpr Move kMoves[] = {{"init", IB_QPS_RESET, IB_QPS_INIT},
                             {"rtr", IB_QPS_INIT, IB_QPS_RTR},
                             {"rts", IB_QPS_RTR, IB_QPS_RTS},
                             {"sqd", IB_QPS_RTS, IB_QPS_SQD}};
  std::vector<Verb> verbs;
  for (const auto& [type, name] : kTypes) {
    const auto in = [type = type](ib_qp_state state) {
      return [=](World& w) {
        EXPECT_EQ(w.make_qp(type, w.qp), 0);
        w.bring(state);
      };
    };
    for (const Move& move : kMoves) {
      verbs.push_back({name + "_to_" + move.name, in(move.from),
                       [to = move.to](World& w) { return w.move(to); }});
    }
    const auto changes = [](ib_qp_state state, int mask) {
      return [=](World& w) { return w.modify(state, mask); };
    };
    const int init = type == IB_QPT_RC || type == IB_QPT_UC ? IB_QP_ACCESS_FLAGS : IB_QP_QKEY;
    verbs.push_back(
        {name + "_init_to_init", in(IB_QPS_INIT), changes(IB_QPS_INIT, IB_QP_STATE | init)});
    verbs.push_back(
        {name + "_rts_to_rts", in(IB_QPS_RTS), changes(IB_QPS_RTS, IB_QP_STATE | init)});
    verbs.push_back({name + "_sqd_to_rts", in(IB_QPS_SQD), changes(IB_QPS_RTS, IB_QP_STATE)});
    verbs.push_back({name + "_sqd_to_sqd", in(IB_QPS_SQD), changes(IB_QPS_SQD, IB_QP_STATE)});
    if (type != IB_QPT_RC) {
      verbs.push_back({name + "_sqe_to_rts", in(IB_QPS_SQE), changes(IB_QPS_RTS, IB_QP_STATE)});
    }
    if (type != IB_QPT_RC && type != IB_QPT_UC) continue;
    for (const bool shared : {false, true}) {
      verbs.push_back({name + (shared ? "_to_loopback_with_srq" : "_to_loopback"),
                       [=](World& w) {
                         if (shared) w.make_srq();
                         in(IB_QPS_INIT)(w);
                       },
                       [](World& w) { return w.move(IB_QPS_RTR, true); }});
    }
  }
  return verbs;
}

INSTANTIATE_TEST_SUITE_P(Verbs, AllOrNothing, testing::ValuesIn(makers()), name_of);
INSTANTIATE_TEST_SUITE_P(Creations, AllOrNothing, testing::ValuesIn(creations()), name_of);
INSTANTIATE_TEST_SUITE_P(Moves, AllOrNothing, testing::ValuesIn(moves()), name_of);

// --- Ways down: the state is reached whatever the adapter says
// ------------------------------------------------------------------------------------------

class WayDown : public testing::TestWithParam<Verb> {
 protected:
  static void expect_down(const World& world, const Books& good, int error, int expected) {
    EXPECT_EQ(error, expected);
    const rvt_qp* qp = ibqp_to_rvtqp(world.qp);
    EXPECT_EQ(qp->state, good.at("qp.state"));
    EXPECT_EQ(qp->in_table ? 1 : 0, good.at("qp.in_table"));
  }
  static Books good_run() {
    World world;
    GetParam().prepare(world);
    EXPECT_EQ(GetParam().act(world), 0);
    return world.books();
  }
};

TEST_P(WayDown, NeedsNoMemory) {
  EXPECT_EQ(needs_of(GetParam()).allocations, 0);
}

TEST_P(WayDown, RefusedOrUnanswered) {
  const Needs needs = needs_of(GetParam());
  const Books good = good_run();
  for (int step = 0; step < needs.commands; ++step) {
    World refused;
    GetParam().prepare(refused);
    const int error = act_refused(GetParam(), refused, step, hw::CommandStatus::kBadState);
    expect_down(refused, good, error, -EINVAL);
    World mute;
    GetParam().prepare(mute);
    expect_down(mute, good, act_unanswered(GetParam(), mute, step), -EIO);
    expect_failed(mute);
  }
}

std::vector<Verb> ways_down() {
  std::vector<Verb> verbs;
  for (const auto& [type, name] : kTypes) {
    for (const ib_qp_state from : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_ERR}) {
      for (const ib_qp_state to : {IB_QPS_ERR, IB_QPS_RESET}) {
        verbs.push_back(
            {name + "_" + std::to_string(from) + "_to_" + (to == IB_QPS_ERR ? "err" : "reset"),
             [=, type = type](World& w) {
               EXPECT_EQ(w.make_qp(type, w.qp), 0);
               w.bring(from);
             },
             [=](World& w) { return w.move(to); }});
      }
    }
  }
  return verbs;
}

INSTANTIATE_TEST_SUITE_P(Moves, WayDown, testing::ValuesIn(ways_down()), name_of);

// --- Verbs that free something: they do, whatever the adapter says
// ------------------------------------------------------------------------------------------

class Destroys : public testing::TestWithParam<Verb> {
 protected:
  // Of the driver; what the adapter still has is its own.
  static Books own(const World& world) {
    Books books = world.books();
    std::erase_if(books, [](const auto& each) { return each.first.starts_with("adapter."); });
    return books;
  }
  static Books good_run() {
    World world;
    GetParam().prepare(world);
    EXPECT_EQ(GetParam().act(world), 0);
    EXPECT_FALSE(rvt_device_failed(world.device.get()));
    return own(world);
  }
};

TEST_P(Destroys, NeedsNoMemory) {
  EXPECT_EQ(needs_of(GetParam()).allocations, 0);
}

TEST_P(Destroys, Refused) {
  const Needs needs = needs_of(GetParam());
  const Books good = good_run();
  for (int step = 0; step < needs.commands; ++step) {
    World world;
    GetParam().prepare(world);
    EXPECT_EQ(act_refused(GetParam(), world, step, hw::CommandStatus::kBadState), 0);
    EXPECT_EQ(own(world), good);
    expect_failed(world);
    EXPECT_EQ(world.query_port(), -EIO);
    EXPECT_EQ(world.fatal, 1);
  }
}

TEST_P(Destroys, Unanswered) {
  const Needs needs = needs_of(GetParam());
  const Books good = good_run();
  for (int step = 0; step < needs.commands; ++step) {
    World world;
    GetParam().prepare(world);
    const bool deregisters = world.mr != nullptr;
    // The adapter may still use a region, which stays until somebody asks again.
    EXPECT_EQ(act_unanswered(GetParam(), world, step), deregisters ? -EBUSY : 0);
    if (deregisters) {
      EXPECT_EQ(GetParam().act(world), 0);
    }
    EXPECT_EQ(own(world), good);
    expect_failed(world);
    EXPECT_EQ(world.query_port(), -EIO);
  }
}

std::vector<Verb> destroyers() {
  std::vector<Verb> verbs = {
      {"destroy_cq", [](World& w) { w.make_cq(w.other_cq); },
       [](World& w) { return w.destroy_cq(w.other_cq); }},
      {"destroy_srq", [](World& w) { w.make_srq(); }, [](World& w) { return w.destroy_srq(); }},
      {"dereg_user_mr", [](World& w) { w.reg_mr(); }, [](World& w) { return w.dereg(); }},
      {"destroy_ah", [](World& w) { w.make_ah(); }, [](World& w) { return w.destroy_ah(); }},
      {"dealloc_pd", [](World& w) { w.make_pd(w.other_pd); },
       [](World& w) { return w.dealloc_pd(w.other_pd); }},
      {"detach_mcast",
       [](World& w) {
         EXPECT_EQ(w.make_qp(IB_QPT_UD, w.qp), 0);
         EXPECT_EQ(w.move(IB_QPS_INIT), 0);
         EXPECT_EQ(w.attach(w.qp), 0);
       },
       [](World& w) { return w.detach(); }}};
  for (const auto& [type, name] : kTypes) {
    for (const bool shared : {false, true}) {
      for (const ib_qp_state state : {IB_QPS_RESET, IB_QPS_RTS}) {
        verbs.push_back(
            {"destroy_" + name + (shared ? "_with_srq_in_" : "_in_") + std::to_string(state),
             [=, type = type](World& w) {
               if (shared) w.make_srq();
               EXPECT_EQ(w.make_qp(type, w.qp), 0);
               w.bring(state);
             },
             [](World& w) { return w.destroy_qp(w.qp); }});
      }
    }
  }
  return verbs;
}

INSTANTIATE_TEST_SUITE_P(Verbs, Destroys, testing::ValuesIn(destroyers()), name_of);

}  // namespace
}  // namespace hcasim::rvt
