// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which nodes, objects and labels exist at the current line of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace/grammar.hpp"

namespace hcasim::sim::trace {

/// What a name means on a node.
struct ObjectEntry {
  ObjectKind kind = ObjectKind::kNone;
  bool alive = false;          // false: destroyed
  NameId peer_node = kNoName;  // of a QP that has a peer
  NameId peer_qp = kNoName;
  std::uint64_t bytes = 0;  // of an MR
};

/// The names of all nodes. Its size follows the number of distinct names, not of lines.
class Scope {
 public:
  /// Adds a node; `host` is the one in whose host it sits, or kNoName for one of its own.
  /// @return false when it was there
  bool add_node(NameId node, NameId host);
  /// True when the node exists.
  bool has_node(NameId node) const { return index_of(node) != kAbsent; }
  /// Nodes in order of their addition.
  const std::vector<NameId>& nodes() const { return names_; }
  /// In the same order the nodes whose host they sit in: themselves, or an earlier one.
  const std::vector<NameId>& hosts() const { return hosts_; }
  /// The node whose host this one sits in. @pre it exists
  NameId host_of(NameId node) const { return hosts_[index_of(node)]; }

  /// The object of this name, destroyed ones included. @return null if there never was one
  const ObjectEntry* find(NameId node, NameId object) const;
  /// The living object of this name and kind. @return null if there is none
  const ObjectEntry* living(NameId node, NameId object, ObjectKind kind) const;
  /// Makes an object, or makes one again that was destroyed. @pre no living one has this name
  void create(NameId node, NameId object, ObjectKind kind, std::uint64_t bytes = 0);
  /// Marks an object as destroyed; its name stays known. @pre it exists
  void destroy(NameId node, NameId object) { entry(node, object)->alive = false; }
  /// Makes `peer` the QP at the other end. @pre the QP exists
  void set_peer(NameId node, NameId qp, NameId peer_node, NameId peer_qp);

  /// Records that the node has an operation of this label.
  void add_label(NameId node, NameId label);
  /// True when an earlier operation of the node had this label.
  bool has_label(NameId node, NameId label) const;

  /// Names of all living objects of this kind on the node, for suggestions.
  std::vector<std::string> object_names(NameId node, ObjectKind kind, const NameTable& names) const;
  /// Names of all labels of the node, at most `limit`, for suggestions.
  std::vector<std::string> label_names(NameId node, std::size_t limit,
                                       const NameTable& names) const;

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  struct Node {
    std::vector<std::uint32_t> object_of;  // by NameId: index into objects, or kAbsent
    std::vector<ObjectEntry> objects;
    std::vector<bool> labels;  // by NameId
  };

  std::uint32_t index_of(NameId node) const {
    return node < index_.size() ? index_[node] : kAbsent;
  }
  ObjectEntry* entry(NameId node, NameId object);

  std::vector<NameId> names_;
  std::vector<NameId> hosts_;
  std::vector<std::uint32_t> index_;  // by NameId
  std::vector<Node> nodes_;
};

}  // namespace hcasim::sim::trace
