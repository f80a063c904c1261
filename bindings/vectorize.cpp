// gpu.vectorize(f): a Lua function as an elementwise operation.

#include "bindings/vectorize.h"

#include <algorithm>

#include "bindings/captured_values.h"
#include "bindings/elementwise_call.h"
#include "bindings/kernel_source.h"
#include "bindings/lua_array.h"
#include "bindings/parts.h"
#include "bindings/state.h"
#include "src/luafn/translate.h"
#include "src/user/user_operation.h"

namespace gpulua {

namespace {

/// The operation for arguments and captured values of given types.
struct VectorizedVariant : FunctionVariant {
  luafn::Code code;
  UserElementwise operation;
};

std::shared_ptr<const VectorizedVariant> make_variant(const Vectorized& vectorized, const CapturedValues& captured,
                                                      std::shared_ptr<const luafn::Closure> closure) {
  auto variant = std::make_shared<VectorizedVariant>();
  variant->values = captured.values();
  const std::string file = closure->file;
  const int line = closure->function->line;
  variant->code = luafn::translate({vectorized.name, std::move(closure), captured.values(), vectorized.contract});
  UserElementwise& operation = variant->operation;
  operation.name = vectorized.name;
  for (const luafn::Parameter& parameter : variant->code.parameters)
    operation.inputs.push_back({parameter.name, parameter.dtype, 0, parameter.kind == luafn::Parameter::Kind::array});
  for (std::size_t k = 0; k < variant->code.results.size(); ++k)
    operation.outputs.push_back({luafn::result_name(k), variant->code.results[k]});
  if (operation.inputs.size() > 64)
    throw Error("[" + vectorized.name + "] " + file + ":" + std::to_string(line) +
                ": the function uses more than 64 arguments, captured numbers and arrays");
  operation.body = {variant->code.body, file, line};
  return variant;
}

std::vector<Operand> operands_of(const VectorizedVariant& variant, const CapturedValues& captured) {
  std::vector<Operand> operands;
  for (const luafn::Parameter& parameter : variant.code.parameters) {
    if (parameter.kind != luafn::Parameter::Kind::uniform) {
      operands.emplace_back(captured.array(parameter.index));
      continue;
    }
    const luafn::HostScalar value = luafn::evaluate(*parameter.uniform, captured.values());
    operands.emplace_back(std::visit([](auto number) { return Scalar(number); }, value));
  }
  return operands;
}

/// gpu.vectorize(f [, {name, fmad}])
int new_vectorized(lua_State* L) {
  check_source_rights(L, "vectorize");
  if (!lua_isfunction(L, 1)) fail("vectorize", "a Lua function of the elements", L, 1);
  Vectorized vectorized{"vectorize"};
  read_options(L, 2, "vectorize",
               {{"name", [&](int value) { vectorized.name = check_string(L, value, "vectorize", "name = a string"); }},
                {"fmad", [&](int value) {
                   if (!lua_isboolean(L, value)) fail("vectorize", "fmad = true or false", L, value);
                   vectorized.contract = lua_toboolean(L, value) != 0;
                 }}});
  locate_function(L, 1, vectorized.name.c_str());  // its errors belong to this line
  push(L, std::move(vectorized));
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2);
  return 1;
}

/// vectorized(x, y, ... [, {out =, size =}])
int call_vectorized(lua_State* L) {
  const Vectorized& vectorized = check<Vectorized>(L, 1, "vectorize");
  const char* op = vectorized.name.c_str();
  const int arguments = lua_gettop(L);
  push_function_of(L, 1);
  const int function = lua_gettop(L);
  const LocatedFunction& located = locate_function(L, function, op);
  const auto& parameters = located.function->parameters;
  const auto count = static_cast<int>(parameters.size());
  std::string names;
  for (const luafn::Local* parameter : parameters) names += (names.empty() ? "" : ", ") + parameter->name;
  const bool has_options = arguments == count + 2 && lua_istable(L, arguments);
  if (arguments - 1 != count + (has_options ? 1 : 0))
    throw Error("[" + vectorized.name + "] expected " + std::to_string(count) + " arguments (" + names +
                ") and options, got " + std::to_string(arguments - 1));

  CapturedValues captured(L, op);
  for (int i = 0; i < count; ++i) captured.add_argument(i + 2);
  const std::shared_ptr<LuaChunk> chunk = located.chunk;
  const auto closure = captured.add_function(function);
  const std::string key = "vectorize," + vectorized.name + (vectorized.contract ? ",c," : ",") +
                          std::to_string(reinterpret_cast<std::uintptr_t>(closure->function)) + "," + captured.key();
  std::shared_ptr<const FunctionVariant>& variant = chunk->variants[key];
  if (!variant) variant = make_variant(vectorized, captured, closure);
  const auto& made = static_cast<const VectorizedVariant&>(*variant);
  lua_settop(L, arguments);
  return call_elementwise_operation(L, made.operation, operands_of(made, captured),
                                    has_options ? arguments : arguments + 1);
}

int vectorized_text(lua_State* L) {
  const Vectorized& vectorized = check<Vectorized>(L, 1, "tostring");
  push_function_of(L, 1);
  const LocatedFunction& located = locate_function(L, lua_gettop(L), "tostring");
  std::string text;
  for (const luafn::Local* parameter : located.function->parameters)
    text += (text.empty() ? "" : ", ") + parameter->name;
  text = "vectorized " + vectorized.name + "(" + text + "), " + located.chunk->name + ":" +
         std::to_string(located.function->line);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

}  // namespace

bool push_function_of(lua_State* L, int index) {
  if (lua_isfunction(L, index)) {
    lua_pushvalue(L, index);
    return true;
  }
  if (!test<Vectorized>(L, index)) return false;
  lua_getfenv(L, index);
  lua_rawgeti(L, -1, 1);
  lua_remove(L, -2);
  return true;
}

void open_lua_functions(lua_State* L) {
  note_library_functions(L);
  new_type<Vectorized>(L, {{"__call", protect<call_vectorized>}, {"__tostring", protect<vectorized_text>}}, "", {});
  set_functions(L, {{"vectorize", protect<new_vectorized>}});
}

}  // namespace gpulua
