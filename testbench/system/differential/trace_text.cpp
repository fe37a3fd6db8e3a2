// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A sequence as lines of a trace. What a trace has no words for stands as a comment.
#include <hcasim/sim/trace.hpp>

#include "operation.hpp"

namespace hcasim::differential {
namespace {

constexpr std::array<const char*, kNodes> kNodeNames = {"a", "b"};
constexpr std::array<const char*, 11> kFlaws = {"none",
                                                "too many elements",
                                                "bad opcode",
                                                "too long inline",
                                                "bad lkey",
                                                "bad rkey",
                                                "misaligned atomic",
                                                "longer than any receive",
                                                "an attribute is missing",
                                                "an attribute too many",
                                                "wrong current state"};

std::string qp_name(std::size_t slot) {
  const std::string name = pair_of(slot).name;
  return looped(slot) ? name + ((slot & 1) == 0 ? "_0" : "_1") : name;
}

class Writer {
 public:
  std::string take() { return text_; }

  void head() {
    text_ +=
        "hcasim-trace 1\nnode a\nnode b\nb create_srq s max_wr=" + std::to_string(kSharedSlots) +
        '\n';
    for (std::size_t slot = 0; slot < kSlots; slot += 2) connect(slot);
  }

  void step(const Operation& op) {
    sim::Operation whole;
    whole.node = names_.intern(kNodeNames[node(op)]);
    whole.object = names_.intern(op.kind == Kind::kPostSrqRecv ? "s" : qp_name(op.slot));
    if (!fill(op, whole)) return comment(op);
    describe(op, whole);
    const std::uint32_t count = is_post(whole.verb) ? op.count : 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      sim::Operation line = whole;
      if (is_post(line.verb)) request(op, i, line);
      append_operation(text_, line, names_);
      if (op.key != Key::kNode) text_ += key(op.key);
      if (op.flaw != Flaw::kNone && i + 1 == count) text_ += "  # " + flaw(op.flaw);
      if (op.racing) text_ += "  # " + std::to_string(op.length) + " ns after what precedes it";
      text_ += '\n';
    }
  }

 private:
  static std::size_t node(const Operation& op) {
    return op.kind == Kind::kPostSrqRecv ? 1 : node_of(op.slot);
  }
  static std::string flaw(Flaw flaw) {
    const auto index = static_cast<std::size_t>(flaw);
    return index < kFlaws.size() ? kFlaws[index] : "an unknown attribute";
  }

  static const char* key(Key key) {
    if (key == Key::kOwn) return "  # by the key of its own region";
    return key == Key::kFast ? "  # by the key of the window" : "  # by the window's key before";
  }

  void connect(std::size_t slot) {
    sim::Operation line;
    line.node = names_.intern(kNodeNames[node_of(slot)]);
    line.object = names_.intern(qp_name(slot));
    line.peer_node = names_.intern(kNodeNames[node_of(slot + 1)]);
    line.peer_object = names_.intern(qp_name(slot + 1));
    line.set(sim::Arg::kType, static_cast<std::uint64_t>(pair_of(slot).type));
    line.set(sim::Arg::kMaxSendWr, kSendSlots);
    line.set(sim::Arg::kMaxRecvWr, kReceiveSlots);
    line.set(sim::Arg::kMtu, kMtu);
    line.set(sim::Arg::kMrLength, kMemoryBytes);
    if (pair_of(slot).shared && !looped(slot)) line.set(sim::Arg::kSrq, names_.intern("s"));
    append_operation(text_, line, names_);
    text_ += uses_srq(slot + 1) && looped(slot) ? "  # the second end with srq=s\n" : "\n";
  }

  static bool fill(const Operation& op, sim::Operation& line) {
    switch (op.kind) {
      case Kind::kPostSend:
        if (is_local(op.opcode)) return false;
        line.verb = sim::Verb::kPostSend;
        line.opcode = static_cast<sim::SendOpcode>(op.opcode);
        return true;
      case Kind::kPostRecv:
        line.verb = sim::Verb::kPostRecv;
        return true;
      case Kind::kPostSrqRecv:
        line.verb = sim::Verb::kPostSrqRecv;
        return true;
      case Kind::kDestroyQp:
        line.verb = sim::Verb::kDestroyQp;
        return true;
      case Kind::kModifyQp:
        line.verb = sim::Verb::kModifyQp;
        line.set(sim::Arg::kState, static_cast<std::uint64_t>(op.to));
        return true;
      case Kind::kCreateQp:
        line.verb = sim::Verb::kCreateQp;
        return true;
      default:
        return false;
    }
  }

  void describe(const Operation& op, sim::Operation& line) {
    if (op.kind == Kind::kModifyQp && op.to == rvt::IB_QPS_RTR) {
      const std::uint64_t node = names_.intern(kNodeNames[node_of(peer_of(op.slot))]);
      line.set(sim::Arg::kDest, node << 32 | names_.intern(qp_name(peer_of(op.slot))));
    }
    if (op.kind != Kind::kCreateQp) return;
    line.set(sim::Arg::kType, static_cast<std::uint64_t>(pair_of(op.slot).type));
    line.set(sim::Arg::kSendCq, names_.intern(sim::kDefaultCq));
    line.set(sim::Arg::kRecvCq, names_.intern(sim::kDefaultCq));
    line.set(sim::Arg::kMaxSendWr, kSendSlots);
    line.set(sim::Arg::kMaxRecvWr, kReceiveSlots);
    if (uses_srq(op.slot)) line.set(sim::Arg::kSrq, names_.intern("s"));
  }

  void request(const Operation& op, std::uint32_t index, sim::Operation& line) {
    const bool send = op.kind == Kind::kPostSend;
    const std::size_t mark = op.kind == Kind::kPostSrqRecv ? kSharedMark : op.slot;
    line.set(sim::Arg::kWrId, wr_id_of(mark, op.id, index));
    if (index + 1u < op.count) line.flags |= sim::kMore;
    if (send && op.unsignaled) line.flags |= sim::kUnsignaled;
    const sim::NameId memory = names_.intern(sim::kDefaultMr);
    if (!send) {
      line.add_sge({memory, kReceiveBytes, 0});
      return;
    }
    const bool atomic = is_atomic(op.opcode);
    const bool lands = atomic || op.opcode == rvt::IB_WR_RDMA_READ;
    const std::uint32_t source = source_of(op.id, index);
    line.add_sge({memory, atomic ? 8 : op.length, lands ? landing_of(op.slot) : source});
    operands(op, index, line);
    if (is_send(op.opcode)) return;
    const std::uint32_t window = window_of(peer_of(op.slot));
    line.set(sim::Arg::kRemoteMr, memory);
    line.set(sim::Arg::kRemoteOffset, atomic  ? window + source % kWindowBytes
                                      : lands ? source
                                              : window);
  }

  static void operands(const Operation& op, std::uint32_t index, sim::Operation& line) {
    const std::uint64_t operand = wr_id_of(op.slot, op.id, index);
    if (op.opcode == rvt::IB_WR_ATOMIC_FETCH_AND_ADD) line.set(sim::Arg::kAdd, operand);
    if (op.opcode == rvt::IB_WR_ATOMIC_CMP_AND_SWP) {
      line.set(sim::Arg::kCompare, operand);
      line.set(sim::Arg::kSwap, ~operand);
    }
    const bool immediate =
        op.opcode == rvt::IB_WR_SEND_WITH_IMM || op.opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
    if (immediate) line.set(sim::Arg::kImm, op.id + index);
  }

  void comment(const Operation& op) {
    const std::string number = std::to_string(op.slot);
    switch (op.kind) {
      case Kind::kPoll:
        text_ += "# poll_cq " + number + ", entries " + std::to_string(op.count) + '\n';
        break;
      case Kind::kPostSend:
        text_ += "# post_send " + qp_name(op.slot) +
                 (op.opcode == rvt::IB_WR_REG_MR ? " REG_MR" : " LOCAL_INV") + " of its window";
        text_ += op.flaw == Flaw::kNone ? "\n" : ", with a key of none\n";
        break;
      case Kind::kResizeCq:
        text_ += "# resize_cq " + number + " to " + std::to_string(op.length) + '\n';
        break;
      case Kind::kResizeSrq:
        text_ += "# resize s to " + std::to_string(op.length) + '\n';
        break;
      case Kind::kReregister:
        text_ += "# the own region of " + qp_name(op.slot) + " anew\n";
        break;
      case Kind::kArmCq:
        text_ += "# req_notify_cq " + number + (op.solicited ? ", solicited\n" : ", next\n");
        break;
      case Kind::kArmSrq:
        text_ += "# modify_srq s, limit " + std::to_string(op.length) + '\n';
        break;
      case Kind::kQuiet:
        text_ += "# until all is quiet\n";
        break;
      case Kind::kRefused:
        text_ += "# a control verb to be refused: " + number + '\n';
        break;
      default:
        text_ += "# query_qp " + qp_name(op.slot) + '\n';
        break;
    }
  }

  sim::NameTable names_;
  std::string text_;
};

}  // namespace

std::string to_trace(std::span<const Operation> sequence) {
  Writer writer;
  writer.head();
  for (const Operation& op : sequence) writer.step(op);
  return writer.take();
}

}  // namespace hcasim::differential
