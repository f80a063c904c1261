#include "src/eval/iteration.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace gpulua {

std::int64_t Iteration::size() const {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  return size;
}

void Iteration::follow(std::size_t operand) {
  const Dims steps = strides[operand];
  const auto farther = [](std::int64_t a, std::int64_t b) { return std::abs(a) > std::abs(b); };
  if (std::is_sorted(steps.begin(), steps.end(), farther)) return;
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return farther(steps[a], steps[b]); });
  const auto reorder = [&](Dims& dims) {
    const Dims before = dims;
    for (std::size_t axis = 0; axis < order.size(); ++axis) dims[axis] = before[order[axis]];
  };
  reorder(shape);
  for (Dims& one : strides) reorder(one);
  for (Dims& one : shifts) reorder(one);
}

void Iteration::collapse() {
  Dims joined_shape;
  std::vector<Dims> joined(strides.size()), joined_shifts(shifts.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = !joined_shape.empty();
    for (std::size_t i = 0; joins && i < strides.size(); ++i)
      joins = joined[i].back() == shape[axis] * strides[i][axis];
    // A roll along the first of two joined axes is one by whole rows of the second.
    for (std::size_t i = 0; joins && i < shifts.size(); ++i) joins = shifts[i][axis] == 0;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      if (joins)
        joined_shifts[i].back() *= shape[axis];
      else
        joined_shifts[i].push_back(shifts[i][axis]);
    }
    if (joins)
      joined_shape.back() *= shape[axis];
    else
      joined_shape.push_back(shape[axis]);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (joins)
        joined[i].back() = strides[i][axis];
      else
        joined[i].push_back(strides[i][axis]);
    }
  }
  if (joined_shape.empty()) {
    joined_shape.push_back(1);
    for (Dims& one : joined) one.push_back(0);
    for (Dims& one : joined_shifts) one.push_back(0);
  }
  shape = std::move(joined_shape);
  strides = std::move(joined);
  shifts = std::move(joined_shifts);
}

Access access(const Dims& strides) {
  if (std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; }))
    return Access::fixed;
  return strides.back() == 1 ? Access::unit : strides.back() == 0 ? Access::splat : Access::strided;
}

std::int64_t reach(const Dims& shape, const Dims& strides) {
  std::int64_t forward = 0, backward = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t step = (shape[axis] - 1) * strides[axis];
    (step < 0 ? backward : forward) += std::abs(step);
  }
  return std::max(forward, backward);
}

}  // namespace gpulua
