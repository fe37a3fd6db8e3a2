// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Lines to posts and completions.
#include "sim/import/tracepoints.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hcasim/hw/wr_opcode_kinds.hpp"
#include "hcasim/rvt/ib_enums.hpp"
#include "hcasim/rvt/rdmavt_qp.hpp"
#include "hcasim/sim/input_error.hpp"
#include "sim/trace/byte_source.hpp"
#include "sim/trace/line_source.hpp"

namespace hcasim::sim {
namespace {

using ftrace::EventKind;

constexpr std::uint32_t kPsnMask = 0xff'ffff;
constexpr std::uint64_t kPsPerNs = 1000;
constexpr const char* kALine = "a line such as TASK-PID [CPU] TIME: EVENT: TEXT";

/// The opcode of a trace; none for one that it does not have. hfi1 moves WRITEs and READs by
/// opcodes of its own.
std::optional<hw::WrOpcode> opcode_of(std::uint32_t opcode) {
  switch (opcode) {
    case rvt::IB_WR_RDMA_WRITE:
    case rvt::IB_WR_RDMA_WRITE_WITH_IMM:
    case rvt::IB_WR_SEND:
    case rvt::IB_WR_SEND_WITH_IMM:
    case rvt::IB_WR_RDMA_READ:
    case rvt::IB_WR_ATOMIC_CMP_AND_SWP:
    case rvt::IB_WR_ATOMIC_FETCH_AND_ADD:
    case rvt::IB_WR_LOCAL_INV:
    case rvt::IB_WR_SEND_WITH_INV:
    case rvt::IB_WR_REG_MR:
      return static_cast<hw::WrOpcode>(opcode);
    case rvt::IB_WR_RESERVED1:
      return hw::WrOpcode::kRdmaWrite;
    case rvt::IB_WR_RESERVED1 + 1:
      return hw::WrOpcode::kRdmaRead;
    default:
      return std::nullopt;
  }
}

bool is_service(std::uint32_t type) {
  return type == rvt::IB_QPT_RC || type == rvt::IB_QPT_UC || type == rvt::IB_QPT_UD;
}

/// Follows the events of all queue pairs.
class Follower {
 public:
  explicit Follower(TracepointAnalysis& analysis) : analysis_(analysis) {}

  void take(const ftrace::Event& event, hw::Time at) {
    device_ = device_of(event.dev);
    at_ = at;
    kind_ = event.kind;
    std::visit([&](const auto& fields) { on(fields); }, event.fields);
  }

 private:
  using Key = std::pair<std::size_t, std::uint32_t>;

  void on(const ftrace::Debug&) {}
  void on(const ftrace::MrSegment&) {}
  void on(const ftrace::SgeCheck&) {}
  void on(const ftrace::MapMrSg&) {}
  void on(const ftrace::RcTimeout&) { ++analysis_.acknowledge_timeouts; }
  void on(const ftrace::CreateCq& cq) {
    analysis_.longest_cq = std::max(analysis_.longest_cq, cq.cqe);
  }

  // A number begins a life when it is entered, and ends it when it is removed.
  void on(const ftrace::QpHash& hash) {
    alive_.erase({device_, hash.qpn});
    if (kind_ == EventKind::kQpInsert) index_of(hash.qpn);
  }

  void on(const ftrace::PostOneWr& wr) {
    const auto opcode = opcode_of(wr.opcode);
    if (!opcode || !is_service(wr.qpt)) {
      ++analysis_.not_modelled;
      return;
    }
    SeenQp& qp = analysis_.qps[index_of(wr.qpn)];
    qp.type = wr.qpt;
    qp.size = wr.size;
    SeenPost post;
    post.opcode = *opcode;
    post.time = at_;
    post.wr_id = wr.wr_id;
    post.length = wr.length;
    post.send_flags = wr.send_flags;
    post.psn = wr.psn & kPsnMask;
    post.packets = wr.ssn == 0 ? 0 : ((wr.lpsn - wr.psn) & kPsnMask) + 1;
    post.slot = wr.head;
    post.after = latest_[device_];
    qp.posts.push_back(post);
  }

  void on(const ftrace::SendCompletion& done) {
    SeenQp& qp = analysis_.qps[index_of(done.qpn)];
    for (std::size_t i = qp.open; i < qp.posts.size(); ++i) {
      const SeenPost& post = qp.posts[i];
      if (post.slot != done.idx || post.wr_id != done.wr_id || post.ended) continue;
      for (std::size_t k = qp.open; k <= i; ++k) qp.posts[k].ended = true;
      qp.done = i;
      return;
    }
    qp.done = kNobody;
    if (qp.posts.empty()) ++analysis_.orphans;
  }

  void on(const ftrace::RnrNak& rnr) {
    if (kind_ != EventKind::kRnrNakAdd) return;
    SeenQp& qp = analysis_.qps[index_of(rnr.qpn)];
    qp.rnr_us = rnr.to;
    for (std::size_t i = qp.open; i < qp.posts.size(); ++i) {
      if (qp.posts[i].ended || !hw::takes_receive(qp.posts[i].opcode)) continue;
      ++qp.posts[i].rnr_waits;
      qp.posts[i].last_rnr = at_;
      return;
    }
  }

  void on(const ftrace::CqEntry& entry) {
    if (kind_ != EventKind::kCqEnter) return;
    const std::size_t index = index_of(entry.qpn);
    if ((entry.opcode & rvt::IB_WC_RECV) != 0) {
      on_receive(index, entry);
    } else {
      on_send(index, entry);
    }
  }

  void on_receive(std::size_t index, const ftrace::CqEntry& entry) {
    SeenReceive receive;
    receive.time = at_;
    receive.status = static_cast<hw::WcStatus>(entry.status);
    receive.length = entry.length;
    receive.write = entry.opcode == rvt::IB_WC_RECV_RDMA_WITH_IMM;
    receive.grh = (entry.flags & rvt::IB_WC_GRH) != 0;
    receive.invalidates = (entry.flags & rvt::IB_WC_WITH_INVALIDATE) != 0;
    if ((entry.flags & rvt::IB_WC_WITH_IMM) != 0) receive.imm = entry.imm;
    SeenQp& qp = analysis_.qps[index];
    if (receive.status == hw::WcStatus::kSuccess)
      latest_[device_] = {index, qp.receives.size(), true};
    qp.receives.push_back(receive);
  }

  void on_send(std::size_t index, const ftrace::CqEntry& entry) {
    SeenQp& qp = analysis_.qps[index];
    const std::size_t place = completed_by(qp, entry);
    if (place == kNobody) {
      ++analysis_.orphans;
      return;
    }
    for (; qp.open <= place; ++qp.open) qp.posts[qp.open].ended = true;
    SeenPost& post = qp.posts[place];
    post.status = static_cast<hw::WcStatus>(entry.status);
    post.completed = at_;
    qp.done = kNobody;
    const bool asked_for = (post.send_flags & rvt::IB_SEND_SIGNALED) != 0;
    if (!asked_for && entry.status == rvt::IB_WC_SUCCESS) qp.all_signaled = true;
    latest_[device_] = {index, place, false};
  }

  // The send completion just before it tells; without one the oldest post that fits, and of those
  // one that asked for a completion.
  std::size_t completed_by(const SeenQp& qp, const ftrace::CqEntry& entry) const {
    if (qp.done != kNobody && qp.posts[qp.done].wr_id == entry.wr_id) return qp.done;
    std::size_t unasked = kNobody;
    for (std::size_t i = qp.open; i < qp.posts.size(); ++i) {
      const SeenPost& post = qp.posts[i];
      if (post.wr_id != entry.wr_id || !fits(post, entry)) continue;
      const bool asked_for = (post.send_flags & rvt::IB_SEND_SIGNALED) != 0;
      if (asked_for || entry.status != rvt::IB_WC_SUCCESS) return i;
      if (unasked == kNobody) unasked = i;
    }
    return unasked;
  }
  static bool fits(const SeenPost& post, const ftrace::CqEntry& entry) {
    const auto opcode = static_cast<rvt::ib_wr_opcode>(post.opcode);
    return entry.status != rvt::IB_WC_SUCCESS || rvt::rvt_wc_opcode(opcode) == entry.opcode;
  }

  std::size_t device_of(std::string_view name) {
    for (std::size_t i = 0; i < analysis_.devices.size(); ++i) {
      if (analysis_.devices[i] == name) return i;
    }
    analysis_.devices.emplace_back(name);
    latest_.emplace_back();
    return analysis_.devices.size() - 1;
  }
  std::size_t index_of(std::uint32_t qpn) {
    const auto [at, is_new] = alive_.try_emplace({device_, qpn}, analysis_.qps.size());
    if (is_new) {
      analysis_.qps.emplace_back();
      analysis_.qps.back().device = device_;
      analysis_.qps.back().qpn = qpn;
    }
    return at->second;
  }

  TracepointAnalysis& analysis_;
  std::map<Key, std::size_t> alive_;
  std::vector<CompletionPlace> latest_;  // by device
  std::size_t device_ = 0;
  hw::Time at_ = 0;
  EventKind kind_ = EventKind::kDebug;
};

// hfi1_2 before hfi1_10.
bool comes_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

// Nodes come in the order of their devices' names, not in that of the first event.
void order_devices(TracepointAnalysis& analysis) {
  std::vector<std::string> ordered = analysis.devices;
  std::ranges::sort(ordered, comes_before);
  for (auto& qp : analysis.qps) {
    const auto place = std::ranges::find(ordered, analysis.devices[qp.device]);
    qp.device = static_cast<std::size_t>(place - ordered.begin());
  }
  analysis.devices = std::move(ordered);
}

/// Reads the lines of a file.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const std::string& name,
         const TracepointOptions& options, TracepointAnalysis& analysis)
      : options_(options),
        analysis_(analysis),
        follower_(analysis),
        lines_(open(path, name), name) {}

  void run() {
    std::string_view text;
    while (lines_.next(text)) {
      if (cut_) throw InputError(*cut_);  // it was not the last line
      try {
        take(text);
      } catch (const ftrace::FieldError& error) {
        InputError fault(lines_.name(), lines_.number(), error.column, error.expected, error.found);
        keep_for_later(std::move(fault));
      }
    }
    if (cut_ && seen_ == 0) throw InputError(*cut_);
    if (cut_) ++analysis_.cut_lines;
    order_devices(analysis_);
  }

 private:
  static std::unique_ptr<trace::ByteSource> open(const std::filesystem::path& path,
                                                 const std::string& name) {
    try {
      return trace::open_file(path);
    } catch (const trace::SourceFault& fault) {
      throw InputError(name, 0, 0, fault.expected, fault.found);
    }
  }

  // A copy of a buffer may begin and end in the midst of a line.
  void keep_for_later(InputError fault) {
    if (lines_.number() == 1) {
      ++analysis_.cut_lines;
    } else {
      cut_ = std::make_unique<InputError>(std::move(fault));
    }
  }

  void take(std::string_view text) {
    const ftrace::Line line = ftrace::parse_line(text);
    switch (line.kind) {
      case ftrace::LineKind::kHeader:
        return;
      case ftrace::LineKind::kLost:
        ++analysis_.lost_places;
        analysis_.lost += line.lost;
        return;
      case ftrace::LineKind::kUnknown:
        throw ftrace::FieldError{1, kALine, std::string(text)};
      case ftrace::LineKind::kEvent:
        return take_event(line);
    }
  }

  void take_event(const ftrace::Line& line) {
    const auto kind = ftrace::kind_of(line.event);
    if (!kind) {
      ++analysis_.unknown_events;
      return;
    }
    const ftrace::Event event = ftrace::parse_event(*kind, line);
    if (seen_++ == 0) {
      analysis_.form = line.form;
      first_ = above_ = line.time;
    }
    ++analysis_.events[std::string(line.event)];
    analysis_.ticks = analysis_.ticks || line.ticks;
    follower_.take(event, time_of(line));
  }

  hw::Time time_of(const ftrace::Line& line) {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;
    const std::uint64_t unit = line.ticks ? options_.tick_ps : kPsPerNs;
    const std::uint64_t since = line.time < first_ ? 0 : line.time - first_;
    const auto time = static_cast<hw::Time>(since > kLongest / unit ? kLongest : since * unit);
    if (line.time < above_) ++analysis_.steps_back;
    above_ = line.time;
    latest_ = std::max(latest_, time);
    return latest_;
  }

  const TracepointOptions& options_;
  TracepointAnalysis& analysis_;
  Follower follower_;
  trace::LineSource lines_;
  std::unique_ptr<InputError> cut_;
  std::uint64_t seen_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t above_ = 0;  // time of the line above
  hw::Time latest_ = 0;
};

}  // namespace

bool is_tracepoint_text(const std::filesystem::path& path) {
  std::array<char, 8192> begin{};
  std::string_view text;
  try {
    const auto source = trace::open_file(path);
    std::size_t have = 0;
    while (have < begin.size()) {
      const std::size_t more = source->read(begin.data() + have, begin.size() - have);
      if (more == 0) break;
      have += more;
    }
    text = {begin.data(), have};
  } catch (const trace::SourceFault&) {
    return false;
  }
  if (text.find('\0') != std::string_view::npos) return false;
  if (text.starts_with("# tracer:") || text.starts_with("cpus=")) return true;
  // The first line may be cut.
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const ftrace::Line line = ftrace::parse_line(text.substr(0, end));
    if (line.kind == ftrace::LineKind::kEvent || line.kind == ftrace::LineKind::kLost) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

TracepointAnalysis analyse_tracepoints(const std::filesystem::path& path, const std::string& name,
                                       const TracepointOptions& options) {
  TracepointAnalysis analysis;
  Reader(path, name, options, analysis).run();
  pair_queue_pairs(analysis);
  return analysis;
}

}  // namespace hcasim::sim
