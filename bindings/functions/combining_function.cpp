#include "bindings/functions/combining_function.h"

#include "bindings/functions/captured_values.h"
#include "bindings/functions/element_function.h"
#include "src/luafn/translate.h"
#include "src/ops/op_text.h"

namespace gpulua {

namespace {

struct CombiningVariant : FunctionVariant {
  CombiningText text;
};

std::shared_ptr<const CombiningVariant> make_combining_variant(const CapturedValues& captured, const std::string& name,
                                                               DType dtype,
                                                               std::shared_ptr<const luafn::Closure> closure) {
  auto variant = std::make_shared<CombiningVariant>();
  variant->values = captured.values();
  const std::string file = closure->file;
  const int line = closure->function->line;
  const luafn::Code code = luafn::translate({.op = name,
                                             .function = std::move(closure),
                                             .values = captured.values(),
                                             .results = {dtype},
                                             .real = captured.real(),
                                             .constants = true});
  const std::string type = register_type(dtype);
  std::string parameters;
  for (const luafn::Parameter& parameter : code.parameters) {
    if (parameter.kind != luafn::Parameter::Kind::element)
      throw Error(
          "[{}] {}:{}: the function uses the array {}; what combines two values knows these and captured numbers", name,
          file, line, parameter.name.substr(0, parameter.name.rfind('_')));
    parameters += "const " + type + " " + parameter.name + ", ";
  }
  const std::string result = luafn::result_name(0);
  variant->text.preamble = {"__device__ inline void lua_statements(" + parameters + type + "& " + result + ") {\n" +
                                code.body + "}\n__device__ inline " + type + " lua_function(const " + type +
                                " a, const " + type + " b) {\n  " + type + " " + result +
                                "{};\n  lua_statements(a, b, " + result + ");\n  return " + result + ";\n}",
                            file, line};
  variant->text.expression = {"lua_function(a, b)", file, line};
  return variant;
}

}  // namespace

CombiningText translate_combination(lua_State* L, int function, const std::string& name, DType dtype) {
  // Values of 16 bits are combined in float.
  if (is_small_float(dtype)) dtype = DType::float32;
  check_parameters(L, function, name, 2);
  CapturedValues captured(L, name.c_str(), {.constants = true});
  captured.add_element(dtype);
  captured.add_element(dtype);
  const std::shared_ptr<LuaChunk> chunk = locate_function(L, function, name.c_str()).chunk;
  const auto closure = captured.add_function(function);
  const std::string key = "combines," + name + "," +
                          std::to_string(reinterpret_cast<std::uintptr_t>(closure->function)) + "," + captured.key();
  std::shared_ptr<const FunctionVariant>& variant = chunk->variants[key];
  if (!variant) variant = make_combining_variant(captured, name, dtype, closure);
  return static_cast<const CombiningVariant&>(*variant).text;
}

}  // namespace gpulua
