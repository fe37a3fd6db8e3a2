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
    text_ += "hcasim-trace 1\nb create_srq s max_wr=" + std::to_string(kSharedSlots) + '\n';
    for (std::size_t slot = 0; slot < kSlots; slot += 2) connect(slot);
  }

  void step(const Operation& op) {
    sim::Operation whole;
    whole.node = names_.intern(kNodeNames[node(op)]);
    whole.object = names_.intern(op.kind == Kind::kPostSrqRecv ? "s" : qp_name(op.slot));
    if (!fill(op, whole)) return comment(op);
    const std::uint32_t count = op.kind == Kind::kModifyQp ? 1 : op.count;
    for (std::uint32_t i = 0; i < count; ++i) {
      sim::Operation line = whole;
      if (is_post(line.verb)) request(op, i, line);
      append_operation(text_, line, names_);
      if (op.flaw != Flaw::kNone && i + 1 == count) text_ += "  # " + flaw(op.flaw);
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
    if (pair_of(slot).shared && !looped(slot)) line.set(sim::Arg::kSrq, names_.intern("s"));
    append_operation(text_, line, names_);
    text_ += uses_srq(slot + 1) && looped(slot) ? "  # the second end with srq=s\n" : "\n";
  }

  static bool fill(const Operation& op, sim::Operation& line) {
    switch (op.kind) {
      case Kind::kPostSend:
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
      default:
        return false;
    }
  }

  void request(const Operation& op, std::uint32_t index, sim::Operation& line) {
    const bool send = op.kind == Kind::kPostSend;
    const std::size_t mark = op.kind == Kind::kPostSrqRecv ? kSharedMark : op.slot;
    line.set(sim::Arg::kWrId, wr_id_of(mark, op.id, index));
    if (index + 1u < op.count) line.flags |= sim::kMore;
    if (send && op.unsignaled) line.flags |= sim::kUnsignaled;
    const std::uint32_t length = !send ? kReceiveBytes : is_atomic(op.opcode) ? 8 : op.length;
    const std::uint32_t offset = send ? source_of(op.id, index) : 0;
    line.add_sge({names_.intern(sim::kDefaultMr), length, offset});
    if (!send || is_send(op.opcode)) return;
    line.set(sim::Arg::kRemoteMr, names_.intern(sim::kDefaultMr));
    line.set(sim::Arg::kRemoteOffset, window_of(peer_of(op.slot)));
  }

  void comment(const Operation& op) {
    const std::string number = std::to_string(op.slot);
    switch (op.kind) {
      case Kind::kPoll:
        text_ += "# poll_cq " + number + ", entries " + std::to_string(op.count) + '\n';
        break;
      case Kind::kQuiet:
        text_ += "# until all is quiet\n";
        break;
      case Kind::kRefused:
        text_ += "# a control verb to be refused: " + number + '\n';
        break;
      case Kind::kCreateQp:
        text_ += "# create_qp " + qp_name(op.slot) + " as before\n";
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
