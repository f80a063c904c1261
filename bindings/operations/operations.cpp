// Elementwise operations as functions, methods and operators: one for each row of the op table.

#include <algorithm>
#include <cmath>
#include <limits>

#include "bindings/arrays/condition.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/arrays/sparse_matrix.h"
#include "bindings/arrays/unheld_mask.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/state.h"
#include "bindings/operations/number_warning.h"
#include "bindings/operations/operation_parts.h"
#include "src/expressions/expression.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

const OpInfo& row_of(lua_State* L) {
  return *static_cast<const OpInfo*>(lua_touserdata(L, lua_upvalueindex(own_upvalue)));
}

std::string text(std::string_view view) {
  return std::string(view);
}

/// The operand's position for messages, " as the right operand"; empty for an op with one operand.
std::string operand_text(int index, const OpInfo& op) {
  if (op.arity == 2) return index == 1 ? " as the left operand" : " as the right operand";
  constexpr const char* places[] = {"first", "second", "third", "fourth"};
  return op.arity > 2 ? std::string(" as the ") + places[index - 1] + " operand" : "";
}

/// Throws Error for true or false where it is a mistake: x == 1 is a boolean, where x:eq(1) was meant. Beside arrays of
/// bool it is a valid operand.
void refuse_comparison(lua_State* L, int index, const OpInfo& op) {
  const bool is_condition = op.rule == DTypeRule::select && index == 1;
  if (is_condition || op.rule == DTypeRule::logical)
    fail(text(op.name).c_str(), is_condition ? "an array as the condition" : "an array" + operand_text(index, op), L,
         index);
  const bool selects = op.rule == DTypeRule::select;
  if (selects && !is_call_of_script(L, 0)) return;  // for the library, false is 0 of any dtype
  bool has_array = false, has_number = false;
  for (int other = selects ? 2 : 1; other <= op.arity; ++other) {
    const Array* array = test<Array>(L, other);
    has_array = has_array || array || selects;
    has_number = has_number || (array ? (*array)->dtype != DType::boolean : selects && !lua_isboolean(L, other));
  }
  if (!has_array || (has_number && op.rule != DTypeRule::comparison))
    fail(text(op.name).c_str(), "an array or a number" + operand_text(index, op), L, index);
}

Operand check_operand(lua_State* L, int index, const OpInfo& op) {
  if (const Array* array = test<Array>(L, index)) return *array;
  if (lua_isboolean(L, index)) refuse_comparison(L, index, op);
  if (const auto number = to_scalar(L, index)) return *number;
  fail(text(op.name).c_str(), "an array or a number" + operand_text(index, op), L, index);
}

/// Throws Error for x:where(mask, 0), where the mask is no condition but the value for the elements of x that are not
/// 0.
void refuse_late_condition(const boost::container::small_vector<Operand, 4>& operands) {
  const auto is_boolean = [](const Operand& operand) {
    const auto* array = std::get_if<Array>(&operand);
    return array ? (*array)->dtype == DType::boolean : std::holds_alternative<bool>(std::get<Scalar>(operand));
  };
  const auto* condition = std::get_if<Array>(&operands[0]);
  if (!condition || is_boolean(operands[0]) || !std::holds_alternative<Array>(operands[1])) return;
  if (is_boolean(operands[1]) && !is_boolean(operands[2]))
    throw Error("[where] expected the condition first, gpu.where(condition, x, y), got {} before an array of bool",
                type_text(**condition));
}

boost::container::small_vector<Operand, 4> check_operands(lua_State* L, const OpInfo& op) {
  boost::container::small_vector<Operand, 4> operands;
  bool has_array = false;
  for (int i = 1; i <= op.arity; ++i) {
    operands.push_back(check_operand(L, i, op));
    has_array = has_array || std::holds_alternative<Array>(operands.back());
  }
  if (op.rule == DTypeRule::select) refuse_late_condition(operands);
  if (has_array) return operands;
  // If all operands are numbers, one becomes an array without dimensions: an integer of the FFI, which decides the
  // dtype.
  const auto is_integer = [](const Operand& operand) {
    const Scalar& number = std::get<Scalar>(operand);
    return std::holds_alternative<std::int64_t>(number) || std::holds_alternative<std::uint64_t>(number);
  };
  auto one = std::find_if(operands.begin(), operands.end(), is_integer);
  if (one == operands.end()) one = operands.begin();
  *one = weak_constant(bindings_of(L).device(), Scalar(std::get<Scalar>(*one)));
  return operands;
}

struct OperationOptions {
  Array out;
  std::optional<DType> dtype;
};

OperationOptions check_operation_options(lua_State* L, int index, const char* op) {
  OperationOptions options;
  read_options(
      L, index, op,
      {{"out", [&](int value) { options.out = check<Array>(L, value, op); }},
       {"dtype", [&](int value) { options.dtype = parse_dtype(check_string(L, value, op, "a dtype's name")); }}});
  return options;
}

/// gpu.<one>(x [, {out, dtype}])
/// gpu.<two>(x, y [, {out, dtype}])
/// gpu.betainc(a, b, x [, {out, dtype}])
/// gpu.betaincinv(a, b, p [, {out, dtype}])
/// Applies the operation to the first arguments.
Array apply(lua_State* L, const OpInfo& op) {
  const auto operands = check_operands(L, op);
  return elementwise(op, {operands.data(), operands.size()});
}

/// The first argument as an array.
Array check_first(lua_State* L, const OpInfo& op) {
  const Operand operand = check_operand(L, 1, op);
  if (const auto* array = std::get_if<Array>(&operand)) return *array;
  return weak_constant(bindings_of(L).device(), std::get<Scalar>(operand));
}

Array combine(std::string_view name, const Operand& x, const Operand& y) {
  const Operand operands[] = {x, y};
  return elementwise(op(name), operands);
}

Array combine(std::string_view name, const Operand& x) {
  return elementwise(op(name), {&x, 1});
}

/// gpu.clip(x, low [, high] [, {out, dtype}])
Array clip(lua_State* L, const OpInfo& op) {
  if (lua_isnil(L, 2)) throw Error("[clip] expected a lower bound, got nil; x:minimum(high) has an upper one alone");
  if (lua_isnone(L, 2)) fail("clip", "a lower bound", L, 2);
  if (!lua_isnoneornil(L, 3)) return apply(L, op);
  return combine("maximum", check_operand(L, 1, op), check_operand(L, 2, op));
}

/// The operation on the array and numbers, computed in another dtype than the array's.
Array computed(std::string_view name, const Array& array, DType compute, std::initializer_list<Scalar> numbers) {
  Pending pending;
  pending.compute = compute;
  pending.inputs.push_back(array);
  for (const Scalar& number : numbers) pending.inputs.push_back(constant(array->device(), {}, compute, number));
  return operation(array->device(), op(name), Dims(array->layout.shape), array->dtype, std::move(pending));
}

/// The dtype in which the elements times 10^|decimals| are computed: 16-bit numbers would overflow.
DType dtype_of_scaled(DType dtype, std::int64_t decimals) {
  constexpr std::int64_t most_in_single = 30;
  if (std::abs(decimals) > most_in_single) return promote(dtype, DType::float64);
  return size_of(dtype) == 2 ? DType::float32 : dtype;
}

Array rounded_integers(const Array& array, std::int64_t tens) {
  const bool is_signed = info(array->dtype).kind == DTypeKind::signed_integer;
  const DType compute = is_signed ? DType::int64 : DType::uint64;
  const auto bits = static_cast<unsigned>(8 * size_of(array->dtype)) - (is_signed ? 1 : 0);
  const std::uint64_t most = array->dtype == DType::boolean ? 1 : ~std::uint64_t{0} >> (64 - bits);
  // Half of 10^tens; that of 10^20 and more is beyond all integers.
  constexpr std::int64_t most_tens = 19;
  std::uint64_t half = tens > most_tens ? 0 : 5;
  for (std::int64_t i = 1; i < tens; ++i) half *= 10;
  return computed("round_integers", array, compute, {half, most});
}

/// The elements rounded to `decimals` decimal places, half to even. Negative `decimals` round to powers of ten.
Array rounded(const Array& array, std::int64_t decimals) {
  if (array->dtype == DType::boolean || is_integer(array->dtype)) return rounded_integers(array, -decimals);
  const Scalar scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  const DType compute = dtype_of_scaled(array->dtype, decimals);
  return computed(decimals > 0 ? "round_decimals" : "round_tens", array, compute, {scale});
}

/// gpu.round(x [, decimals] [, {out, dtype}])
Array round_decimals(lua_State* L, const OpInfo& op) {
  const Array x = check_first(L, op);
  constexpr std::int64_t most_decimals = 1000;  // 10 to that power, or more, is beyond all dtypes
  const std::int64_t given = lua_isnoneornil(L, 2) ? 0 : check_integer(L, 2, "round", "the number of decimals");
  const std::int64_t decimals = std::clamp(given, -most_decimals, most_decimals);
  const bool integral = x->dtype == DType::boolean || is_integer(x->dtype);
  if (decimals == 0 || (integral && decimals > 0)) return combine("round", x);
  Array result = rounded(x, decimals);
  result->weak = x->weak;
  return result;
}

/// The largest finite number of a floating or complex dtype.
double largest(DType dtype) {
  switch (real_part(dtype)) {
    case DType::float16:
      return half_to_float(0x7bff);
    case DType::bfloat16:
      return bfloat16_to_float(0x7f7f);
    case DType::float32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

/// gpu.nan_to_num(x [, nan [, highest [, lowest]]] [, {out, dtype}])
/// The defaults are 0 and the limits of the dtype. Integers and bool stay unchanged.
Array nan_to_num(lua_State* L, const OpInfo& op) {
  const Array x = check_first(L, op);
  const bool exact = x->dtype == DType::boolean || is_integer(x->dtype);
  const Scalar numbers[] = {exact ? Scalar(false) : Scalar(0.0), exact ? Scalar(false) : Scalar(largest(x->dtype)),
                            exact ? Scalar(false) : Scalar(-largest(x->dtype))};
  std::vector<Operand> operands{x};
  for (int i = 0; i < 3; ++i)
    operands.push_back(exact || lua_isnoneornil(L, i + 2) ? Operand(numbers[i]) : check_operand(L, i + 2, op));
  return elementwise(op, operands);
}

using Build = Array (*)(lua_State*, const OpInfo&);

/// gpu.name(x, y [, options]), x:name(y [, options]).
template <Build build>
int operation(lua_State* L) {
  const OpInfo& op = row_of(L);
  int at = op.arity + 1;  // index of the options
  if constexpr (build != apply) {
    // The last operands are optional.
    const int last = lua_gettop(L);
    at = std::min(last > 1 && lua_istable(L, last) ? last : last + 1, signature_of_running(L)->most);
  }
  OperationOptions options;
  if (!lua_isnoneornil(L, at)) options = check_operation_options(L, at, signature_of_running(L)->name.c_str());
  lua_settop(L, at - 1);
  if constexpr (build == apply) warn_of_number(L, op);
  Array result = build(L, op);
  if (options.dtype) result = cast(result, *options.dtype);
  if (!options.out) {
    const Node& made = *push_array(L, std::move(result));
    refuse_condition(L, made.dtype == DType::boolean);
    bindings_of(L).unheld_mask->note(L, made);
    return 1;
  }
  return push_result(L, options.out, std::move(result), text(op.name).c_str());
}

/// x:name_(y): writes the result to x.
template <Build build>
int operation_in_place(lua_State* L) {
  const OpInfo& op = row_of(L);
  const std::string name = text(op.name) + "_";
  const Array target = check<Array>(L, 1, name.c_str());
  assign(target, build(L, op), name.c_str());
  lua_settop(L, 1);
  return 1;
}

/// gpu.where(condition [, x, y] [, {out, dtype}])
/// gpu.where(c): the positions of the true elements; gpu.where(c, x, y): the elementwise operation.
int where(lua_State* L) {
  if (lua_gettop(L) > 1) return operation<apply>(L);
  return push_nonzero(L, check<Array>(L, 1, "where"));
}

/// gpu.divmod(x, y)
/// floor_divide and remainder.
int divmod(lua_State* L) {
  for (const char* name : {"floor_divide", "remainder"}) push_array(L, apply(L, op(name)));
  return 2;
}

/// __unm. Lua passes the operand of a unary minus twice.
int minus(lua_State* L) {
  lua_settop(L, 1);
  const Node& made = *push_array(L, apply(L, row_of(L)));
  refuse_condition_of_operator(L, "negative", made.dtype == DType::boolean);
  return 1;
}

/// Reads an operand that is an array or one of Lua's numbers. False for other values.
bool read_plain(lua_State* L, int index, OperandView& operand) {
  if ((operand.array = test<Array>(L, index))) return true;
  if (lua_type(L, index) != LUA_TNUMBER) return false;
  operand.number = lua_tonumber(L, index);
  return true;
}

// What binary_operator() gives in place of a number of results when an operand may be a sparse matrix.
constexpr int may_be_sparse = -2;

int operator_on_plain(lua_State* L) {
  const OpInfo& op = row_of(L);
  OperandView operands[2];
  if (!read_plain(L, 1, operands[0]) || !read_plain(L, 2, operands[1])) return may_be_sparse;
  const Node& made = *push_array(L, elementwise(op, operands));
  refuse_condition_of_operator(L, op.name, made.dtype == DType::boolean);
  return 1;
}

int operator_on_others(lua_State* L) {
  const OpInfo& op = row_of(L);
  const auto operands = check_operands(L, op);
  push_array(L, elementwise(op, {operands.data(), operands.size()}));
  return 1;
}

/// __lt and __le: errors, because Lua converts the result of a comparison to one boolean.
int refuse_order(lua_State* L) {
  std::string message =
      "[compare] expected x:lt(y), x:le(y), x:gt(y) or x:ge(y), which give an array; Lua's < <= > >= give one boolean";
  for (int index = 1; index <= 2; ++index) {
    const Array* array = test<Array>(L, index);
    if (array && (*array)->layout.size() == 1) {
      message += "; x:item() < y compares the number of an array of one element";
      break;
    }
  }
  throw Error(message);
}

void set_row(lua_State* L, const std::string& name, const OpInfo& op, lua_CFunction function) {
  lua_pushlightuserdata(L, const_cast<OpInfo*>(&op));
  push_function(L, function);
  lua_setfield(L, -2, name.c_str());
}

/// The function, or what sparse matrices have for it where one of the operands is sparse.
template <lua_CFunction function>
int of_any_matrix(lua_State* L) {
  const OpInfo& op = row_of(L);
  const int results = call_for_sparse(L, op.arity, "operation", op.name);
  return results >= 0 ? results : function(L);
}

struct Entry {
  lua_CFunction function, in_place;
};

/// A metamethod of a binary operator: two operands and no options.
int binary_operator(lua_State* L) {
  const int results = run_protected(L, operator_on_plain, true);
  if (results >= 0) return results;
  return results == may_be_sparse ? of_any_matrix<protect<operator_on_others>>(L) : lua_error(L);
}

template <Build build>
constexpr Entry entry{of_any_matrix<protect<operation<build>>>, protect<operation_in_place<build>>};

Entry entry_of(std::string_view name) {
  if (name == "clip") return entry<clip>;
  if (name == "round") return entry<round_decimals>;
  if (name == "nan_to_num") return entry<nan_to_num>;
  return entry<apply>;
}

/// Adds the operations to the table at the top of the stack, under all their names.
void set_operations(lua_State* L, bool in_place) {
  const auto set = [&](const std::string& name, const OpInfo& op) {
    const Entry functions = entry_of(op.name);
    set_row(L, name, op, functions.function);
    if (in_place) set_row(L, name + "_", op, functions.in_place);
  };
  for (const OpInfo& op : op_table())
    if (op.rule != DTypeRule::conversion && op.rule != DTypeRule::random && !op.hidden) set(text(op.name), op);
  for (const OpAlias& alias : op_aliases()) set(text(alias.name), op(alias.op));
  set_row(L, "where", op("where"), protect<where>);
  set_functions(L, {{"divmod", protect<divmod>}});
}

}  // namespace

void open_operations(lua_State* L) {
  set_operations(L, false);
}

void open_operation_methods(lua_State* L) {
  set_operations(L, true);
}

void set_operators(lua_State* L) {
  struct Operator {
    const char* event;
    std::string_view op;
  };
  constexpr Operator operators[] = {{"__add", "add"},    {"__sub", "subtract"},  {"__mul", "multiply"},
                                    {"__div", "divide"}, {"__mod", "remainder"}, {"__pow", "power"}};
  for (const Operator& entry : operators) set_row(L, entry.event, op(entry.op), binary_operator);
  set_row(L, "__unm", op("negative"), protect<minus>);
  set_functions(L, {{"__lt", protect<refuse_order>}, {"__le", protect<refuse_order>}});
}

}  // namespace gpulua
