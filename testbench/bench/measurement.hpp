// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace hcasim::bench {

/// Runs `body` in a process of its own, since a process holds one SystemC simulation, and returns
/// the plain struct that it filled in.
void in_own_process(const std::function<void(void*)>& body, void* result, unsigned long bytes);

template <typename T>
T measure(const std::function<T()>& body) {
  T result{};
  in_own_process([&](void* out) { *static_cast<T*>(out) = body(); }, &result, sizeof result);
  return result;
}

}  // namespace hcasim::bench
