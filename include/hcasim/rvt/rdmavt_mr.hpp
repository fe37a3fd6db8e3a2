// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/sync.hpp"

/// Memory regions and their keys.
namespace hcasim::rvt {

struct rvt_dev_info;
struct rvt_qp;

/// A protection domain of the driver.
struct rvt_pd {
  ib_pd ibpd;
  std::uint32_t number = 0;  ///< what the adapter knows it by
  bool user = false;         ///< belongs to a user process
};

/// What a key stands for.
struct rvt_mregion {
  ib_pd* pd = nullptr;
  std::uint64_t user_base = 0;  ///< host address of the first byte
  std::uint64_t iova = 0;       ///< address of the first byte in work requests
  std::uint64_t length = 0;     ///< bytes
  std::uint32_t lkey = 0;
  std::uint32_t access_flags = 0;  ///< ib_access_flags
  std::uint32_t mapsz = 0;         ///< entries of the translation table that are in use
  std::uint64_t mtt = 0;           ///< host address of the translation table
  std::uint8_t page_shift = 0;     ///< log2 bytes of a page
  bool lkey_invalid = false;       ///< key cannot be used until it is registered again
  bool lkey_published = false;     ///< key can be found

  // Regions made by rvt_alloc_mr only.
  bool fast_register = false;
  std::uint32_t max_segs = 0;   ///< entries that the translation table has room for
  std::uint32_t hw_key = 0;     ///< key that the adapter has, as far as completions tell
  std::uint32_t reg_posts = 0;  ///< REG_MRs posted that are not known to have ended
};

/// A memory region of the driver.
struct rvt_mr {
  ib_mr ibmr;
  rvt_mregion mr;
};

/// Regions by key: index in the top bits, generation in the middle, 8 bits left to the consumer.
struct rvt_lkey_table {
  spinlock_t lock;
  std::uint32_t bits = 0;           ///< of the index
  std::uint32_t next = 0;           ///< where the next search begins
  std::uint32_t gen = 0;            ///< generation of the latest key
  std::vector<rvt_mregion*> table;  ///< 2^bits slots
};

/// A checked element of a work request; neighbours in one region are merged. A copy moves it on.
struct rvt_sge {
  const rvt_mregion* mr = nullptr;  ///< null: `addr` is a host address, as of inline data
  std::uint64_t addr = 0;
  std::uint32_t length = 0;  ///< bytes
  std::uint32_t lkey = 0;
};

/// Where a copy into or out of a list of elements stands.
struct rvt_sge_state {
  rvt_sge* sg_list = nullptr;   ///< the element after `sge`
  rvt_sge sge;                  ///< the present one, as far as it is left
  std::uint64_t total_len = 0;  ///< bytes of all (the kernel: 32 bits, which can wrap)
  std::uint8_t num_sge = 0;     ///< elements left, the present one included
};

/// Bytes into its first page at which a region begins.
inline std::uint32_t rvt_mr_first_offset(const rvt_mregion& mr) {
  return static_cast<std::uint32_t>(mr.user_base & ((std::uint64_t{1} << mr.page_shift) - 1));
}
/// True for keys that differ in the consumer's 8 bits at most.
constexpr bool rvt_same_key_slot(std::uint32_t a, std::uint32_t b) {
  return (a ^ b) <= 0xff;
}

/// The driver's object behind a verbs object.
inline rvt_pd* ibpd_to_rvtpd(ib_pd* pd) {
  return reinterpret_cast<rvt_pd*>(pd);
}
inline const rvt_pd* ibpd_to_rvtpd(const ib_pd* pd) {
  return reinterpret_cast<const rvt_pd*>(pd);
}
inline rvt_mr* to_imr(ib_mr* mr) {
  return reinterpret_cast<rvt_mr*>(mr);
}

/// Makes a protection domain in the caller's object. Any context.
/// @return 0; -ENOMEM when max_pd exist
int rvt_alloc_pd(ib_pd* ibpd, ib_udata* udata);
/// @return 0
int rvt_dealloc_pd(ib_pd* ibpd, ib_udata* udata);

/// Prepares the table for 2^lkey_table_size keys.
/// @return 0; -EINVAL size out of 1..23
int rvt_driver_mr_init(rvt_dev_info* rdi);
/// Gives `mr` a key that has not been used lately, and publishes it.
/// @return 0; -ENOMEM no free slot
int rvt_alloc_lkey(rvt_lkey_table* table, rvt_mregion* mr);
/// Takes the key of `mr` back.
void rvt_free_lkey(rvt_lkey_table* table, rvt_mregion* mr);
/// The region of `lkey`; null when its slot is empty, unpublished or has another key.
const rvt_mregion* rvt_find_region(const rvt_lkey_table* table, std::uint32_t lkey);

/// The same for any of the 256 keys that the consumer may give the region.
rvt_mregion* rvt_find_slot(const rvt_lkey_table* table, std::uint32_t lkey);

/// Checks an element of a work request. Any context.
/// @param isge takes the element
/// @param last_sge element before, or null
/// @param acc rights that are needed
/// @return 1 `isge` is a new element; 0 it was added to `last_sge`; -EINVAL key, protection domain,
///   bounds or rights do not fit. Key 0 is always refused: there is no DMA region.
int rvt_lkey_ok(const rvt_lkey_table* table, const rvt_pd* pd, rvt_sge* isge, rvt_sge* last_sge,
                const ib_sge* sge, std::uint32_t acc);

/// Checks what a peer names. Any context.
/// @param sge takes it
/// @param acc right that is needed, IB_ACCESS_REMOTE_*
/// @return 1; 0 key, protection domain (the queue pair's, not its SRQ's), bounds or right do not
///   fit. Key 0 is always refused: there is no DMA region.
int rvt_rkey_ok(rvt_qp* qp, rvt_sge* sge, std::uint32_t len, std::uint64_t vaddr,
                std::uint32_t rkey, std::uint32_t acc);

/// Registers contiguous host memory. Tasks only. See ib_reg_user_mr, which checks rights.
/// @return the region, or ERR_PTR: -EINVAL length 0 or overflow; -ENOMEM; -EIO
ib_mr* rvt_reg_user_mr(ib_pd* pd, std::uint64_t start, std::uint64_t length,
                       std::uint64_t virt_addr, std::uint32_t access, ib_udata* udata);
/// Takes the key back, moves queue pairs that use it to ERR and waits for the adapter's last
/// access. Tasks only.
/// @return 0, the region is gone; -EBUSY, it is not
int rvt_dereg_mr(ib_mr* ibmr, ib_udata* udata);

/// Makes a region without memory. Tasks only. See ib_alloc_mr.
/// @return the region, or ERR_PTR: -EINVAL type or number of pages; -ENOMEM; -EIO
ib_mr* rvt_alloc_mr(ib_pd* pd, ib_mr_type mr_type, std::uint32_t max_num_sg);
/// Fills the translation table of a region made by rvt_alloc_mr. Any context. See ib_map_mr_sg.
/// @param page_size bytes
/// @return elements mapped whole; -EINVAL
int rvt_map_mr_sg(ib_mr* ibmr, const scatterlist* sg, int sg_nents, unsigned* sg_offset,
                  unsigned page_size);
/// What the driver does when REG_MR is posted: the region gets its key, rights, address and length
/// in the driver's own books, for the checks of later work requests. The adapter follows when the
/// work request's turn comes.
/// @return 0; -EACCES another protection domain; -EINVAL not made by rvt_alloc_mr, another key than
///   the consumer may choose, or over 2^32 - 1 bytes
int rvt_fast_reg_mr(rvt_qp* qp, ib_mr* ibmr, std::uint32_t key, std::uint32_t access);
/// What the driver does when LOCAL_INV is posted.
/// @return 0; -EINVAL no such key in this protection domain, or not made by rvt_alloc_mr
int rvt_invalidate_rkey(rvt_qp* qp, std::uint32_t rkey);

}  // namespace hcasim::rvt
