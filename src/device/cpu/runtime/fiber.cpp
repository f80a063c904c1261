#include "src/device/cpu/runtime/fiber.h"

#include <boost/context/preallocated.hpp>

namespace gpulua::cpu {
namespace {

/// boost::context's notion of a stack allocator, for a stack that is there.
struct KeepStack {
  boost::context::stack_context allocate() const { return {}; }
  void deallocate(boost::context::stack_context&) const noexcept {}
};

boost::context::preallocated preallocate(const FiberStack& stack) {
  boost::context::stack_context context;
  context.size = stack.bytes();
  context.sp = stack.top();
  return {context.sp, context.size, context};
}

}  // namespace

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> body)
    : stack_(std::in_place, stack_bytes),
      sanitized_(stack_->low(), stack_->bytes()),
      body_(std::move(body)),
      context_(std::allocator_arg, preallocate(*stack_), KeepStack{}, [this](boost::context::fiber&& suspended) {
        sanitized_.arrive(predecessor_->sanitized_);
        predecessor_->context_ = std::move(suspended);
        while (!closing_) body_();
        predecessor_->predecessor_ = this;
        SanitizedStack::leave_for_good(predecessor_->sanitized_);
        return std::move(predecessor_->context_);
      }) {}

Fiber::~Fiber() {
  if (!context_) return;
  closing_ = true;
  Fiber thread;
  switch_between(thread, *this);
}

}  // namespace gpulua::cpu
