// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hca/receive_queue/queue_store.hpp"

namespace hcasim::hca {

/// Queues that became eligible for a fetch, each at most once, linked through the queues.
class FetchFifo {
 public:
  bool empty() const { return first_ == nullptr; }
  RqQueue& front() const { return *first_; }

  void push(RqQueue& queue) {
    queue.in_fifo = true;
    queue.next_in_fifo = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_fifo) = &queue;
    last_ = &queue;
  }
  void pop() {
    first_->in_fifo = false;
    first_ = first_->next_in_fifo;
  }

 private:
  RqQueue* first_ = nullptr;
  RqQueue* last_ = nullptr;
};

}  // namespace hcasim::hca
