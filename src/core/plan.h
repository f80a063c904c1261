#pragma once

// From the roots that are wanted to the kernels that compute them: a pure function, which needs no device.

#include <optional>
#include <span>
#include <vector>

#include "src/codegen/kernel_spec.h"
#include "src/core/node.h"

namespace gpulua {

/// What is wanted: the node's elements, in a new array, or written to `target`, to whose shape they broadcast.
struct Root {
  const Node* node;
  const Node* target = nullptr;
};

struct StepOperand {
  const Node* node = nullptr;   // whose elements are read; they may come from an earlier step
  std::optional<Scalar> value;  // or a number
  DType dtype;
  Layout layout;  // over the step's domain; an outer one over its result's. Neither node nor number: of the positions
  bool outer = false;
};

struct StepOutput {
  const Node* node;
  const Node* target;  // null: a new row-major array that becomes the node's
  std::uint16_t value;
};

/// One kernel: elementwise over the domain, or a reduction of some of its axes and what is computed from its results.
struct Step {
  Dims domain;
  std::uint64_t axes = 0;  // that are reduced
  bool reduces = false;
  Dims result;  // the outputs' shape
  std::vector<StepOperand> operands;
  std::vector<ValueSpec> values;
  std::vector<StepOutput> outputs;
};

/// In the order in which they are to run.
std::vector<Step> plan(std::span<const Root> roots);

}  // namespace gpulua
