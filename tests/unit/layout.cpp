#include <limits>
#include <random>
#include <vector>

#include "src/array/layout.h"
#include "src/array/views.h"
#include "src/base/error.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

/// Positions in the buffer of all elements, in row-major order: what every view operation must agree with.
std::vector<std::int64_t> positions(const Layout& layout) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < layout.size(); ++i) {
    std::int64_t rest = i, at = layout.offset;
    for (std::size_t axis = layout.ndim(); axis-- > 0;) {
      at += rest % layout.shape[axis] * layout.strides[axis];
      rest /= layout.shape[axis];
    }
    result.push_back(at);
  }
  return result;
}

IndexSpec slice(std::int64_t first, std::int64_t count, std::int64_t step) {
  return {IndexSpec::Kind::slice, first, count, step};
}
IndexSpec integer(std::int64_t position) {
  return {IndexSpec::Kind::integer, position, -1, 1};
}
IndexSpec of_kind(IndexSpec::Kind kind) {
  return {kind, 0, -1, 1};
}

}  // namespace

TEST_CASE("row-major layouts count up") {
  const Layout layout = row_major({2, 3, 4});
  CHECK(layout.strides == Dims{12, 4, 1});
  CHECK(layout.size() == 24);
  CHECK(layout.contiguous());
  CHECK(row_major({}).size() == 1);
  CHECK(row_major({3, 0, 2}).size() == 0);
  CHECK(row_major({3, 0, 2}).contiguous());
}

TEST_CASE("shapes that cannot be are refused") {
  CHECK_THROWS_AS(checked_size({2, -1}), Error);
  CHECK_THROWS_AS(checked_size(Dims(65, 1)), Error);
  CHECK_NOTHROW(checked_size(Dims(64, 1)));
  CHECK_THROWS_AS(checked_size({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  CHECK(checked_size({std::int64_t{1} << 40, 0}) == 0);
  CHECK(checked_size({max_elements}) == max_elements);
  CHECK(checked_size({1 << 30, 1 << 23, 1}) == max_elements);
  CHECK(checked_size({0, max_elements}) == 0);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // Products that wrap to none, to few and to what is negative; an extent of 0 does not hide them: they are strides.
  const std::vector<Dims> beyond{{max_elements + 1},
                                 {most},
                                 {most, 0},
                                 {0, max_elements, 2},
                                 {std::int64_t{1} << 32, std::int64_t{1} << 32},
                                 {std::int64_t{1} << 32, std::int64_t{1} << 31},
                                 {most, most, most},
                                 {3, most}};
  for (const Dims& shape : beyond) {
    CHECK_THROWS_WITH(checked_size(shape, "op"),
                      "[op] expected a shape of at most 2^53 elements, got " + to_string(shape));
    CHECK_THROWS_AS(row_major(shape), Error);
  }
}

TEST_CASE("a step past the axis takes one position") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t step : {most, -most, max_elements, -max_elements}) {
    const IndexSpec specs[] = {slice(1, 1, step)};
    const Layout view = index(row_major({4, 5}), specs);
    CHECK(view.shape == Dims{1, 5});
    CHECK(positions(view) == std::vector<std::int64_t>{5, 6, 7, 8, 9});
  }
  for (const std::int64_t offset : {most, -most - 1}) CHECK(diagonal(row_major({3, 3}), offset, 0, 1).shape == Dims{0});
}

TEST_CASE("basic indexing selects views") {
  const Layout m = row_major({4, 5});
  const IndexSpec row[] = {integer(2)};
  CHECK(positions(index(m, row)) == std::vector<std::int64_t>{10, 11, 12, 13, 14});
  const IndexSpec block[] = {slice(1, 2, 1), slice(4, 3, -2)};
  CHECK(positions(index(m, block)) == std::vector<std::int64_t>{9, 7, 5, 14, 12, 10});
  const IndexSpec last_column[] = {of_kind(IndexSpec::Kind::ellipsis), integer(4)};
  CHECK(positions(index(m, last_column)) == std::vector<std::int64_t>{4, 9, 14, 19});
  const IndexSpec with_new[] = {of_kind(IndexSpec::Kind::new_axis), integer(0), of_kind(IndexSpec::Kind::new_axis)};
  CHECK(index(m, with_new).shape == Dims{1, 1, 5});
  const IndexSpec none[] = {slice(4, 0, 1)};
  CHECK(index(m, none).shape == Dims{0, 5});
  const IndexSpec too_many[] = {integer(0), integer(0), integer(0)};
  CHECK_THROWS_AS(index(m, too_many), Error);
}

TEST_CASE("a view of a view is a view of the whole") {
  const IndexSpec first[] = {slice(5, 3, -2), slice(1, 4, 1)};
  const IndexSpec second[] = {integer(1), slice(3, 2, -3)};
  const Layout view = index(index(row_major({6, 7}), first), second);
  CHECK(positions(view) == std::vector<std::int64_t>{3 * 7 + 4, 3 * 7 + 1});
}

TEST_CASE("a view has no offset of elements it does not have") {
  const IndexSpec empty[] = {slice(7, 0, 1)};
  CHECK(extent(index(row_major({7}), empty)).end == 0);
}

TEST_CASE("reshaping a view without moving elements agrees with the order of its elements") {
  std::mt19937 random(1);
  int possible = 0;
  for (int round = 0; round < 2000; ++round) {
    // A view with random axes, each possibly reversed, thinned or swapped with the next.
    Layout layout = row_major({2, 3, 4, 2});
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    if (pick(2)) std::swap(layout.shape[pick(3)], layout.shape[3]);
    layout = row_major(layout.shape);
    if (pick(3) == 0) layout = transpose(layout);
    if (pick(2) == 0) {
      const IndexSpec reversed[] = {slice(layout.shape[0] - 1, layout.shape[0], -1)};
      layout = index(layout, reversed);
    }
    static const Dims targets[] = {{48}, {6, 8}, {2, 24}, {4, 3, 4}, {2, 3, 8}, {1, 48, 1}, {12, 4}, {2, 2, 2, 6}};
    const Dims& target = targets[pick(8)];
    const auto reshaped = reshape(layout, target);
    if (!reshaped) continue;
    ++possible;
    CHECK(reshaped->shape == target);
    CHECK(positions(*reshaped) == positions(layout));
  }
  CHECK(possible > 300);
  CHECK_FALSE(reshape(transpose(row_major({2, 3})), {6}));
  CHECK_FALSE(reshape(row_major({2, 3}), {7}));
  CHECK(reshape(row_major({0, 3}), {3, 0, 5}));
}

TEST_CASE("broadcasting repeats without moving") {
  CHECK(broadcast_to(row_major({3, 1}), {2, 3, 4}).strides == Dims{0, 1, 0});
  CHECK(broadcast_to(row_major({}), {2}).strides == Dims{0});
  CHECK_THROWS_WITH(
      broadcast_to(row_major({2, 3}), {2, 4}),
      "[broadcast_to] operands could not be broadcast together with shapes (2,3) (2,4): counted from the last axis, 3 "
      "meets 4, and sizes of an axis are equal or one is 1");
  CHECK_THROWS_AS(broadcast_to(row_major({1, 2, 3}), {2, 3}), Error);
  CHECK(broadcast_to(row_major({3}), {2, 3}).overlaps_itself());
  CHECK_FALSE(row_major({2, 3}).overlaps_itself());
}

TEST_CASE("the extent of a view covers its elements") {
  const IndexSpec reversed[] = {slice(3, 2, -2), slice(0, 3, 1)};
  const Layout view = index(row_major({4, 5}), reversed);
  const Extent range = extent(view);
  const auto all = positions(view);
  CHECK(range.begin == *std::min_element(all.begin(), all.end()));
  CHECK(range.end == *std::max_element(all.begin(), all.end()) + 1);
}
