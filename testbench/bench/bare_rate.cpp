// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "bare_rate.hpp"

#include <systemc>

#include "cpu_clock.hpp"

namespace hcasim::bench {

namespace {

class Ticker : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Ticker);
  Ticker(const sc_core::sc_module_name& name, std::uint64_t events)
      : sc_core::sc_module(name), left_(events), period_(sc_core::sc_time::from_value(1000)) {
    SC_METHOD(tick);
    sensitive << event_;
  }

 private:
  void tick() {
    if (left_-- != 0) event_.notify(period_);
  }

  std::uint64_t left_;
  sc_core::sc_time period_;
  sc_core::sc_event event_;
};

}  // namespace

double bare_events_per_second(std::uint64_t events) {
  Ticker ticker("ticker", events);
  const double begin = cpu_seconds();
  sc_core::sc_start();
  return static_cast<double>(events) / (cpu_seconds() - begin);
}

}  // namespace hcasim::bench
