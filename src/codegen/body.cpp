#include "src/codegen/body.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "kernel_text.h"
#include "src/base/characters.h"
#include "src/ops/user_function.h"

namespace gpulua {

using namespace std::string_view_literals;

namespace {

/// The values of the type variables R and T and of the operand names in a row's text.
TextNames names_in_row(const ValueSpec& value, const std::vector<ValueSpec>& values) {
  const OpInfo& op = *value.op;
  if (op.function) return {{"x", value_name(value.inputs.front())}};
  TextNames names{{"R", register_type(value.compute)}, {"T", element_type(value.compute)}};
  for (std::size_t i = 0; i < value.inputs.size(); ++i) {
    const std::size_t input = value.inputs[i];
    const bool is_position = op.position && i + 1 == value.inputs.size();
    DType wanted = operand_dtype(op, i, value.compute);
    if (op.rule == DTypeRule::random && (i < 2 || is_position)) wanted = values[input].dtype;
    names.emplace_back(is_position ? "i" : operand_letter(i),
                       converted(value_name(input), values[input].dtype, wanted));
  }
  return names;
}

/// Rounds the number `text` to the dtype of the value.
std::string rounded(const std::string& text, const ValueSpec& value) {
  return rounded(text, *value.op, value.compute, value.dtype);
}

std::string vectorised_name(std::size_t index) {
  return "s" + std::to_string(index);
}

constexpr std::string_view times = " * ";

/// The names of the library (gpulua_...) in the text.
std::set<std::string_view> names_in(std::string_view text) {
  constexpr std::string_view prefix = "gpulua_";
  std::set<std::string_view> names;
  for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) {
    const std::size_t first = at;
    while (at < text.size() && is_word(text[at])) ++at;
    names.insert(text.substr(first, at - first));
  }
  return names;
}

/// Device code for kernels. A kernel gets a header when its own text, or a later header, uses one of the header's
/// names.
struct Header {
  std::string_view text;
  std::set<std::string_view> own;   // names that no earlier header has
  std::set<std::string_view> used;  // all names in it
};

/// In the reverse of their order in a kernel's text.
const std::vector<Header>& all_headers() {
  static const std::vector<Header> headers = [] {
    std::vector<Header> made;
    std::set<std::string_view> known;
    for (const char* file : {"elements.cuh",     "arithmetic.cuh",    "functions.cuh",       "complex.cuh",
                             "indexing.cuh",     "rolls.cuh",         "reduce.cuh",          "rows.cuh",
                             "staged.cuh",       "compress.cuh",      "fast_path.cuh",       "indexed.cuh",
                             "philox.cuh",       "distributions.cuh", "permutation.cuh",     "lua_functions.cuh",
                             "lua_random.cuh",   "counts.cuh",        "duals.cuh",           "special.cuh",
                             "gamma_family.cuh", "tile.cuh",          "complex_elements.cuh"}) {
      Header header{kernel_text(file), {}, names_in(kernel_text(file))};
      std::set_difference(header.used.begin(), header.used.end(), known.begin(), known.end(),
                          std::inserter(header.own, header.own.end()));
      // Operators have no name: a text with complex numbers needs all of them.
      if (file == "complex.cuh"sv) header.own.insert({"gpulua_complex64", "gpulua_complex128"});
      known.insert(header.own.begin(), header.own.end());
      made.insert(made.begin(), std::move(header));
    }
    return made;
  }();
  return headers;
}

}  // namespace

std::string operand_name(std::size_t index) {
  return "in" + std::to_string(index);
}

std::string output_name(std::size_t index) {
  return "out" + std::to_string(index);
}

std::string value_name(std::size_t index) {
  return "v" + std::to_string(index);
}

std::string value_type(const ValueSpec& value, const KernelSpec& spec) {
  const bool is_number = value.kind == ValueSpec::Kind::operand ? spec.operands[value.operand].access != Access::raw
                                                                : value.kind != ValueSpec::Kind::call;
  return is_number ? register_type(value.dtype) : "auto";
}

std::string whole(const OperandSpec& operand, const std::string& name) {
  return operand.access == Access::raw ? name : loaded(name, operand.dtype);
}

std::string expression(const ValueSpec& value, const KernelSpec& spec) {
  if (value.kind == ValueSpec::Kind::call) {
    std::string arguments;
    for (std::size_t input : value.inputs) arguments += (arguments.empty() ? "" : ", ") + value_name(input);
    return value.op->function->id + "::call(" + arguments + ")";
  }
  std::string text(row_text(*value.op, value.compute));
  if (value.rounded) text = "gpulua_product(" + text.replace(text.find(times), times.size(), ", ") + ")";
  auto names = names_in_row(value, spec.values);
  if (divides_by_number(spec, value)) names.back().second = operand_name(spec.values[value.inputs[1]].operand);
  return rounded(substitute(text, names), value);
}

std::string fast_path_expression(const ValueSpec& value, const std::vector<ValueSpec>& values) {
  return rounded(substitute(value.op->fast_path, names_in_row(value, values)), value);
}

std::string vectorised(const KernelSpec& spec, std::size_t index, const std::string& position) {
  const ValueSpec& value = spec.values[index];
  std::string text = "const " + substitute(value.op->vectorised, names_in_row(value, spec.values)) + " " +
                     vectorised_name(index) + "(";
  for (std::size_t input : value.inputs) {
    const std::string operand = operand_name(spec.values[input].operand);
    if (input != value.inputs.back())
      text += operand + ", ";
    else
      text += "(long long)p_" + operand + " + (long long)" + position + ");\n";
  }
  return text;
}

std::string vectorised(const KernelSpec& spec, const std::string& position, const std::string& indent) {
  std::string text;
  for (std::size_t index = 0; index < spec.values.size(); ++index)
    if (is_vectorised(spec, spec.values[index])) text += indent + vectorised(spec, index, position);
  return text;
}

std::string vectorised_element(const ValueSpec& value, std::size_t index) {
  return rounded(vectorised_name(index) + ".at[k]", value);
}

std::string gathered(const ValueSpec& value, const std::string& step) {
  const std::string name = operand_name(value.operand);
  std::string text = "gpulua_gather(p_" + name + ", " + step + ", " + name + "_at";
  for (std::size_t index : value.inputs) text += ", " + value_name(index);
  return loaded(text + ")", value.dtype);
}

std::string scattered(const OutputSpec& output, std::size_t index, const std::string& step,
                      const std::string& element) {
  const std::string name = output_name(index);
  const std::string function = output.adds ? "gpulua_scatter_add" : "gpulua_scatter";
  std::string text =
      function + "<" + element_type(output.dtype) + ">(p_" + name + ", " + step + ", " + name + "_at, " + element;
  for (std::size_t position : output.indices) text += ", " + value_name(position);
  return text + ");\n";
}

std::string headers(std::string_view body) {
  std::set<std::string_view> wanted = names_in(body);
  std::string text;
  for (const Header& header : all_headers()) {
    const bool wants = std::any_of(header.own.begin(), header.own.end(),
                                   [&](std::string_view name) { return wanted.count(name) != 0; });
    if (!wants) continue;
    wanted.insert(header.used.begin(), header.used.end());
    text.insert(0, header.text);
  }
  return text;
}

}  // namespace gpulua
