#include "src/runtime/stack_budget.h"

#include <pthread.h>

#include <algorithm>

#include "src/base/error.h"

namespace gpulua {
namespace {

/// The addresses of the calling thread's stack; both 0 where the system does not tell.
struct ThreadStack {
  std::uintptr_t bottom = 0, top = 0;

  ThreadStack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* address = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
      bottom = reinterpret_cast<std::uintptr_t>(address);
      top = bottom + size;
    }
    pthread_attr_destroy(&attributes);
  }
};

}  // namespace

std::size_t StackBudget::left_of_thread() noexcept {
  // For a process's first thread the system reads a file.
  static thread_local const ThreadStack stack;
  const std::uintptr_t here = address();
  return stack.bottom < here && here < stack.top ? here - stack.bottom : 2 * on_unknown_stack;
}

void StackBudget::begin() noexcept {
  end_ = address() - std::min(most, left_of_thread() / 2);
}

void StackBudget::refuse() {
  throw Error(message);
}

}  // namespace gpulua
