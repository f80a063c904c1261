#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "src/base/config.h"
#include "src/eval/pipeline.h"
#include "src/eval/plan.h"
#include "src/expressions/expression.h"
#include "src/runtime/context.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

// Leaves need memory of a device, any device; planning computes nothing.
struct Fixture {
  Context context{Config::from_environment(), make_evaluator};
  OpenDevice& device = *context.current();

  Array leaf(Dims shape, DType dtype = DType::float32) { return empty(device, std::move(shape), dtype); }

  static Array apply(std::string_view name, std::initializer_list<Operand> operands) {
    return elementwise(op(name), {operands.begin(), operands.size()});
  }
  static Array sum(const Array& x, std::uint64_t axes, bool keepdims = false) {
    return reduce(reducer("sum"), x, axes, keepdims, reduction_dtypes(reducer("sum"), x->dtype));
  }
  static std::vector<Step> plan_of(std::initializer_list<Array> arrays) {
    std::vector<Root> roots;
    for (const Array& array : arrays) roots.push_back({array.get()});
    return plan(roots, collect(roots));
  }
};

std::size_t memory_operands(const Step& step) {
  std::size_t count = 0;
  for (const StepOperand& operand : step.operands) count += operand.node != nullptr;
  return count;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a chain of operations is one step, and a leaf is read once", "[plan]") {
  const Array x = leaf({4, 5});
  const Array y = apply("exp", {apply("add", {apply("multiply", {x, Scalar(2.0)}), x})});
  const auto steps = plan_of({y});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].domain == Dims{4, 5});
  CHECK_FALSE(steps[0].reduces());
  CHECK(memory_operands(steps[0]) == 1);
  CHECK(steps[0].operands.size() == 2);  // and the number
  REQUIRE(steps[0].outputs.size() == 1);
  CHECK(steps[0].outputs[0].node == y.get());
  CHECK(steps[0].outputs[0].target == nullptr);
}

TEST_CASE_METHOD(Fixture, "values come before those computed from them", "[plan]") {
  const Array x = leaf({6}), y = leaf({6});
  const auto steps = plan_of({apply("add", {apply("sin", {x}), apply("cos", {apply("multiply", {x, y})})})});
  REQUIRE(steps.size() == 1);
  for (std::size_t i = 0; i < steps[0].values.size(); ++i)
    for (const std::size_t input : steps[0].values[i].inputs) CHECK(input < i);
}

TEST_CASE_METHOD(Fixture, "roots of one shape share a step, of two shapes do not", "[plan]") {
  const Array x = leaf({3, 4});
  const Array a = apply("add", {x, Scalar(1.0)}), b = apply("multiply", {a, x});
  const auto together = plan_of({a, b});
  REQUIRE(together.size() == 1);
  CHECK(together[0].outputs.size() == 2);
  CHECK(memory_operands(together[0]) == 1);
  CHECK(plan_of({a, apply("exp", {leaf({7})})}).size() == 2);
}

TEST_CASE_METHOD(Fixture, "what has been evaluated takes no step", "[plan]") {
  CHECK(plan_of({leaf({3})}).empty());
}

TEST_CASE_METHOD(Fixture, "operands that broadcast have stride 0", "[plan]") {
  const Array row = leaf({5}), column = leaf({4, 1});
  const auto steps = plan_of({apply("add", {row, column})});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].operands[0].layout.shape == Dims{4, 5});
  CHECK(steps[0].operands[0].layout.strides == Dims{0, 1});
  CHECK(steps[0].operands[1].layout.strides[1] == 0);
}

TEST_CASE_METHOD(Fixture, "a reduction takes in what it reduces and what follows from its results", "[plan]") {
  const Array x = leaf({8, 9});
  const Array squares = apply("square", {x});
  const Array root = apply("sqrt", {sum(squares, 0b10)});
  const auto steps = plan_of({root});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].reduces());
  CHECK(steps[0].domain == Dims{8, 9});
  CHECK(steps[0].axes == 0b10);
  CHECK(steps[0].result == Dims{8});
}

TEST_CASE_METHOD(Fixture, "reductions over the same axes go in one pass, over others do not", "[plan]") {
  const Array x = leaf({8, 9});
  const Array product = reduce(reducer("prod"), x, 0b01, false, {DType::float32, DType::float32});
  CHECK(plan_of({apply("divide", {sum(x, 0b01), product})}).size() == 1);
  CHECK(plan_of({sum(x, 0b01), sum(x, 0b10)}).size() == 2);
}

TEST_CASE_METHOD(Fixture, "elements and their reduction take two steps, in order", "[plan]") {
  const Array x = leaf({8, 9});
  const Array total = sum(x, 0b10, true);
  const Array centred = apply("subtract", {x, total});
  const auto steps = plan_of({centred});
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].outputs[0].node == total.get());
  CHECK(steps[1].outputs[0].node == centred.get());
  CHECK(memory_operands(steps[1]) == 2);
}

TEST_CASE_METHOD(Fixture, "what a step has stored the later ones read, and compute nothing of it again", "[plan]") {
  const Array x = leaf({8, 9});
  const Array doubled = apply("multiply", {x, Scalar(2.0)}), wider = apply("add", {leaf({3, 1, 1}), doubled});
  // Of one level: elements, what broadcasts them, a reduction.
  const Array total = sum(doubled, 0b10);
  const auto steps = plan_of({total, wider, doubled});
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].outputs[0].node == doubled.get());
  CHECK(steps[1].outputs[0].node == wider.get());
  CHECK(steps[2].outputs[0].node == total.get());
  for (const std::size_t later : {1, 2}) {
    const auto& operands = steps[later].operands;
    CHECK(std::any_of(operands.begin(), operands.end(), [&](const auto& read) { return read.node == doubled.get(); }));
    CHECK(std::none_of(operands.begin(), operands.end(), [&](const auto& read) { return read.node == x.get(); }));
  }
}

TEST_CASE_METHOD(Fixture, "a product that is used twice is rounded once for all", "[plan]") {
  const Array x = leaf({8, 9}), y = leaf({8, 9});
  const auto rounded = [](const std::vector<Step>& steps) {
    std::size_t count = 0;
    for (const Step& step : steps)
      count += static_cast<std::size_t>(
          std::count_if(step.values.begin(), step.values.end(), [](const ValueSpec& value) { return value.rounded; }));
    return count;
  };
  const Array product = apply("multiply", {x, y});
  CHECK(rounded(plan_of({apply("subtract", {product, Scalar(1.0)})})) == 0);
  // In the kernel of the sum, and in that of the difference.
  CHECK(rounded(plan_of({apply("subtract", {product, sum(product, 0b10, true)})})) == 2);
  CHECK(rounded(plan_of({product, apply("add", {product, x})})) == 1);
  const Array total = apply("add", {x, y});
  CHECK(rounded(plan_of({apply("subtract", {total, sum(total, 0b10, true)})})) == 0);
}

TEST_CASE_METHOD(Fixture, "a dear expression that broadcasts is stored, a cheap one computed again", "[plan]") {
  const Array row = leaf({9}), x = leaf({8, 9});
  Array dear = row;
  for (int i = 0; i < 8; ++i) dear = apply("sin", {dear});
  CHECK(plan_of({apply("add", {x, apply("sin", {row})})}).size() == 1);
  CHECK(plan_of({apply("add", {x, dear})}).size() == 2);
}

TEST_CASE_METHOD(Fixture, "a write and the expression that it takes are one step, which stores both", "[plan]") {
  const Array x = leaf({5}), target = leaf({5}), kept = apply("exp", {x}), written = apply("add", {kept, Scalar(1.0)});
  const Root roots[] = {{kept.get()}, {written.get(), target.get()}};
  const auto steps = plan(roots, collect(roots));
  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].outputs.size() == 2);
  for (const StepOutput& output : steps[0].outputs)
    CHECK(output.target == (output.node == kept.get() ? nullptr : target.get()));
  CHECK(memory_operands(steps[0]) == 1);
}

TEST_CASE_METHOD(Fixture, "reductions of rows and what they broadcast to are one step where a row fits",
                 "[plan][rows]") {
  const auto plan_rows = [](std::initializer_list<Array> arrays, std::size_t row_bytes) {
    std::vector<Root> roots;
    for (const Array& array : arrays) roots.push_back({array.get()});
    return plan(roots, collect(roots), row_bytes);
  };
  const Array x = leaf({6, 100});
  const Array powers = apply("exp", {apply("subtract", {x, sum(x, 2, true)})});
  const Array total = sum(powers, 2, true), y = apply("divide", {powers, total});
  const auto steps = plan_rows({y}, 400);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].kind == Step::Kind::rows);
  CHECK(memory_operands(steps[0]) == 1);
  CHECK(steps[0].outputs.size() == 3);  // the two results and the quotients
  CHECK(plan_rows({y}, 399).size() == 3);

  // Between the rows, a step that needs the results of all of them: what follows from it is apart.
  const Array all = sum(total, 3), z = apply("multiply", {y, all});
  const auto apart = plan_rows({z}, 4096);
  REQUIRE(apart.size() == 3);
  CHECK(apart[0].kind == Step::Kind::rows);
  CHECK(apart[2].kind != Step::Kind::rows);

  // Rows across memory, columns, and results that do not broadcast back.
  CHECK(plan_rows({apply("subtract", {x, sum(x, 1, true)})}, 4096).size() == 2);
  const Array square = leaf({5, 5});
  CHECK(plan_rows({apply("subtract", {square, sum(square, 2)})}, 4096).size() == 2);
  const Array turned = view(x, transpose(x->layout));
  CHECK(plan_rows({apply("subtract", {turned, sum(turned, 2, true)})}, 4096).size() == 2);
}

TEST_CASE_METHOD(Fixture, "a reduction over few elements is part of the reduction that alone reads its results",
                 "[plan]") {
  const Array x = leaf({100, 1, 16}), c = leaf({8, 16});
  const auto squares = [&] {
    const Array difference = apply("subtract", {x, c});
    return sum(apply("multiply", {difference, difference}), 4);
  };
  const auto steps = plan_of({sum(apply("sqrt", {squares()}), 2)});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].domain == Dims{100, 8});
  CHECK(steps[0].nested_domain == Dims{100, 8, 16});
  CHECK(steps[0].nested_axes == 4);
  CHECK(memory_operands(steps[0]) == 2);
  REQUIRE(steps[0].outputs.size() == 1);
  for (const ValueSpec& value : steps[0].values) {
    // The nested reduction and its root are computed for each element of the domain, the last sum for each result.
    if (value.kind == ValueSpec::Kind::reduction) CHECK(value.outer == !steps[0].values[value.inputs.front()].nested);
    if (value.op && value.op->name == "sqrt") CHECK((!value.outer && !value.nested));
  }

  const Array d = squares();
  CHECK(plan_of({d, sum(d, 2)}).size() == 2);                             // a root
  CHECK(plan_of({sum(d, 2), sum(d, 1)}).size() == 3);                     // two readers
  CHECK(plan_of({apply("subtract", {d, sum(d, 2, true)})}).size() == 3);  // the difference reads d again
  const Array pair = sum(apply("add", {d, sum(apply("abs", {apply("subtract", {x, c})}), 4)}), 2);
  CHECK(plan_of({pair}).size() == 1);  // two nested reductions over the same domain

  const auto of = [&](std::int64_t length) {
    return plan_of({sum(sum(apply("add", {leaf({40, 1, length}), leaf({5, length})}), 4), 2)}).size();
  };
  CHECK(of(64) == 1);
  CHECK(of(65) == 2);
  // Without broadcasting, threads that lie next to each other read elements a row apart.
  const auto whole = [&](std::int64_t length) { return plan_of({sum(sum(leaf({40, 50, length}), 4), 2)}).size(); };
  CHECK(whole(8) == 1);
  CHECK(whole(32) == 1);
  CHECK(whole(31) == 2);
  CHECK(whole(64) == 2);
  // Of three, two are one kernel.
  CHECK(plan_of({sum(sum(sum(leaf({40, 50, 4, 5}), 8), 4), 2)}).size() == 2);
}
