// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/call_from/entrance.hpp"
#include "support/fake_host.hpp"

namespace hcasim::support {

/// Into a machine without a simulator: a real SC_METHOD, and a vector of its own.
class FakeEntrance final : public Entrance {
 public:
  explicit FakeEntrance(testing_support::FakeHost& host) : Entrance(host), host_(host) {}

 private:
  static constexpr std::uint32_t kVector = 0xca11;

  bool inside() const override { return !host_.may_wait(); }
  void by_method(const Body& body) override {
    run_in_method([&] { host_.run_outside_tasks(body); });
  }
  void by_handler(rvt::rvt_dev_info& device, const Body& body) override {
    const auto handler = [](void* what, std::uint64_t) { (*static_cast<const Body*>(what))(); };
    host_.set_interrupt_handler(kVector, {handler, const_cast<Body*>(&body), 0});
    in_the_middle_of_a_poll(device, [this] { host_.interrupt(kVector); });
  }

  testing_support::FakeHost& host_;
};

}  // namespace hcasim::support
