#include "src/user/user_operation.h"
#include "src/expressions/transfer.h"

#include <algorithm>

#include "src/array/evaluator.h"
#include "src/base/error.h"
#include "src/ops/user_function.h"

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

// ---- the text
// ----------------------------------------------------------------------------------------------------------

/// A number that a body can use by `name`, in addition to its parameters.
struct Sizes {
  std::string_view name;
  std::int64_t value;
};

std::string raw_type(DType dtype) {
  return "gpulua_raw<" + std::string(info(dtype).device) + ">";
}

/// The statements of the body; an expression is assigned to the output.
std::string statements(const UserElementwise& parts) {
  if (!parts.is_expression) return placed(parts.body) + ";\n";
  return parts.outputs.front().name + " = (" + placed(parts.body) + ");\n";
}

/// Generates the operation for these types. Its inputs are the parameters, the `sizes`, and the element's position if
/// the body uses it.
std::shared_ptr<const UserOp> make_operation(const UserElementwise& parts, const TypeVariables& type_variables,
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
    const DType dtype = dtype_of(input, type_variables);
    raw |= std::uint64_t{input.raw} << i;
    add("const " + (input.raw ? raw_type(dtype) : type_name(dtype)), input.name);
  }
  for (const Sizes& size : sizes)
    add(size.name == "n" ? "const long long" : "const gpulua_item_count", std::string(size.name));
  if (position) add("const long long", "i");

  std::string body_parameters = declared, body_arguments = passed;
  for (std::size_t k = 0; k < parts.outputs.size(); ++k) {
    const std::string type = type_name(dtype_of(parts.outputs[k], type_variables)), number = std::to_string(k);
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
  operation->function = make_function(parts.preamble, type_names(type_variables, parts.reduce_type) + text);
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

/// The inputs of the pending nodes: the arrays, and the numbers converted to the types of their parameters.
boost::container::small_vector<Array, 3> make_inputs(const std::string& name,
                                                     const std::vector<UserParameter>& parameters,
                                                     const std::vector<Operand>& arguments, const Bound& bound) {
  boost::container::small_vector<Array, 3> inputs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Array array = operand_array(name, parameters[i], arguments[i], bound);
    // The body can read any element of a raw array, so the array is contiguous and evaluated.
    inputs.push_back(parameters[i].raw ? contiguous(array) : array);
    if (parameters[i].raw) inputs.back()->buffer();
  }
  return inputs;
}

std::vector<Array> make_outputs(const std::shared_ptr<const UserOp>& operation,
                                const std::vector<UserParameter>& parameters, const Bound& bound,
                                boost::container::small_vector<Array, 3> inputs, const std::vector<Sizes>& sizes) {
  for (const Sizes& size : sizes) inputs.push_back(constant(*bound.device, {}, DType::int64, size.value));
  std::vector<Array> outputs;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Pending pending;
    pending.op = {operation, &operation->outputs[k]};
    pending.compute = dtype_of(parameters[k], bound.type_variables);
    pending.inputs = inputs;
    const DType dtype = pending.compute;
    outputs.push_back(pending_node(*bound.device, dtype, Dims(bound.shape), std::move(pending)));
  }
  return outputs;
}

/// Those of `sizes` that the text uses.
std::vector<Sizes> sizes_in(const UserText& body, std::initializer_list<Sizes> sizes) {
  std::vector<Sizes> found;
  for (const Sizes& size : sizes)
    if (has_word(body.text, size.name)) found.push_back(size);
  return found;
}

/// Generates the reduction for these types.
std::shared_ptr<const UserReducer> make_reducer(const UserReduction& parts, const TypeVariables& type_variables) {
  const bool has_identity = parts.identity.has_value();
  // Without an identity, an accumulator starts empty.
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
  reducer->function = make_function(parts.map.preamble, type_names(type_variables, parts.map.reduce_type) + text);
  reducer->accumulator = reducer->function.id + "::accumulator";
  reducer->row = {.name = reducer->name,
                  .accumulator = reducer->accumulator,
                  .has_identity = has_identity,
                  .complex = true,
                  .function = &reducer->function};
  return reducer;
}

}  // namespace

TypeVariables UserElementwise::bind(const std::vector<Operand>& arguments, const UserCall& call) const {
  return bind_arguments(name, inputs, outputs, arguments, call).type_variables;
}

std::vector<Array> UserElementwise::operator()(std::vector<Operand> arguments, const UserCall& call) const {
  const Bound bound = bind_arguments(name, inputs, outputs, arguments, call);
  const std::int64_t count = checked_size(bound.shape);
  const std::vector<Sizes> sizes =
      sizes_in(body, {{"n", count}, {"_ind", count}, {"_in_ind", call.reduced}, {"_out_ind", count}});
  std::shared_ptr<const UserOp>& operation = made[bound.type_variables];
  if (!operation) operation = make_operation(*this, bound.type_variables, sizes);
  auto nodes = make_outputs(operation, outputs, bound, make_inputs(name, inputs, arguments, bound), sizes);
  arguments.clear();
  if (call.out.empty()) return nodes;
  for (std::size_t k = 0; k < nodes.size(); ++k) assign(call.out[k], std::move(nodes[k]), name.c_str());
  return call.out;
}

void UserReduction::bind(const std::vector<Operand>& arguments, UserCall& call) const {
  const UserParameter& output = post.outputs.front();
  const bool is_bound = std::any_of(map.inputs.begin(), map.inputs.end(), [&](const UserParameter& input) {
    return input.type_variable == output.type_variable;
  });
  if (output.type_variable != 0 && !is_bound && !call.out.empty())
    call.type_variables[output.type_variable] = call.out.front()->dtype;
  UserCall inner = call;
  inner.out.clear();
  call.type_variables = map.bind(arguments, inner);
}

Array UserReduction::mapped(std::vector<Operand> arguments, UserCall& call) const {
  bind(arguments, call);
  UserCall inner = call;
  inner.out.clear();
  return map(std::move(arguments), inner).front();
}

Array UserReduction::combined(Array mapped, std::uint64_t axes, bool keepdims, UserCall& call) const {
  std::shared_ptr<const UserReducer>& made_reducer = made[call.type_variables];
  if (!made_reducer) made_reducer = make_reducer(*this, call.type_variables);
  const DType result = mapped->dtype;
  const DType compute = result == DType::float16 || result == DType::bfloat16 ? DType::float32 : result;
  call.reduced = mapped->layout.size();
  return gpulua::reduce(std::shared_ptr<const Reducer>(made_reducer, &made_reducer->row), std::move(mapped), axes,
                        keepdims, {compute, result});
}

Array UserReduction::finished(Array total, const UserCall& call) const {
  if (!post.body.text.empty()) return post({std::move(total)}, call).front();
  total = cast(total, dtype_of(post.outputs.front(), call.type_variables));
  if (call.out.empty()) return total;
  assign(call.out.front(), std::move(total), map.name.c_str());
  return call.out.front();
}

}  // namespace gpulua
