// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The main of every test program. libsystemc holds a main of its own, so gtest_main is not used.
#include <gtest/gtest.h>

#include <cstdlib>
#include <systemc>

#include "sim/engine/own_stack.hpp"

namespace {

/// Tests that run the kernel leave the sanitizer with a wrong idea of this thread's stack.
class OwnStack : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& /*test*/) override { hcasim::sim::announce_own_stack(); }
};

}  // namespace

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new OwnStack);  // which owns it
  return RUN_ALL_TESTS();
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
