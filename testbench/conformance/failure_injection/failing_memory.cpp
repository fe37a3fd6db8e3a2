// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "conformance/failure_injection/failing_memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

bool active = false;
int counted = 0;
int fails_at = 0;
int own = 0;

void* allocate(std::size_t bytes) {
  if (hcasim::testing_support::FailingMemory::fails()) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

namespace hcasim::testing_support {

FailingMemory::FailingMemory(int left) {
  counted = 0;
  fails_at = left;
  active = true;
}
FailingMemory::~FailingMemory() {
  active = false;
}
int FailingMemory::count() {
  return counted;
}
bool FailingMemory::fails() {
  return active && own == 0 && counted++ == fails_at;
}

OwnMemory::OwnMemory() {
  ++own;
}
OwnMemory::~OwnMemory() {
  --own;
}

}  // namespace hcasim::testing_support

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return ::operator new(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
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
