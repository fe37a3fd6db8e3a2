// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/sync.hpp"
#include "hcasim/rvt/verbs.hpp"
#include "support/call_from/call_from.hpp"

namespace hcasim::support {

/// The ways into the code of a machine that are no task of it, for the driver above its port.
class Entrance {
 public:
  using Body = std::function<void()>;

  explicit Entrance(hw::HostPort& machine) : machine_(machine) { known()[&machine] = this; }
  virtual ~Entrance() { known().erase(&machine_); }
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;

  /// Calls `body` as HCASIM_CALL_FROM says; directly where the caller is no task of the machine
  /// anyway, or the machine has no entrance.
  static void call(rvt::rvt_dev_info& device, const Body& body) {
    const auto found = known().find(device.port);
    const bool direct =
        call_from() == CallFrom::kThread || found == known().end() || found->second->inside();
    if (direct) {
      body();
    } else if (call_from() == CallFrom::kMethod) {
      found->second->by_method(body);
    } else {
      found->second->by_handler(device, body);
    }
  }

 protected:
  /// The caller is a method, a timer or a handler itself.
  virtual bool inside() const = 0;
  virtual void by_method(const Body& body) = 0;
  virtual void by_handler(rvt::rvt_dev_info& device, const Body& body) = 0;

  /// Calls `raise` once in the middle of a poll that takes nothing, at another point each time;
  /// just so where points are not built in, or no queue of the device is empty.
  static void in_the_middle_of_a_poll(rvt::rvt_dev_info& device, const Body& raise);

 private:
  static std::map<const hw::HostPort*, Entrance*>& known() {
    static std::map<const hw::HostPort*, Entrance*> entrances;
    return entrances;
  }
  // A poll of another one would move what waits in the adapter's ring.
  static rvt::rvt_cq* empty_queue(const rvt::rvt_dev_info& device) {
    for (rvt::rvt_cq* cq : device.cqs)
      if (cq != nullptr && cq->count == 0 && !cq->cq_full) return cq;
    return nullptr;
  }

  hw::HostPort& machine_;
};

#ifdef NDEBUG
inline void Entrance::in_the_middle_of_a_poll(rvt::rvt_dev_info&, const Body& raise) {
  raise();
}
#else
inline void Entrance::in_the_middle_of_a_poll(rvt::rvt_dev_info& device, const Body& raise) {
  struct Hook {
    explicit Hook(Body hook) { rvt::Preemption::set_hook(std::move(hook)); }
    ~Hook() { rvt::Preemption::set_hook({}); }
  };
  rvt::rvt_cq* cq = empty_queue(device);
  if (cq == nullptr) return raise();
  constexpr int kPoints = 4;  // before and after the verb and its one section
  static int turn = 0;
  const int wanted = turn++ % kPoints;
  int points = 0;
  {
    const Hook hook([&] {
      if (points++ == wanted) raise();
    });
    rvt::ib_poll_cq(&cq->ibcq, 0, nullptr);
  }
  if (points <= wanted) throw std::logic_error("a poll has fewer places for an interrupt");
}
#endif

}  // namespace hcasim::support
