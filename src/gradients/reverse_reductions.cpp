// The reverse pass through reductions.

#include <limits>

#include "src/array/array.h"
#include "src/array/views.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/gradients/reverse.h"
#include "src/gradients/sums.h"

namespace gpulua {

/// What the reduction has made of the array, broadcast to the shape before it.
Array Reverse::spread(const Array& reduced, const TapeEntry& entry, const Dims& shape) const {
  const Dims& own = reduced->layout.shape;
  std::size_t leading = 0;
  while (leading < shape.size() && (entry.axes >> leading & 1) != 0) ++leading;
  const bool aligned = own.size() == shape.size() || entry.axes == all_axes(leading);
  if (aligned) return broadcast(reduced, shape);
  return broadcast(view(reduced, expand(reduced->layout, entry.axes)), shape);
}

/// Whether the elements of an array of the tape were in memory when an operation read them.
bool Reverse::was_stored(std::int32_t place) const {
  using Kind = TapeEntry::Kind;
  const TapeEntry& entry = tape_->entry(place);
  if (entry.kind == Kind::view) return was_stored(entry.inputs.front().place);
  return entry.kind == Kind::variable || entry.kind == Kind::result;
}

void Reverse::pull_reduction(const TapeEntry& entry, const Cotangent& g) {
  const Dims& shape = shape_of(entry.inputs.front().place);
  const std::string_view name = entry.reducer->name;
  if (name == "sum") return contribute(entry, 0, spread(g.array, entry, shape), false);
  const Array x = cast(entry.inputs.front().array, dtype_of_sum(entry.compute));
  const auto total = [&](const Term& term, bool keepdims) {
    const Array array = cast(std::get<Array>(term), g.array->dtype);
    return summed(array, entry.axes, keepdims);
  };
  const auto apply = [&](std::string_view op, std::initializer_list<Term> operands) {
    return terms_.apply(op, operands);
  };
  if (name == "var") {  // the sum of squared deviations
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if ((entry.axes >> axis & 1) != 0) count *= shape[axis];
    const Term mean = apply("divide", {summed(x, entry.axes, true), static_cast<double>(count)});
    const Term centred = apply("multiply", {apply("subtract", {x, mean}), 2.0});
    return contribute(entry, 0, std::get<Array>(apply("multiply", {spread(g.array, entry, shape), centred})), false);
  }
  if (name == "max" || name == "min") {
    // Elements that are computed again can differ in the last bit, by another order of a sum or another fused product.
    // Then none would equal the greatest one.
    Array extreme = entry.array;
    if (!was_stored(entry.inputs.front().place)) {
      evaluate(*x);
      extreme = reduce(*entry.reducer, x, entry.axes, true, {x->dtype, x->dtype});
    }
    const Term equal = apply("eq", {x, spread(extreme, entry, shape)});
    const Array share =
        std::get<Array>(apply("divide", {g.array, total(equal, g.array->layout.ndim() == shape.size())}));
    // No element equals a NaN.
    const Term is_nan = apply("isnan", {spread(extreme, entry, shape)});
    const Term others = apply("where", {is_nan, std::numeric_limits<double>::quiet_NaN(), 0.0});
    return contribute(entry, 0, std::get<Array>(apply("where", {equal, spread(share, entry, shape), others})), true);
  }
  if (name == "prod") {
    // Without a zero among them the product over the factor; with one zero, for that one, the product of the others.
    const Term is_zero = apply("eq", {x, 0.0});
    const Term others = apply("where", {is_zero, 1.0, x});
    const Array rest = reduce(reducer("prod"), std::get<Array>(others), entry.axes, true, {x->dtype, x->dtype});
    const Term zeros = total(is_zero, true);
    Term one = 0.0, none = 0.0;
    if (context_.observer) {
      // Derivatives of this one see the zeros as factors: products of all or all other ones, of up to two, from sums of
      // them and of squares.
      const Term values = apply("where", {is_zero, x, 0.0});
      const Term sum = total(values, true), squares = total(apply("square", {values}), true);
      const auto pairs = [&](const Term& first, const Term& second) {
        return apply("multiply", {apply("subtract", {apply("square", {first}), second}), 0.5});
      };
      const Term other = apply("subtract", {sum, x}),
                 other_squares = apply("subtract", {squares, apply("square", {x})});
      one = apply("where", {apply("eq", {zeros, 3.0}), apply("multiply", {rest, pairs(other, other_squares)}), one});
      one = apply("where", {apply("eq", {zeros, 2.0}), apply("multiply", {rest, other}), one});
      const Term by = apply("divide", {rest, others});
      none = apply("where", {apply("eq", {zeros, 2.0}), apply("multiply", {by, pairs(sum, squares)}), none});
      none = apply("where", {apply("eq", {zeros, 1.0}), apply("multiply", {by, sum}), none});
    }
    one = apply("where", {apply("eq", {zeros, 1.0}), rest, one});
    none = apply("where", {apply("eq", {zeros, 0.0}), apply("divide", {rest, others}), none});
    Term d = apply("where", {is_zero, one, none});
    if (is_complex(x->dtype)) d = apply("conj", {d});
    return contribute(entry, 0, std::get<Array>(apply("multiply", {spread(g.array, entry, shape), d})), false);
  }
  throw Error("[{}] {} has no derivative; gpu.custom gives it one", tape_->op(), name);
}

}  // namespace gpulua
