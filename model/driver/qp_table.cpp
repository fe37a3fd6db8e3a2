// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Queue pairs of a device: found by packets once past RESET, by the adapter's completions once
// created.
#include <bit>
#include <cerrno>
#include <new>

#include "driver/qp_internal.hpp"
#include "driver/trace.hpp"

namespace hcasim::rvt {

int rvt_driver_qp_init(rvt_dev_info* rdi) {
  rvt_qp_ibdev& dev = rdi->qp_dev;
  const rvt_driver_provided& driver = rdi->driver_f;
  if (rdi->dparms.qp_table_size == 0) return -EINVAL;
  if ((driver.qp_priv_alloc == nullptr) != (driver.qp_priv_free == nullptr)) return -EINVAL;
  const std::uint32_t size = rdi->dparms.qp_table_size;
  dev.qp_table.reset(new (std::nothrow) rvt_qp* [size] {});
  if (!dev.qp_table) return -ENOMEM;
  dev.qp_table_size = size;  // walks believe it
  dev.qp_table_bits = static_cast<std::uint32_t>(std::bit_width(size)) - 1;
  if (init_qpn_table(rdi, &dev.qpn_table) == 0) return 0;
  free_qpn_table(&dev.qpn_table);
  dev.qp_table_size = 0;
  dev.qp_table.reset();
  return -ENOMEM;
}

unsigned rvt_qp_exit(rvt_dev_info* rdi) {
  const unsigned left = rvt_free_all_qps(rdi);
  for (rvt_ibport& port : rdi->ports) port.mcast_tree.clear();
  free_qpn_table(&rdi->qp_dev.qpn_table);
  rdi->qp_dev.qp_table.reset();
  rdi->qp_dev.qp_table_size = 0;
  for (auto& page : rdi->qp_dev.by_number) page.reset();
  return left;
}

std::uint32_t rvt_qp_bucket(const rvt_dev_info* rdi, std::uint32_t qpn) {
  constexpr std::uint32_t kGoldenRatio = 0x61c8'8647;
  const std::uint32_t bits = rdi->qp_dev.qp_table_bits;
  return bits == 0 ? 0 : qpn * kGoldenRatio >> (32 - bits);
}

int rvt_publish_qp(rvt_dev_info* rdi, rvt_qp* qp) {
  auto& page = rdi->qp_dev.by_number[qp->ibqp.qp_num / RVT_BITS_PER_PAGE];
  if (!page) page.reset(new (std::nothrow) std::array<rvt_qp*, RVT_BITS_PER_PAGE>{});
  if (!page) return -ENOMEM;
  (*page)[qp->ibqp.qp_num % RVT_BITS_PER_PAGE] = qp;
  return 0;
}

void rvt_unpublish_qp(rvt_dev_info* rdi, rvt_qp* qp) {
  auto& page = rdi->qp_dev.by_number[qp->ibqp.qp_num / RVT_BITS_PER_PAGE];
  if (page && (*page)[qp->ibqp.qp_num % RVT_BITS_PER_PAGE] == qp) {
    (*page)[qp->ibqp.qp_num % RVT_BITS_PER_PAGE] = nullptr;
  }
}

void rvt_insert_qp(rvt_dev_info* rdi, rvt_qp* qp) {
  const SpinGuard guard(rdi->qp_dev.qpt_lock);
  const std::uint32_t qpn = qp->ibqp.qp_num;
  qp->in_table = true;
  if (qpn <= 1) {
    rdi->ports[qp->port_num - 1].qp[qpn] = qp;
    return;
  }
  const std::uint32_t n = rvt_qp_bucket(rdi, qpn);
  rvt_qp*& bucket = rdi->qp_dev.qp_table[n];
  qp->next = bucket;
  bucket = qp;
  trace_qpinsert(qp, n);
}

void rvt_remove_qp(rvt_dev_info* rdi, rvt_qp* qp) {
  const SpinGuard guard(rdi->qp_dev.qpt_lock);
  if (!qp->in_table) return;
  qp->in_table = false;
  const std::uint32_t qpn = qp->ibqp.qp_num;
  if (qpn <= 1) {
    rdi->ports[qp->port_num - 1].qp[qpn] = nullptr;
    return;
  }
  const std::uint32_t n = rvt_qp_bucket(rdi, qpn);
  for (rvt_qp_walk* walk = rdi->qp_dev.walks; walk != nullptr; walk = walk->older) {
    if (walk->next == qp) walk->next = qp->next;
  }
  rvt_qp** link = &rdi->qp_dev.qp_table[n];
  while (*link != qp) link = &(*link)->next;
  *link = qp->next;
  qp->next = nullptr;
  trace_qpremove(qp, n);
}

rvt_qp* rvt_lookup_qpn(rvt_dev_info* rdi, std::uint32_t port_num, std::uint32_t qpn) {
  if (qpn <= 1) return rdi->ports[port_num - 1].qp[qpn];
  rvt_qp* qp = rdi->qp_dev.qp_table[rvt_qp_bucket(rdi, qpn)];
  while (qp != nullptr && qp->ibqp.qp_num != qpn) qp = qp->next;
  return qp;
}

// --- Iteration
// ------------------------------------------------------------------------------------

namespace {

std::uint32_t specials_of(const rvt_dev_info* rdi) {
  return 2 * static_cast<std::uint32_t>(rdi->ports.size());
}

}  // namespace

std::unique_ptr<rvt_qp_iter_t> rvt_qp_iter_init(rvt_dev_info* rdi, std::uint64_t v,
                                                void (*cb)(rvt_qp* qp, std::uint64_t v)) {
  std::unique_ptr<rvt_qp_iter_t> iter(new (std::nothrow) rvt_qp_iter_t);
  if (!iter) return iter;
  iter->rdi = rdi;
  iter->v = v;
  iter->cb = cb;
  iter->specials = specials_of(rdi);
  return iter;
}

int rvt_qp_iter_next(rvt_qp_iter_t* iter) {
  rvt_dev_info* rdi = iter->rdi;
  const std::uint32_t buckets = rdi->qp_dev.qp_table_size;
  // A queue pair that a callback took out of the table ends its chain.
  rvt_qp* next = iter->qp != nullptr && iter->n > iter->specials ? iter->qp->next : nullptr;
  while (next == nullptr && iter->n < iter->specials + buckets) {
    const std::uint32_t n = iter->n++;
    next =
        n < iter->specials ? rdi->ports[n / 2].qp[n & 1] : rdi->qp_dev.qp_table[n - iter->specials];
  }
  iter->qp = next;
  return next == nullptr ? 1 : 0;
}

namespace {

// A walk that rvt_remove_qp knows of for as long as it lasts.
class Walk {
 public:
  explicit Walk(rvt_qp_ibdev& dev) : dev_(dev) {
    state_.older = dev.walks;
    dev.walks = &state_;
  }
  // Walks of several tasks may end in another order than they began.
  ~Walk() {
    rvt_qp_walk** link = &dev_.walks;
    while (*link != &state_) link = &(*link)->older;
    *link = state_.older;
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void begin(rvt_qp* first) { state_.next = first; }
  rvt_qp* next() {
    rvt_qp* qp = state_.next;
    if (qp != nullptr) state_.next = qp->next;
    return qp;
  }

 private:
  rvt_qp_ibdev& dev_;
  rvt_qp_walk state_;
};

}  // namespace

// Without memory of its own, as it is part of ways down that must not fail.
void rvt_qp_iter(rvt_dev_info* rdi, std::uint64_t v, void (*cb)(rvt_qp* qp, std::uint64_t v)) {
  for (std::uint32_t n = 0; n < specials_of(rdi); ++n) {
    rvt_qp* qp = rdi->ports[n / 2].qp[n & 1];
    if (qp != nullptr) cb(qp, v);
  }
  rvt_qp_ibdev& dev = rdi->qp_dev;
  Walk walk(dev);
  for (std::uint32_t n = 0; n < dev.qp_table_size; ++n) {
    walk.begin(dev.qp_table[n]);
    while (rvt_qp* qp = walk.next()) cb(qp, v);
  }
}

void rvt_free_qp_cb(rvt_qp* qp, std::uint64_t v) {
  // Outside a task nobody can wait for a control verb, and one that holds the lock never comes
  // back.
  const auto reset = qp->rdi->port->may_wait() ? rvt_reset_qp : _rvt_reset_qp;
  reset(qp->rdi, qp, qp->ibqp.qp_type);
  ++*reinterpret_cast<unsigned*>(v);  // NOLINT(performance-no-int-to-ptr): the kernel's signature
}

unsigned rvt_free_all_qps(rvt_dev_info* rdi) {
  unsigned in_use = 0;
  for (const rvt_ibport& port : rdi->ports) in_use += port.mcast_tree.empty() ? 0 : 1;
  rvt_qp_iter(rdi, reinterpret_cast<std::uint64_t>(&in_use), rvt_free_qp_cb);
  return in_use;
}

}  // namespace hcasim::rvt
