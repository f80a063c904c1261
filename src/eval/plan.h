#pragma once

// From the roots that are wanted to the kernels that compute them: a pure function, which needs no device.

#include <boost/container/small_vector.hpp>
#include <optional>
#include <span>
#include <vector>

#include "src/codegen/kernel_spec.h"
#include "src/expressions/indexing.h"

namespace gpulua {

/// Where a result is written other than all over its target.
struct Scatter {
  std::shared_ptr<const Indexed> at;
  std::vector<Array> indices;
  Combine combine = Combine::store;
  Origin origin;
};

/// What is wanted: the node's elements, in a new array, or written to `target`, to whose shape they broadcast, or to
/// `places` of it. At most one of several roots has a target; the others see what it held before.
struct Root {
  const Node* node;
  const Node* target = nullptr;
  const Scatter* places = nullptr;
  const Node* mask = nullptr;  // set: the elements where it is true, one after the other, are written to `target`
};

struct StepOperand {
  const Node* node = nullptr;    // whose elements are read; they may come from an earlier step
  const Node* number = nullptr;  // or whose number it is
  DType dtype;
  Layout layout;  // over the step's domain; an outer one over its result's. Neither node nor number: of the positions
  bool outer = false;
  const Node* gather = nullptr;  // set: the operation that says by index arrays where the elements lie
  bool raw = false;              // the node's elements as a whole, in its own layout

  const Indexed* indexed() const { return gather ? gather->pending()->indexed.get() : nullptr; }
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

/// True for an expression of so few operations that it is computed again for each element that it broadcasts to.
bool is_cheap(const Pending& pending);

/// The nodes that roots are made of, inputs first. A node's number is its place here.
using Nodes = boost::container::small_vector<const Node*, 64>;
Nodes collect(std::span<const Root> roots);

/// In the order in which they are to run. `nodes`: what collect gives for the roots.
std::vector<Step> plan(std::span<const Root> roots, const Nodes& nodes);
inline std::vector<Step> plan(std::span<const Root> roots) {
  return plan(roots, collect(roots));
}

}  // namespace gpulua
