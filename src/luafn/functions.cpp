// Functions, their arguments, captured values and results.

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/base/scalar.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

std::string type_key(const Value& value) {
  std::string key = std::to_string(static_cast<int>(value.kind)) + "," + std::to_string(static_cast<int>(value.dtype));
  for (const void* pointer : {static_cast<const void*>(value.uniform), static_cast<const void*>(value.function),
                              static_cast<const void*>(value.closure), static_cast<const void*>(value.scope)})
    key += "," + std::to_string(reinterpret_cast<std::uintptr_t>(pointer));
  if (value.kind == Value::Kind::integer)
    key += "," + std::to_string(value.range.low) + "," + std::to_string(value.range.high);
  for (const Value& index : value.indices) key += "[" + type_key(index);
  for (const Level& level : value.levels)
    key += "d" + std::to_string(level.depth) + "," + std::to_string(level.count) + "," + std::to_string(level.varying);
  for (const Differentiation& derivative : value.derivatives) {
    key += derivative.with_value ? "v" : "g";
    for (const std::size_t position : derivative.which) key += std::to_string(position) + ".";
  }
  key += "," + value.name + "," + std::to_string(value.array) + (value.whole ? "w;" : ";");
  return key;
}

/// What a function gets as parameters of C++ for the argument: the value, or the indices of an array, of a[i].
std::vector<Value*> passed_parts(Value& argument) {
  if (!is_known(argument)) return {&argument};
  std::vector<Value*> parts;
  for (Value& index : argument.indices)
    if (!is_known(index)) parts.push_back(&index);
  return parts;
}

}  // namespace

Value Variable::assign(const void* site, const Value& given, int line, DType real) {
  const auto found =
      std::find_if(assigned.begin(), assigned.end(), [&](const Assignment& other) { return other.site == site; });
  if (found == assigned.end())
    assigned.push_back({site, given, line});
  else
    found->value = given;
  Join join;
  for (const Assignment& assignment : assigned) join.add(assignment.value, assignment.line);
  return join.result(real);
}

HostScalar argument_value(const Parameter& parameter, std::span<const HostValue> values) {
  try {
    const HostScalar value = evaluate(*parameter.uniform, values);
    std::uint64_t bytes[2];
    std::visit([&](auto number) { encode(parameter.dtype, number, bytes); }, value);  // checks it
    return value;
  } catch (const Error& error) {
    throw Error("{}{}: {}", parameter.place, text_of(*parameter.uniform), error.what());
  }
}

void write_argument(const Parameter& parameter, std::span<const HostValue> values, void* to) {
  const DType dtype = is_small_float(parameter.dtype) ? DType::float32 : parameter.dtype;
  try {
    std::visit([&](auto number) { encode(dtype, number, to); }, evaluate(*parameter.uniform, values));
  } catch (const Error& error) {
    throw Error("{}{}: {}", parameter.place, text_of(*parameter.uniform), error.what());
  }
}

Code translate(const TranslationRequest& request) {
  return Translator(request).translate();
}

Translator::Translator(const TranslationRequest& request)
    : request_(request), function_real_(request.real), real_(request.real) {
  for (const HostValue& value : request.values)
    if (value.kind == HostValue::Kind::array && !value.weak &&
        (value.dtype == DType::float64 || value.dtype == DType::complex128))
      real_ = function_real_ = DType::float64;
}

Code Translator::translate() {
  Value callee;
  callee.kind = Value::Kind::function;
  callee.function = request_.function->function;
  callee.closure = request_.function.get();
  const Function& function = *callee.function;
  const std::size_t count = function.parameters.size();
  if (function.has_varargs) refuse(function.line, "a function for a device takes no \"...\"; name its parameters");

  declare_arrays();
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    const HostValue& value = request_.values[i];
    const std::string& name = function.parameters[i]->name;
    if (value.kind != HostValue::Kind::array || request_.kernel || value.whole) {
      arguments.push_back(host_value(value, i, name, function.line));
      continue;
    }
    const Parameter element{Parameter::Kind::element, value.dtype, {}, i};
    Value argument = strong_value(value.dtype, parameter(element, "a" + std::to_string(i), name));
    if (value.weak) argument.kind = Value::Kind::real;
    arguments.push_back(variable_of_request(std::move(argument), i));
  }
  root_ = &instance_of(callee, arguments);
  do {
    if (round_ == 100) refuse(function.line, "the types of this function's variables depend on each other without end");
    begin_round();
    translate_body(*root_);
  } while (changed_);

  if (!request_.kernel && (root_->returns == 0 || root_->results.empty()))
    refuse(function.last_line, "the function returns nothing; its results are what it returns for each element");
  Code code = code_of_results();
  code.parameters = parameters_;
  for (Parameter& parameter : code.parameters)
    parameter.written = parameter.kind == Parameter::Kind::array && written_.contains(parameter.index);
  code.uniforms = uniforms_;
  code.constants = constants_;
  code.body = variables_ + duals_ + root_->declarations + root_->lambdas + root_->body;
  check_nesting(code.body);
  return code;
}

/// Names and parameters are those of the last round alone.
void Translator::begin_round() {
  changed_ = false;
  ++round_;
  temporaries_ = 0;
  open_derivatives_ = static_cast<int>(request_.levels.size());
  duals_.clear();
  name_of_dual_.clear();
  current_ = nullptr;
  std::erase_if(parameters_, [](const Parameter& parameter) { return parameter.kind != Parameter::Kind::element; });
  declare_arrays();
}

void Translator::translate_body(Instance& instance) {
  Instance* const outer = current_;
  const std::size_t outer_indent = indent_;
  const bool outer_hoists = hoists_, outer_indexing = std::exchange(indexing_, false);
  const DType outer_real = std::exchange(real_, function_real_);
  current_ = &instance;
  instance.is_open = true;
  if (++depth_ > most_calls)
    refuse(instance.function->line, "calls of functions are more than " + std::to_string(most_calls) +
                                        " deep; a function that calls itself is a loop on a device");
  instance.round = round_;
  instance.open_derivatives = open_derivatives_;
  instance.returns = 0;
  instance.declarations.clear();
  instance.lambdas.clear();
  instance.body.clear();
  instance.declared.clear();
  indent_ = &instance == root_ ? 1 : 2;
  hoists_ = true;
  bind_parameters(instance);
  const Function& function = *instance.function;
  const bool ends = block(function.body);
  if (instance.returns > 0 && !instance.results.empty() && !ends)
    refuse(function.last_line, "the function returns values, but not on the path that arrives at this \"end\"");
  instance.is_open = false;
  --depth_;
  current_ = outer;
  indent_ = outer_indent;
  hoists_ = outer_hoists;
  indexing_ = outer_indexing;
  real_ = outer_real;
}

/// A parameter that the function assigns to is a variable, which begins as the argument.
void Translator::bind_parameters(Instance& instance) {
  for (std::size_t i = 0; i < instance.arguments.size(); ++i) {
    const Local& parameter = *instance.function->parameters[i];
    if (parameter.reassigned)
      assign_local(parameter, instance.arguments[i], &parameter, instance.function->line);
    else
      instance.variables[&parameter].value = instance.arguments[i];
  }
}

Instance& Translator::instance_of(const Value& callee, const std::vector<Value>& arguments) {
  std::string key = type_key(callee);
  for (const Value& argument : arguments) key += type_key(argument);
  const auto [entry, is_new] = instances_.try_emplace(key);
  Instance& instance = entry->second;
  if (is_new) {
    instance.function = callee.function;
    instance.closure = callee.closure;
    instance.scope = callee.scope;
    instance.name = "function" + std::to_string(instances_.size() - 1);
    instance.arguments = arguments;
  }
  return instance;
}

std::vector<Value> Translator::call_function(const Value& callee, std::vector<Value> arguments, int line) {
  if (!callee.derivatives.empty()) return call_derivative(callee, std::move(arguments), line);
  const Function& function = *callee.function;
  const std::size_t count = function.parameters.size();
  if (function.has_varargs)
    refuse(line, "the function of line " + std::to_string(function.line) + " takes \"...\"; name its parameters");
  if (arguments.size() != count)
    refuse(line, "expected " + std::to_string(count) + " arguments for the function of line " +
                     std::to_string(function.line) + ", got " + std::to_string(arguments.size()));
  // In the instance, an argument that is no known value is a parameter of the lambda.
  std::vector<Value> inner = arguments;
  std::string passed;
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].kind == Value::Kind::none || arguments[i].kind == Value::Kind::nil)
      refuse(line, "argument " + std::to_string(i + 1) + " is nil");
    const std::string name = name_of(*function.parameters[i]) + (function.parameters[i]->reassigned ? "in" : "");
    if (inner[i].kind == Value::Kind::array) {
      inner[i].name = function.parameters[i]->name;
      inner[i].passed = inner[i].indices.size();
    }
    int index = 0;
    for (Value* part : passed_parts(inner[i])) {
      passed += (passed.empty() ? "" : ", ") + part->code;
      part->code = part == &inner[i] ? name : name + "at" + std::to_string(++index);
    }
  }
  Instance& instance = instance_of(callee, inner);
  if (instance.is_open)
    refuse(line, "the function of line " + std::to_string(function.line) + " calls itself; write a loop instead");
  if (instance.round != round_) {
    instance.place = place_of_lambda(callee, inner);
    translate_body(instance);
    instance.place->lambdas += lambda_text(instance);
  }
  if (instance.has_effects) note_effect();
  return results_of(instance, instance.name + "(" + passed + ")");
}

/// The innermost of the functions being translated whose variables or lambdas the callee or an argument knows.
Instance* Translator::place_of_lambda(const Value& callee, const std::vector<Value>& arguments) const {
  const auto depth_of = [](const Instance* instance) {
    int depth = 0;
    for (; instance; instance = instance->place) ++depth;
    return depth;
  };
  Instance* place = root_;
  const auto note = [&](Instance* scope) {
    while (scope && !scope->is_open) scope = scope->scope;  // of a function that a call has returned
    if (depth_of(scope) > depth_of(place)) place = scope;
  };
  note(callee.scope);
  for (const Value& argument : arguments) note(argument.scope);
  return place;
}

std::string Translator::lambda_text(Instance& instance) {
  std::string parameters, type = "void", text;
  for (Value& argument : instance.arguments)
    for (const Value* part : passed_parts(argument))
      parameters += (parameters.empty() ? "const " : ", const ") + stored_type(*part) + " " + part->code;
  std::string members;
  std::size_t count = 0;
  for (std::size_t k = 0; k < instance.results.size(); ++k) {
    if (is_known(instance.results[k].value)) continue;
    type = stored_type(instance.results[k].value);
    members += " " + type + " " + result_name(k) + ";";
    ++count;
  }
  if (count > 1) {
    type = instance.name + "_results";
    text = "  struct " + type + " {" + members + " };\n";
  }
  return text + "  const auto " + instance.name + " = [&](" + parameters + ") -> " + type + " {\n" +
         instance.declarations + instance.lambdas + instance.body + "  };\n";
}

/// The function being translated has an effect, so a call of it stays in the text even if its result is known.
void Translator::note_effect() {
  ++effects_;
  if (!std::exchange(current_->has_effects, true)) changed_ = true;
}

}  // namespace gpulua::luafn
