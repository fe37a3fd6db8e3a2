// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::rvt {

/// Calls that make an object return its address or, as in the kernel, a negative errno in the
/// pointer's place.
/// @return a pointer that stands for the negative errno `error`
template <typename T>
T* ERR_PTR(std::intptr_t error) {
  return reinterpret_cast<T*>(error);  // NOLINT: the kernel's idiom
}

/// True when `pointer` stands for an error.
inline bool IS_ERR(const void* pointer) {
  constexpr std::uintptr_t kMaxErrno = 4095;
  return reinterpret_cast<std::uintptr_t>(pointer) >= ~std::uintptr_t{0} - kMaxErrno + 1;
}

/// The negative errno that `pointer` stands for.
inline int PTR_ERR(const void* pointer) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(pointer));
}

}  // namespace hcasim::rvt
