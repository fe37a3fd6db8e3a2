// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "unit/driver/fixture.hpp"

#ifndef NDEBUG
namespace hcasim::rvt {

/// Calls that are made once for each of their preemption points, with a handler there.
template <typename Fixture>
class Interrupted : public Fixture {
 protected:
  using Fixture::Fixture;

  void TearDown() override {
    Preemption::set_hook({});
    Fixture::TearDown();
  }

  /// Runs `verb`; `handler` comes at its `wanted`-th point. How many points there were.
  template <typename Verb, typename Handler>
  int interrupt_at(int wanted, Verb verb, Handler handler) {
    int points = 0;
    Preemption::set_hook([&] {
      if (points++ == wanted) this->host.run_outside_tasks(handler);
    });
    verb();
    Preemption::set_hook({});
    return points;
  }

  /// `body(n)` with a handler at point n, for each point of a verb; it returns how many there were.
  template <typename Body>
  void at_each_point(Body body) {
    int points = 1;
    for (int wanted = 0; wanted < points; ++wanted) {
      SCOPED_TRACE("point " + std::to_string(wanted));
      points = body(wanted);
      ASSERT_GE(points, 2);  // begin and end at the least
    }
  }
};

}  // namespace hcasim::rvt
#endif
