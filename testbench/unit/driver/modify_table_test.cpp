// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The table of moves, against a second table written in another form: one row a move and type, with
// the numbers of the mask bits.
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using Key = std::tuple<int, int, int>;  // from, to, type
struct Masks {
  std::uint32_t required;
  std::uint32_t optional;
};

// RC, UC, UD and the two special types share most rows.
class Reference {
 public:
  Reference() {
    for (int from = IB_QPS_RESET; from <= IB_QPS_ERR; ++from) {
      all(from, IB_QPS_RESET, 0);
      if (from != IB_QPS_RESET) all(from, IB_QPS_ERR, 0);
    }
    rows(0, 1, {0x38, 0}, {0x38, 0}, {0x70, 0}, {0x50, 0});
    rows(1, 1, {0, 0x38}, {0, 0x38}, {0, 0x70}, {0, 0x50});
    rows(1, 2, {0x129180, 0x4018}, {0x101180, 0x4018}, {0, 0x50}, {0, 0x50});
    rows(2, 3, {0x12e00, 0x4c00a}, {0x10000, 0x4400a}, {0x10000, 0x42}, {0x10000, 0x42});
    rows(3, 3, {0, 0x4c00a}, {0, 0x4400a}, {0, 0x42}, {0, 0x42});
    all(3, 4, 0x4);
    rows(4, 3, {0, 0x4c00a}, {0, 0x4400a}, {0, 0x42}, {0, 0x42});
    rows(4, 4, {0, 0x6eeb8}, {0, 0x44098}, {0, 0x50}, {0, 0x50});
    rows(5, 3, {0, 0}, {0, 0xa}, {0, 0x42}, {0, 0x42});
  }

  bool allows(int from, int to, int type, std::uint32_t mask) const {
    if ((mask & 0x2) != 0 && (from < IB_QPS_RTR || from > IB_QPS_SQE)) return false;
    const auto found = masks_.find({from, to, type});
    if (found == masks_.end()) return false;
    const auto [required, optional] = found->second;
    return (mask & required) == required && (mask & ~(required | optional | 0x1)) == 0;
  }
  const std::map<Key, Masks>& masks() const { return masks_; }

 private:
  void all(int from, int to, std::uint32_t optional) {
    for (int type = IB_QPT_SMI; type <= IB_QPT_UD; ++type) masks_[{from, to, type}] = {0, optional};
  }
  void rows(int from, int to, Masks rc, Masks uc, Masks ud, Masks special) {
    masks_[{from, to, IB_QPT_RC}] = rc;
    masks_[{from, to, IB_QPT_UC}] = uc;
    masks_[{from, to, IB_QPT_UD}] = ud;
    masks_[{from, to, IB_QPT_SMI}] = special;
    masks_[{from, to, IB_QPT_GSI}] = special;
  }

  std::map<Key, Masks> masks_;
};

bool actual(int from, int to, int type, std::uint32_t mask) {
  return ib_modify_qp_is_ok(static_cast<ib_qp_state>(from), static_cast<ib_qp_state>(to),
                            static_cast<ib_qp_type>(type), mask);
}

TEST(ModifyTable, HasExactlyTheListedMoves) {
  const Reference reference;
  int allowed = 0;
  for (int from = 0; from <= IB_QPS_ERR; ++from) {
    for (int to = 0; to <= IB_QPS_ERR; ++to) {
      for (int type = 0; type <= IB_QPT_UD; ++type) {
        const auto found = reference.masks().find({from, to, type});
        const std::uint32_t mask = found == reference.masks().end() ? 0 : found->second.required;
        const bool listed = found != reference.masks().end();
        EXPECT_EQ(actual(from, to, type, mask | 1), listed) << from << "->" << to << " " << type;
        allowed += listed ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(allowed, 22 * 5);  // 7 resets, 6 errors and 9 others, of 5 types
}

TEST(ModifyTable, OneAttributeMissingOrOneTooMany) {
  const Reference reference;
  int checked = 0;
  for (const auto& [key, masks] : reference.masks()) {
    const auto [from, to, type] = key;
    for (const std::uint32_t base : {masks.required, masks.required | masks.optional}) {
      for (int bit = 0; bit < 32; ++bit) {
        for (const std::uint32_t state : {0u, 1u}) {
          const std::uint32_t mask = (base ^ (1u << bit)) | state;
          EXPECT_EQ(actual(from, to, type, mask), reference.allows(from, to, type, mask))
              << from << "->" << to << " type " << type << " mask " << std::hex << mask;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 10'000);
}

TEST(ModifyTable, EveryPairOfStatesWithEveryPairOfBits) {
  const Reference reference;
  for (int from = 0; from <= IB_QPS_ERR; ++from)
    for (int to = 0; to <= IB_QPS_ERR; ++to)
      for (int type = 0; type <= IB_QPT_UD; ++type)
        for (int a = 0; a < 21; ++a)
          for (int b = 0; b < 21; ++b) {
            const std::uint32_t mask = 1u << a | 1u << b;
            ASSERT_EQ(actual(from, to, type, mask), reference.allows(from, to, type, mask));
          }
}

TEST(ModifyTable, UnknownStatesAndTypesAreRefused) {
  EXPECT_FALSE(actual(7, IB_QPS_RESET, IB_QPT_RC, 1));
  EXPECT_FALSE(actual(IB_QPS_RESET, 7, IB_QPT_RC, 1));
  EXPECT_FALSE(actual(IB_QPS_RESET, IB_QPS_RESET, IB_QPT_RAW_PACKET, 1));
}

// Attributes with the values of the fixture are all in range, so the table alone decides.
class ModifyByTable : public DriverTest {
 protected:
  void check(ib_qp* qp, int from, int to, std::uint32_t mask) {
    rvt(qp)->state = static_cast<ib_qp_state>(from);
    rvt(qp)->s_mig_state = IB_MIG_MIGRATED;
    const bool named = (mask & IB_QP_STATE) != 0;
    const bool allowed = reference.allows(from, named ? to : from, qp->qp_type, mask);
    const bool known = (mask & ~std::uint32_t{IB_QP_ATTR_STANDARD_BITS}) == 0;
    const int result = modify_with(qp, static_cast<ib_qp_state>(to), static_cast<int>(mask),
                                   [&](ib_qp_attr& attr) { attr.cur_qp_state = rvt(qp)->state; });
    const int expected = !known ? -EOPNOTSUPP : allowed ? 0 : -EINVAL;
    ASSERT_EQ(result, expected) << from << "->" << to << " type " << qp->qp_type << " mask "
                                << std::hex << mask;
    if (result != 0) {
      EXPECT_EQ(rvt(qp)->state, from);
      return;
    }
    EXPECT_EQ(rvt(qp)->state, named ? to : from);
    rvt_remove_qp(device.get(), rvt(qp));
    host.commands.clear();
  }
  const Reference reference;
};

TEST_F(ModifyByTable, OneAttributeMissingOrOneTooMany) {
  for (const ib_qp_type type : {IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    ib_qp* qp = make_qp(init_attr_of(type));
    for (int from = 0; from <= IB_QPS_ERR; ++from) {
      for (int to = 0; to <= IB_QPS_ERR; ++to) {
        const auto found = reference.masks().find({from, to, type});
        const std::uint32_t base = found == reference.masks().end() ? 0 : found->second.required;
        check(qp, from, to, base | IB_QP_STATE);
        for (int bit = 0; bit < 32; ++bit) check(qp, from, to, (base | IB_QP_STATE) ^ 1u << bit);
      }
    }
    rvt(qp)->state = IB_QPS_RESET;
  }
}

}  // namespace
}  // namespace hcasim::rvt
