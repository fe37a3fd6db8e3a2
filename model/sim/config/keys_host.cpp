// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

namespace hcasim::sim {

void add_keys(KeyList& keys, host::Parameters& p) {
  constexpr Range kTime = between(0, 1'000'000);
  keys.insert(keys.end(),
              {
                  {"host.post_send_ns", &p.post_send_ns, kTime, "CPU time to build one send WQE",
                   "assumed: one or two cache lines written, about 100 instructions"},
                  {"host.post_recv_ns", &p.post_recv_ns, kTime, "CPU time to build one receive WQE",
                   "assumed: half of a send WQE, with no doorbell record or address to look up"},
                  {"host.poll_hit_ns", &p.poll_hit_ns, kTime, "CPU time to take one CQE",
                   "assumed: one line moved from the last-level cache"},
                  {"host.poll_interval_ns", &p.poll_interval_ns, between(1, 1'000'000),
                   "Period of empty polls while a completion queue is watched",
                   "assumed: a loop over one cached line and its branches"},
                  {"host.mmio_write_ns", &p.mmio_write_ns, kTime,
                   "CPU time of one uncached store of 8 bytes",
                   "assumed: the store is posted, so the CPU pays for its issue only"},
                  {"host.interrupt_ns", &p.interrupt_ns, kTime,
                   "MSI-X message at the host to the first instruction of its handler",
                   "assumed: vector dispatch and kernel entry on an idle core"},
                  {"host.mmio_read_ns", &p.mmio_read_ns, kTime,
                   "CPU time of one uncached load, round trip included",
                   "assumed: shorter than a DMA read of 64 bytes, for no memory is behind it"},
              });
}

}  // namespace hcasim::sim
