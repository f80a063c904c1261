#include "src/eval/rolls.h"

#include <algorithm>

#include "src/array/memory_copy.h"

namespace gpulua {

namespace {

// An expression with more shifted axes than this reads copies: the kernel's parameters are limited. A stencil of 26
// neighbours in three dimensions has 54.
constexpr std::ptrdiff_t most_shifts = 81;
// A rolled array by itself is copied in parts, unless it has few bytes or many parts: two for each shifted axis.
constexpr std::size_t least_copied = 1 << 18;
constexpr std::ptrdiff_t most_copied = 3;

bool is_roll(const Node& node) {
  return node.pending() && node.pending()->roll;
}

std::ptrdiff_t shifted_axes(const Node& roll) {
  const Dims& shifts = *roll.pending()->roll;
  return std::count_if(shifts.begin(), shifts.end(), [](std::int64_t shift) { return shift != 0; });
}

/// True for an operation that takes and gives elements one by one: its kernel can read rolled arrays.
bool is_elementwise(const Pending& pending) {
  return pending.op && !pending.op->function && !pending.op->position && pending.op->vectorised.empty();
}

class Finder {
 public:
  Finder(std::span<const Root> roots, const NodeNumbers& nodes, std::int64_t least_copied_row)
      : roots_(roots), nodes_(nodes), least_copied_row_(least_copied_row), uses_(nodes.size()) {}

  std::vector<RollUse> find() {
    store_read(readers_of_rolls());
    const bool fits = follow(readers_of_rolls());
    for (const Root& root : roots_)
      if (is_roll(*root.node)) leave_alone(*root.node);
    for (Node* node : nodes_)
      if (is_roll(*node) && use(*node).stored) leave_alone(*node);
    if (!fits)
      for (Node* node : nodes_)
        if (is_roll(*node)) use(*node).stored = use(*node).alone = true;
    return std::move(uses_);
  }

 private:
  RollUse& use(const Node& node) { return uses_[nodes_.number(node)]; }

  /// For each node, whether a kernel that computes it reads a rolled array.
  std::vector<bool> readers_of_rolls() {
    std::vector<bool> reads(nodes_.size());
    const auto is_read = [&](const Array& input) { return reads[nodes_.number(*input)] && !use(*input).stored; };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Pending* pending = nodes_[i]->pending();
      if (!pending) continue;
      reads[i] = pending->roll ||
                 (is_elementwise(*pending) && std::any_of(pending->inputs.begin(), pending->inputs.end(), is_read));
    }
    return reads;
  }

  /// What a kernel reads that is not elementwise is stored, and so is what a root writes to a target or takes positions
  /// from.
  void store_read(const std::vector<bool>& reads) {
    const auto store = [&](const Node& node) { use(node).stored = reads[nodes_.number(node)]; };
    for (const Node* node : nodes_)
      if (const Pending* pending = node->pending(); pending && !pending->roll && !is_elementwise(*pending))
        for (const Array& input : pending->inputs) store(*input);
    for (const Root& root : roots_) {
      if (root.mask) store(*root.mask);
      if (root.target) store(*root.node);
      if (root.scatter)
        for (const Array& index : root.scatter->indices) store(*index);
    }
  }

  /// Follows the expressions that read rolled arrays down to what they consist of. Returns whether kernels can read all
  /// of it.
  bool follow(const std::vector<bool>& reads) {
    std::ptrdiff_t shifts = 0;
    bool is_tiled = false;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const Node& node = *nodes_[i];
      if (is_roll(node)) {
        shifts += shifted_axes(node);
        continue;
      }
      uses_[i].rolled = uses_[i].rolled || reads[i];
      if (!uses_[i].rolled) continue;
      for (const Array& input : node.pending()->inputs) {
        const Pending* pending = input->pending();
        // Kernels that read transposed operands in tiles read no rolled ones.
        if (!pending) is_tiled = is_tiled || is_transposed(input->layout);
        if (!pending || pending->value || pending->roll || use(*input).stored) continue;
        (is_elementwise(*pending) ? use(*input).rolled : use(*input).stored) = true;
      }
    }
    return shifts <= most_shifts && !is_tiled;
  }

  void leave_alone(const Node& roll) {
    if (is_copied(roll, least_copied_row_)) use(roll).stored = use(roll).alone = true;
  }

  std::span<const Root> roots_;
  const NodeNumbers& nodes_;
  std::int64_t least_copied_row_;
  std::vector<RollUse> uses_;
};

/// The elements of the layout from `first` to `first` + `count` - 1 along an axis.
Layout part_of(Layout layout, std::size_t axis, std::int64_t first, std::int64_t count) {
  layout.offset += first * layout.strides[axis];
  layout.shape[axis] = count;
  return layout;
}

}  // namespace

std::vector<RollUse> find_rolls(std::span<const Root> roots, const NodeNumbers& nodes, std::int64_t least_copied_row) {
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node* node) { return is_roll(*node); })) return {};
  return Finder(roots, nodes, least_copied_row).find();
}

bool is_copied(const Node& rolled, std::int64_t least_copied_row) {
  if (rolled.nbytes() < least_copied || shifted_axes(rolled) > most_copied) return false;
  const Pending& pending = *rolled.pending();
  const auto parts = parts_of(rolled.layout, pending.inputs.front()->layout, *pending.roll, rolled.itemsize());
  return std::all_of(parts.begin(), parts.end(), [&](const RolledPart& part) {
    return part.rows.rows == 1 || part.rows.bytes >= least_copied_row;
  });
}

std::vector<RolledPart> parts_of(const Layout& to, const Layout& from, const Dims& shifts, std::size_t itemsize) {
  std::vector<RolledPart> parts;
  const auto size = static_cast<std::int64_t>(itemsize);
  const auto add = [&](const auto& self, const Layout& there, const Layout& here, std::size_t axis) -> void {
    if (axis == shifts.size())
      return parts.push_back(
          {rows_of(there, here, size), (there.offset - to.offset) * size, (here.offset - from.offset) * size});
    const std::int64_t shift = shifts[axis], rest = to.shape[axis] - shift;
    self(self, part_of(there, axis, shift, rest), part_of(here, axis, 0, rest), axis + 1);
    if (shift != 0) self(self, part_of(there, axis, 0, shift), part_of(here, axis, rest, shift), axis + 1);
  };
  add(add, to, from, 0);
  return parts;
}

}  // namespace gpulua
