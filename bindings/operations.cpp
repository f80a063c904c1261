// Elementwise operations as functions, methods and operators: one for each row of the op table.

#include <array>

#include "bindings/array.h"
#include "bindings/state.h"
#include "src/core/expression.h"
#include "src/core/promotion.h"

namespace gpulua {

namespace {

const OpInfo& row_of(lua_State* L) {
  return *static_cast<const OpInfo*>(lua_touserdata(L, lua_upvalueindex(2)));
}

std::string text(std::string_view view) {
  return std::string(view);
}

Operand check_operand(lua_State* L, int index, const OpInfo& op) {
  if (const Array* array = test<Array>(L, index)) return *array;
  if (const auto number = to_scalar(L, index)) return *number;
  fail(text(op.name).c_str(), "an array or a number", L, index);
}

boost::container::small_vector<Operand, 4> check_operands(lua_State* L, const OpInfo& op) {
  boost::container::small_vector<Operand, 4> operands;
  bool has_array = false;
  for (int i = 1; i <= op.arity; ++i) {
    operands.push_back(check_operand(L, i, op));
    has_array = has_array || std::holds_alternative<Array>(operands.back());
  }
  if (has_array) return operands;
  // Of numbers alone: the first becomes an array without dimensions.
  const Scalar number = std::get<Scalar>(operands.front());
  operands.front() = constant(bindings_of(L).context().current(), {}, default_dtype(number), number);
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

/// gpu.name(x, y [, options]), x:name(y [, options]).
int operation(lua_State* L) {
  const OpInfo& op = row_of(L);
  const std::string name = text(op.name);
  auto operands = check_operands(L, op);
  const OperationOptions options = check_operation_options(L, op.arity + 1, name.c_str());
  Array result = elementwise(op, {operands.data(), operands.size()});
  operands.clear();
  if (options.dtype) result = cast(result, *options.dtype);
  if (!options.out) {
    push_array(L, std::move(result));
    return 1;
  }
  assign(options.out, std::move(result), name.c_str());
  push_array(L, options.out);
  return 1;
}

/// x:name_(y): the result is written to x.
int operation_in_place(lua_State* L) {
  const OpInfo& op = row_of(L);
  const std::string name = text(op.name) + "_";
  const Array target = check<Array>(L, 1, name.c_str());
  auto operands = check_operands(L, op);
  Array result = elementwise(op, {operands.data(), operands.size()});
  operands.clear();
  assign(target, std::move(result), name.c_str());
  lua_settop(L, 1);
  return 1;
}

/// gpu.where(c): the positions at which it is true; gpu.where(c, x, y): an operation.
int where(lua_State* L) {
  if (lua_gettop(L) > 1) return operation(L);
  return push_nonzero(L, check<Array>(L, 1, "where"));
}

/// A unary minus gets its operand twice.
int minus(lua_State* L) {
  lua_settop(L, 1);
  return operation(L);
}

/// An operator has two operands, and no options.
int binary_operator(lua_State* L) {
  lua_settop(L, 2);
  return operation(L);
}

/// Lua would make one boolean of what a comparison gives.
int refuse_order(lua_State*) {
  throw Error(
      "[compare] expected x:lt(y), x:le(y), x:gt(y) or x:ge(y), which give an array; Lua's < <= > >= give one boolean");
}

void set_row(lua_State* L, const std::string& name, const OpInfo& op, lua_CFunction function) {
  lua_pushlightuserdata(L, &bindings_of(L));
  lua_pushlightuserdata(L, const_cast<OpInfo*>(&op));
  lua_pushcclosure(L, function, 2);
  lua_setfield(L, -2, name.c_str());
}

bool is_function(const OpInfo& op) {
  return op.rule != DTypeRule::conversion && op.rule != DTypeRule::random;
}

}  // namespace

void open_operations(lua_State* L) {
  for (const OpInfo& op : op_table())
    if (is_function(op)) set_row(L, text(op.name), op, protect<operation>);
  set_row(L, "where", op("where"), protect<where>);
}

void open_operation_methods(lua_State* L) {
  for (const OpInfo& op : op_table()) {
    if (!is_function(op)) continue;
    set_row(L, text(op.name), op, protect<operation>);
    set_row(L, text(op.name) + "_", op, protect<operation_in_place>);
  }
  set_row(L, "where", op("where"), protect<where>);
}

void set_operators(lua_State* L) {
  struct Operator {
    const char* event;
    std::string_view op;
  };
  constexpr Operator operators[] = {{"__add", "add"},    {"__sub", "subtract"},  {"__mul", "multiply"},
                                    {"__div", "divide"}, {"__mod", "remainder"}, {"__pow", "power"}};
  for (const Operator& entry : operators) set_row(L, entry.event, op(entry.op), protect<binary_operator>);
  set_row(L, "__unm", op("negative"), protect<minus>);
  set_functions(L, {{"__lt", protect<refuse_order>}, {"__le", protect<refuse_order>}});
}

}  // namespace gpulua
