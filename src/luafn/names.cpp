// Names: those of C++ for Lua's, parameters, captured values, and the places of messages.

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "src/base/error.h"
#include "src/luafn/translator.h"

namespace gpulua::luafn {

namespace {

/// For a message about a nil: what a function for the device has for this name of Lua's libraries, C++, CUDA or Numba.
/// `name` is that of a variable, or of one and its fields.
std::string about_nil(std::string_view name) {
  const std::string_view root = name.substr(0, name.find('.'));
  if (root == "threadIdx" || root == "blockIdx" || root == "blockDim" || root == "gridDim" || root == "cuda")
    return "; in a function of gpu.jit, gpu.grid() is the thread's position, gpu.thread() that in its block, "
           "gpu.block_index() and gpu.block_size() tell of the block; they count from 1";
  const std::string_view plain = root.starts_with("__") ? root.substr(2) : root;
  if (const std::string_view here = name_of_cuda(plain); !here.empty())
    return "; " + std::string(here) + " is for it, in a function of gpu.jit";
  const std::string function = function_called(name);
  return function.empty() ? "" : "; use " + function;
}

/// For a message about an object that a device does not take: what to pass in place of it.
std::string about_object(std::string_view object) {
  if (object == "a table")
    return "; of a table with names pass the values, as in k(p.a, p.b), of a list of numbers gpu.array(t)";
  if (object == "a table of columns") return "; pass its columns, as in f(t.a, t.b)";
  if (object == "a column of text")
    return "; x:copy() gives the positions of its texts in t:texts(name), which are numbers";
  if (object.starts_with("a column of ")) return "; x:number(unit) gives numbers";
  return {};
}

}  // namespace

std::string Translator::place_of(int line) const {
  const std::string& file = (current_ ? current_->closure : request_.function.get())->file;
  return "[" + request_.op + "] " + file + ":" + std::to_string(line) + ": ";
}

/// Refuses a text whose brackets are deeper than C++ compilers take.
void Translator::check_nesting(std::string_view text) const {
  constexpr int most = 250;
  int depth = 0, line = 0;
  bool quoted = false, at_line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (at_line_start && text.substr(i).starts_with("#line ")) line = std::atoi(text.data() + i + 6);
    at_line_start = c == '\n';
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth > most)
      refuse(line,
             "operations, or branches of an if, are nested more than a C++ compiler takes; assign parts of the "
             "expression to locals");
  }
}

void Translator::refuse(int line, const std::string& message) const {
  throw Error("{}{}", place_of(line), message);
}

std::string Translator::name_of(const Local& local) {
  std::string& name = names_[&local];
  if (!name.empty()) return name;
  const int use = ++uses_[local.name];
  name = local.name + "_" + (use > 1 ? std::to_string(use) : "");
  return name;
}

/// The arrays that a kernel gets as arguments are its first parameters, in their order.
void Translator::declare_arrays() {
  parameter_of_key_.clear();
  for (std::size_t i = 0; request_.kernel && i < request_.function->function->parameters.size(); ++i) {
    const HostValue& value = request_.values[i];
    if (value.kind != HostValue::Kind::array) continue;
    const Parameter array{Parameter::Kind::array, value.dtype, {}, i};
    parameter(array, "r" + std::to_string(i), request_.function->function->parameters[i]->name);
  }
}

const std::string& Translator::parameter(Parameter parameter, const std::string& key, const std::string& base) {
  const auto [entry, is_new] = parameter_of_key_.try_emplace(key, parameters_.size());
  if (is_new) {
    std::string name;  // of a variable: without dots and operators
    for (const char c : base) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    parameter.name = name + "_p" + std::to_string(entry->second + 1);
    parameters_.push_back(std::move(parameter));
  }
  return parameters_[entry->second].name;
}

std::string Translator::uniform_name(const Uniform& uniform, DType dtype, int line) {
  const std::string key =
      "u" + std::to_string(reinterpret_cast<std::uintptr_t>(&uniform)) + "," + std::to_string(static_cast<int>(dtype));
  const bool is_variable = uniform.kind != Uniform::Kind::operation;
  return parameter({Parameter::Kind::uniform, dtype, {}, 0, &uniform, false, place_of(line)}, key,
                   is_variable ? uniform.name : "number");
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
      result.derivatives = value.derivatives;
      return result;
    case HostValue::Kind::array:
      result.kind = Value::Kind::array;
      result.dtype = value.dtype;
      result.array = index;
      if (!value.shape.empty()) return result;
      result = element(result, line);  // without axes it is a number
      if (value.weak) result.kind = Value::Kind::real;
      return result;
    case HostValue::Kind::table:
      result.kind = Value::Kind::table;
      result.array = index;
      return result;
    case HostValue::Kind::text:
      result.kind = Value::Kind::string;
      result.name = value.name;
      return result;
    case HostValue::Kind::nil:
      refuse(line, name + " is nil" + about_nil(name));
    case HostValue::Kind::other:
      break;
  }
  refuse(line, name + " is " + value.name +
                   "; a device takes numbers, booleans, arrays, tables of up to 64 numbers, Lua functions, and the "
                   "functions of gpu, math and bit" +
                   about_object(value.name));
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
    refuse(line, name + " is nil, and " + path.fields[value.fields] + " a field of it" +
                     about_nil(name + "." + path.fields.back()));
  const bool is_library = !path.local && (path.root == "math" || path.root == "bit");
  if (value.kind == HostValue::Kind::nil && is_library) refuse_name(name, line);
  Value result = host_value(value, index, name, line);
  for (std::size_t i = value.fields; i < path.fields.size(); ++i) result = field(result, path.fields[i], line);
  return result;
}

}  // namespace gpulua::luafn
