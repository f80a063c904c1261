#include "src/ops/partials.h"
#include "tests/catch.h"

namespace gpulua {

namespace {

bool gives_real_numbers(DTypeRule rule) {
  switch (rule) {
    case DTypeRule::numeric:
    case DTypeRule::floating:
    case DTypeRule::magnitude:
    case DTypeRule::phase:
    case DTypeRule::scaled:
    case DTypeRule::select:
      return true;
    default:
      return false;
  }
}

}  // namespace

TEST_CASE("each row of real numbers says what its partial derivatives are, and the texts parse", "[partials]") {
  for (const OpInfo& op : op_table()) {
    INFO(op.name);
    bool says = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(op.arity) && i < op.partials.size(); ++i) {
      const Derivative derivative = derivative_of(op, i);
      says = says || derivative != Derivative::constant;
      if (derivative == Derivative::known) CHECK_NOTHROW(partial_of(op, i));
    }
    CHECK((says || !gives_real_numbers(op.rule)));
  }
}

TEST_CASE("a partial derivative is a tree of rows", "[partials]") {
  const Partial sum = parse_partial("-2 * x - where(eq(r, 0), y, 1.5e2)");
  REQUIRE(sum.op == &op("subtract"));
  const Partial &product = sum.inputs[0], &choice = sum.inputs[1];
  CHECK(product.op == &op("multiply"));
  CHECK(product.inputs[0].number == -2);
  CHECK(product.inputs[1].kind == Partial::Kind::operand);
  REQUIRE(choice.op == &op("where"));
  CHECK(choice.inputs[0].inputs[0].kind == Partial::Kind::result);
  CHECK(choice.inputs[1].operand == 1);
  CHECK(choice.inputs[2].number == 150);
  for (const char* wrong : {"", "x +", "sin(x", "sin(x, y)", "2x", "nosuch(x)", "(x", "q"})
    CHECK_THROWS_AS(parse_partial(wrong), std::logic_error);
}

}  // namespace gpulua
