// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hcasim/rvt/rdmavt_srq.hpp"
#include "hcasim/rvt/verbs.hpp"
#include "hcasim/sim/trace_operation.hpp"
#include "sim/record/node_recorder.hpp"
#include "sim/system/node_system.hpp"

namespace hcasim::sim {

/// A memory region of a trace. One that was deregistered keeps its numbers, so that work requests
/// which name it fail as they do in life. One made by alloc_mr takes new ones when a REG_MR is
/// posted.
struct TraceMr {
  rvt::ib_mr* mr = nullptr;   ///< null once deregistered
  std::uint64_t address = 0;  ///< of byte 0, as work requests name it
  std::uint64_t host_address = 0;
  std::uint32_t key = 0;
  std::uint64_t bytes = 0;
};

struct TraceCq {
  rvt::ib_cq* cq = nullptr;
};

struct TraceSrq {
  rvt::ib_srq* srq = nullptr;
  std::uint32_t max_wr = 0;

  /// True while the event of the limit set last is still to come.
  bool armed() const { return rvt::ibsrq_to_rvtsrq(srq)->limit != 0; }
};

struct TraceQp {
  rvt::ib_qp* qp = nullptr;
  std::uint32_t qpn = 0;
  std::uint32_t peer_node = 0;
  std::uint32_t max_send_wr = 0;
  std::uint32_t max_recv_wr = 0;
  bool sq_sig_all = false;
  NameId srq = kNoName;          ///< where its receives come from, or none
  std::uint32_t port = 0;        ///< that it is bound to, 1-based; 0: none yet
  rvt::ib_ah* ah = nullptr;      ///< UD: where sends go, ...
  std::uint32_t remote_qpn = 0;  ///< ... and to which QP there

  bool reliable() const { return qp->qp_type == rvt::IB_QPT_RC; }
};

class NodeObjects;

/// All nodes' objects: how one node finds what its peer has told it, such as QPNs and keys.
class ObjectDirectory {
 public:
  explicit ObjectDirectory(const NameTable& names) : names_(names) {}
  void add(NameId node, NodeObjects& objects) { nodes_.push_back({node, &objects}); }
  /// Index of the node with this name.
  std::uint32_t index_of(NameId node) const;
  std::uint32_t index_of(const NodeObjects& objects) const;
  NodeObjects& node(std::uint32_t index) const { return *nodes_[index].objects; }
  std::string text(NameId name) const { return std::string(names_.text(name)); }

 private:
  struct Node {
    NameId name;
    NodeObjects* objects;
  };
  const NameTable& names_;
  std::vector<Node> nodes_;
};

/// What a verb of the trace came to.
struct ControlResult {
  int error = 0;  ///< negative errno
  const char* verb = "";
  std::string reason;  ///< why, where that is known better than by the errno; else empty

  /// VERB was refused: WHY
  std::string refusal() const;
};

/// One node's side of a connect.
struct ConnectSide {
  std::uint32_t peer_node = 0;  ///< index
  NameId qp = kNoName;
  NameId peer_qp = kNoName;
  std::uint32_t psn = 0;       ///< first PSN to send
  std::uint32_t peer_psn = 0;  ///< first PSN expected
};

/// Who is told of objects that come and go.
class ObjectListener {
 public:
  virtual ~ObjectListener() = default;
  virtual void cq_created(NameId name, TraceCq& cq) = 0;
  virtual void cq_destroyed(NameId name) = 0;
  virtual void qp_created(NameId name, TraceQp& qp) = 0;
  /// The QP is empty again: what was posted will not complete. What completed before can be polled.
  virtual void qp_reset(NameId name, const TraceQp& qp) = 0;
  /// The same for a QP that is gone; completions that point at `qp.qp` must be read at once.
  virtual void qp_destroyed(NameId name, const TraceQp& qp) = 0;
  virtual void srq_created(NameId name, TraceSrq& srq) = 0;
  virtual void srq_resized(NameId name, const TraceSrq& srq) = 0;
  /// What it held will not complete.
  virtual void srq_destroyed(NameId name) = 0;
  /// IB_EVENT_SRQ_LIMIT_REACHED. In interrupt context.
  virtual void srq_limit_reached(NameId name) = 0;
};

/// The verbs objects of one node by their names in the trace, and the control verbs on them. The
/// calls that take simulated time are for tasks.
class NodeObjects {
 public:
  NodeObjects(NodeSystem& node, ObjectDirectory& directory);
  /// Of a run that did not come to tear_down() this stops the device and frees what is left.
  ~NodeObjects();
  NodeObjects(const NodeObjects&) = delete;
  NodeObjects& operator=(const NodeObjects&) = delete;

  void set_listener(ObjectListener& listener) { listener_ = &listener; }
  NodeSystem& node() { return node_; }
  /// Where this node is in the directory.
  std::uint32_t index() const { return directory_.index_of(*this); }
  std::string text(NameId name) const { return directory_.text(name); }

  TraceMr* mr(NameId name) { return find(mrs_, name); }
  TraceCq* cq(NameId name) { return find(cqs_, name); }
  TraceQp* qp(NameId name) { return find(qps_, name); }
  TraceSrq* srq(NameId name) { return find(srqs_, name); }

  /// Carries out a control verb, connect apart. Tasks only.
  ControlResult execute(const Operation& operation);
  /// This node's side of a connect.
  /// @param second of two on this node, the one named second
  ConnectSide side_of(const Operation& connect, bool second = false) const;
  /// First part of connect on one side: CQ and MR if missing, a QP in INIT. Tasks only.
  ControlResult connect_begin(const Operation& operation, const ConnectSide& side);
  /// Second part, once the peer's QP exists: RTR, then RTS. Tasks only.
  ControlResult connect_end(const Operation& operation, const ConnectSide& side,
                            std::uint32_t peer_qpn);
  /// Gives back everything that is left. Tasks only.
  void tear_down();
  /// Names under which connect makes its defaults.
  void set_default_names(NameId cq, NameId mr) {
    default_cq_ = cq;
    default_mr_ = mr;
  }
  NameId default_mr() const { return default_mr_; }
  /// A QP was made whose messages nobody acknowledges.
  bool has_unreliable() const { return has_unreliable_; }
  bool has_default_mr() { return mr(default_mr_) != nullptr && mr(default_mr_)->mr != nullptr; }

 private:
  // What an event of the SRQ finds its way by.
  struct SrqPlace {
    TraceSrq srq;
    NodeObjects* owner = nullptr;
    NameId name = kNoName;
  };

  // A QP in a multicast group.
  struct Membership {
    rvt::ib_qp* qp = nullptr;
    rvt::ib_gid gid;
  };

  static void on_srq_event(rvt::ib_event* event, void* place);
  rvt::ib_pd* pd();
  template <typename T>
  T* find(std::vector<T*>& table, NameId name) {
    return name < table.size() ? table[name] : nullptr;
  }
  template <typename T>
  static void place(std::vector<T*>& table, NameId name, T* object) {
    if (name >= table.size()) table.resize(name + 1, nullptr);
    table[name] = object;
  }

  ControlResult make_cq(NameId name, std::uint32_t cqe, std::uint32_t vector);
  ControlResult create_cq(const Operation& operation);
  ControlResult resize_cq(const Operation& operation);
  int req_notify_cq(const Operation& operation);
  int make_mr(NameId name, std::uint64_t length, std::uint32_t access, bool iova_given,
              std::uint64_t iova);
  int register_memory(NameId name, std::uint64_t host, std::uint64_t length, std::uint32_t access,
                      std::uint64_t address);
  int reg_mr(const Operation& operation);
  int reg_shared_mr(const Operation& operation);
  int alloc_mr(NameId name, std::uint64_t length);
  ControlResult make_qp(const Operation& operation, NameId name, NameId send_cq, NameId recv_cq);
  ControlResult create_qp(const Operation& operation);
  int modify(const Operation& operation);
  int read_destination(TraceQp& qp, const Operation& operation, rvt::ib_qp_attr& attr, int& mask);
  int dereg(const Operation& operation);
  int destroy_cq(const Operation& operation);
  int destroy_qp(const Operation& operation);
  ControlResult create_srq(const Operation& operation);
  ControlResult moderate_cq(const Operation& operation);
  ControlResult modify_srq(const Operation& operation);
  int destroy_srq(const Operation& operation);
  int to_init(TraceQp& qp, const Operation& operation);
  ControlResult connect_datagram(TraceQp& qp, const ConnectSide& side, std::uint32_t peer_qpn);
  int send_to_group(TraceQp& qp, const Operation& operation);
  int send_by(TraceQp& qp, const rvt::rdma_ah_attr& path, std::uint32_t remote_qpn);
  int attach_mcast(const Operation& operation);
  int detach_mcast(const Operation& operation);
  void detach_all();
  void leave_behind();
  bool in_use() const;
  void set_path(rvt::ib_qp_attr& attr, std::uint32_t port, std::uint32_t peer,
                std::uint32_t peer_port) const;

  NodeSystem& node_;
  ObjectDirectory& directory_;
  ObjectListener* listener_ = nullptr;
  bool has_unreliable_ = false;
  rvt::ib_pd* pd_ = nullptr;
  NameId default_cq_ = kNoName;
  NameId default_mr_ = kNoName;
  std::vector<Membership> memberships_;
  std::deque<TraceMr> mr_store_;
  std::deque<TraceCq> cq_store_;
  std::deque<TraceQp> qp_store_;
  std::deque<SrqPlace> srq_store_;
  std::vector<TraceMr*> mrs_;
  std::vector<TraceCq*> cqs_;
  std::vector<TraceQp*> qps_;
  std::vector<TraceSrq*> srqs_;
};

}  // namespace hcasim::sim
