#pragma once

#include <utility>

#include "src/runtime/context.h"

namespace gpulua {

/// Another observer, or none, learns what happens in the scope.
class Unobserved {
 public:
  explicit Unobserved(Context& context, NodeObserver* instead = nullptr)
      : context_(context), observer_(std::exchange(context.observer, instead)) {}
  ~Unobserved() { context_.observer = observer_; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Context& context_;
  NodeObserver* observer_;
};

}  // namespace gpulua
