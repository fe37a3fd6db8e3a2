// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/post_list.hpp"

#include "hcasim/hw/wqe.hpp"

namespace hcasim::sim {

namespace {

constexpr std::uint32_t kSendFlags = kUnsignaled | kFence | kSolicited | kInline;

// ib_send_flags by OperationFlag.
constexpr auto kIbSendFlags = [] {
  std::array<std::uint32_t, kSendFlags + 1> table{};
  for (std::uint32_t flags = 0; flags < table.size(); ++flags) {
    table[flags] = ((flags & kUnsignaled) != 0 ? 0u : rvt::IB_SEND_SIGNALED) |
                   ((flags & kFence) != 0 ? rvt::IB_SEND_FENCE : 0u) |
                   ((flags & kSolicited) != 0 ? rvt::IB_SEND_SOLICITED : 0u) |
                   ((flags & kInline) != 0 ? rvt::IB_SEND_INLINE : 0u);
  }
  return table;
}();

}  // namespace

void PostList::add_receive(const WorkItem& item, std::uint64_t wr_id) {
  ReceiveSlot& slot = receives_.append();
  slot.request.wr_id = wr_id;
  slot.request.num_sge = static_cast<int>(item.num_sge);
  fill_sges(slot.sges, item);
}

inline void PostList::fill_sges(Sges& sges, const WorkItem& item) {
  for (std::uint32_t i = 0; i < item.num_sge; ++i) {
    const Sge& sge = item.sges[i];
    const TraceMr* mr = objects_.mr(sge.mr);
    sges[i] = {mr->address + sge.offset, sge.length, mr->key};
  }
}

void PostList::add_send(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id) {
  SendSlot& slot = sends_.append();
  slot.registers = nullptr;
  rvt::ib_send_wr& wr = slot.wr();
  wr.wr_id = wr_id;
  wr.opcode = static_cast<rvt::ib_wr_opcode>(item.opcode);
  wr.num_sge = static_cast<int>(item.num_sge);
  wr.send_flags = kIbSendFlags[item.flags & kSendFlags];
  wr.ex.imm_data = rvt::cpu_to_be32(item.imm);
  NodeObjects& peer = directory_.node(qp.peer_node);
  switch (item.opcode) {
    case SendOpcode::kRegMr:
      add_registration(slot, item);
      break;
    case SendOpcode::kSendWithInv:
    case SendOpcode::kLocalInv: {
      NodeObjects& owner = item.opcode == SendOpcode::kLocalInv ? objects_ : peer;
      wr.ex.invalidate_rkey = item.invalidate_named ? owner.mr(item.invalidate)->key : item.rkey;
      break;
    }
    case SendOpcode::kAtomicCmpAndSwp:
    case SendOpcode::kAtomicFetchAndAdd:
      fill_remote(slot.request.atomic, peer, item);
      slot.request.atomic.compare_add = item.compare_add;
      slot.request.atomic.swap = item.swap;
      break;
    case SendOpcode::kRdmaWrite:
    case SendOpcode::kRdmaWriteWithImm:
    case SendOpcode::kRdmaRead:
      fill_remote(slot.request.rdma, peer, item);
      break;
    default:
      if (qp.ah == nullptr) break;
      slot.request.ud.ah = qp.ah;
      slot.request.ud.remote_qpn = qp.remote_qpn;
      slot.request.ud.remote_qkey = hw::kOwnQkey;
      break;
  }
  fill_sges(slot.sges, item);
}

template <typename Wr>
void PostList::fill_remote(Wr& wr, NodeObjects& peer, const WorkItem& item) {
  wr.remote_addr = 0;
  wr.rkey = 0;
  if (item.remote_named) {
    const TraceMr* mr = peer.mr(item.remote_mr);
    wr.remote_addr = mr->address + item.remote_offset;
    wr.rkey = mr->key;
  }
  if (item.addr_given) wr.remote_addr = item.remote_addr;
  if (item.rkey_given) wr.rkey = item.rkey;
}

// A new key each time, as programs choose them: who still has the old one is refused. Work requests
// behind this one already mean the region as it will be.
void PostList::add_registration(SendSlot& slot, const WorkItem& item) {
  TraceMr& region = *objects_.mr(item.mr);
  ++registrations_;
  slot.registers = &region;
  slot.before = region;
  slot.bytes = item.length == 0 ? region.bytes : item.length;
  slot.iova = item.iova_given ? item.iova : region.host_address;
  slot.request.reg.mr = nullptr;
  slot.request.reg.key = 0;
  slot.request.reg.access = item.access;
  const bool fits = slot.bytes != 0 && slot.bytes <= region.bytes;
  if (region.mr == nullptr || !fits) return;  // a request without region is refused
  slot.request.reg.mr = region.mr;
  slot.request.reg.key = rvt::ib_inc_rkey(region.key);
  region.key = slot.request.reg.key;
  region.address = slot.iova;
}

// Maps what a REG_MR asks for.
void PostList::map(const SendSlot& slot) {
  rvt::ib_mr* const mr = slot.request.reg.mr;
  if (mr == nullptr) return;
  const rvt::scatterlist part{slot.registers->host_address, static_cast<std::uint32_t>(slot.bytes)};
  const std::uint64_t page = mr->device->attrs.page_size_cap;
  rvt::ib_map_mr_sg(mr, &part, 1, nullptr, static_cast<unsigned>(page));
  mr->iova = slot.iova;
}

// Regions stay what they were where the verb did not take the REG_MR.
void PostList::take_back(std::uint32_t accepted) {
  for (std::uint32_t i = sends_.count(); i-- > accepted;) {
    if (sends_[i].registers != nullptr) *sends_[i].registers = sends_[i].before;
  }
}

// A region has one mapping at a time: the first REG_MR that needs another ends what can be posted
// together.
std::uint32_t PostList::end_of_mappings(std::uint32_t begin) {
  for (std::uint32_t i = begin; i < sends_.count(); ++i) {
    const TraceMr* const region = sends_[i].registers;
    if (region == nullptr) continue;
    for (std::uint32_t earlier = begin; earlier < i; ++earlier) {
      if (sends_[earlier].registers == region) return i;
    }
    map(sends_[i]);
  }
  return sends_.count();
}

int PostList::post_mapped(const TraceQp& qp, std::uint32_t begin, std::uint32_t end,
                          std::uint32_t& accepted) {
  sends_[end - 1].wr().next = nullptr;
  const rvt::ib_send_wr* bad = nullptr;
  const int error = rvt::ib_post_send(qp.qp, &sends_[begin].wr(), &bad);
  accepted = error == 0 ? end : sends_.before(bad);
  return error;
}

int PostList::post_sends(const TraceQp& qp, std::uint32_t& accepted) {
  if (registrations_ == 0) return post_mapped(qp, 0, sends_.count(), accepted);
  int error = 0;
  accepted = 0;
  while (error == 0 && accepted < sends_.count()) {
    error = post_mapped(qp, accepted, end_of_mappings(accepted), accepted);
  }
  take_back(accepted);
  return error;
}

int PostList::post(const TraceQp& qp, bool is_send, std::uint32_t& accepted) {
  if (is_send) return post_sends(qp, accepted);
  const rvt::ib_recv_wr* bad = nullptr;
  const int error = rvt::ib_post_recv(qp.qp, &receives_[0].wr(), &bad);
  accepted = error == 0 ? receives_.count() : receives_.before(bad);
  return error;
}

int PostList::post(const TraceSrq& srq, std::uint32_t& accepted) {
  const rvt::ib_recv_wr* bad = nullptr;
  const int error = rvt::ib_post_srq_recv(srq.srq, &receives_[0].wr(), &bad);
  accepted = error == 0 ? receives_.count() : receives_.before(bad);
  return error;
}

}  // namespace hcasim::sim
