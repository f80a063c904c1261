// gpu.elementwise{...}, gpu.reduction{...} and gpu.scan_kernel{...}: operations from source, called like functions.

#include "src/user/user_operation.h"
#include "bindings/parts.h"

#include <algorithm>

#include "bindings/elementwise_call.h"
#include "bindings/kernel_source.h"
#include "bindings/list.h"
#include "bindings/lua_array.h"
#include "bindings/reductions.h"
#include "bindings/result.h"
#include "bindings/source_location.h"
#include "bindings/state.h"
#include "src/user/user_scan.h"

namespace gpulua {

using ElementwiseRef = std::shared_ptr<UserElementwise>;
using ReductionRef = std::shared_ptr<UserReduction>;
using ScanRef = std::shared_ptr<UserScan>;

template <>
struct LuaType<ElementwiseRef> {
  static constexpr const char* name = "an elementwise operation";
};
template <>
struct LuaType<ReductionRef> {
  static constexpr const char* name = "a reduction";
};
template <>
struct LuaType<ScanRef> {
  static constexpr const char* name = "a scan";
};

namespace {

// ---- definitions
// ---------------------------------------------------------------------------------------------------------

/// The fields of a definition, the table in the first argument.
class Fields {
 public:
  Fields(lua_State* L, const char* op, const char* expected) : L_(L), op_(op) {
    lua_settop(L, 1);
    if (!lua_istable(L, 1)) fail(op, expected, L, 1);
  }

  Option text(const char* field, UserText& to) {
    return {field, [this, field, &to](int value) {
              to.text = string(field, value);
              SourceLocation location = locate_source(L_, to.text);
              to.file = std::move(location.file);
              to.line = location.line;
            }};
  }
  /// A text, or a number.
  Option value(const char* field, std::optional<UserText>& to) {
    return {field, [this, field, &to](int value) {
              if (lua_type(L_, value) == LUA_TNUMBER) lua_tostring(L_, value);  // converts the value on the stack
              text(field, to.emplace()).read(value);
            }};
  }
  Option name(std::string& to) {
    return {"name", [this, &to](int value) { to = string("name", value); }};
  }
  /// Parsed later, when the name is known.
  Option parameters(const char* field, std::optional<std::string>& to) {
    return {field, [this, field, &to](int value) { to = string(field, value); }};
  }

  std::vector<UserParameter> parse(const std::string& name, const char* field,
                                   const std::optional<std::string>& text) const {
    if (!text) missing(name, field, "parameters as in \"float32 x, T y, raw T z\"");
    return parse_parameters(*text, where(name, field));
  }
  void need(const std::string& name, const char* field, const UserText& text, const char* what) const {
    if (text.text.empty()) missing(name, field, what);
  }
  /// need() for the expression that combines the values a and b.
  void need_combination(const std::string& name, const char* field, const UserText& text) const {
    need(name, field, text, "an expression of a and b");
    if (!has_word(text.text, "a") && !has_word(text.text, "b"))
      throw Error(where(name, field) + ": expected an expression of a and b, as in \"a + b\", got \"" + text.text +
                  '"');
  }
  static std::string where(const std::string& name, const char* field) { return "[" + name + "] " + field; }

 private:
  std::string string(const char* field, int value) const {
    if (lua_type(L_, value) != LUA_TSTRING)
      throw Error("[" + std::string(op_) + "] " + field + ": expected a string, got " + describe(L_, value));
    return std::string(check_string(L_, value, op_, field));
  }
  [[noreturn]] static void missing(const std::string& name, const char* field, const char* what) {
    throw Error(where(name, field) + ": expected " + what + ", got nothing");
  }

  lua_State* L_;
  const char* op_;
};

/// Throws Error for two parameters of one name, and for a raw output.
void check_names(const std::string& name, const std::vector<UserParameter>& inputs,
                 const std::vector<UserParameter>& outputs) {
  if (outputs.empty()) throw Error("[" + name + "] outputs: expected at least one");
  if (inputs.size() > 64)
    throw Error("[" + name + "] inputs: expected 64 at most, got " + std::to_string(inputs.size()));
  std::vector<UserParameter> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= inputs.size() && all[i].raw) throw Error("[" + name + "] outputs: " + all[i].name + " cannot be raw");
    for (std::size_t j = 0; j < i; ++j)
      if (all[i].name == all[j].name) throw Error("[" + name + "] two parameters have the name " + all[i].name);
  }
}

/// Throws Error when the body does not mention an output, which would stay 0. With a preamble there is no check,
/// because its macros can mention the output.
void check_sets(const UserElementwise& operation) {
  if (!operation.preamble.text.empty()) return;
  for (const UserParameter& output : operation.outputs)
    if (!has_word(operation.body.text, output.name))
      throw Error(Fields::where(operation.name, "body") + ": expected statements that set " + output.name +
                  ", as in \"" + output.name + " = ...;\", got \"" + operation.body.text + '"');
}

int define_elementwise(lua_State* L) {
  check_source_rights(L, "elementwise");
  Fields fields(L, "elementwise", "a table with inputs, outputs and body");
  auto operation = std::make_shared<UserElementwise>();
  operation->name = "elementwise";
  std::optional<std::string> inputs, outputs;
  read_options(
      L, 1, "elementwise",
      {fields.parameters("inputs", inputs), fields.parameters("outputs", outputs), fields.text("body", operation->body),
       fields.name(operation->name), fields.text("preamble", operation->preamble)});
  operation->inputs = fields.parse(operation->name, "inputs", inputs);
  operation->outputs = fields.parse(operation->name, "outputs", outputs);
  check_names(operation->name, operation->inputs, operation->outputs);
  fields.need(operation->name, "body", operation->body, "CUDA C++ statements that set the outputs");
  check_sets(*operation);
  push(L, ElementwiseRef(std::move(operation)));
  return 1;
}

int define_reduction(lua_State* L) {
  check_source_rights(L, "reduction");
  Fields fields(L, "reduction", "a table with inputs, outputs, map and reduce");
  auto reduction = std::make_shared<UserReduction>();
  UserElementwise &map = reduction->map, &post = reduction->post;
  map.name = "reduction";
  std::optional<std::string> inputs, outputs, reduce_type;
  read_options(L, 1, "reduction",
               {fields.parameters("inputs", inputs), fields.parameters("outputs", outputs),
                fields.text("map", map.body), fields.text("reduce", reduction->reduce), fields.text("post", post.body),
                fields.value("identity", reduction->identity), fields.parameters("reduce_type", reduce_type),
                fields.name(map.name), fields.text("preamble", map.preamble)});
  const std::string& name = map.name;
  map.inputs = fields.parse(name, "inputs", inputs);
  post.outputs = fields.parse(name, "outputs", outputs);
  check_names(name, map.inputs, post.outputs);
  if (post.outputs.size() != 1) throw Error("[" + name + "] outputs: expected one, got " + to_string(post.outputs));
  fields.need(name, "map", map.body, "an expression of the inputs");
  fields.need_combination(name, "reduce", reduction->reduce);
  UserParameter type = post.outputs.front();
  if (reduce_type) type = parse_parameters(*reduce_type + " type", Fields::where(name, "reduce_type")).front();
  map.reduce_type = post.reduce_type = type;
  type.name = "_mapped";
  map.outputs = {type};
  map.is_expression = true;
  type.name = "a";
  post.inputs = {type};
  post.name = name;
  post.preamble = map.preamble;
  push(L, ReductionRef(std::move(reduction)));
  return 1;
}

/// The only parameter of a list. Throws Error for another number.
UserParameter check_one(const std::string& name, const char* field, const std::vector<UserParameter>& parameters) {
  if (parameters.size() != 1 || parameters.front().raw)
    throw Error(Fields::where(name, field) + ": expected one parameter that is not raw, got " +
                (parameters.empty() ? "none" : to_string(parameters)));
  return parameters.front();
}

int define_scan(lua_State* L) {
  check_source_rights(L, "scan_kernel");
  Fields fields(L, "scan_kernel", "a table with input and expr");
  auto scan = std::make_shared<UserScan>();
  scan->name = "scan_kernel";
  std::optional<std::string> input, output;
  const auto read_exclusive = [&](int value) {
    if (!lua_isboolean(L, value)) fail("scan_kernel", "exclusive = true or false", L, value);
    scan->exclusive = lua_toboolean(L, value) != 0;
  };
  read_options(L, 1, "scan_kernel",
               {fields.parameters("input", input),
                fields.text("expr", scan->expression),
                fields.parameters("output", output),
                fields.value("neutral", scan->neutral),
                {"exclusive", read_exclusive},
                fields.name(scan->name),
                fields.text("preamble", scan->preamble)});
  const std::string& name = scan->name;
  scan->input = check_one(name, "input", fields.parse(name, "input", input));
  scan->output = output ? check_one(name, "output", fields.parse(name, "output", output)) : scan->input;
  fields.need_combination(name, "expr", scan->expression);
  if (scan->exclusive && !scan->neutral)
    throw Error(Fields::where(name, "neutral") + ": expected what an exclusive scan begins with, got nothing");
  push(L, ScanRef(std::move(scan)));
  return 1;
}

// ---- calls
// ---------------------------------------------------------------------------------------------------------------

/// The operands from index 2 on, one for each input.
std::vector<Operand> check_arguments(lua_State* L, const std::string& name, const std::vector<UserParameter>& inputs) {
  std::vector<Operand> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int index = static_cast<int>(i) + 2;
    if (const Array* array = test<Array>(L, index)) {
      arguments.emplace_back(*array);
    } else if (const auto number = to_scalar(L, index)) {
      arguments.emplace_back(*number);
    } else {
      const std::string expected = lua_isnone(L, index)
                                       ? std::to_string(inputs.size()) + " arguments (" + to_string(inputs) + ")"
                                       : "an array or a number for " + inputs[i].name;
      fail(name.c_str(), expected, L, index);
    }
  }
  return arguments;
}

UserCall make_call(lua_State* L, const std::vector<Operand>& arguments) {
  UserCall call;
  const bool has_array = std::any_of(arguments.begin(), arguments.end(),
                                     [](const Operand& operand) { return std::holds_alternative<Array>(operand); });
  if (!has_array) call.device = bindings_of(L).context().current();
  return call;
}

/// Throws Error when there are arguments from `index` on.
void check_end(lua_State* L, int index, const std::string& name, const std::vector<UserParameter>& inputs) {
  if (lua_gettop(L) < index) return;
  fail(name.c_str(), std::to_string(inputs.size()) + " arguments (" + to_string(inputs) + ") and options", L, index);
}

std::vector<Array> check_out(lua_State* L, int value, const UserElementwise& operation) {
  const char* op = operation.name.c_str();
  const std::size_t count = operation.outputs.size();
  if (count == 1 && !lua_istable(L, value)) return {check<Array>(L, value, op)};
  if (!lua_istable(L, value) || static_cast<std::size_t>(check_list(L, value, op, "arrays")) != count)
    fail(op, "out = a table of " + std::to_string(count) + " arrays", L, value);
  std::vector<Array> out;
  for (std::size_t k = 1; k <= count; ++k) {
    lua_rawgeti(L, value, static_cast<int>(k));
    out.push_back(check<Array>(L, lua_gettop(L), op));
    lua_pop(L, 1);
  }
  return out;
}

/// operation(x, y, ... [, {out =, size =}])
int call_elementwise(lua_State* L) {
  const ElementwiseRef operation = check<ElementwiseRef>(L, 1, "elementwise");
  std::vector<Operand> arguments = check_arguments(L, operation->name, operation->inputs);
  const int options = static_cast<int>(operation->inputs.size()) + 2;
  check_end(L, lua_istable(L, options) ? options + 1 : options, operation->name, operation->inputs);
  return call_elementwise_operation(L, *operation, std::move(arguments), options);
}

/// reduction(x, y, ... [, axis] [, {axis =, keepdims =, out =}])
int call_reduction(lua_State* L) {
  const ReductionRef reduction = check<ReductionRef>(L, 1, "reduction");
  const UserElementwise& map = reduction->map;
  std::vector<Operand> arguments = check_arguments(L, map.name, map.inputs);
  UserCall call = make_call(L, arguments);
  const int rest = static_cast<int>(map.inputs.size()) + 2;
  check_end(L, rest + 2, map.name, map.inputs);
  // The mapped array is needed first: its shape determines the valid axes. `out` can determine its dtype, so it is read
  // before the other options.
  if (lua_istable(L, lua_gettop(L))) {
    lua_getfield(L, lua_gettop(L), "out");
    if (const Array* out = test<Array>(L, lua_gettop(L))) call.out = {*out};
    lua_pop(L, 1);
  }
  Array mapped = reduction->mapped(std::move(arguments), call);
  const ReductionOptions options = check_reduction(L, rest, mapped, map.name.c_str(), {.dtype = false});
  push_array(L, (*reduction)(std::move(mapped), options.axes, options.keepdims, std::move(call)));
  return 1;
}

/// scan(x [, axis] [, {axis =, out =}])
int call_scan(lua_State* L) {
  const ScanRef scan = check<ScanRef>(L, 1, "scan_kernel");
  const char* op = scan->name.c_str();
  const Array* array = test<Array>(L, 2);
  if (!array) fail(op, "an array for " + scan->input.name, L, 2);
  const AxisAndOut options = check_axis_and_out(L, 3, (*array)->layout.ndim(), op);
  push_array(L, (*scan)(*array, options.axis, options.out));
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
  const ElementwiseRef& operation = check<ElementwiseRef>(L, 1, "tostring");
  return push_text(L, "elementwise", operation->name, operation->inputs, operation->outputs);
}

int reduction_text(lua_State* L) {
  const ReductionRef& reduction = check<ReductionRef>(L, 1, "tostring");
  return push_text(L, "reduction", reduction->map.name, reduction->map.inputs, reduction->post.outputs);
}

int scan_text(lua_State* L) {
  const ScanRef& scan = check<ScanRef>(L, 1, "tostring");
  return push_text(L, scan->exclusive ? "exclusive scan" : "scan", scan->name, {scan->input}, {scan->output});
}

}  // namespace

int call_elementwise_operation(lua_State* L, const UserElementwise& operation, std::vector<Operand> arguments,
                               int options) {
  const char* op = operation.name.c_str();
  UserCall call = make_call(L, arguments);
  const auto read_size = [&](int value) {
    call.size = check_integer(L, value, op, "size, the number of results");
    if (*call.size < 0) fail(op, "size, the number of results", L, value);
  };
  read_options(L, options, op,
               {{"out", [&](int value) { call.out = check_out(L, value, operation); }}, {"size", read_size}});
  std::vector<Array> results = operation(std::move(arguments), call);
  if (lua_checkstack(L, static_cast<int>(results.size()) + 8) == 0) throw std::bad_alloc();
  for (Array& result : results) push_array(L, std::move(result));
  return static_cast<int>(results.size());
}

void open_user_operations(lua_State* L) {
  new_type<ElementwiseRef>(L, {{"__call", protect<call_elementwise>}, {"__tostring", protect<elementwise_text>}}, "",
                           {});
  new_type<ReductionRef>(L, {{"__call", protect<call_reduction>}, {"__tostring", protect<reduction_text>}}, "", {});
  new_type<ScanRef>(L, {{"__call", protect<call_scan>}, {"__tostring", protect<scan_text>}}, "", {});
  set_functions(L, {{"elementwise", protect<define_elementwise>},
                    {"reduction", protect<define_reduction>},
                    {"scan_kernel", protect<define_scan>}});
}

}  // namespace gpulua
