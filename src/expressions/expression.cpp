#include "src/expressions/expression.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/array/aliasing.h"
#include "src/array/node_observer.h"
#include "src/base/error.h"
#include "src/expressions/missing_values.h"
#include "src/expressions/operand_dtypes.h"
#include "src/expressions/transfer.h"
#include "src/expressions/whole_write.h"
#include "src/ops/promotion.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

using Operands = std::span<const OperandView>;

// Costs, in additions. Of a script's function the cost is not known.
constexpr std::uint32_t cost_of_a_function = 8, cost_of_a_random_number = 64;

std::string bracketed(std::string_view op) {
  return "[" + std::string(op) + "] ";
}

/// A pointer to a row of the table, which is static and needs no owner.
std::shared_ptr<const OpInfo> row(const OpInfo& op) {
  return {std::shared_ptr<void>(), &op};
}

std::uint32_t cost_of(const Pending& pending) {
  if (pending.value) return 0;
  if (pending.op && pending.op->function) return cost_of_a_function;
  return pending.op && pending.op->rule == DTypeRule::random ? cost_of_a_random_number : 1;
}

const Array& first_array(const OpInfo& op, Operands operands) {
  const Array* first = nullptr;
  for (const auto& [array, number] : operands) {
    if (!array) continue;
    if (first && &(*first)->device() != &(*array)->device())
      throw Error("{}expected arrays of one device, got {} and {}; x:to(name) copies one over", bracketed(op.name),
                  (*first)->device().name(), (*array)->device().name());
    if (!first) first = array;
  }
  if (!first) throw Error("{}expected at least one array", bracketed(op.name));
  return *first;
}

/// Throws Error for a negative exponent of an integer power: x ^ -2 has no integer result.
void check_exponent(DType compute, const OperandView& exponent) {
  if (!is_integer(compute)) return;
  bool negative = false;
  if (!exponent.array) {
    const auto* integer = std::get_if<std::int64_t>(&exponent.number);
    const auto* real = std::get_if<double>(&exponent.number);
    negative = (integer && *integer < 0) || (real && *real < 0);
  } else {
    const Array& array = *exponent.array;
    if (info(array->dtype).kind != DTypeKind::signed_integer) return;
    const Operand operands[] = {array, Scalar(std::int64_t{0})};
    check_not_strict(*array, "power", "an integer power whose exponents are an array of signed integers",
                     "x:astype(\"float32\") first, or exponents of an unsigned dtype");
    const Array below = elementwise(gpulua::op("lt"), operands);
    const std::uint64_t all = all_axes(below->layout.ndim());
    negative = std::get<bool>(item(*reduce(reducer("any"), below, all, false, {DType::boolean, DType::boolean})));
  }
  if (negative)
    throw Error("[power] integers to negative integer powers are not integers; x:astype(\"float32\") first");
}

/// An operation and its operands.
struct Simpler {
  const OpInfo* op;
  Operands operands;
};

/// A faster operation in place of a power of few halves or of 1 / x, for an array of the result's dtype.
std::optional<Simpler> simpler(const OpInfo& op, Operands operands, DType compute) {
  if (op.algebra == Algebra::none) return std::nullopt;
  const bool is_power = op.algebra == Algebra::power;
  const Operands operand = operands.subspan(is_power ? 0 : 1, 1);
  const OperandView& other = operands[is_power ? 1 : 0];
  if (!operand[0].array || (*operand[0].array)->dtype != compute || other.array) return std::nullopt;
  if (is_power && other.number == Scalar(2.0)) return Simpler{&gpulua::op("square"), operand};
  if (info(compute).kind != DTypeKind::floating) return std::nullopt;
  if (other.number == Scalar(is_power ? -1.0 : 1.0)) return Simpler{&gpulua::op("reciprocal"), operand};
  const double* exponent = is_power ? std::get_if<double>(&other.number) : nullptr;
  const bool is_few_halves = exponent && std::fabs(*exponent) <= 3 && std::trunc(2 * *exponent) == 2 * *exponent;
  return is_few_halves ? std::optional(Simpler{&gpulua::op("power_of_halves"), operands}) : std::nullopt;
}

/// Throws Error unless the second operand of ldexp is an integer.
void check_scale(const OpInfo& op, const OperandView& exponent) {
  const DType dtype =
      exponent.array ? (*exponent.array)->dtype : promote_weak(DType::boolean, exponent.number, DType::float32);
  if (dtype != DType::boolean && !is_integer(dtype))
    throw Error("{}expected an integer exponent, got {}", bracketed(op.name), name(dtype));
}

Array combine(std::string_view op_name, const Operand& x, const Operand& y) {
  const Operand operands[] = {x, y};
  return elementwise(op(op_name), operands);
}

/// Compares int64 with uint64 as integers. Their common dtype is float64, in which neighbouring integers are equal.
std::optional<Array> compare_exactly(const OpInfo& op, Operands operands) {
  if (op.rule != DTypeRule::comparison) return std::nullopt;
  const Array *x = operands[0].array, *y = operands[1].array;
  if (!x || !y || !is_integer((*x)->dtype) || !is_integer((*y)->dtype)) return std::nullopt;
  if (promote((*x)->dtype, (*y)->dtype) != DType::float64) return std::nullopt;
  if ((*x)->dtype == DType::uint64) return combine(op.exchanged, *y, *x);
  const Array outside = combine(op.of_negative ? "lt" : "ge", *x, Scalar(std::int64_t{0}));
  const Array inside = combine(op.name, cast(*x, DType::uint64), *y);
  return combine(op.of_negative ? "logical_or" : "logical_and", outside, inside);
}

/// The rank of a dtype's kind. A kind holds the numbers of all kinds of lower rank.
int rank_of(DType dtype) {
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return 0;
    case DTypeKind::unsigned_integer:
      return 1;
    case DTypeKind::signed_integer:
      return 2;
    case DTypeKind::floating:
      return 3;
    case DTypeKind::complex:
      return 4;
  }
  return 0;
}

/// What a pending node notes when it has its operation and inputs. They have been checked.
void complete(OpenDevice& device, Pending& pending) {
  pending.operations = pending.cost = cost_of(pending);
  if (pending.value) return device.evaluator().note_number(*pending.value);
  if (Host* host = device.context().host()) pending.origin = host->origin();
  for (const Array& input : pending.inputs) {
    if (input->freed()) throw Error("[array] {}", input->buffer()->why_freed());
    if (!input->pending()) continue;
    pending.operations += input->pending()->operations;
    pending.rolls_pending = pending.rolls_pending || pending.roll || input->pending()->rolls_pending;
  }
}

/// A pending node. `fill` sets its operation and its inputs.
template <class Fill>
Array make_pending(OpenDevice& device, DType dtype, LayoutRef layout, const Fill& fill, bool weak = false) {
  Array node = make_node(device, device, dtype, std::move(layout), [&](Pending& pending) {
    fill(pending);
    complete(device, pending);
  });
  node->weak = weak;
  node->set_missing_by(missing_after(*node));
  if (node->pending()->value) return node;
  if (NodeObserver* observer = device.context().observer) observer->made(*node);
  if (device.context().eager) {
    evaluate(*node);
    return node;
  }
  LoopCutter& loops = device.evaluator().loops();
  loops.note(*node);
  loops.limit(*node);
  return node;
}

/// The array's elements, broadcast to `shape` and converted to `dtype`.
Array converted(const Array& array, DType dtype, LayoutRef layout) {
  return make_pending(array->device(), dtype, std::move(layout), [&](Pending& pending) {
    pending.op = row(op("astype"));
    pending.compute = array->dtype;
    pending.inputs.push_back(array);
  });
}

/// The row-major layout of the array's shape.
LayoutRef row_major_of(const Node& array) {
  return array.shared_layout->is_row_major ? array.shared_layout : share(row_major(array.layout.shape));
}

/// The advice where two vectors differ by one element, and one of them is a range of an array.
std::string advice_for_range(Operands operands) {
  std::int64_t least = 0, greatest = 0;
  bool has_range = false;
  for (const auto& [array, number] : operands) {
    if (!array) continue;
    Node& node = **array;
    if (node.layout.ndim() != 1) return "";
    const std::int64_t size = node.layout.size();
    least = greatest == 0 ? size : std::min(least, size);
    greatest = std::max(greatest, size);
    has_range = has_range || (!node.pending() && !node.freed() && node.nbytes() < node.buffer()->bytes());
  }
  return has_range && greatest - least == 1 ? "; a range has both of its ends: \":-2\" leaves the last one out" : "";
}

/// The layout of the result of an operation on arrays of several shapes.
LayoutRef broadcast_layout(const OpInfo& op, Operands operands) {
  boost::container::small_vector<const Dims*, 4> shapes;
  for (const auto& [array, number] : operands)
    if (array) shapes.push_back(&(*array)->layout.shape);
  Dims shape;
  try {
    shape = broadcast_shapes(op.name, {shapes.data(), shapes.size()});
  } catch (const Error& error) {
    throw Error("{}{}", error.what(), advice_for_range(operands));
  }
  for (const auto& [array, number] : operands)
    if (array && (*array)->layout.shape == shape) return row_major_of(**array);
  return share(row_major(std::move(shape)));
}

/// The layout of an operation's result.
LayoutRef result_layout(const OpInfo& op, Operands operands) {
  const Node* first = nullptr;
  for (const auto& [array, number] : operands) {
    if (!array) continue;
    const Node& node = **array;
    if (!first) first = &node;
    if (node.shared_layout != first->shared_layout && node.layout.shape != first->layout.shape)
      return broadcast_layout(op, operands);
  }
  return row_major_of(*first);
}

Array pending_number(OpenDevice& device, LayoutRef layout, DType dtype, const Scalar& value) {
  std::array<char, 16> bytes;
  const bool takes_all = std::holds_alternative<double>(value) && is_inexact(dtype);
  if (!takes_all) encode(dtype, value, bytes.data());  // throws for a value that does not fit
  return make_pending(device, dtype, std::move(layout), [&](Pending& pending) {
    pending.value = value;
    pending.compute = dtype;
  });
}

}  // namespace

Array pending_node(OpenDevice& device, DType dtype, Dims&& shape, Pending&& pending) {
  return make_pending(device, dtype, share(row_major(std::move(shape))),
                      [&](Pending& place) { place = std::move(pending); });
}

void check_takes(const Node& out, DType dtype, const char* op) {
  if (rank_of(dtype) <= rank_of(out.dtype)) return;
  const std::string text(name(dtype)),
      got = std::string(name(out.dtype)) + "; x:astype(\"" + text + "\") makes one of the array that is written, x";
  throw Error("{}expected an array to write to that takes {}, got {}", bracketed(op), text, got);
}

void assign(const Array& out, Array value, const char* op) {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw Error("{}expected {}, got {}", bracketed(op), expected, got);
  };
  if (out->layout.shape != value->layout.shape)
    refuse("an array to write to of the result's shape " + to_string(value->layout.shape),
           to_string(out->layout.shape));
  if (&out->device() != &value->device())
    refuse("an array to write to on " + value->device().name(), out->device().name());
  check_takes(*out, value->dtype, op);
  check_writable(*out, op, value.get());
  write_whole(out, std::move(value));
}

Array constant(OpenDevice& device, Dims shape, DType dtype, const Scalar& value) {
  return pending_number(device, share(row_major(std::move(shape))), dtype, value);
}

Array weak_constant(OpenDevice& device, const Scalar& value) {
  Array result = constant(device, {}, dtype_of_number(value, DType::float64), value);
  result->weak = true;
  return result;
}

Array operation(OpenDevice& device, const OpInfo& op, Dims shape, DType dtype, Pending pending) {
  pending.op = row(op);
  return pending_node(device, dtype, std::move(shape), std::move(pending));
}

namespace {

/// A dtype that can hold the value, for a message.
const char* dtype_for(const Scalar& value) {
  const double* number = std::get_if<double>(&value);
  if (!number) return name(dtype_of_number(value, DType::float32)).data();
  if (*number != std::trunc(*number) || std::abs(*number) >= 0x1p63) return "float32";
  return std::abs(*number) < 0x1p15 ? "int16" : std::abs(*number) < 0x1p31 ? "int32" : "int64";
}

/// A number as an operand. The error for a number that does not fit names the operation.
Array constant_operand(const OpInfo& op, OpenDevice& device, DType dtype, const Scalar& value) {
  try {
    return pending_number(device, device.evaluator().layout_of_numbers(), dtype, value);
  } catch (const Error& error) {
    constexpr std::string_view conversion = "[convert] ";
    const std::string_view text = error.what();
    if (!text.starts_with(conversion)) throw;
    throw Error("{}{}; x:astype(\"{}\") takes it", bracketed(op.name), text.substr(conversion.size()),
                dtype_for(value));
  }
}

OpDTypes dtypes_of_numbers(const OpInfo& op, Operands operands, DType real) {
  if (op.rule != DTypeRule::integer && op.rule != DTypeRule::count) return dtypes_of(op, operands, true, real);
  try {
    return dtypes_of(op, operands, true, real);
  } catch (const Error&) {
    throw Error(
        "{}expected an array of integers or bool, got numbers alone, which have no dtype; gpu.array(6, \"int64\") is "
        "one of integers",
        bracketed(op.name));
  }
}

}  // namespace

Array elementwise(const OpInfo& op, Operands operands) {
  OpenDevice& device = first_array(op, operands)->device();
  if (auto exact = compare_exactly(op, operands)) return *exact;
  const bool of_numbers = std::none_of(operands.begin(), operands.end(), is_strong);
  const DType real = device.context().default_dtype;
  const OpDTypes dtypes = of_numbers ? dtypes_of_numbers(op, operands, real) : dtypes_of(op, operands, false, real);
  LayoutRef layout = result_layout(op, operands);
  if (op.rule == DTypeRule::scaled) check_scale(op, operands[1]);
  if (op.algebra == Algebra::power) check_exponent(dtypes.compute, operands[1]);
  if (const auto other = simpler(op, operands, dtypes.compute)) return elementwise(*other->op, other->operands);

  const auto fill = [&](Pending& pending) {
    pending.op = row(op);
    pending.compute = dtypes.compute;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto& [array, number] = operands[i];
      if (array)
        pending.inputs.push_back(*array);
      else
        pending.inputs.push_back(constant_operand(op, device, operand_dtype(op, i, dtypes.compute), number));
    }
  };
  return make_pending(device, dtypes.result, std::move(layout), fill, of_numbers);
}

Array elementwise(const OpInfo& op, std::span<const Operand> operands) {
  boost::container::small_vector<OperandView, 4> views;
  for (const Operand& operand : operands) {
    OperandView& view = views.emplace_back();
    view.array = std::get_if<Array>(&operand);
    if (!view.array) view.number = std::get<Scalar>(operand);
  }
  return elementwise(op, Operands(views.data(), views.size()));
}

Array cast(const Array& array, DType dtype) {
  return array->dtype == dtype && !array->weak ? array : converted(array, dtype, row_major_of(*array));
}

Array broadcast(const Array& array, Dims shape) {
  broadcast_to(array->layout, shape);
  return converted(array, array->dtype, share(row_major(std::move(shape))));
}

Array reduce(const Reducer& reducer, const Array& array, std::uint64_t axes, bool keepdims, ReductionDTypes dtypes) {
  return reduce({std::shared_ptr<void>(), &reducer}, array, axes, keepdims, dtypes);
}

Array reduce(std::shared_ptr<const Reducer> row, const Array& array, std::uint64_t axes, bool keepdims,
             ReductionDTypes dtypes) {
  const Reducer& reducer = *row;
  Dims shape;
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < array->layout.ndim(); ++axis) {
    const std::int64_t extent = array->layout.shape[axis];
    if ((axes >> axis & 1) == 0) {
      shape.push_back(extent);
    } else {
      count *= extent;
      if (keepdims) shape.push_back(1);
    }
  }
  if (count == 0 && !reducer.has_identity && checked_size(shape) > 0)
    throw Error("{}zero-size array to reduction operation {} which has no identity: shape {}", bracketed(reducer.name),
                reducer.name, to_string(array->layout.shape));
  if (info(dtypes.compute).kind == DTypeKind::complex && !reducer.complex)
    throw Error("{}expected real numbers, got {}", bracketed(reducer.name), name(array->dtype));
  return make_pending(array->device(), dtypes.result, share(row_major(std::move(shape))), [&](Pending& pending) {
    pending.reducer = std::move(row);
    pending.compute = dtypes.compute;
    pending.axes = axes;
    pending.inputs.push_back(array);
  });
}

}  // namespace gpulua
