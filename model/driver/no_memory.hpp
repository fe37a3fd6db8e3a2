// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The driver lets no exception out: like a kernel it answers -ENOMEM.
#pragma once

#include <cerrno>
#include <memory>
#include <new>

namespace hcasim::rvt {

/// Calls what may find no memory, and then changes nothing. @return 0; -ENOMEM
template <typename Function>
int or_no_memory(Function&& function) {
  try {
    function();
    return 0;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

/// A new object, or null.
template <typename T, typename... Arguments>
std::unique_ptr<T> try_to_make(Arguments... arguments) {
  return std::unique_ptr<T>(new (std::nothrow) T(arguments...));
}

}  // namespace hcasim::rvt
