#pragma once

// From the roots that are wanted to the kernels that compute them: a pure function, which needs no device.

#include <optional>
#include <span>
#include <vector>

#include "src/array/indexed.h"
#include "src/array/node_numbers.h"
#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// A node whose elements are wanted. Without a target they go to a new array. With one they are written to it, and the
/// node broadcasts to the target's shape, or to the scatter's. At most one of several roots has a target; the others
/// see what it held before.
struct Root {
  Node* node;
  Node* target = nullptr;
  const Scatter* scatter = nullptr;  // set: the elements of `target` that are written
  Node* mask = nullptr;  // set: the elements for which it is true are written to the front of `target`, in order
};

struct StepOperand {
  Node* node = nullptr;    // whose elements are read; they may come from an earlier step
  Node* number = nullptr;  // or whose number it is
  DType dtype;
  Layout layout;  // over the step's domain; an outer one over its result's. Neither node nor number: of the positions
  bool outer = false;
  Node* gather = nullptr;  // set: the operation that says by index arrays where the elements lie
  bool raw = false;        // the node's elements as a whole, in its own layout

  const Indexed* indexed() const { return gather ? gather->pending()->indexed.get() : nullptr; }
};

struct StepOutput {
  Node* node;
  Node* target;  // null: a new row-major array that becomes the node's
  std::uint16_t value;
  const Scatter* scatter = nullptr;      // the elements of the target that are written; null: all
  std::vector<std::uint16_t> indices{};  // the values that are the index arrays of `scatter`
  std::optional<std::uint16_t> mask{};   // the value that tells which elements are written

  const Layout& layout() const { return scatter ? scatter->at->layout : (target ? target : node)->layout; }
};

/// One kernel: elementwise over the domain, or a reduction of some of its axes and what is computed from its results.
struct Step {
  Dims domain;
  std::uint64_t axes = 0;  // that are reduced
  bool reduces = false;
  bool compresses = false;  // its one output has the elements for which its mask is true
  Dims result;              // the outputs' shape
  std::vector<StepOperand> operands;
  std::vector<ValueSpec> values;
  std::vector<StepOutput> outputs;
};

/// True for an expression of so few operations that it is computed again for each element that it broadcasts to.
bool is_cheap(const Pending& pending);

/// The nodes that the roots consist of, inputs first.
NodeNumbers collect(std::span<const Root> roots);

/// The kernels that compute the roots, in the order in which they run. `nodes` comes from collect(roots).
std::vector<Step> plan(std::span<const Root> roots, const NodeNumbers& nodes);

}  // namespace gpulua
