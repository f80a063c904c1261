#pragma once

// From the roots that are wanted to the kernels that compute them: a pure function, which needs no device.

#include <optional>
#include <span>
#include <vector>

#include "src/codegen/kernel_spec.h"
#include "src/core/indexing.h"

namespace gpulua {

/// Where a result is written other than all over its target.
struct Scatter {
  std::shared_ptr<const Indexed> at;
  std::vector<Array> indices;
  Combine combine = Combine::store;
  Origin origin;
};

/// What is wanted: the node's elements, in a new array, or written to `target`, to whose shape they broadcast, or to
/// `places` of it.
struct Root {
  const Node* node;
  const Node* target = nullptr;
  const Scatter* places = nullptr;
  const Node* mask = nullptr;  // set: the elements where it is true, one after the other, are written to `target`
};

struct StepOperand {
  const Node* node = nullptr;   // whose elements are read; they may come from an earlier step
  std::optional<Scalar> value;  // or a number
  DType dtype;
  Layout layout;  // over the step's domain; an outer one over its result's. Neither node nor number: of the positions
  bool outer = false;
  std::shared_ptr<const Indexed> indexed{};  // set: the elements lie where index arrays say
  Origin origin{};                           // of the operation, where indexed
  bool raw = false;  // the node's elements as a whole, in its own layout
};

struct StepOutput {
  const Node* node;
  const Node* target;  // null: a new row-major array that becomes the node's
  std::uint16_t value;
  const Scatter* places = nullptr;       // of the target, or null: all of it
  std::vector<std::uint16_t> indices{};  // the values that are the index arrays of `places`
  std::optional<std::uint16_t> mask{};   // the value that tells which elements are written

  const Layout& layout() const { return places ? places->at->layout : (target ? target : node)->layout; }
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

/// In the order in which they are to run.
std::vector<Step> plan(std::span<const Root> roots);

}  // namespace gpulua
