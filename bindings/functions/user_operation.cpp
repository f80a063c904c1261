// gpu.elementwise{...} and gpu.scan_kernel{...}: operations from source, called like functions. The source is a text or
// a Lua function.

#include <algorithm>
#include <map>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/functions/combining_function.h"
#include "bindings/functions/element_function.h"
#include "bindings/functions/elementwise_call.h"
#include "bindings/functions/function_parts.h"
#include "bindings/functions/operation_fields.h"
#include "bindings/functions/vectorize.h"
#include "bindings/kernels/kernel_source.h"
#include "bindings/lua/list.h"
#include "bindings/lua/state.h"
#include "src/user/user_scan.h"

namespace gpulua {

namespace {

/// Definitions. A function is in the userdata's environment, at 1.
struct ElementwiseDefinition {
  UserElementwise operation;
  bool is_function = false;
};
struct ScanDefinition {
  UserScan scan;
  bool is_function = false;
  std::map<std::string, UserScan> combining{};  // with the function's text, by that text
};

}  // namespace

template <>
struct LuaType<ElementwiseDefinition> {
  static constexpr const char* name = "an elementwise operation";
};
template <>
struct LuaType<ScanDefinition> {
  static constexpr const char* name = "a scan";
};

namespace {

/// gpu.elementwise{inputs, outputs, body [, name] [, preamble]}
/// `is_library`: the source is the library's own, whatever the rights of scripts.
template <bool is_library>
int define_elementwise(lua_State* L) {
  if (!is_library) check_source_rights(L, "elementwise");
  const OperationFields fields(L, "elementwise", "a table with inputs, outputs and body");
  ElementwiseDefinition definition;
  UserElementwise& operation = definition.operation;
  operation.name = "elementwise";
  SourcePart body;
  std::optional<std::string> inputs, outputs;
  read_options(L, 1, "elementwise",
               {fields.parameters("inputs", inputs), fields.parameters("outputs", outputs), fields.part("body", body),
                fields.name(operation.name), fields.preamble(operation.preamble)});
  definition.is_function = body.is_function;
  if (body.is_function) {
    if (!operation.preamble.text.empty())
      throw Error("{}: a Lua function has none", OperationFields::where(operation.name, "preamble"));
    lua_getfield(L, 1, "body");
    push_function_of(L, 2);
    // Without declarations, the dtypes are the function's own.
    if (!inputs && !outputs) return push_vectorized(L, lua_gettop(L), {operation.name});
    lua_settop(L, 1);
  }
  operation.inputs = fields.parse(operation.name, "inputs", inputs);
  operation.outputs = fields.parse(operation.name, "outputs", outputs);
  check_names(operation.name, operation.inputs, operation.outputs);
  fields.need(operation.name, "body", body, "CUDA C++ statements that set the outputs, or a Lua function");
  operation.body = body.text;
  if (!body.is_function) OperationFields::check_sets(operation, "body");
  const bool is_function = body.is_function;
  push(L, std::move(definition));
  if (is_function) fields.keep_functions({"body"});
  return 1;
}

/// The only parameter of a list. Throws Error for another number.
UserParameter check_one(const std::string& name, const char* field, const std::vector<UserParameter>& parameters) {
  if (parameters.size() != 1 || parameters.front().raw)
    throw Error("{}: expected one parameter that is not raw, got {}", OperationFields::where(name, field),
                parameters.empty() ? "none" : to_string(parameters));
  return parameters.front();
}

/// gpu.scan_kernel{input, expr [, output] [, neutral] [, exclusive] [, name] [, preamble]}
int define_scan(lua_State* L) {
  check_source_rights(L, "scan_kernel");
  const OperationFields fields(L, "scan_kernel", "a table with input and expr");
  ScanDefinition definition;
  UserScan& scan = definition.scan;
  scan.name = "scan_kernel";
  SourcePart expression;
  std::optional<std::string> input, output;
  const auto read_exclusive = [&](int value) { scan.exclusive = check_flag(L, value, "scan_kernel", "exclusive"); };
  read_options(L, 1, "scan_kernel",
               {fields.parameters("input", input),
                fields.part("expr", expression),
                fields.parameters("output", output),
                fields.value("neutral", scan.neutral),
                {"exclusive", read_exclusive},
                fields.name(scan.name),
                fields.preamble(scan.preamble)});
  const std::string& name = scan.name;
  definition.is_function = expression.is_function;
  if (expression.is_function && !input) input = "T x";
  scan.input = check_one(name, "input", fields.parse(name, "input", input));
  scan.output = output ? check_one(name, "output", fields.parse(name, "output", output)) : scan.input;
  fields.need_combination(name, "expr", expression);
  scan.expression = expression.text;
  if (scan.exclusive && !scan.neutral)
    throw Error("{}: expected what an exclusive scan begins with, got nothing",
                OperationFields::where(name, "neutral"));
  push(L, std::move(definition));
  if (expression.is_function) fields.keep_functions({"expr"});
  return 1;
}

// ---- calls
// ---------------------------------------------------------------------------------------------------------------

/// Throws Error when there are arguments from `index` on.
void check_end(lua_State* L, int index, const std::string& name, const std::vector<UserParameter>& inputs) {
  if (lua_gettop(L) < index) return;
  fail(name.c_str(), std::to_string(inputs.size()) + " arguments (" + to_string(inputs) + ") and options", L, index);
}

/// operation(x, y, ... [, {out =, size =}])
int call_elementwise(lua_State* L) {
  const auto& [operation, is_function] = check<ElementwiseDefinition>(L, 1, "elementwise");
  std::vector<Operand> operands = check_operands(L, operation.name, operation.inputs);
  const int options = static_cast<int>(operation.inputs.size()) + 2;
  check_end(L, lua_istable(L, options) ? options + 1 : options, operation.name, operation.inputs);
  UserCall call = check_element_call(L, options, operation.name);
  if (!is_function) return push_arrays(L, run_operation(L, operation, std::move(operands), std::move(call)));
  set_device(L, operands, call);
  check_out_count(operation.name, operation.outputs.size(), call);
  push_kept_function(L, 1, 1);
  return push_arrays(
      L, run_declared(L, operation.name, lua_gettop(L), operation.inputs, operation.outputs, operands, call));
}

/// The scan whose expression is a text, for an array.
const UserScan& combining(lua_State* L, ScanDefinition& definition, const Array& array, const Array& out) {
  const UserScan& scan = definition.scan;
  if (!definition.is_function) return scan;
  UserCall call;
  if (out) call.out = {out};
  const Bound bound = bind_arguments(scan.name, {scan.input}, {scan.output}, {array}, call);
  push_kept_function(L, 1, 1);
  const CombiningText text =
      translate_combination(L, lua_gettop(L), scan.name, dtype_of(scan.output, bound.type_variables));
  lua_pop(L, 1);
  const auto [entry, is_new] = definition.combining.try_emplace(text.preamble.text, scan);
  if (is_new) {
    entry->second.preamble = text.preamble;
    entry->second.expression = text.expression;
  }
  return entry->second;
}

/// scan(x [, axis] [, {axis =, out =}])
int call_scan(lua_State* L) {
  auto& definition = check<ScanDefinition>(L, 1, "scan_kernel");
  const char* op = definition.scan.name.c_str();
  const Array* given = test<Array>(L, 2);
  if (!given) fail(op, "an array for " + definition.scan.input.name, L, 2);
  const Array array = cast(*given, (*given)->dtype);  // no longer weak
  const AxisAndOut options = check_axis_and_out(L, 3, array->layout.ndim(), op);
  push_array(L, combining(L, definition, array, options.out)(array, options.axis, options.out));
  return 1;
}

int push_text(lua_State* L, const char* kind, const std::string& name, const std::vector<UserParameter>& inputs,
              const std::vector<UserParameter>& outputs) {
  const std::string text =
      std::string(kind) + " " + name + "(" + to_string(inputs) + ") -> (" + to_string(outputs) + ")";
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

int elementwise_text(lua_State* L) {
  const UserElementwise& operation = check<ElementwiseDefinition>(L, 1, "tostring").operation;
  return push_text(L, "elementwise", operation.name, operation.inputs, operation.outputs);
}

int scan_text(lua_State* L) {
  const UserScan& scan = check<ScanDefinition>(L, 1, "tostring").scan;
  return push_text(L, scan.exclusive ? "exclusive scan" : "scan", scan.name, {scan.input}, {scan.output});
}

}  // namespace

std::vector<Operand> check_operands(lua_State* L, const std::string& name, const std::vector<UserParameter>& inputs) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int index = static_cast<int>(i) + 2;
    if (const Array* array = test<Array>(L, index)) {
      operands.emplace_back(*array);
    } else if (const auto number = to_scalar(L, index)) {
      operands.emplace_back(*number);
    } else {
      if (lua_isnone(L, index))
        throw Error("[{}] expected {} arguments ({}), got {}", name, inputs.size(), to_string(inputs), i);
      fail(name.c_str(), "an array or a number for " + inputs[i].name, L, index);
    }
  }
  return operands;
}

void set_device(lua_State* L, const std::vector<Operand>& operands, UserCall& call) {
  const bool has_array = std::any_of(operands.begin(), operands.end(),
                                     [](const Operand& operand) { return std::holds_alternative<Array>(operand); });
  if (!has_array) call.device = bindings_of(L).context().current();
}

UserCall check_element_call(lua_State* L, int options, const std::string& name) {
  const char* op = name.c_str();
  UserCall call;
  const auto read_out = [&](int value) {
    if (!lua_istable(L, value)) {
      call.out = {check<Array>(L, value, op)};
      return;
    }
    const auto count = static_cast<int>(check_list(L, value, op, "arrays"));
    for (int k = 1; k <= count; ++k) {
      lua_rawgeti(L, value, k);
      call.out.push_back(check<Array>(L, lua_gettop(L), op));
      lua_pop(L, 1);
    }
    if (call.out.empty()) fail(op, "out = an array, or a table of arrays", L, value);
  };
  const auto read_size = [&](int value) {
    call.size = check_integer(L, value, op, "size, the number of results");
    if (*call.size < 0) fail(op, "size, the number of results", L, value);
  };
  read_options(L, options, op, {{"out", read_out}, {"size", read_size}});
  return call;
}

void check_out_count(const std::string& name, std::size_t outputs, const UserCall& call) {
  if (call.out.empty() || call.out.size() == outputs) return;
  throw Error("[{}] expected out = {}, got {}", name,
              outputs == 1 ? "an array" : "a table of " + std::to_string(outputs) + " arrays",
              call.out.size() == 1 ? "an array" : std::to_string(call.out.size()) + " arrays");
}

std::vector<Array> run_operation(lua_State* L, const UserElementwise& operation, std::vector<Operand> operands,
                                 UserCall call) {
  check_out_count(operation.name, operation.outputs.size(), call);
  set_device(L, operands, call);
  return operation(std::move(operands), call);
}

int push_arrays(lua_State* L, std::vector<Array> arrays) {
  if (lua_checkstack(L, static_cast<int>(arrays.size()) + 8) == 0) throw std::bad_alloc();
  for (Array& array : arrays) push_array(L, std::move(array));
  return static_cast<int>(arrays.size());
}

void open_user_operations(lua_State* L) {
  new_type<ElementwiseDefinition>(L, {{"__call", protect<call_elementwise>}, {"__tostring", protect<elementwise_text>}},
                                  "", {});
  new_type<ScanDefinition>(L, {{"__call", protect<call_scan>}, {"__tostring", protect<scan_text>}}, "", {});
  set_functions(L, {{"elementwise", protect<define_elementwise<false>>}, {"scan_kernel", protect<define_scan>}});
}

void add_own_operations(lua_State* L) {
  set_functions(L, {{"elementwise", protect<define_elementwise<true>>}});
}

}  // namespace gpulua
