#include "src/core/user_operation.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "src/core/error.h"
#include "src/core/evaluate.h"
#include "src/core/promotion.h"
#include "src/core/user_function.h"
#include "src/device/cache.h"

namespace gpulua {

/// An elementwise operation for given types: the code, and a row for each output.
struct UserOp {
  std::string name;
  UserFunction function;
  std::vector<std::string> expressions;  // "x.r0", "x.r1", ...
  std::vector<OpInfo> outputs;
};

/// A reduction for given types: the code, and its row.
struct UserReducer {
  std::string name, accumulator;
  UserFunction function;
  Reducer row;
};

namespace {

using Letters = std::map<char, DType>;

std::string bracketed(const std::string& name) {
  return "[" + name + "] ";
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

// ---- the grammar of parameters
// ------------------------------------------------------------------------------------------

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !std::isspace(static_cast<unsigned char>(text[end]))) ++end;
    if (end > at) result.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_word);
}

/// True when the identifier `word` occurs in the text.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

UserParameter parse_parameter(std::string_view text, const std::string& where) {
  const std::vector<std::string> parts = words(text);
  UserParameter parameter;
  parameter.raw = parts.size() == 3 && parts[0] == "raw";
  if (parts.size() != (parameter.raw ? 3u : 2u) || !is_identifier(parts.back()))
    throw Error(where + ": expected parameters as in \"float32 x, T y, raw T z\", got " + in_quotes(text));
  parameter.name = parts.back();
  if (parameter.name == "i" || parameter.name == "n" || parameter.name[0] == '_')
    throw Error(where + ": " + in_quotes(parameter.name) +
                " is no name for a parameter: i, n and names that begin with _ have a meaning of their own");
  const std::string& type = parts[parts.size() - 2];
  if (type.size() == 1 && std::isalpha(static_cast<unsigned char>(type[0])))
    parameter.letter = type[0];
  else if (const auto dtype = find_dtype(type))
    parameter.dtype = dtype;
  else
    throw Error(where + ": expected a dtype's name or one letter for the type of " + parameter.name + ", got " +
                in_quotes(type));
  return parameter;
}

DType dtype_of(const UserParameter& parameter, const Letters& letters) {
  return parameter.letter == 0 ? *parameter.dtype : letters.at(parameter.letter);
}

// ---- the text
// ----------------------------------------------------------------------------------------------------------

/// A number's type as a body sees it: 16-bit floating types are float there.
std::string type_name(DType dtype) {
  if (dtype == DType::float16 || dtype == DType::bfloat16) return "float";
  return std::string(info(dtype).device);
}

std::string line_directive(const UserText& text) {
  return "\n#line " + std::to_string(text.line) + " \"" + text.file + "\"\n";
}

// Ends text of the script's: a comment at its end, and its lines.
constexpr std::string_view end_of_text = "\n#line 1 \"gpulua\"\n";

std::string placed(const UserText& text) {
  return text.text.empty() ? "" : line_directive(text) + text.text + std::string(end_of_text);
}

/// Moves the lines of `preamble` that include files to `includes`: they would put those files into the namespace.
std::string split_includes(UserText preamble, std::string& includes) {
  std::string rest;
  for (std::size_t at = 0; at < preamble.text.size();) {
    const std::size_t end = std::min(preamble.text.find('\n', at), preamble.text.size());
    const std::string line = preamble.text.substr(at, end - at);
    const std::size_t mark = line.find_first_not_of(" \t");
    const bool is_include = mark != line.npos && line[mark] == '#' && has_word(line, "include");
    if (is_include)
      includes += line + "\n";
    else
      rest += line;
    rest += '\n';
    at = end + 1;
  }
  preamble.text = std::move(rest);
  return placed(preamble);
}

/// A namespace of its own around the preamble and `text`.
UserFunction make_function(const UserText& preamble, const std::string& text) {
  UserFunction function;
  std::string content = preamble.text.empty() ? "" : split_includes(preamble, function.includes);
  content += text;
  function.id = "gpulua_user_" + CacheKey().add(function.includes).add(content).digest();
  function.text = "namespace " + function.id + " {\n" + content + "}  // namespace " + function.id + "\n\n";
  return function;
}

/// The numbers that a body may ask for beside its parameters, by the names it does so.
struct Sizes {
  std::string_view name;
  std::int64_t value;
};

std::string raw_type(DType dtype) {
  return "gpulua_raw<" + std::string(info(dtype).device) + ">";
}

/// `using T = float;` for each letter, and the type that is reduced in.
std::string type_names(const Letters& letters, const std::optional<UserParameter>& reduce_type) {
  std::string text;
  for (const auto& [letter, dtype] : letters)
    text += "using " + std::string(1, letter) + " = " + type_name(dtype) + ";\n";
  if (reduce_type) text += "using _type_reduce = " + type_name(dtype_of(*reduce_type, letters)) + ";\n";
  return text;
}

/// `text` as it stands in a function's body.
std::string statements(const UserElementwise& parts) {
  if (!parts.is_expression) return placed(parts.body) + ";\n";
  return parts.outputs.front().name + " = (" + placed(parts.body) + ");\n";
}

/// The operation for these types. Its inputs are the parameters, the `sizes`, and where the body asks for it its
/// position.
std::shared_ptr<const UserOp> make_operation(const UserElementwise& parts, const Letters& letters,
                                             const std::vector<Sizes>& sizes) {
  const bool position = has_word(parts.body.text, "i");
  std::string declared, passed, results;
  const auto add = [&](const std::string& type, const std::string& name) {
    declared += (declared.empty() ? "" : ", ") + type + " " + name;
    passed += (passed.empty() ? "" : ", ") + name;
  };
  std::uint64_t raw = 0;
  for (std::size_t i = 0; i < parts.inputs.size(); ++i) {
    const UserParameter& input = parts.inputs[i];
    const DType dtype = dtype_of(input, letters);
    raw |= std::uint64_t{input.raw} << i;
    add("const " + (input.raw ? raw_type(dtype) : type_name(dtype)), input.name);
  }
  for (const Sizes& size : sizes)
    add(size.name == "n" ? "const long long" : "const gpulua_item_count", std::string(size.name));
  if (position) add("const long long", "i");

  std::string body_parameters = declared, body_arguments = passed;
  for (std::size_t k = 0; k < parts.outputs.size(); ++k) {
    const std::string type = type_name(dtype_of(parts.outputs[k], letters)), number = std::to_string(k);
    results += "  " + type + " r" + number + ";\n";
    body_parameters += (body_parameters.empty() ? "" : ", ") + type + "& " + parts.outputs[k].name;
    body_arguments += (body_arguments.empty() ? "" : ", ") + ("_results.r" + number);
  }
  std::string text = "struct results {\n" + results + "};\n";
  text += "__device__ inline void body(" + body_parameters + ") {\n" + statements(parts) + "}\n";
  text += "__device__ inline results call(" + declared + ") {\n  results _results{};\n  body(" + body_arguments +
          ");\n  return _results;\n}\n";

  auto operation = std::make_shared<UserOp>();
  operation->name = parts.name;
  operation->function = make_function(parts.preamble, type_names(letters, parts.reduce_type) + text);
  operation->function.raw = raw;
  for (std::size_t k = 0; k < parts.outputs.size(); ++k) operation->expressions.push_back("x.r" + std::to_string(k));
  for (const std::string& expression : operation->expressions) {
    OpInfo row{operation->name, static_cast<int>(parts.inputs.size()), DTypeRule::numeric, expression};
    row.position = position;
    row.function = &operation->function;
    operation->outputs.push_back(row);
  }
  return operation;
}

// ---- calls
// -------------------------------------------------------------------------------------------------------------

/// What the arguments of a call settle.
struct Bound {
  std::shared_ptr<OpenDevice> device;
  Letters letters;
  Dims shape;
};

class Binder {
 public:
  Binder(const std::string& name, const std::vector<UserParameter>& inputs, const std::vector<Operand>& arguments,
         const UserCall& call)
      : name_(name), inputs_(inputs), arguments_(arguments), call_(call) {}

  Bound bind(const std::vector<UserParameter>& outputs) {
    bound_.letters = call_.letters;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (const auto* array = std::get_if<Array>(&arguments_[i])) bind_array(inputs_[i], **array);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (const auto* number = std::get_if<Scalar>(&arguments_[i])) bind_number(inputs_[i], *number);
    bound_.letters.insert(of_numbers_.begin(), of_numbers_.end());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      bind_output(outputs[k], call_.out.empty() ? nullptr : call_.out[k].get());
    if (!bound_.device) bound_.device = call_.device;
    bound_.shape = shape();
    return std::move(bound_);
  }

 private:
  [[noreturn]] void refuse(const UserParameter& parameter, const std::string& expected, const std::string& got) const {
    throw Error(bracketed(name_) + parameter.name + ": expected " + expected + ", got " + got);
  }

  void bind_device(const UserParameter& parameter, const Node& array) {
    if (!bound_.device) bound_.device = array.device_ref();
    if (bound_.device.get() != &array.device())
      refuse(parameter, "an array on " + bound_.device->name(), array.device().name() + "; x:to(name) copies one over");
  }

  void bind_array(const UserParameter& parameter, const Node& array) {
    bind_device(parameter, array);
    const auto wrong = [&](DType wanted, const std::string& why) {
      const std::string dtype(gpulua::name(wanted));
      refuse(parameter, dtype + why, "an array " + type_text(array) + "; x:astype(\"" + dtype + "\") converts it");
    };
    if (parameter.letter == 0) {
      if (array.dtype != *parameter.dtype) wrong(*parameter.dtype, "");
      return;
    }
    const auto [entry, is_new] = bound_.letters.try_emplace(parameter.letter, array.dtype);
    if (!is_new && entry->second != array.dtype)
      wrong(entry->second, ", which " + std::string(1, parameter.letter) + " is by an earlier array");
  }

  /// A letter that no array binds: numbers do.
  void bind_number(const UserParameter& parameter, const Scalar& number) {
    if (parameter.raw) refuse(parameter, "an array, as it is raw", to_string(number));
    if (parameter.letter == 0 || bound_.letters.count(parameter.letter) != 0) return;
    const auto [entry, is_new] = of_numbers_.try_emplace(parameter.letter, default_dtype(number));
    if (!is_new) entry->second = promote(entry->second, default_dtype(number));
  }

  void bind_output(const UserParameter& parameter, const Node* out) {
    if (out) bind_device(parameter, *out);
    if (parameter.letter == 0 || bound_.letters.count(parameter.letter) != 0) return;
    if (!out)
      throw Error(bracketed(name_) + parameter.name + ": " + std::string(1, parameter.letter) +
                  " is no input's type; {out = array} settles it");
    bound_.letters[parameter.letter] = out->dtype;
  }

  Dims shape() const {
    boost::container::small_vector<const Dims*, 4> shapes;
    bool has_elements = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      has_elements = has_elements || !inputs_[i].raw;
      const auto* array = std::get_if<Array>(&arguments_[i]);
      if (array && !inputs_[i].raw) shapes.push_back(&(*array)->layout.shape);
    }
    if (!shapes.empty() && call_.size)
      throw Error(bracketed(name_) + "the option size is for calls whose arrays are all raw");
    if (!shapes.empty()) return broadcast_shapes(name_, {shapes.data(), shapes.size()});
    if (!call_.out.empty()) return call_.out.front()->layout.shape;
    if (call_.size) return {*call_.size};
    if (!has_elements)
      throw Error(bracketed(name_) + "all inputs are raw: {size = n} or {out = array} says how many results there are");
    return {};
  }

  const std::string& name_;
  const std::vector<UserParameter>& inputs_;
  const std::vector<Operand>& arguments_;
  const UserCall& call_;
  Bound bound_;
  Letters of_numbers_;
};

/// The inputs of pending nodes: arrays, and numbers as their parameters' types.
boost::container::small_vector<Array, 3> make_inputs(const std::string& name,
                                                     const std::vector<UserParameter>& parameters,
                                                     const std::vector<Operand>& arguments, const Bound& bound) {
  boost::container::small_vector<Array, 3> inputs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (const auto* number = std::get_if<Scalar>(&arguments[i])) {
      try {
        inputs.push_back(constant(bound.device, {}, dtype_of(parameters[i], bound.letters), *number));
      } catch (const Error& error) {
        throw Error(bracketed(name) + parameters[i].name + ": " + error.what());
      }
      continue;
    }
    const Array& array = std::get<Array>(arguments[i]);
    // The body may ask for any element: they are in memory, one after the other.
    inputs.push_back(parameters[i].raw ? contiguous(array) : array);
    if (parameters[i].raw) inputs.back()->buffer();
  }
  return inputs;
}

std::vector<Array> make_outputs(const std::shared_ptr<const UserOp>& operation,
                                const std::vector<UserParameter>& parameters, const Bound& bound,
                                boost::container::small_vector<Array, 3> inputs, const std::vector<Sizes>& sizes) {
  for (const Sizes& size : sizes) inputs.push_back(constant(bound.device, {}, DType::int64, size.value));
  std::vector<Array> outputs;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Pending pending;
    pending.op = {operation, &operation->outputs[k]};
    pending.compute = dtype_of(parameters[k], bound.letters);
    pending.inputs = inputs;
    const DType dtype = pending.compute;
    outputs.push_back(pending_node(bound.device, dtype, bound.shape, std::move(pending)));
  }
  return outputs;
}

/// The sizes that the text asks for.
std::vector<Sizes> sizes_in(const UserText& body, std::initializer_list<Sizes> sizes) {
  std::vector<Sizes> found;
  for (const Sizes& size : sizes)
    if (has_word(body.text, size.name)) found.push_back(size);
  return found;
}

/// The reduction for these types.
std::shared_ptr<const UserReducer> make_reducer(const UserReduction& parts, const Letters& letters) {
  const bool has_identity = parts.identity.has_value();
  // Without an identity, an accumulator is empty at first.
  const std::string members = has_identity ? "  _type_reduce total;\n" : "  _type_reduce total;\n  int filled;\n";
  const std::string first = has_identity ? "{_type_reduce(" + placed(*parts.identity) + ")}" : "{_type_reduce(), 0}";
  const std::string add = has_identity ? "total = combine(total, x);" : "merge({x, 1});";
  const std::string merge = has_identity ? "total = combine(total, other.total);"
                                         : "if (!other.filled) return;\n    total = filled ? combine(total, "
                                           "other.total) : other.total;\n    filled = 1;";
  const std::string text =
      "__device__ inline _type_reduce combine(const _type_reduce a, const _type_reduce b) {\n  return (" +
      placed(parts.reduce) +
      ");\n}\n"
      "template <class>\nstruct accumulator {\n" +
      members + "  __device__ static accumulator identity() { return " + first +
      "; }\n"
      "  __device__ void add(const _type_reduce x, long long) { " +
      add +
      " }\n"
      "  __device__ void merge(const accumulator& other) {\n    " +
      merge +
      "\n  }\n"
      "  __device__ _type_reduce result() const { return total; }\n};\n";
  auto reducer = std::make_shared<UserReducer>();
  reducer->name = parts.map.name;
  reducer->function = make_function(parts.map.preamble, type_names(letters, parts.map.reduce_type) + text);
  reducer->accumulator = reducer->function.id + "::accumulator";
  reducer->row = {reducer->name, reducer->accumulator, has_identity, false, &reducer->function};
  return reducer;
}

}  // namespace

std::vector<UserParameter> parse_parameters(std::string_view text, const std::string& where) {
  std::vector<UserParameter> parameters;
  if (words(text).empty()) return parameters;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parameters.push_back(parse_parameter(text.substr(at, end - at), where));
    at = end + 1;
  }
  return parameters;
}

std::string to_string(const std::vector<UserParameter>& parameters) {
  std::string text;
  for (const UserParameter& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + std::string(parameter.raw ? "raw " : "");
    text += parameter.letter ? std::string(1, parameter.letter) : std::string(name(*parameter.dtype));
    text += " " + parameter.name;
  }
  return text;
}

Letters UserElementwise::bind(const std::vector<Operand>& arguments, const UserCall& call) const {
  return Binder(name, inputs, arguments, call).bind(outputs).letters;
}

std::vector<Array> UserElementwise::operator()(std::vector<Operand> arguments, const UserCall& call) const {
  const Bound bound = Binder(name, inputs, arguments, call).bind(outputs);
  const std::int64_t count = checked_size(bound.shape);
  const std::vector<Sizes> sizes =
      sizes_in(body, {{"n", count}, {"_ind", count}, {"_in_ind", call.reduced}, {"_out_ind", count}});
  std::shared_ptr<const UserOp>& operation = made[bound.letters];
  if (!operation) operation = make_operation(*this, bound.letters, sizes);
  auto nodes = make_outputs(operation, outputs, bound, make_inputs(name, inputs, arguments, bound), sizes);
  arguments.clear();
  if (call.out.empty()) return nodes;
  for (std::size_t k = 0; k < nodes.size(); ++k) assign(call.out[k], std::move(nodes[k]), name.c_str());
  return call.out;
}

Array UserReduction::mapped(std::vector<Operand> arguments, UserCall& call) const {
  const UserParameter& output = post.outputs.front();
  const bool is_bound = std::any_of(map.inputs.begin(), map.inputs.end(),
                                    [&](const UserParameter& input) { return input.letter == output.letter; });
  if (output.letter != 0 && !is_bound && !call.out.empty()) call.letters[output.letter] = call.out.front()->dtype;
  UserCall inner = call;
  inner.out.clear();
  call.letters = map.bind(arguments, inner);
  return map(std::move(arguments), inner).front();
}

Array UserReduction::operator()(Array mapped, std::uint64_t axes, bool keepdims, UserCall call) const {
  std::shared_ptr<const UserReducer>& made_reducer = made[call.letters];
  if (!made_reducer) made_reducer = make_reducer(*this, call.letters);
  const DType result = mapped->dtype;
  const DType compute = result == DType::float16 || result == DType::bfloat16 ? DType::float32 : result;
  call.reduced = mapped->layout.size();
  Array total = gpulua::reduce(std::shared_ptr<const Reducer>(made_reducer, &made_reducer->row), mapped, axes, keepdims,
                               {compute, result});
  mapped.reset();
  if (!post.body.text.empty()) return post({std::move(total)}, call).front();
  total = cast(total, dtype_of(post.outputs.front(), call.letters));
  if (call.out.empty()) return total;
  assign(call.out.front(), std::move(total), map.name.c_str());
  return call.out.front();
}

}  // namespace gpulua
