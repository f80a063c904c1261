#pragma once

// The operands and values of one step, from the nodes that it computes.

#include <limits>
#include <vector>

#include "src/eval/plan.h"

namespace gpulua {

inline constexpr int no_group = -1;

/// The planner's decision about a pending node.
struct Place {
  int group = no_group;  // its kernel computes the node; no_group: each kernel that uses the node computes it
  int level = 0;         // number of steps that run before it
  bool stored = false;   // the node gets a buffer
  int uses = 0;          // as an input of nodes and as a root
  std::size_t step = std::numeric_limits<std::size_t>::max();  // the step that stores it
};

/// What a value is computed for: each element of the nested domain, each element of the domain, or each result. Without
/// a reduction there are elements only.
enum class Each : std::uint8_t { nested, element, result };

/// Fills `step`, whose domains and axes are set. It gets the number `number`; places[i] is the place of nodes[i].
class StepBuilder {
 public:
  StepBuilder(const NodeNumbers& nodes, const std::vector<Place>& places, Step& step, std::size_t number);

  /// The index of the node's value. Among rows its shape says which values are computed for each result.
  std::uint16_t value(Node& node, Each each);

 private:
  struct Position {
    Dims shape;
    Each each;
    std::uint16_t value;
  };

  std::uint16_t make(Node& node, Each each);
  std::uint16_t rolled(Node& node, Each each);
  std::uint16_t gathered(Node& node, Each each);
  std::uint16_t call(Node& node, Each each);
  std::uint16_t raw(Node& node, Each each);
  std::uint16_t position(const Dims& of, Each each);
  std::uint16_t operand(StepOperand operand, Each each);
  std::uint16_t add(ValueSpec spec);

  const Place& place_of(Node& node) const { return places_[nodes_.number(node)]; }
  bool is_input(Node& node) const;
  const Dims& shape(Each each) const;

  const NodeNumbers& nodes_;
  const std::vector<Place>& places_;
  Step& step_;
  std::size_t number_;
  std::vector<std::uint16_t> known_;  // index of the value of each node, for each Each
  std::vector<Position> positions_;
};

}  // namespace gpulua
