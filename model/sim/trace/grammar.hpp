// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The words of the trace language. Reader, writer and the reference in traces/README.md follow from
// the tables declared here: a new verb is a row of verb_rows, its new arguments are rows of
// key_rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <hcasim/sim/trace_operation.hpp>

namespace hcasim::sim::trace {

/// How the value of an argument is spelled.
enum class Kind : std::uint8_t {
  kNumber,       // from min to max, written in decimal
  kHex,          // from min to max, written in hexadecimal
  kMtu,          // one of five numbers
  kAccess,       // list of rights
  kServiceType,  // word
  kState,        // word
  kCq,           // CQ of the node
  kMr,           // MR of the node
  kSrq,          // SRQ of the node; of connect that of either node
  kMrOrPeerMr,   // MR of the node for LOCAL_INV, else of the peer
  kDest,         // NODE.QP
  kGid,          // of a multicast group, as an IPv6 address
  kPsnPair,      // X,Y
  kMemory,       // NODE.MR of the same host, optional offset
  kRemote,       // MR of the peer, optional offset
  kDataLength,   // bytes of the default MR
  kSges,         // MR:OFFSET:LENGTH,...
  kLabel,        // name that the operation gets
  kAt,           // time
  kAfter,        // label, optional delay
};

/// What may be the object of a verb or the target of a name.
enum class ObjectKind : std::uint8_t { kNone, kMr, kCq, kQp, kSrq };

/// What a verb does to its object.
enum class Role : std::uint8_t { kCreates, kUses, kDestroys };

/// One argument. `id` differs from `text` where two verbs use one word for different things.
struct KeyRow {
  std::string_view id;
  std::string_view text;
  Kind kind;
  Arg arg;                // kCount where the value goes elsewhere in Operation
  std::uint64_t min;      // of kNumber, kHex, kPsnPair and kDataLength
  std::uint64_t max;      // of the same
  std::uint64_t initial;  // what is meant when it is absent and the verb does not require it
  std::string_view help;
};

/// Most rows of arguments that the grammar can hold.
inline constexpr std::size_t kMaxKeys = 128;

/// A set of rows of arguments.
class KeySet {
 public:
  constexpr void insert(std::size_t key) { bits_[key / 64] |= std::uint64_t{1} << key % 64; }
  constexpr bool contains(std::size_t key) const { return (bits_[key / 64] >> key % 64 & 1) != 0; }
  constexpr bool empty() const { return (bits_[0] | bits_[1]) == 0; }
  constexpr KeySet operator|(const KeySet& other) const {
    KeySet sum = *this;
    for (std::size_t i = 0; i < bits_.size(); ++i) sum.bits_[i] |= other.bits_[i];
    return sum;
  }

  /// Calls `action(index)` for each member in order until it returns true.
  template <typename Action>
  constexpr bool any(Action&& action) const {
    for (std::size_t word = 0; word < bits_.size(); ++word) {
      for (std::uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1) {
        if (action(word * 64 + static_cast<std::size_t>(__builtin_ctzll(rest)))) return true;
      }
    }
    return false;
  }

 private:
  std::array<std::uint64_t, kMaxKeys / 64> bits_{};
};

/// One verb.
struct VerbRow {
  std::string_view name;
  Verb verb;
  Role role;
  ObjectKind object;
  KeySet required;
  KeySet optional;
  KeySet one_of;        // exactly one of these, unless empty
  std::uint32_t flags;  // allowed bits of OperationFlag
  std::string_view help;
};

/// One opcode of post_send, with what it takes beyond the arguments of the verb.
struct OpcodeRow {
  std::string_view name;
  SendOpcode opcode;
  KeySet required;
  KeySet optional;
  KeySet one_of;
  KeySet either;  // all of these must be there ...
  KeySet or_all;  // ... or all of these; beyond that they may be mixed
  std::uint32_t flags;
  std::string_view help;
};

/// A word and the number it stands for.
struct WordRow {
  std::string_view word;
  std::uint64_t value;
  std::string_view help;
};

/// All arguments, in the order in which canonical text has them.
std::span<const KeyRow> key_rows();
/// All verbs; row i is that of the verb with value i.
std::span<const VerbRow> verb_rows();
/// All opcodes of post_send.
std::span<const OpcodeRow> opcode_rows();
/// The five path MTUs.
std::span<const std::uint64_t> mtus();
/// Rights of MRs and QPs; `all` and `none` first.
std::span<const WordRow> access_words();
/// States of a QP.
std::span<const WordRow> state_words();
/// Service types.
std::span<const WordRow> service_types();
/// Flags at the end of a line.
std::span<const WordRow> flag_words();

/// Index in key_rows() of the argument called `id`. @pre there is one
std::size_t key_index(std::string_view id);
/// The row of a verb.
const VerbRow& verb_row(Verb verb);
/// The row of an opcode. @return null for a value without one
const OpcodeRow* opcode_row(SendOpcode opcode);
/// The word of a value. @return an empty view for a value without one
std::string_view word_of(std::span<const WordRow> words, std::uint64_t value);
/// What a value of this argument must look like, for errors and documentation.
std::string describe_value(const KeyRow& row);
/// "MR", "CQ", "QP" or "SRQ".
std::string_view kind_name(ObjectKind kind);

}  // namespace hcasim::sim::trace
