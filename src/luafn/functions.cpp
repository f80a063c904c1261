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

bool same_type(const Value& a, const Value& b) {
  return a.kind == b.kind && a.dtype == b.dtype;
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

std::string result_name(std::size_t index) {
  return "result" + std::to_string(index + 1);
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

Translator::Translator(const TranslationRequest& request) : request_(request) {
  for (const HostValue& value : request.values)
    if (value.kind == HostValue::Kind::array && (value.dtype == DType::float64 || value.dtype == DType::complex128))
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
    arguments.push_back(strong_value(value.dtype, parameter(element, "a" + std::to_string(i), name)));
  }
  root_ = &instance_of(callee, arguments);
  do {
    if (round_ == 100) refuse(function.line, "the types of this function's variables depend on each other without end");
    begin_round();
    translate_body(*root_);
  } while (changed_);

  if (!request_.kernel && (root_->returns == 0 || root_->results.empty()))
    refuse(function.last_line, "the function returns nothing; its results are what it returns for each element");
  Code code;
  for (const Variable& result : root_->results)
    code.results.push_back(result.value.kind == Value::Kind::integer ? DType::int64 : result.value.dtype);
  code.parameters = parameters_;
  for (Parameter& parameter : code.parameters)
    parameter.written = parameter.kind == Parameter::Kind::array && written_.contains(parameter.index);
  code.uniforms = uniforms_;
  code.constants = constants_;
  code.body = root_->declarations + root_->lambdas + root_->body;
  check_nesting(code.body);
  return code;
}

/// Names and parameters are those of the last round alone.
void Translator::begin_round() {
  changed_ = false;
  ++round_;
  temporaries_ = 0;
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

std::vector<Value> Translator::results_of(Instance& instance, const std::string& call) {
  std::size_t count = 0;
  for (const Variable& result : instance.results) count += is_known(result.value) ? 0 : 1;
  std::vector<Value> results;
  for (std::size_t k = 0; k < instance.results.size(); ++k) {
    Value value = instance.results[k].value;
    if (!is_known(value)) value.code = count > 1 ? call + "." + result_name(k) : call;
    results.push_back(std::move(value));
  }
  called_ = call;
  return results;
}

/// The function being translated has an effect, so a call of it stays in the text even if its result is known.
void Translator::note_effect() {
  ++effects_;
  if (!std::exchange(current_->has_effects, true)) changed_ = true;
}

void Translator::return_values(const Stat& stat) {
  Instance& instance = *current_;
  const std::vector<Value> given = values(stat.right);
  if (request_.kernel && &instance == root_ && !given.empty())
    refuse(stat.line, "a kernel returns nothing; it writes its results to an array, out[i] = ...");
  ++instance.returns;
  if (instance.returns > 1 && given.size() != instance.results.size())
    refuse(stat.line, "expected as many results as another return of the function has, " +
                          std::to_string(instance.results.size()) + ", got " + std::to_string(given.size()));
  instance.results.resize(given.size());
  std::string returned;
  std::size_t count = 0;
  const bool converts = &instance == root_ && !request_.results.empty();
  if (converts && given.size() != request_.results.size())
    refuse(stat.line, "expected a result for each of the " + std::to_string(request_.results.size()) +
                          " outputs, got " + std::to_string(given.size()));
  for (std::size_t k = 0; k < given.size(); ++k) {
    Variable& result = instance.results[k];
    if (given[k].kind == Value::Kind::none || given[k].kind == Value::Kind::nil)
      refuse(stat.line, "result " + std::to_string(k + 1) + " is nil; a device has numbers and booleans");
    Value type;
    try {
      const bool alone = result.assigned.empty() || (result.assigned.size() == 1 && result.assigned[0].site == &stat);
      if (converts) {
        type = strong_value(request_.results[k], {});
      } else if (alone && &instance != root_ && !instance.has_effects && is_known(given[k])) {
        result.assigned = {{&stat, given[k], stat.line}};
        type = given[k];
      } else {
        type = result.assign(&stat, given[k], stat.line, real_);
      }
    } catch (const Error& error) {
      refuse(stat.line, "result " + std::to_string(k + 1) + ": " + error.what());
    }
    if (!same_type(type, result.value) || is_known(type) != is_known(result.value)) changed_ = true;
    result.value = type;
    if (is_known(type)) continue;
    const DType dtype = type.kind == Value::Kind::integer ? DType::int64 : type.dtype;
    const std::string text = as(given[k], dtype, stat.line);
    if (&instance == root_)
      emit(result_name(k) + " = " + text + ";");
    else
      returned += (count++ == 0 ? "" : ", ") + text;
  }
  emit(count == 0 ? "return;" : count > 1 ? "return {" + returned + "};" : "return " + returned + ";");
}

Value Translator::host_value(const HostValue& value, std::size_t index, const std::string& name, int line) {
  Value result;
  result.name = name;
  switch (value.kind) {
    case HostValue::Kind::number:
      if (request_.constants || constants_.contains(index)) return uniform_value(uniforms_->constant(scalar_of(value)));
      [[fallthrough]];
    case HostValue::Kind::boolean:
      return uniform_value(uniforms_->value(value, index, name));
    case HostValue::Kind::builtin:
      result.kind = Value::Kind::builtin;
      result.name = value.name;
      return result;
    case HostValue::Kind::function:
      result.kind = Value::Kind::function;
      result.function = value.function->function;
      result.closure = value.function.get();
      return result;
    case HostValue::Kind::array:
      result.kind = Value::Kind::array;
      result.dtype = value.dtype;
      result.array = index;
      return value.shape.empty() ? element(result, line) : result;  // without axes it is a number
    case HostValue::Kind::table:
      result.kind = Value::Kind::table;
      result.array = index;
      return result;
    case HostValue::Kind::text:
      result.kind = Value::Kind::string;
      result.name = value.name;
      return result;
    case HostValue::Kind::nil:
      refuse(line, name + " is nil");
    case HostValue::Kind::other:
      break;
  }
  refuse(line, name + " is " + value.name +
                   "; a device takes numbers, booleans, arrays, tables of up to 64 numbers, Lua functions, and the "
                   "functions of gpu, math and bit");
}

Value Translator::captured(const Path& path, int line) {
  const Closure& closure = *current_->closure;
  const auto& free = closure.function->free;
  const auto found = std::find(free.begin(), free.end(), path);
  const std::size_t index = closure.first + static_cast<std::size_t>(found - free.begin());
  const HostValue& value = request_.values[index];
  std::string name = path.root;
  for (std::size_t i = 0; i < value.fields; ++i) name += "." + path.fields[i];
  if (value.kind == HostValue::Kind::nil && value.fields < path.fields.size())
    refuse(line, name + " is nil, and " + path.fields[value.fields] + " a field of it");
  const bool is_library = !path.local && (path.root == "math" || path.root == "bit");
  if (value.kind == HostValue::Kind::nil && is_library) refuse_name(name, line);
  Value result = host_value(value, index, name, line);
  for (std::size_t i = value.fields; i < path.fields.size(); ++i) result = field(result, path.fields[i], line);
  return result;
}

}  // namespace gpulua::luafn
