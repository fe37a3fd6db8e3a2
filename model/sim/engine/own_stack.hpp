// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace hcasim::sim {

/// After a simulation with threads of the kernel the address sanitizer takes one of their stacks
/// for that of this thread: it is told that this is the thread's own again, or it would misjudge
/// the frames that an exception leaves, and look for leaks in what is none of its memory. Nothing
/// without the sanitizer.
inline void announce_own_stack() {
#if defined(__SANITIZE_ADDRESS__)
  struct Stack {
    Stack() {
      pthread_attr_t attributes;
      if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
      pthread_attr_getstack(&attributes, &bottom, &bytes);
      pthread_attr_destroy(&attributes);
    }
    void* bottom = nullptr;
    std::size_t bytes = 0;
  };
  static thread_local const Stack own;  // found once: that means reading a file of the system
  if (own.bottom == nullptr) return;
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, own.bottom, own.bytes);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace hcasim::sim
