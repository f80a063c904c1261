#include "src/eval/row_parts.h"

#include <algorithm>
#include <cstdlib>

#include "src/codegen/row_passes.h"

namespace gpulua {

namespace {

constexpr std::size_t no_part = static_cast<std::size_t>(-1);

/// True for reductions of trailing axes whose results broadcast back to the rows that they come from.
bool has_rows(const StepPart& part) {
  if (part.group < 0 || part.result == part.domain) return false;
  std::int64_t kept = 1;
  for (std::size_t axis = part.domain.size(); axis-- > 0;) {
    const std::int64_t extent = part.domain[axis];
    if (extent == 0) return false;
    if (extent == 1) continue;
    if (!is_reduced(part.axes, axis)) kept *= extent;
    if (is_reduced(part.axes, axis) && kept > 1) return false;
  }
  return part.result.size() == part.domain.size() || kept == 1;
}

class Joiner {
 public:
  Joiner(std::vector<StepPart> parts, const NodeNumbers& nodes)
      : parts_(std::move(parts)), nodes_(nodes), owners_(nodes.size(), no_part), reads_(parts_.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (Node* node : parts_[i].nodes) owners_[nodes.number(*node)] = i;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      reads_[i].assign(parts_.size(), false);
      std::vector<bool> seen(nodes.size());
      for (Node* node : parts_[i].nodes) find_reads(*node, i, seen);
    }
  }

  std::vector<StepParts> join() {
    std::vector<std::size_t> order(parts_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::vector<StepParts> result;
    join(std::move(order), result);
    return result;
  }

 private:
  using Order = std::vector<std::size_t>;  // indices of parts, in the order in which they run

  void find_reads(Node& node, std::size_t part, std::vector<bool>& seen) {
    const std::size_t number = nodes_.number(node), owner = owners_[number];
    if (seen[number]) return;
    seen[number] = true;
    if (owner != no_part && owner < part) {
      reads_[part][owner] = true;
      return;
    }
    if (const Pending* pending = node.pending())
      for (const Array& input : pending->inputs) find_reads(*input, part, seen);
  }

  static bool is_one_of(std::size_t part, const Order& parts) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }

  bool reads_any(std::size_t part, const Order& others) const {
    return std::any_of(others.begin(), others.end(), [&](std::size_t other) { return reads_[part][other]; });
  }

  void join(Order order, std::vector<StepParts>& result) {
    while (!order.empty()) {
      Order rows{order.front()}, before, after;
      for (std::size_t at = 1; at < order.size(); ++at) {
        const std::size_t part = order[at];
        if (reads_any(part, after))
          after.push_back(part);
        else if (!reads_any(part, rows))
          before.push_back(part);
        else
          (joins(part, rows) ? rows : after).push_back(part);
      }
      if (!is_worth_joining(rows)) {
        result.push_back({parts_[order.front()]});
        order.erase(order.begin());
        continue;
      }
      // Of the parts that do not follow from the rows, the last ones can run after them as well.
      while (!before.empty() && before.back() > rows.back()) {
        after.push_back(before.back());
        before.pop_back();
      }
      std::sort(after.begin(), after.end());
      join(std::move(before), result);
      StepParts& joined = result.emplace_back();
      for (const std::size_t part : rows) joined.push_back(parts_[part]);
      order = std::move(after);
    }
  }

  /// True when the rows are read more than once in separate steps.
  bool is_worth_joining(const Order& rows) const {
    return std::any_of(rows.begin() + 1, rows.end(), [&](std::size_t part) {
      return parts_[part].group >= 0 || parts_[part].domain == parts_[rows.front()].domain;
    });
  }

  bool joins(std::size_t index, const Order& rows) const {
    const StepPart &first = parts_[rows.front()], &part = parts_[index];
    if (!has_rows(first)) return false;
    const bool fits = part.group >= 0
                          ? part.domain == first.domain && part.axes == first.axes && part.result == first.result
                          : part.domain == first.domain || part.domain == first.result;
    const auto can_compute = [&](std::size_t one) {
      std::vector<Use> known(nodes_.size(), Use::unseen);
      return std::all_of(parts_[one].nodes.begin(), parts_[one].nodes.end(),
                         [&](Node* node) { return use_of(*node, one, rows, known) != Use::none; });
    };
    return fits && (rows.size() > 1 || can_compute(rows.front())) && can_compute(index);
  }

  /// What a row kernel can do with a node.
  enum class Use : std::uint8_t {
    unseen,
    none,
    free,  // it does not depend on the results of the rows
    row    // it does
  };

  Use use_of(Node& node, std::size_t part, const Order& rows, std::vector<Use>& known) const {
    Use& use = known[nodes_.number(node)];
    if (use == Use::unseen) use = find_use(node, part, rows, known);
    return use;
  }

  Use find_use(Node& node, std::size_t part, const Order& rows, std::vector<Use>& known) const {
    const Pending* pending = node.pending();
    const std::size_t owner = owners_[nodes_.number(node)];
    const bool is_stored_before = owner != no_part && owner < part && !is_one_of(owner, rows);
    if (!pending || pending->value || is_stored_before) return Use::free;
    if (pending->roll) return Use::none;
    // A gather reads its source anywhere, so the whole of it is stored before the rows.
    if (pending->indexed && is_one_of(owners_[nodes_.number(*pending->inputs.front())], rows)) return Use::none;
    Use use = pending->reducer ? Use::row : Use::free;
    for (const Array& input : pending->inputs) {
      const Use of_input = use_of(*input, part, rows, known);
      if (of_input == Use::none) return Use::none;
      if (of_input == Use::row) use = Use::row;
    }
    const StepPart& first = parts_[rows.front()];
    const Dims& shape = node.layout.shape;
    if (pending->reducer) {
      const bool is_same =
          shape == first.result && pending->axes == first.axes && pending->inputs.front()->layout.shape == first.domain;
      return is_same ? Use::row : Use::none;
    }
    return use == Use::free || shape == first.domain || shape == first.result ? use : Use::none;
  }

  std::vector<StepPart> parts_;
  const NodeNumbers& nodes_;
  std::vector<std::size_t> owners_;       // the part that stores each node
  std::vector<std::vector<bool>> reads_;  // of each part: the earlier parts whose nodes it reads
};

}  // namespace

std::vector<StepParts> join_rows(std::vector<StepPart> parts, const NodeNumbers& nodes) {
  return Joiner(std::move(parts), nodes).join();
}

bool has_short_rows(const Step& step, std::size_t row_bytes) {
  std::vector<std::uint16_t> outputs;
  for (const StepOutput& output : step.outputs) outputs.push_back(output.value);
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < step.domain.size(); ++axis)
    if (is_reduced(step.axes, axis)) count *= static_cast<std::size_t>(step.domain[axis]);
  std::vector<bool> moves;
  for (const StepOperand& operand : step.operands) {
    // A row whose elements lie farther apart than the rows would be read across memory.
    std::int64_t along = 0, across = 0;
    if (operand.node && !operand.outer && !operand.raw)
      for (std::size_t axis = 0; axis < step.domain.size(); ++axis) {
        const std::int64_t stride = step.domain[axis] == 1 ? 0 : std::abs(operand.layout.strides[axis]);
        if (stride == 0) continue;
        std::int64_t& least = is_reduced(step.axes, axis) ? along : across;
        least = least == 0 ? stride : std::min(least, stride);
      }
    if (across != 0 && across < along) return false;
    moves.push_back(along != 0);
  }
  // A row of one number, repeated, keeps nothing; its length counts all the same.
  return std::max<std::size_t>(row_passes(step.values, outputs, moves).bytes, sizeof(float)) * count <= row_bytes;
}

}  // namespace gpulua
