// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

/// The operators new and delete of a test program: they count, and fail where a test says so. They
/// replace the global ones, so this is included in exactly one source file of a program.
namespace hcasim::testing {

/// How an allocation tells that there is no memory.
enum class NewForm : std::uint8_t { kThrows, kNull };

/// Allocations since the program began, those that failed among them.
inline std::uint64_t allocations = 0;
/// Asked for each allocation: true when it finds no memory. Null: none fails.
inline bool (*allocation_fails)(NewForm form) = nullptr;

inline void* allocate(std::size_t bytes, std::size_t alignment, NewForm form) {
  ++allocations;
  if (allocation_fails != nullptr && allocation_fails(form)) return nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment, NewForm::kThrows);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace hcasim::testing

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return hcasim::testing::allocate_or_throw(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return hcasim::testing::allocate_or_throw(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return hcasim::testing::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return hcasim::testing::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return hcasim::testing::allocate(bytes, alignof(std::max_align_t),
                                   hcasim::testing::NewForm::kNull);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return hcasim::testing::allocate(bytes, alignof(std::max_align_t),
                                   hcasim::testing::NewForm::kNull);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
