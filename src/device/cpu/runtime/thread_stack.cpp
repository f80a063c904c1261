#include "src/device/cpu/runtime/thread_stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>

namespace gpulua::cpu {
namespace {

constexpr std::size_t least_guard = 4096;  // the first thread has no guard, only a limit

}  // namespace

ThreadStack::ThreadStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  std::size_t bytes = 0, guard = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  low_ = static_cast<const char*>(low) - std::max(guard, least_guard);
  end_ = static_cast<const char*>(low) + bytes;
}

const ThreadStack& ThreadStack::current() {
  thread_local const ThreadStack stack;
  return stack;
}

}  // namespace gpulua::cpu
