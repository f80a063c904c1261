#include "bindings/functions/element_function.h"

#include "bindings/functions/elementwise_call.h"
#include "bindings/lua/state.h"
#include "src/luafn/translate.h"

namespace gpulua {

namespace {

/// The operation for arguments and captured values of given types.
struct ElementVariant : FunctionVariant {
  bool checks = false;  // the indices
  luafn::Code code;
  UserElementwise operation;
};

std::shared_ptr<const ElementVariant> make_element_variant(const ElementFunction& elements,
                                                           const CapturedValues& captured,
                                                           std::shared_ptr<const luafn::Closure> closure, bool checks) {
  auto variant = std::make_shared<ElementVariant>();
  variant->values = captured.values();
  variant->checks = checks;
  const std::string file = closure->file;
  const int line = closure->function->line;
  variant->code = luafn::translate({.op = elements.name,
                                    .function = std::move(closure),
                                    .values = captured.values(),
                                    .contract = elements.contract,
                                    .results = elements.results,
                                    .check_indices = checks,
                                    .levels = elements.levels,
                                    .real = captured.real(),
                                    .elementwise = true});
  UserElementwise& operation = variant->operation;
  operation.name = elements.name;
  for (const luafn::Parameter& parameter : variant->code.parameters)
    operation.inputs.push_back({parameter.name, parameter.dtype, 0, parameter.kind == luafn::Parameter::Kind::array});
  for (std::size_t k = 0; k < variant->code.results.size(); ++k)
    operation.outputs.push_back({luafn::result_name(k), variant->code.results[k]});
  if (operation.inputs.size() > 64)
    throw Error("[{}] {}:{}: the function uses more than 64 arguments, captured numbers and arrays", elements.name,
                file, line);
  operation.body = {variant->code.body, file, line};
  return variant;
}

std::vector<Operand> operands_of(const ElementVariant& variant, const CapturedValues& captured) {
  std::vector<Operand> operands;
  for (const luafn::Parameter& parameter : variant.code.parameters) {
    if (parameter.kind != luafn::Parameter::Kind::uniform) {
      operands.emplace_back(captured.array(parameter.index));
      continue;
    }
    const luafn::HostScalar value = luafn::argument_value(parameter, captured.values());
    operands.emplace_back(std::visit([](auto number) { return Scalar(number); }, value));
  }
  return operands;
}

/// The device of the arrays, or the current one.
Device& device_of(lua_State* L, const CapturedValues& captured) {
  for (std::size_t i = 0; i < captured.values().size(); ++i)
    if (const Array& array = captured.array(i)) return array->device().device();
  return bindings_of(L).context().current()->device();
}

}  // namespace

void check_parameters(lua_State* L, int function, const std::string& name, std::size_t count,
                      const std::string& remedy) {
  const LocatedFunction& located = locate_function(L, function, name.c_str());
  const std::size_t own = located.function->parameters.size();
  if (own != count)
    throw Error("[{}] expected a function with {}{}, got that of {}:{} with {}{}", name, count,
                count == 1 ? " parameter" : " parameters", located.chunk->name, located.function->line, own, remedy);
}

std::shared_ptr<const FunctionVariant> element_variant(lua_State* L, const ElementFunction& elements, int function,
                                                       CapturedValues& captured) {
  const std::shared_ptr<LuaChunk> chunk = locate_function(L, function, elements.name.c_str()).chunk;
  const auto closure = captured.closure() ? captured.closure() : captured.add_function(function);
  const bool checks = device_of(L, captured).checking();
  std::string key = "elements," + elements.name + (elements.contract ? ",c" : ",") + (checks ? "i" : "");
  for (const DType result : elements.results) key += "," + std::to_string(static_cast<int>(result));
  for (const auto& level : elements.levels) {
    key += ",d";
    for (const std::size_t position : level) key += std::to_string(position) + ".";
  }
  key += ";" + std::to_string(reinterpret_cast<std::uintptr_t>(closure->function)) + "," + captured.key();
  std::shared_ptr<const FunctionVariant>& variant = chunk->variants[key];
  if (!variant) variant = make_element_variant(elements, captured, closure, checks);
  return variant;
}

std::vector<bool> results_that_vary(lua_State* L, const ElementFunction& elements, int function,
                                    CapturedValues& captured) {
  return static_cast<const ElementVariant&>(*element_variant(L, elements, function, captured)).code.varies;
}

bool is_current(lua_State* L, const FunctionVariant& variant, const CapturedValues& captured) {
  return static_cast<const ElementVariant&>(variant).checks == device_of(L, captured).checking();
}

std::vector<Array> run_variant(lua_State* L, const FunctionVariant& variant, const CapturedValues& captured,
                               const UserCall& call) {
  const auto& made = static_cast<const ElementVariant&>(variant);
  std::vector<Operand> operands = operands_of(made, captured);
  return run_operation(L, made.operation, std::move(operands), call);
}

std::vector<Array> run_elements(lua_State* L, const ElementFunction& elements, int function, CapturedValues& captured,
                                const UserCall& call) {
  return run_variant(L, *element_variant(L, elements, function, captured), captured, call);
}

std::vector<Array> run_declared(lua_State* L, const std::string& name, int function,
                                const std::vector<UserParameter>& inputs, const std::vector<UserParameter>& outputs,
                                const std::vector<Operand>& operands, const UserCall& call) {
  check_parameters(L, function, name, inputs.size());
  const Bound bound = bind_arguments(name, inputs, outputs, operands, call);
  CapturedValues captured(L, name.c_str());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    captured.add_array(operand_array(name, inputs[i], operands[i], bound), inputs[i].raw);
  ElementFunction elements{name};
  for (const UserParameter& output : outputs) elements.results.push_back(dtype_of(output, bound.type_variables));
  return run_elements(L, elements, function, captured, call);
}

}  // namespace gpulua
