// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/post_list.hpp"

namespace hcasim::sim {

void PostList::clear() {
  sges_.clear();
  sends_.clear();
  receives_.clear();
}

void PostList::add(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id) {
  if (item.is_send) return add_send(qp, item, wr_id);
  ReceiveSlot& slot = receives_.emplace_back();
  slot.first_sge = static_cast<std::uint32_t>(sges_.size());
  slot.wr.wr_id = wr_id;
  slot.wr.num_sge = static_cast<int>(item.num_sge);
  add_sges(item);
}

void PostList::add_sges(const WorkItem& item) {
  for (std::uint32_t i = 0; i < item.num_sge; ++i) {
    const Sge& sge = item.sge(i);
    const TraceMr* mr = objects_.mr(sge.mr);
    sges_.push_back({mr->address + sge.offset, sge.length, mr->key});
  }
}

void PostList::add_send(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id) {
  SendSlot& slot = sends_.emplace_back();
  slot.is_atomic =
      item.opcode == SendOpcode::kAtomicCmpAndSwp || item.opcode == SendOpcode::kAtomicFetchAndAdd;
  if (item.opcode == SendOpcode::kRegMr) add_registration(slot, item);
  slot.first_sge = static_cast<std::uint32_t>(sges_.size());
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  NodeObjects& peer = directory_.node(qp.peer_node);
  if (item.remote_named) {
    const TraceMr* mr = peer.mr(item.remote_mr);
    remote_addr = mr->address + item.remote_offset;
    rkey = mr->key;
  }
  if (item.addr_given) remote_addr = item.remote_addr;
  if (item.rkey_given) rkey = item.rkey;
  rvt::ib_send_wr& wr = slot.wr();
  wr.wr_id = wr_id;
  wr.opcode = static_cast<rvt::ib_wr_opcode>(item.opcode);
  wr.num_sge = static_cast<int>(item.num_sge);
  wr.send_flags = ((item.flags & kUnsignaled) != 0 ? 0u : rvt::IB_SEND_SIGNALED) |
                  ((item.flags & kFence) != 0 ? rvt::IB_SEND_FENCE : 0u) |
                  ((item.flags & kSolicited) != 0 ? rvt::IB_SEND_SOLICITED : 0u) |
                  ((item.flags & kInline) != 0 ? rvt::IB_SEND_INLINE : 0u);
  if (item.opcode == SendOpcode::kSendWithInv || item.opcode == SendOpcode::kLocalInv) {
    NodeObjects& owner = item.opcode == SendOpcode::kLocalInv ? objects_ : peer;
    wr.ex.invalidate_rkey = item.invalidate_named ? owner.mr(item.invalidate)->key : item.rkey;
  } else {
    wr.ex.imm_data = rvt::cpu_to_be32(item.imm);
  }
  if (slot.is_atomic) {
    slot.atomic.remote_addr = remote_addr;
    slot.atomic.rkey = rkey;
    slot.atomic.compare_add = item.compare_add;
    slot.atomic.swap = item.swap;
  } else {
    slot.rdma.remote_addr = remote_addr;
    slot.rdma.rkey = rkey;
  }
  add_sges(item);
}

// A new key each time, as programs choose them: who still has the old one is refused. Work requests
// behind this one already mean the region as it will be.
void PostList::add_registration(SendSlot& slot, const WorkItem& item) {
  TraceMr& region = *objects_.mr(item.mr);
  slot.registers = &region;
  slot.before = region;
  slot.reg.access = item.access;
  if (region.mr == nullptr || !map(region, item)) return;  // a request without region is refused
  slot.reg.mr = region.mr;
  slot.reg.key = rvt::ib_inc_rkey(region.key);
  region.key = slot.reg.key;
  region.address = region.mr->iova;
}

// Maps what a REG_MR asks for; false when it is more than the region can be.
bool PostList::map(const TraceMr& region, const WorkItem& item) {
  const std::uint64_t length = item.length == 0 ? region.bytes : item.length;
  if (length > region.bytes) return false;
  const rvt::scatterlist part{region.host_address, static_cast<std::uint32_t>(length)};
  const std::uint64_t page = region.mr->device->attrs.page_size_cap;
  if (rvt::ib_map_mr_sg(region.mr, &part, 1, nullptr, static_cast<unsigned>(page)) != 1)
    return false;
  if (item.iova_given) region.mr->iova = item.iova;
  return true;
}

// Regions stay what they were where the verb did not take the REG_MR.
void PostList::take_back(std::uint32_t accepted) {
  for (std::size_t i = sends_.size(); i-- > accepted;) {
    if (sends_[i].registers != nullptr) *sends_[i].registers = sends_[i].before;
  }
}

// The arrays have their final place only now, so this is where the list is linked.
int PostList::post(const TraceQp& qp, bool is_send, std::uint32_t& accepted) {
  accepted = 0;
  if (is_send) {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      rvt::ib_send_wr& wr = sends_[i].wr();
      wr.sg_list = sges_.data() + sends_[i].first_sge;
      wr.next = i + 1 < sends_.size() ? &sends_[i + 1].wr() : nullptr;
    }
    const rvt::ib_send_wr* bad = nullptr;
    const int error = rvt::ib_post_send(qp.qp, &sends_.front().wr(), &bad);
    while (accepted < sends_.size() && (error == 0 || &sends_[accepted].wr() != bad)) ++accepted;
    take_back(accepted);
    return error;
  }
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    receives_[i].wr.sg_list = sges_.data() + receives_[i].first_sge;
    receives_[i].wr.next = i + 1 < receives_.size() ? &receives_[i + 1].wr : nullptr;
  }
  const rvt::ib_recv_wr* bad = nullptr;
  const int error = rvt::ib_post_recv(qp.qp, &receives_.front().wr, &bad);
  while (accepted < receives_.size() && (error == 0 || &receives_[accepted].wr != bad)) ++accepted;
  return error;
}

}  // namespace hcasim::sim
