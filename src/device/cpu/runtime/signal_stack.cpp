#include "src/device/cpu/runtime/signal_stack.h"

#include "src/device/cpu/runtime/thread_stack.h"

namespace gpulua::cpu {
namespace {

// A signal frame holds all vector registers; the handler walks along the kernel's frames.
constexpr std::size_t stack_bytes = 64 * 1024;

}  // namespace

SignalStack& SignalStack::of_thread() {
  thread_local SignalStack stack;
  return stack;
}

SignalStack::SignalStack() {
  ThreadStack::current();  // found before a handler needs it
  if (sigaltstack(nullptr, &hosts_) != 0) return;
  const bool none = hosts_.ss_flags & SS_DISABLE;
  if (!none && hosts_.ss_size >= stack_bytes) return;
  memory_.emplace(stack_bytes, 4096);
  if (memory_->data() == nullptr) {
    memory_.reset();
    return;
  }
  borrows_ = !none;
  if (none) set();
}

SignalStack::~SignalStack() {
  stack_t present{};
  if (!memory_ || sigaltstack(nullptr, &present) != 0 || present.ss_sp != memory_->data()) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

void SignalStack::enter() {
  if (borrows_) set();
}

void SignalStack::leave() {
  if (borrows_) sigaltstack(&hosts_, nullptr);
}

void SignalStack::set() {
  const stack_t own{memory_->data(), 0, stack_bytes};
  sigaltstack(&own, nullptr);
}

}  // namespace gpulua::cpu
