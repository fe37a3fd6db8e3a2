// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "hca/observer.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::sim {

/// What is known of one message while it is under way. What each stamp looks at comes first, so
/// that it finds that in one cache line.
struct alignas(64) MessageRecord {
  std::uint32_t generation = 1;  ///< of the slot: tells a late reporter that the message is gone
  std::uint32_t present;         ///< bit per stamp, and from kChanged on of those that were changed
  hw::Time until;                ///< later stamps do not count; hw::kNever: all do
  std::uint32_t next_free;
  std::uint16_t node;  ///< of the sender
  hw::WrOpcode opcode;
  hw::WcStatus status;  ///< once the sender is done
  bool sender_done;     ///< else it is open, or waits for its slot to be used again
  bool receiver_done;
  bool finished;                              ///< the status is known
  bool reliable;                              ///< the peer acknowledges it
  std::array<hw::Time, hca::kStamps> stamps;  // absolute; meaningful where `present` says so
  std::array<hw::Time, 2> replaced;           // those of receipt before their last change
  hw::Time done_at;                           ///< when the sender was done, stamped or not
  std::uint64_t bytes;
  std::uint64_t wqe;      ///< WQE count of the QP
  std::uint64_t order;    ///< of posting on its node
  const std::string* qp;  ///< name

  bool has(hca::Stamp stamp) const { return (present >> static_cast<unsigned>(stamp) & 1) != 0; }
  hw::Time at(hca::Stamp stamp) const { return stamps[static_cast<unsigned>(stamp)]; }

  /// Forgets what the receiver says of times after `until`.
  void forget_later_receipt() {
    for (auto i = static_cast<unsigned>(hca::Stamp::kFirstPacketIn);
         i <= static_cast<unsigned>(hca::Stamp::kRecvPolled); ++i) {
      if (stamps[i] <= until) continue;
      const bool changed = (present >> (kChanged + i) & 1) != 0;
      if (changed) stamps[i] = replaced[i - kFirstReplaced];
      if (!changed || stamps[i] > until) present &= ~(1u << i);
    }
  }

  void end_at(hw::Time at) {
    until = std::min(until, at);
    forget_later_receipt();
  }

  /// A retransmission changes only those stamps that mark the end of something.
  void stamp(hca::Stamp stamp, hw::Time time) {
    if (time > until) [[unlikely]]
      return;
    const auto index = static_cast<unsigned>(stamp);
    if ((present >> index & 1) != 0) {
      if ((kLastCounts >> index & 1) == 0) return;
      if (index >= kFirstReplaced) {
        if (is_of_another_copy(time)) return;
        replace(index);
      }
    }
    stamps[index] = time;
    present |= 1u << index;
  }

 private:
  static constexpr unsigned kChanged = 16;
  static constexpr unsigned kFirstReplaced = static_cast<unsigned>(hca::Stamp::kRwqeTaken);
  static constexpr unsigned kLastCounts = 1u << static_cast<unsigned>(hca::Stamp::kLastPacketOut) |
                                          1u << static_cast<unsigned>(hca::Stamp::kRwqeTaken) |
                                          1u << static_cast<unsigned>(hca::Stamp::kDataVisible);
  static_assert(hca::kStamps <= kChanged);

  // UC takes a packet that comes twice for two messages.
  bool is_of_another_copy(hw::Time time) const {
    return has(hca::Stamp::kRecvCqeVisible) && time > at(hca::Stamp::kRecvCqeVisible);
  }
  void replace(unsigned index) {
    replaced[index - kFirstReplaced] = stamps[index];
    present |= 1u << (kChanged + index);
  }
};

class CompletionsCsv;

/// The records of all messages under way in a system, whichever node they are on. A message's
/// number stays unique when its slot is used again.
class RecordStore {
 public:
  RecordStore();
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  void set_csv(std::unique_ptr<CompletionsCsv> csv);
  /// @param lag the time by which nodes may be apart when they report
  void set_lag(hw::Time lag) { lag_ = lag; }
  CompletionsCsv* csv() const { return csv_.get(); }

  /// @param time how long after its sender was done a message without ACKs may still arrive
  void set_time_to_arrive(hw::Time time) { time_to_arrive_ = time; }

  void set_epoch(hw::Time epoch) { epoch_ = epoch; }
  hw::Time epoch() const { return epoch_; }
  bool records(hw::Time at) const { return at >= epoch_; }

  /// A new record without stamps. @return its number, never 0
  std::uint64_t open() {
    if (free_ == kNone) [[unlikely]]
      grow();
    const std::uint32_t index = free_;
    MessageRecord& record = slots_[index];
    free_ = record.next_free;
    record.present = 0;
    record.until = hw::kNever;
    record.sender_done = record.receiver_done = record.finished = false;
    return std::uint64_t{record.generation} << 32 | index;
  }

  /// The record of a message that open() has just returned.
  MessageRecord& opened(std::uint64_t message) {
    return slots_[static_cast<std::uint32_t>(message)];
  }

  /// The record of a message, nothing when it is closed or was never recorded. Valid until the next
  /// open().
  MessageRecord* find(std::uint64_t message) {
    MessageRecord& record = slots_[static_cast<std::uint32_t>(message) & mask_];
    return record.generation == message >> 32 ? &record : nullptr;
  }

  /// The record is complete. @param at orders the rows of the CSV
  void close(MessageRecord& record, hw::Time at) {
    if (!record.reliable) record.end_at(at);  // copies of it may go on to arrive
    if (csv_ != nullptr) write(record, at);
    release(record);
  }

  /// Closes a record of which the receiver will say nothing after `at`. Its engine may not have
  /// come there yet: what it has to say up to `at` still counts.
  void close_behind(MessageRecord& record, hw::Time at);

  /// The sender was done at `at`, and nobody will say that the message is lost. The record closes
  /// when the receiver is done with it, else when it is too late for that.
  void close_if_lost(MessageRecord& record, hw::Time at);

  /// All engines have come to the end of the run: nothing that counts is reported any more.
  void engines_have_met(hw::Time end);

  /// Closes all records of which the sender is done, at the end of a run.
  void close_rest();

  /// Slots ever made.
  std::size_t capacity() const { return records_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // Generations are 1 to one more than this, so that neither 0 nor ~0 is the number of a message.
  static constexpr std::uint32_t kLastGeneration = 0x7fffffff;

  void grow();
  void write(const MessageRecord& record, hw::Time at);
  void close_before(hw::Time limit);
  void close_next(std::deque<std::uint64_t>& queue);
  hw::Time next_in(std::deque<std::uint64_t>& queue);
  std::uint64_t number_of(const MessageRecord& record) const {
    return std::uint64_t{record.generation} << 32 | static_cast<std::uint32_t>(&record - slots_);
  }
  void release(MessageRecord& record) {
    record.sender_done = false;
    record.generation = (record.generation & kLastGeneration) + 1;
    record.next_free = free_;
    free_ = static_cast<std::uint32_t>(&record - slots_);
  }

  std::vector<MessageRecord> records_;
  MessageRecord* slots_ = nullptr;  // of records_, at hand for find()
  std::uint32_t mask_ = 0;          // their count is a power of two
  std::uint32_t free_ = kNone;
  hw::Time epoch_ = hw::kNever;
  std::unique_ptr<CompletionsCsv> csv_;
  hw::Time lag_ = 0;  // of the engine that is behind
  hw::Time time_to_arrive_ = 0;
  bool met_ = false;                      // no engine is behind any more
  std::deque<std::uint64_t> closing_;     // messages, in the order of close_behind()
  std::deque<std::uint64_t> maybe_lost_;  // in the order of close_if_lost(); some are closed
};

}  // namespace hcasim::sim
