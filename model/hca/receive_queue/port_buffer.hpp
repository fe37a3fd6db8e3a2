// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hcasim::hca {

/// Two-entry buffer of an input port that passes through: its stage sees the oldest item, or the
/// one being handshaken when nothing is held.
template <typename T>
class PortBuffer {
 public:
  bool empty() const { return count_ == 0; }
  unsigned size() const { return count_; }
  bool ready() const { return count_ < 2; }
  const T& front() const { return items_[0]; }
  T& operator[](unsigned index) { return items_[index]; }

  void push(const T& item) { items_[count_++] = item; }
  void pop() {
    items_[0] = items_[1];
    --count_;
  }

 private:
  T items_[2]{};
  unsigned count_ = 0;
};

}  // namespace hcasim::hca
