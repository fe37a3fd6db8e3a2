// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <systemc>

#include "sim/engine/engine_module.hpp"

namespace hcasim::fabric {

/// Marks sockets whose module does all its work in a node's engine. Any other peer of a socket is
/// foreign: it may have processes and events of its own.
class EnginePeer {
 public:
  virtual ~EnginePeer() = default;
};

/// A module whose target socket stands for a `T` of the model. An initiator of the model that is
/// bound to it directly may call the `T` itself: the times are the same, as the protocol only
/// carries them as delays. A module in between has sockets of its own and so sees everything.
template <typename T>
class ShortCut {
 public:
  /// Null when there is none for an initiator of that node.
  virtual T* short_cut(const sim::EngineModule& initiator) = 0;
  /// The one behind the far side of a socket, null when the peer is another kind of module.
  static T* behind(sc_core::sc_interface* peer, const sim::EngineModule& initiator) {
    auto* target = dynamic_cast<ShortCut*>(peer);
    return target == nullptr ? nullptr : target->short_cut(initiator);
  }

 protected:
  ~ShortCut() = default;
};

/// Keeps a node's engine and the kernel in step where calls cross a socket. It is needed for
/// foreign peers only and costs nothing else.
class SocketCalls : public sim::Unit {
 public:
  explicit SocketCalls(sim::EngineModule& node);

  /// To be called when the simulation starts, with the interface on the far side.
  void set_peer(const sc_core::sc_interface* peer) {
    peer_is_foreign_ = dynamic_cast<const EnginePeer*>(peer) == nullptr;
    if (peer_is_foreign_) node_.note_foreign_peer();
  }

  /// True in a call that did not come from the node's engine, whose time may then lie behind.
  bool called_from_outside() const {
    return sc_core::sc_get_current_process_b() != engine_process_;
  }
  /// After a call that came in. From a foreign process it may have left new events, so the kernel
  /// looks again when the node is due.
  void after_call_in() {
    if (called_from_outside()) look_again();
  }
  /// After a call that went out. A foreign peer may have notified an event that is due before the
  /// time up to which the engine wants to run.
  void after_call_out() {
    if (peer_is_foreign_) engine().request_stop();
  }

  void on_event(std::uint64_t) override {}

 private:
  void look_again();

  sim::EngineModule& node_;
  sc_core::sc_process_b* engine_process_;
  bool peer_is_foreign_ = true;
};

}  // namespace hcasim::fabric
