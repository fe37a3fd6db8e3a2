// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/scope.hpp"

#include <algorithm>

namespace hcasim::sim::trace {

bool Scope::add_node(NameId node, NameId host) {
  if (has_node(node)) return false;
  if (node >= index_.size()) index_.resize(node + 1, kAbsent);
  index_[node] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  names_.push_back(node);
  hosts_.push_back(host == kNoName ? node : host);
  return true;
}

const ObjectEntry* Scope::find(NameId node, NameId object) const {
  const std::uint32_t index = index_of(node);
  if (index == kAbsent) return nullptr;
  const Node& owner = nodes_[index];
  if (object >= owner.object_of.size() || owner.object_of[object] == kAbsent) return nullptr;
  return &owner.objects[owner.object_of[object]];
}

ObjectEntry* Scope::entry(NameId node, NameId object) {
  Node& owner = nodes_[index_of(node)];
  return &owner.objects[owner.object_of[object]];
}

const ObjectEntry* Scope::living(NameId node, NameId object, ObjectKind kind) const {
  const ObjectEntry* found = find(node, object);
  return found != nullptr && found->alive && found->kind == kind ? found : nullptr;
}

void Scope::create(NameId node, NameId object, ObjectKind kind, std::uint64_t bytes) {
  Node& owner = nodes_[index_of(node)];
  if (object >= owner.object_of.size()) owner.object_of.resize(object + 1, kAbsent);
  if (owner.object_of[object] == kAbsent) {
    owner.object_of[object] = static_cast<std::uint32_t>(owner.objects.size());
    owner.objects.emplace_back();
  }
  ObjectEntry& made = owner.objects[owner.object_of[object]];
  made = {kind, true};
  made.bytes = bytes;
}

void Scope::set_peer(NameId node, NameId qp, NameId peer_node, NameId peer_qp) {
  ObjectEntry& queue = *entry(node, qp);
  queue.peer_node = peer_node;
  queue.peer_qp = peer_qp;
}

void Scope::add_label(NameId node, NameId label) {
  std::vector<bool>& labels = nodes_[index_of(node)].labels;
  if (label >= labels.size()) labels.resize(std::max<std::size_t>(label + 1, 2 * labels.size()));
  labels[label] = true;
}

bool Scope::has_label(NameId node, NameId label) const {
  const std::vector<bool>& labels = nodes_[index_of(node)].labels;
  return label < labels.size() && labels[label];
}

std::vector<std::string> Scope::object_names(NameId node, ObjectKind kind,
                                             const NameTable& names) const {
  std::vector<std::string> result;
  for (NameId id = 1; id <= names.size(); ++id) {
    if (living(node, id, kind) != nullptr) result.emplace_back(names.text(id));
  }
  return result;
}

std::vector<std::string> Scope::label_names(NameId node, std::size_t limit,
                                            const NameTable& names) const {
  std::vector<std::string> result;
  for (NameId id = 1; id <= names.size() && result.size() < limit; ++id) {
    if (has_label(node, id)) result.emplace_back(names.text(id));
  }
  return result;
}

}  // namespace hcasim::sim::trace
