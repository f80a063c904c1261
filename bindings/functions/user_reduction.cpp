// gpu.reduction{...}: a reduction from source, called like a function. Its parts are texts or Lua functions.

#include <cmath>

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/combining_function.h"
#include "bindings/functions/element_function.h"
#include "bindings/functions/elementwise_call.h"
#include "bindings/functions/function_parts.h"
#include "bindings/functions/operation_fields.h"
#include "bindings/kernels/kernel_source.h"
#include "bindings/operations/reductions.h"
#include "src/expressions/transfer.h"
#include "src/luafn/literal.h"

namespace gpulua {

namespace {

/// A definition. The userdata's environment holds the functions among map, reduce and post at 1, 2 and 3.
struct ReductionDefinition {
  UserReduction texts;
  bool map_function = false, reduce_function = false, post_function = false;
  bool declared = true;  // it has inputs and outputs; without them, the functions decide the dtypes
  // With the text of the function that combines, by that text and the dtype.
  std::map<std::string, UserReduction> combining{};

  const std::string& name() const { return texts.map.name; }
};

}  // namespace

template <>
struct LuaType<ReductionDefinition> {
  static constexpr const char* name = "a reduction";
};

namespace {

constexpr int map_place = 1, reduce_place = 2, post_place = 3;

/// Completes a definition with inputs and outputs.
void declare(const OperationFields& fields, const std::optional<std::string>& inputs,
             const std::optional<std::string>& outputs, const std::optional<std::string>& reduce_type,
             UserReduction& reduction) {
  UserElementwise &map = reduction.map, &post = reduction.post;
  const std::string& name = map.name;
  map.inputs = fields.parse(name, "inputs", inputs);
  post.outputs = fields.parse(name, "outputs", outputs);
  check_names(name, map.inputs, post.outputs);
  if (post.outputs.size() != 1) throw Error("[{}] outputs: expected one, got {}", name, to_string(post.outputs));
  UserParameter type = post.outputs.front();
  if (reduce_type) type = parse_parameters(*reduce_type + " type", OperationFields::where(name, "reduce_type")).front();
  map.reduce_type = post.reduce_type = type;
  type.name = "_mapped";
  map.outputs = {type};
  map.is_expression = true;
  type.name = "a";
  post.inputs = {type};
}

/// gpu.reduction{inputs, outputs, map, reduce [, post] [, identity] [, reduce_type] [, name] [, preamble]}
int define_reduction(lua_State* L) {
  check_source_rights(L, "reduction");
  const OperationFields fields(L, "reduction", "a table with inputs, outputs, map and reduce");
  ReductionDefinition definition;
  UserReduction& reduction = definition.texts;
  std::string& name = reduction.map.name = "reduction";
  SourcePart map, reduce, post;
  std::optional<std::string> inputs, outputs, reduce_type;
  read_options(
      L, 1, "reduction",
      {fields.parameters("inputs", inputs), fields.parameters("outputs", outputs), fields.part("map", map),
       fields.part("reduce", reduce), fields.part("post", post), fields.value("identity", reduction.identity),
       fields.parameters("reduce_type", reduce_type), fields.name(name), fields.preamble(reduction.map.preamble)});
  definition.map_function = map.is_function;
  definition.reduce_function = reduce.is_function;
  definition.post_function = post.is_function;
  const bool any_function = map.is_function || reduce.is_function || post.is_function;
  const bool any_text = !map.text.text.empty() || !post.text.text.empty();
  definition.declared = inputs || outputs || reduce_type || any_text || !any_function;
  if (definition.declared) {
    declare(fields, inputs, outputs, reduce_type, reduction);
    fields.need_expression(name, "map", map, "an expression of the inputs");
  }
  fields.need_combination(name, "reduce", reduce);
  reduction.map.body = map.text;
  reduction.reduce = reduce.text;
  reduction.post.body = post.text;
  reduction.post.name = name;
  reduction.post.preamble = reduction.map.preamble;
  if (!post.is_function && !post.text.text.empty()) OperationFields::check_sets(reduction.post, "post");
  push(L, std::move(definition));
  if (any_function) fields.keep_functions({"map", "reduce", "post"});
  return 1;
}

/// Throws Error for a number e if the Lua function f at the top of the stack, called on the host, gives x for f(e, x)
/// with no number x, or gives e instead of another number: max(0, -2) is 0. A function that fails there, because it
/// uses what only a device has, is not checked.
void check_identity(lua_State* L, double identity) {
  constexpr double others[] = {0.25, 0.5, -2, 5, 3};
  bool leaves_one = false, prefers_itself = false;
  double other = 0, combined = 0;
  for (std::size_t i = 0; i < std::size(others) && !prefers_itself; ++i) {
    if (others[i] == identity) continue;
    other = others[i];
    lua_pushvalue(L, -1);
    lua_pushnumber(L, identity);
    lua_pushnumber(L, other);
    const bool known = lua_pcall(L, 2, 1, 0) == 0 && lua_type(L, -1) == LUA_TNUMBER;
    combined = known ? lua_tonumber(L, -1) : 0;
    lua_pop(L, 1);
    if (!known) return;
    leaves_one = leaves_one || std::abs(combined - other) <= 1e-9;
    prefers_itself = combined == identity;
  }
  if (leaves_one && !prefers_itself) return;
  const std::string e = number_text(identity, 14);
  throw Error("[reduce] expected an identity e, with which f(e, x) is x, got {}: f({}, {}) is {}", e, e,
              number_text(other, 14), number_text(combined, 14));
}

/// gpu.reduce(f [, identity])
/// The reduction of that function.
int define_reduce(lua_State* L) {
  check_source_rights(L, "reduce");
  if (!push_function_of(L, 1)) fail("reduce", "a Lua function of two values", L, 1);
  const int function = lua_gettop(L);
  check_parameters(L, function, "reduce", 2);
  ReductionDefinition definition;
  definition.texts.map.name = "reduce";
  definition.reduce_function = true;
  definition.declared = false;
  if (!lua_isnoneornil(L, 2) && function > 2) {
    if (lua_type(L, 2) != LUA_TNUMBER) fail("reduce", "a number, the result of no elements", L, 2);
    const double identity = lua_tonumber(L, 2);
    check_identity(L, identity);
    definition.texts.identity = UserText{luafn::literal(identity, DType::float64), "gpulua"};
  }
  lua_settop(L, function);
  push(L, std::move(definition));
  lua_newtable(L);
  lua_pushvalue(L, function);
  lua_rawseti(L, -2, reduce_place);
  lua_setfenv(L, -2);
  return 1;
}

/// The only result of a function.
Array only(std::vector<Array> results, const std::string& name, const char* field) {
  if (results.size() != 1)
    throw Error("{}: expected a function with one result, got {}", OperationFields::where(name, field), results.size());
  return std::move(results.front());
}

/// The elements that are reduced, where dtypes are declared. Sets the fields of `call` that the other parts need.
Array map_declared(lua_State* L, const ReductionDefinition& definition, UserCall& call) {
  const UserElementwise& map = definition.texts.map;
  std::vector<Operand> operands = check_operands(L, map.name, map.inputs);
  set_device(L, operands, call);
  if (!definition.map_function) return definition.texts.mapped(std::move(operands), call);
  definition.texts.bind(operands, call);
  UserCall inner = call;
  inner.out.clear();
  push_kept_function(L, 1, map_place);
  Array mapped =
      only(run_declared(L, map.name, lua_gettop(L), map.inputs, map.outputs, operands, inner), map.name, "map");
  lua_pop(L, 1);
  return mapped;
}

/// The elements that are reduced, where the functions decide the dtypes. `count`: of arguments.
Array map_undeclared(lua_State* L, const ReductionDefinition& definition, int count) {
  if (!definition.map_function) return check<Array>(L, 2, definition.name().c_str());
  CapturedValues captured(L, definition.name().c_str());
  captured.add_arguments(static_cast<std::size_t>(count));
  push_kept_function(L, 1, map_place);
  Array mapped = only(run_elements(L, {definition.name()}, lua_gettop(L), captured, {}), definition.name(), "map");
  lua_pop(L, 1);
  return mapped;
}

/// The reduction whose parts are texts, for `mapped`.
const UserReduction& combining(lua_State* L, ReductionDefinition& definition, const Array& mapped) {
  if (!definition.reduce_function && definition.declared) return definition.texts;
  CombiningText text{definition.texts.map.preamble, definition.texts.reduce};
  if (definition.reduce_function) {
    push_kept_function(L, 1, reduce_place);
    text = translate_combination(L, lua_gettop(L), definition.name(), mapped->dtype);
    lua_pop(L, 1);
  }
  const std::string key = std::string(name(mapped->dtype)) + text.preamble.text + text.expression.text;
  const auto [entry, is_new] = definition.combining.try_emplace(key);
  UserReduction& reduction = entry->second;
  if (is_new) {
    reduction.map.name = definition.name();
    reduction.map.preamble = text.preamble;
    reduction.map.reduce_type = UserParameter{"type", mapped->dtype};
    reduction.reduce = text.expression;
    reduction.identity = definition.texts.identity;
  }
  return reduction;
}

/// The results from the combined values.
Array finish(lua_State* L, const ReductionDefinition& definition, Array total, const UserCall& call) {
  const UserElementwise& post = definition.texts.post;
  if (definition.post_function) {
    push_kept_function(L, 1, post_place);
    const int function = lua_gettop(L);
    if (definition.declared)
      return only(run_declared(L, post.name, function, post.inputs, post.outputs, {total}, call), post.name, "post");
    CapturedValues captured(L, post.name.c_str());
    captured.add_array(total, false);
    return only(run_elements(L, {post.name}, function, captured, call), post.name, "post");
  }
  if (definition.declared) return definition.texts.finished(std::move(total), call);
  if (call.out.empty()) return total;
  assign(call.out.front(), std::move(total), definition.name().c_str());
  return call.out.front();
}

/// reduction(x, y, ... [, axis] [, {axis =, keepdims =, out =}])
int call_reduction(lua_State* L) {
  auto& definition = check<ReductionDefinition>(L, 1, "reduction");
  const std::string& name = definition.name();
  int count = static_cast<int>(definition.texts.map.inputs.size());
  if (!definition.declared) {
    count = 1;
    if (definition.map_function) {
      push_kept_function(L, 1, map_place);
      count = static_cast<int>(locate_function(L, lua_gettop(L), name.c_str()).function->parameters.size());
      lua_pop(L, 1);
    }
    if (lua_gettop(L) - 1 < count)
      throw Error("[{}] expected {} arguments, an axis and options, got {} arguments", name, count, lua_gettop(L) - 1);
  }
  const int rest = count + 2;
  if (lua_gettop(L) >= rest + 2)
    fail(name.c_str(), std::to_string(count) + " arguments, an axis and options", L, rest + 2);
  for (int index = rest; index <= lua_gettop(L); ++index)
    if (lua_isnil(L, index)) fail(name.c_str(), index == rest ? "an axis or options" : "options", L, index);
  // The mapped array is needed first: its shape determines the valid axes. `out` can determine its dtype, so it is read
  // before the other options.
  UserCall call;
  if (lua_istable(L, lua_gettop(L))) {
    lua_getfield(L, lua_gettop(L), "out");
    if (const Array* out = test<Array>(L, lua_gettop(L))) call.out = {*out};
    lua_pop(L, 1);
  }
  Array mapped = definition.declared ? map_declared(L, definition, call) : map_undeclared(L, definition, count);
  const ReductionOptions options = check_reduction(L, rest, mapped, name.c_str(), {.dtype = false});
  const UserReduction& reduction = combining(L, definition, mapped);
  Array total = reduction.combined(std::move(mapped), options.axes, options.keepdims, call);
  push_array(L, finish(L, definition, std::move(total), call));
  return 1;
}

int reduction_text(lua_State* L) {
  const auto& definition = check<ReductionDefinition>(L, 1, "tostring");
  std::string text = "reduction " + definition.name();
  if (definition.declared)
    text += "(" + to_string(definition.texts.map.inputs) + ") -> (" + to_string(definition.texts.post.outputs) + ")";
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

}  // namespace

void open_user_reductions(lua_State* L) {
  new_type<ReductionDefinition>(L, {{"__call", protect<call_reduction>}, {"__tostring", protect<reduction_text>}}, "",
                                {});
  set_functions(L, {{"reduce", protect<define_reduce>}, {"reduction", protect<define_reduction>}});
}

}  // namespace gpulua
