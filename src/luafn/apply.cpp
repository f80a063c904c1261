// Operations: rows of the op table, applied to numbers by the rules of arrays.

#include <algorithm>
#include <cmath>

#include "src/base/characters.h"
#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"
#include "src/ops/promotion.h"

namespace gpulua::luafn {

namespace {

/// True if the operand's dtype counts among those that are promoted.
bool takes_part(const OpInfo& row, std::size_t index) {
  return !(row.rule == DTypeRule::select && index == 0) && !(row.rule == DTypeRule::scaled && index == 1);
}

/// Lua's operators whose bounds are known.
std::string_view bounded(const OpInfo& row) {
  if (row.name == "add") return "+";
  if (row.name == "subtract") return "-";
  return row.name == "multiply" ? "*" : "";
}

bool is_one_of(const OpInfo& row, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), row.name) != names.end();
}

/// True for operations whose results never have a fraction.
bool rounds(const OpInfo& row) {
  return is_one_of(row, {"floor", "ceil", "trunc", "round", "rint"});
}

/// True for operations whose results have no fraction if their operands have none.
bool keeps_whole(const OpInfo& row) {
  return is_one_of(row, {"add", "subtract", "multiply", "remainder", "negative", "abs", "minimum", "maximum", "where"});
}

/// The row with functions that are rounded each by itself, whatever is done with their results.
std::string uncontracted(const OpInfo& row, DType compute, const std::string& text) {
  const std::string type = compute == DType::float64 ? "d" : "f";
  if (row.name == "add") return "__" + type + "add_rn(x, y)";
  if (row.name == "subtract") return "__" + type + "sub_rn(x, y)";
  if (row.name == "multiply") return "__" + type + "mul_rn(x, y)";
  return row.name == "square" ? "__" + type + "mul_rn(x, x)" : text;
}

/// How often the text has the name.
int count_of(std::string_view name, std::string_view text) {
  int count = 0;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + name.size())) {
    const std::size_t end = at + name.size();
    const bool is_part = (at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]));
    count += is_part ? 0 : 1;
  }
  return count;
}

double magnitude(const Range& range) {
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

/// The bounds of the row's results for integers within the operands' bounds.
Range result_range(const OpInfo& row, const std::vector<Value>& operands) {
  const Range &x = operands.front().range, &y = operands.back().range;
  if (row.name == "negative") return {-x.high, -x.low};
  if (row.name == "abs") return {0, magnitude(x)};
  if (row.name == "square") return combined("*", {-magnitude(x), magnitude(x)}, {0, magnitude(x)});
  if (row.name == "minimum") return {std::min(x.low, y.low), std::min(x.high, y.high)};
  if (row.name == "maximum") return {std::max(x.low, y.low), std::max(x.high, y.high)};
  if (row.name == "remainder") return {std::min(0.0, y.low + 1), std::max(0.0, y.high - 1)};
  if (row.name == "floor_divide" && y.low >= 1) return {std::min(0.0, x.low), std::max(0.0, x.high)};
  if (row.name == "where") return {std::min(operands[1].range.low, y.low), std::max(operands[1].range.high, y.high)};
  return operands.size() == 2 ? combined(bounded(row), x, y) : Range{};
}

}  // namespace

Value Translator::apply(std::string_view row, const std::vector<Value>& operands, int line) {
  return apply(op(row), operands, line);
}

/// The dtype to which the operands are promoted, as those of arrays are.
DType Translator::promoted(const OpInfo& row, const std::vector<Value>& operands, const Range& range, int line) const {
  std::optional<DType> strong;
  bool has_real = false, fits_int = range.fits_int();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!takes_part(row, i)) continue;
    const Value& operand = operands[i];
    if (operand.kind == Value::Kind::real) {
      has_real = true;
    } else if (operand.kind == Value::Kind::integer) {
      fits_int = fits_int && operand.range.fits_int();
    } else if (operand.kind == Value::Kind::boolean || operand.kind == Value::Kind::strong) {
      strong = strong ? promote(*strong, operand.dtype) : operand.dtype;
    } else {
      if (row.rule == DTypeRule::select && operand.kind == Value::Kind::array)
        refuse(line, "and and or choose between numbers, got " + describe(operand) + "; choose between its elements");
      refuse(line, "[" + std::string(row.name) + "] expected numbers, got " + describe(operand) +
                       (operand.kind == Value::Kind::array ? about_whole(operand)
                        : operand.kind == Value::Kind::table
                            ? "; " + operand.name +
                                  "[i] is a number of it, and gpu.array(t) in the call makes an array of a list"
                            : ""));
    }
  }
  if (strong) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (takes_part(row, i) && operands[i].is_weak())
        strong = promote_weak(*strong, operands[i].kind == Value::Kind::real ? Scalar(0.5) : Scalar(std::int64_t{1}),
                              request_.real);
    return indexing_ && is_integer(*strong) && size_of(*strong) < 4 ? DType::int32 : *strong;
  }
  const bool becomes_real =
      row.rule == DTypeRule::floating || row.rule == DTypeRule::test || row.rule == DTypeRule::scaled;
  if (has_real || becomes_real) return real_;
  return fits_int ? DType::int32 : DType::int64;
}

Value Translator::apply(const OpInfo& row, const std::vector<Value>& operands, int line) {
  if (std::any_of(operands.begin(), operands.end(), [](const Value& value) { return value.is_active(); }))
    return apply_dual(row, operands, line);
  const bool is_weak = std::all_of(operands.begin(), operands.end(), [&](const Value& value) {
    return value.is_weak() || (row.rule == DTypeRule::select && &value == &operands.front());
  });
  if (std::all_of(operands.begin(), operands.end(), [](const Value& value) { return value.uniform != nullptr; })) {
    std::vector<const Uniform*> inputs;
    for (const Value& operand : operands) inputs.push_back(operand.uniform);
    if (const Uniform* uniform = uniforms_->operation(std::string(row.name), inputs)) return uniform_value(uniform);
  }
  const bool integers = is_weak && std::all_of(operands.begin(), operands.end(),
                                               [](const Value& value) { return value.kind != Value::Kind::real; });
  const Range range = integers ? result_range(row, operands) : Range{};
  const Range needed = integers && (operands.size() == 2 && bounded(row).empty()) ? Range{0, 0} : range;
  const DType promoted = this->promoted(row, operands, needed, line);
  OpDTypes dtypes;
  try {
    dtypes = op_dtypes(row, promoted, request_.real);
  } catch (const Error& error) {
    refuse(line, error.what());
  }
  Value result = strong_value(dtypes.result, row_code(row, dtypes.compute, dtypes.result, operands, line));
  const bool is_bounded = integers && operands.size() == 2 && !bounded(row).empty() && !(range == Range{});
  if (is_bounded)  // it does not wrap
    result.code = "(" + as(operands[0], dtypes.result, line) + " " + std::string(bounded(row)) + " " +
                  as(operands[1], dtypes.result, line) + ")";
  result.whole =
      rounds(row) || (keeps_whole(row) && std::all_of(operands.begin(), operands.end(), [](const Value& value) {
                        return is_index(value) || value.kind == Value::Kind::boolean;
                      }));
  if (!is_weak || dtypes.result == DType::boolean) return result;
  result.kind = is_integer(dtypes.result) ? Value::Kind::integer : Value::Kind::real;
  if (result.kind == Value::Kind::integer)
    result.range = dtypes.result == DType::int32 && !range.fits_int() ? Range{-0x1p31, 0x1p31 - 1} : range;
  return result;
}

std::string Translator::row_code(const OpInfo& row, DType compute, DType result, const std::vector<Value>& operands,
                                 int line) {
  std::string text(row_text(row, compute));
  if (!request_.contract && info(compute).kind == DTypeKind::floating) text = uncontracted(row, compute, text);
  TextNames names{{"R", register_type(compute)}, {"T", element_type(compute)}};
  std::string parameters, arguments;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string_view letter = operand_letter(i);
    const DType dtype = operand_dtype(row, i, compute);
    const std::string operand = as(operands[i], dtype, line);
    // What the text has twice is computed once: it may be a call with effects, or read what other threads write.
    if (count_of(letter, text) < 2 || std::all_of(operand.begin(), operand.end(), is_word)) {
      names.emplace_back(letter, operand);
      continue;
    }
    parameters += (parameters.empty() ? "const " : ", const ") + register_type(dtype) + " " + std::string(letter);
    arguments += (arguments.empty() ? "" : ", ") + operand;
  }
  text = substitute(text, names);
  if (!parameters.empty()) text = "[&](" + parameters + ") { return " + text + "; }(" + arguments + ")";
  return "(" + rounded(text, row, compute, result) + ")";
}

}  // namespace gpulua::luafn
