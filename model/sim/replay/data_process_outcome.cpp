// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a node's program has ended, and what keeps it from that.
#include <algorithm>

#include "sim/record/text.hpp"
#include "sim/replay/data_process.hpp"

namespace hcasim::sim {

bool DataProcess::finished() const {
  if (!source_ended_ || waiting_items_ != 0 || !controls_.empty()) return false;
  return std::ranges::all_of(
      queues_, [](const TraceQueue& queue) { return !queue.is_send || queue.posted.empty(); });
}

bool DataProcess::settled() {
  if (!source_ended_ || waiting_items_ != 0 || !controls_.empty()) return false;
  return std::ranges::all_of(queues_, [](TraceQueue& queue) {
    if (!queue.is_send) return true;
    for (std::uint32_t i = 0; i < queue.posted.size(); ++i) {
      if (queue.posted[i].signaled) return false;
    }
    return true;
  });
}

// --- What went wrong
// ------------------------------------------------------------------------------

// Flushes follow from something else.
[[gnu::noinline]] void DataProcess::note_failure(const TraceQueue& queue, std::uint64_t line,
                                                 rvt::ib_wc_status status) {
  if (status == rvt::IB_WC_WR_FLUSH_ERR || !failures_.empty()) return;
  const std::string verb = queue.is_send ? "post_send" : "post_recv";
  failures_.push_back(mishap(line, verb + " to " + objects_.text(queue.qp_name) + " ended with " +
                                       std::string(name_of(static_cast<hw::WcStatus>(status)))));
}

Mishap DataProcess::mishap(std::uint64_t line, std::string why) {
  return {line, cpu_.now() - epoch_, objects_.node().node_name(), std::move(why)};
}

Mishap DataProcess::stuck_because() {
  constexpr const char* kLabel = "waits for a label whose operation does not complete";
  const auto waits = [&](LabelInstance after) {
    return after != kNoInstance && !labels_.done(after);
  };
  if (controls_.running()) return mishap(controls_.running_line(), "its verb does not return");
  const WorkItem* behind_controls = nullptr;
  for (const TraceQueue& queue : queues_) {
    if (queue.waiting.empty()) continue;
    const WorkItem& item = queue.waiting.front().item;
    if (queue.awaits_control) {
      behind_controls = &item;
      continue;
    }
    return mishap(item.line, waits(item.after) ? kLabel : "waits for room in its queue");
  }
  if (controls_.waiting() != 0) {
    const PendingControl& next = controls_.next();
    return mishap(next.operation.line, waits(next.after) ? kLabel : "waits for its peer");
  }
  if (behind_controls != nullptr) return mishap(behind_controls->line, "waits for its peer");
  for (TraceQueue& queue : queues_) {
    if (!queue.is_send || queue.posted.empty()) continue;
    return mishap(queue.posted.front().line,
                  "is the first of " + std::to_string(queue.posted.size()) + " work requests of " +
                      objects_.text(queue.qp_name) + " that do not complete");
  }
  return mishap(0, "");
}

}  // namespace hcasim::sim
