// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Writes outputs the way the tables do, so that a difference reads like a row.
#include <iomanip>
#include <sstream>

#include "support/timing_table/timing_names.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {

using namespace hw::rq;

namespace {

template <typename Names, typename Enum>
std::string_view name(const Names& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "?";
}

std::string bytes(const Beat& beat) {
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (std::size_t i = 0; i < beat.size(); ++i) {
    const bool fresh = i == 0 || beat[i] != beat[i - 1] || i == beat.size() / 2;
    if (fresh) text << (i == 0 ? "" : "/") << std::setw(2) << unsigned{beat[i]};
  }
  return text.str();
}

std::string command_answer(const CommandAnswer& a) {
  const Snapshot& s = a.snapshot;
  std::ostringstream text;
  text << "cmd_rsp " << name(kCommandStatusNames, a.status) << ' ' << name(kStateNames, s.state)
       << " size=" << s.size << " head=" << s.head << " fetch=" << s.fetch << " tail=" << s.tail
       << " limit=" << s.limit << "; ";
  return text.str();
}

std::string take_beat(const TakeBeat& b) {
  std::ostringstream text;
  text << "take_rsp tag=" << b.tag << ' ' << name(kTakeStatusNames, b.status) << " slot=" << b.slot
       << " remaining=" << b.remaining << " data=" << bytes(b.wqe) << (b.last ? " last" : "")
       << "; ";
  return text.str();
}

}  // namespace

std::string describe(const Outputs& out) {
  std::ostringstream text;
  if (out.cmd_rsp_valid) text << command_answer(out.cmd_rsp);
  if (out.dma_req_valid) {
    text << "dma_req tag=" << unsigned{out.dma_req.tag} << " address=0x" << std::hex
         << out.dma_req.address << std::dec << " bytes=" << out.dma_req.bytes << "; ";
  }
  if (out.take_rsp_valid) text << take_beat(out.take_rsp);
  if (out.event_valid) {
    text << "event queue=" << out.event.queue << ' ' << name(kEventNames, out.event.kind)
         << " value=" << out.event.value << "; ";
  }
  if (!out.cmd_ready || !out.doorbell_ready || !out.take_ready) {
    text << "busy" << (out.cmd_ready ? "" : " cmd") << (out.doorbell_ready ? "" : " doorbell")
         << (out.take_ready ? "" : " take") << "; ";
  }
  text << (out.idle ? "idle" : "-");
  return text.str();
}

}  // namespace hcasim::testbench
