// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rdmavt's tracepoints as numbers, and the text of each, once for writing and reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

/// Layouts are templates over who visits them: `text` is literal, `hex` and `hex2` print without
/// 0x (hex2 with two digits at least), `decimal` signed or not, `pointer` as %p, `boolean` true or
/// false, `wr_opcode` and `wc_opcode` a name or, where the kernel's table has none, 0x and the
/// number, `rest` what is left of the line. Source: rdmavt's trace headers, Linux 6.1.
namespace hcasim::sim::ftrace {

/// rvt_dbg
struct Debug {
  std::string_view msg;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(": ").rest(self.msg);
  }
};

/// rvt_qpinsert, rvt_qpremove
struct QpHash {
  std::uint32_t qpn = 0;
  std::uint32_t bucket = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" qpn 0x").hex(self.qpn).text(" bucket ").decimal(self.bucket);
  }
};

/// rvt_rnrnak_add, rvt_rnrnak_stop, rvt_rnrnak_timeout
struct RnrNak {
  std::uint32_t qpn = 0;
  std::uint64_t hrtimer = 0;
  std::uint32_t s_flags = 0;
  std::uint32_t to = 0;  ///< us; 0 but for add

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" qpn 0x").hex(self.qpn).text(" hrtimer 0x").pointer(self.hrtimer);
    v.text(" s_flags 0x").hex(self.s_flags).text(" timeout ").decimal(self.to).text(" us");
  }
};

/// rvt_post_one_wr
struct PostOneWr {
  std::uint64_t wqe = 0;
  std::uint64_t wr_id = 0;
  std::uint32_t send_flags = 0;  ///< ib_send_flags, RVT_SEND_*
  std::uint32_t qpn = 0;
  std::uint32_t qpt = 0;   ///< ib_qp_type
  std::uint32_t psn = 0;   ///< not cut to 24 bits
  std::uint32_t lpsn = 0;  ///< the same
  std::uint32_t ssn = 0;
  std::uint32_t length = 0;  ///< bytes of the message
  std::uint32_t opcode = 0;  ///< ib_wr_opcode
  std::uint32_t size = 0;    ///< slots of the send queue
  std::uint32_t avail = 0;   ///< free slots after this one
  std::uint32_t head = 0;    ///< slot of this one
  std::uint32_t last = 0;    ///< oldest slot that is not complete
  std::uint32_t pid = 0;     ///< 0: a queue pair of the kernel
  std::int32_t num_sge = 0;  ///< after empty ones went and neighbours merged
  std::int32_t wr_num_sge = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" wqe ").pointer(self.wqe).text(" wr_id ").hex(self.wr_id);
    v.text(" send_flags ").hex(self.send_flags).text(" qpn ").hex(self.qpn);
    v.text(" qpt ").decimal(self.qpt).text(" psn ").hex(self.psn).text(" lpsn ").hex(self.lpsn);
    v.text(" ssn ").hex(self.ssn).text(" length ").decimal(self.length);
    v.text(" opcode 0x").hex2(self.opcode).text(",").wr_opcode(self.opcode);
    v.text(" size ").decimal(self.size).text(" avail ").decimal(self.avail);
    v.text(" head ").decimal(self.head).text(" last ").decimal(self.last);
    v.text(" pid ").decimal(self.pid).text(" num_sge ").decimal(self.num_sge);
    v.text(" wr_num_sge ").decimal(self.wr_num_sge);
  }
};

/// rvt_qp_send_completion, hfi1_qp_send_completion
struct SendCompletion {
  std::uint32_t qpn = 0;
  std::uint32_t qpt = 0;
  std::uint64_t wqe = 0;
  std::uint32_t idx = 0;  ///< slot of the send queue
  std::uint64_t wr_id = 0;
  std::uint32_t length = 0;
  std::uint32_t ssn = 0;
  std::uint32_t opcode = 0;
  std::uint32_t send_flags = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" qpn 0x").hex(self.qpn).text(" qpt ").decimal(self.qpt);
    v.text(" wqe ").pointer(self.wqe).text(" idx ").decimal(self.idx);
    v.text(" wr_id ").hex(self.wr_id).text(" length ").decimal(self.length);
    v.text(" ssn ").decimal(self.ssn).text(" opcode ").hex(self.opcode);
    v.text(" send_flags ").hex(self.send_flags);
  }
};

/// rvt_create_cq
struct CreateCq {
  bool user = false;
  std::uint32_t cqe = 0;
  std::int32_t comp_vector = 0;
  std::int32_t comp_vector_cpu = 0;
  std::uint32_t flags = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" user cq ").boolean(self.user).text(" cqe ").decimal(self.cqe);
    v.text(" comp_vector ").decimal(self.comp_vector);
    v.text(" comp_vector_cpu ").decimal(self.comp_vector_cpu).text(" flags ").hex(self.flags);
  }
};

/// rvt_cq_enter, rvt_cq_poll
struct CqEntry {
  std::uint32_t idx = 0;  ///< enter: slot of the ring; poll: how many came before it in the call
  std::uint64_t wr_id = 0;
  std::uint32_t status = 0;  ///< ib_wc_status
  std::uint32_t opcode = 0;  ///< ib_wc_opcode
  std::uint32_t length = 0;  ///< bytes; of a datagram with the GRH's 40
  std::uint32_t qpn = 0;
  std::uint32_t flags = 0;  ///< ib_wc_flags
  std::uint32_t imm = 0;    ///< with an invalidation the key, its bytes in reverse

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" idx ").decimal(self.idx).text(" wr_id ").hex(self.wr_id);
    v.text(" status ").decimal(self.status).text(" opcode ").decimal(self.opcode);
    v.text(",").wc_opcode(self.opcode).text(" length ").decimal(self.length);
    v.text(" qpn ").hex(self.qpn).text(" flags ").hex(self.flags).text(" imm ").hex(self.imm);
  }
};

/// rvt_rc_timeout
struct RcTimeout {
  std::uint32_t qpn = 0;
  std::uint32_t s_flags = 0;
  std::uint32_t psn = 0;  ///< where it begins again
  std::uint32_t s_psn = 0;
  std::uint32_t s_next_psn = 0;
  std::uint32_t s_sending_psn = 0;
  std::uint32_t s_sending_hpsn = 0;
  std::uint32_t r_psn = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" qpn 0x").hex(self.qpn).text(" s_flags 0x").hex(self.s_flags);
    v.text(" psn 0x").hex(self.psn).text(" s_psn 0x").hex(self.s_psn);
    v.text(" s_next_psn 0x").hex(self.s_next_psn).text(" s_sending_psn 0x");
    v.hex(self.s_sending_psn).text(" sending_hpsn 0x").hex(self.s_sending_hpsn);
    v.text(" r_psn 0x").hex(self.r_psn);
  }
};

/// rvt_mr_page_seg, rvt_mr_fmr_seg, rvt_mr_user_seg
struct MrSegment {
  std::uint32_t lkey = 0;
  std::uint64_t iova = 0;
  std::uint64_t user_base = 0;
  std::uint64_t mr_len = 0;  ///< bytes of the region
  std::uint64_t vaddr = 0;   ///< of the page, never hashed
  std::uint64_t page = 0;
  std::uint32_t m = 0;    ///< which block of segments
  std::uint32_t n = 0;    ///< which of the block
  std::uint64_t len = 0;  ///< bytes of the page
  std::uint32_t off = 0;  ///< bytes into its first page at which the region begins

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" lkey ").hex(self.lkey).text(" iova ").hex(self.iova);
    v.text(" user_base ").hex(self.user_base).text(" mr_len ").decimal(self.mr_len);
    v.text(" vaddr ").hex(self.vaddr).text(" page ").pointer(self.page);
    v.text(" m ").decimal(self.m).text(" n ").decimal(self.n);
    v.text(" len ").decimal(self.len).text(" off ").decimal(self.off);
  }
};

/// rvt_sge_new, rvt_sge_adjacent
struct SgeCheck {
  std::uint64_t mr = 0;
  std::uint64_t sge = 0;
  std::uint64_t isge = 0;
  std::uint64_t vaddr = 0;
  std::uint64_t ivaddr = 0;
  std::uint32_t lkey = 0;
  std::uint32_t sge_length = 0;  ///< bytes of the element
  std::uint32_t length = 0;      ///< bytes of it up to the end of its page
  std::uint32_t ilength = 0;     ///< bytes of the element as posted
  std::int32_t m = 0;
  std::int32_t n = 0;  ///< m once more
  std::uint32_t user = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" mr ").pointer(self.mr).text(" sge ").pointer(self.sge);
    v.text(" isge ").pointer(self.isge).text(" vaddr ").pointer(self.vaddr);
    v.text(" ivaddr ").hex(self.ivaddr).text(" lkey ").hex(self.lkey);
    v.text(" sge_length ").decimal(self.sge_length).text(" length ").decimal(self.length);
    v.text(" ilength ").decimal(self.ilength).text(" m ").decimal(self.m);
    v.text(" n ").decimal(self.n).text(" user ").decimal(self.user);
  }
};

/// rvt_map_mr_sg
struct MapMrSg {
  std::uint64_t ibmr_iova = 0;
  std::uint64_t iova = 0;
  std::uint64_t user_base = 0;
  std::uint64_t length = 0;
  std::int32_t sg_nents = 0;
  std::uint32_t sg_offset = 0;

  template <typename Self, typename Visitor>
  static void layout(Self& self, Visitor& v) {
    v.text(" ibmr_iova ").hex(self.ibmr_iova).text(" iova ").hex(self.iova);
    v.text(" user_base ").hex(self.user_base).text(" length ").hex(self.length);
    v.text(" sg_nents ").decimal(self.sg_nents).text(" sg_offset ").decimal(self.sg_offset);
  }
};

/// Which event; hfi1's own is told from rdmavt's of the same form.
enum class EventKind : std::uint8_t {
  kDebug,
  kQpInsert,
  kQpRemove,
  kRnrNakAdd,
  kRnrNakStop,
  kRnrNakTimeout,
  kPostOneWr,
  kSendCompletion,
  kHfi1SendCompletion,
  kCreateCq,
  kCqEnter,
  kCqPoll,
  kRcTimeout,
  kMrPageSeg,
  kMrFmrSeg,
  kMrUserSeg,
  kSgeNew,
  kSgeAdjacent,
  kMapMrSg,
};
inline constexpr std::size_t kEventKinds = 19;

using Fields = std::variant<Debug, QpHash, RnrNak, PostOneWr, SendCompletion, CreateCq, CqEntry,
                            RcTimeout, MrSegment, SgeCheck, MapMrSg>;

/// One tracepoint without its line's prefix.
struct Event {
  EventKind kind = EventKind::kDebug;
  std::string_view dev;  ///< name of the device
  Fields fields;         ///< of the type that belongs to `kind`
};

/// The kernel's name, such as `rvt_post_one_wr`.
std::string_view name_of(EventKind kind);
/// The event of that name; none for an unknown one.
std::optional<EventKind> kind_of(std::string_view name);
/// Empty fields of the type that belongs to `kind`.
Fields fields_of(EventKind kind);

/// The name the kernel prints for an ib_wr_opcode or ib_wc_opcode; empty where it has none.
std::string_view wr_opcode_name(std::uint32_t opcode);
std::string_view wc_opcode_name(std::uint32_t opcode);

}  // namespace hcasim::sim::ftrace
