#pragma once

// The planner: from the wanted roots to the kernels that compute them. A pure function without a device.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "src/array/indexed.h"
#include "src/array/node_numbers.h"
#include "src/codegen/kernel_spec.h"

namespace gpulua {

class PlanLog;

/// A node whose elements are wanted. Without a target they go to a new array. With one they are written to it, and the
/// node broadcasts to the target's shape, or to the scatter's. At most one of several roots has a target; the others
/// see what it held before.
struct Root {
  Node* node;
  Node* target = nullptr;
  const Scatter* scatter = nullptr;  // set: the elements of `target` that are written
  Node* mask = nullptr;  // set: the elements for which it is true are written to the front of `target`, in order
};

/// An operand of a step: elements of a node, a number, or, with neither, the positions themselves.
struct StepOperand {
  Node* node = nullptr;    // set: its elements are read; an earlier step may store them
  Node* number = nullptr;  // set: the node is a number
  DType dtype;
  Layout layout;  // over the domain of the step; of an outer operand over the shape of the result, of a nested one over
                  // the nested domain
  bool outer = false;
  Node* gather = nullptr;  // set: the gather whose index arrays give the positions of the elements
  bool raw = false;        // a script's function gets the whole array, in its own layout
  bool nested = false;
  Dims roll{};  // set: shifts along the axes of the domain; the elements that leave an end come in at the front

  const Indexed* indexed() const { return gather ? gather->pending()->indexed.get() : nullptr; }
};

struct StepOutput {
  Node* node;
  Node* target;  // null: the node gets a new row-major array
  std::uint16_t value;
  const Scatter* scatter = nullptr;      // the elements of the target that are written; null: all
  std::vector<std::uint16_t> indices{};  // the values that are the index arrays of `scatter`
  std::optional<std::uint16_t> mask{};   // set: elements are written where this value is true

  const Layout& layout() const { return scatter ? scatter->at->layout : (target ? target : node)->layout; }
};

/// One kernel, or one copy.
struct Step {
  enum class Kind : std::uint8_t {
    elementwise,  // the outputs have a value for each position of the domain
    copy,         // the device copies the operand, which is rolled, to the output: there is no kernel
    compression,  // the output takes only the elements for which its mask is true
    reduction,    // of some axes of the domain, and the values that follow from the results
    rows,         // a reduction, and values for each position of the domain, which follow from the results
  } kind = Kind::elementwise;
  Dims domain;
  std::uint64_t axes = 0;  // the axes reduced, a bit for each
  Dims result;             // shape of the outputs, or of a reduction's results
  Dims nested_domain;      // of reductions of `nested_axes`, whose results have the shape of the domain; empty: none
  std::uint64_t nested_axes = 0;
  std::vector<StepOperand> operands;
  std::vector<ValueSpec> values;
  std::vector<StepOutput> outputs;

  bool reduces() const { return kind == Kind::reduction || kind == Kind::rows; }
};

/// What the step does with its domain, for people: "reduction of ".
std::string_view text_of(Step::Kind kind);

/// True for an expression of few operations: it is computed again for each element to which it broadcasts.
bool is_cheap(const Pending& pending);

/// The nodes that the roots consist of, inputs first.
NodeNumbers collect(std::span<const Root> roots);

/// The kernels that compute the roots, in the order in which they run. `nodes` comes from collect(roots). Steps that go
/// over the same rows become one where the device can keep `row_bytes` of a row at hand. The device copies rows of
/// `least_copied_row` bytes and more. `log`, if not null, gets what each pass has made.
std::vector<Step> plan(std::span<const Root> roots, const NodeNumbers& nodes, std::size_t row_bytes = 0,
                       std::int64_t least_copied_row = std::numeric_limits<std::int64_t>::max(),
                       PlanLog* log = nullptr);

}  // namespace gpulua
