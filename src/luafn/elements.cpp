// Elements of arrays, their shapes, and fields.

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/characters.h"
#include "src/base/error.h"
#include "src/luafn/division.h"
#include "src/luafn/literal.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

bool is_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace

Value Translator::field(const Value& object, const std::string& name, int line) {
  if (object.kind == Value::Kind::builtin) {
    Value result = object;
    result.name += "." + name;
    return result;
  }
  if (object.kind != Value::Kind::array || !object.indices.empty())
    refuse(line, "expected an array or a table outside of the function before ." + name + ", got " + describe(object));
  const HostValue& array = array_of(object);
  if (name == "shape") {
    Value result = object;
    result.kind = Value::Kind::shape;
    return result;
  }
  if (name == "dtype") {
    Value dtype;
    dtype.kind = Value::Kind::string;
    dtype.name = gpulua::name(object.dtype);
    return dtype;
  }
  if (name == "ndim") return uniform_value(uniforms_->constant(static_cast<double>(array.shape.size())));
  if (name == "size") {
    const Uniform* size = uniforms_->constant(1.0);
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
      size = uniforms_->operation("*", {size, extent(object, axis)});
    return uniform_value(size);
  }
  if (!is_name(name))
    refuse(line, "a device has no slices, " + object.name + "[\"" + name + "\"]; loop over the elements, for i = 1, #" +
                     object.name + " do ... end");
  refuse(line, "a device knows shape, size, ndim and dtype of an array, got " + object.name + "." + name);
}

Value Translator::index(const Expr& expr, bool load) {
  Value object = expression(*expr.parts[0]);
  const Expr& key = *expr.parts[1];
  if (key.kind == ExprKind::string) return field(object, key.text, expr.line);
  if (object.kind == Value::Kind::shape) {
    const Value axis = expression(key);
    const bool constant = axis.uniform && axis.uniform->kind == Uniform::Kind::constant && !axis.uniform->is_boolean;
    const double number = constant ? std::get<double>(axis.uniform->constant) : 0;
    const auto count = static_cast<double>(array_of(object).shape.size());
    const double position = number < 0 ? count + number : number - 1;
    if (!constant || number == 0 || position < 0 || position >= count)
      refuse(expr.line, "expected an axis of " + object.name + " as a constant from 1 to " +
                            std::to_string(static_cast<int>(count)));
    return uniform_value(extent(object, static_cast<std::size_t>(position)));
  }
  if (object.kind == Value::Kind::table) return entry(object, key);
  if (object.kind != Value::Kind::array)
    refuse(expr.line, "expected an array before the brackets, got " + describe(object) +
                          (!object.is_number() ? ""
                           : request_.kernel   ? "; an array has one index for each of its axes"
                                               : "; inside of the function an argument is one element"));
  if (key.kind != ExprKind::table) return indexed(std::move(object), key, expr.line, load);
  for (const ExprPtr& part : key.parts) {
    if (object.kind != Value::Kind::array)
      refuse(expr.line, "expected an index for each axis, got " + std::to_string(key.parts.size()));
    object = indexed(std::move(object), *part, expr.line, load);
  }
  return object;
}

/// An entry of a table of numbers: itself at a constant index, else an element of a constant array.
Value Translator::entry(const Value& table, const Expr& key) {
  const std::vector<double>& numbers = request_.values[table.array].numbers;
  const std::string count = std::to_string(numbers.size());
  const Value index = index_value(key);
  if (index.uniform && index.uniform->kind == Uniform::Kind::constant && !index.uniform->is_boolean) {
    const double position = std::get<double>(index.uniform->constant);
    if (!(position >= 1 && position <= static_cast<double>(numbers.size())) || index.kind != Value::Kind::integer)
      refuse(key.line, "expected an index of " + table.name + " from 1 to " + count);
    return uniform_value(uniforms_->constant(numbers[static_cast<std::size_t>(position) - 1]));
  }
  if (!is_index(index)) refuse_index(table.name, index, key, key.line);
  Value result;
  result.kind = Value::Kind::integer;
  result.range = {numbers.front(), numbers.front()};
  for (const double number : numbers) {
    if (class_of(number) == NumberClass::real) result.kind = Value::Kind::real;
    result.range = {std::min(result.range.low, number), std::max(result.range.high, number)};
  }
  if (result.kind == Value::Kind::real) result.range = {};
  result.dtype = result.kind == Value::Kind::real ? real_ : result.range.fits_int() ? DType::int32 : DType::int64;
  const std::string name = "table" + std::to_string(table.array + 1) + "_" + std::string(gpulua::name(result.dtype));
  if (root_->declared.insert(name).second) {
    std::string list;
    for (const double number : numbers) list += (list.empty() ? "" : ", ") + literal(number, result.dtype);
    root_->declarations +=
        "  const " + register_type(result.dtype) + " " + name + "[" + count + "] = {" + list + "};\n";
  }
  const Range& range = index.range;
  const auto size = static_cast<double>(numbers.size());
  if (index.is_weak() && (range.high < 1 || range.low > size))
    refuse(key.line, "expected an index of " + table.name + " from 1 to " + count + ", got one from " +
                         std::to_string(static_cast<std::int64_t>(range.low)) + " to " +
                         std::to_string(static_cast<std::int64_t>(range.high)));
  if (index.is_weak() && range.low >= 1 && range.high <= size) {
    result.code = name + "[" + as(index, DType::int32, key.line) + " - 1]";
    return result;
  }
  std::string check;
  if (request_.check_indices)
    check = "gpulua_check_index(" + as(index, DType::int64, key.line) + ", " + count + ", 0, \"" + table.name +
            "\", __FILE__, __LINE__), ";
  const bool is_narrow = index.is_weak() ? range.fits_int() : is_integer(index.dtype) && size_of(index.dtype) < 4;
  const DType wide = is_narrow || index.dtype == DType::int32 ? DType::int32 : DType::int64;
  result.code = "(" + check + "gpulua_entry<" + count + ">(" + name + ", " + as(index, wide, key.line) + "))";
  return result;
}

/// An index. Elements of 8 and 16 bits are added as numbers of 32 bits, so that bins[image[i] + 1] does not wrap.
Value Translator::index_value(const Expr& key) {
  const bool outer = std::exchange(indexing_, true);
  Value value = expression(key);
  indexing_ = outer;
  return value;
}

bool Translator::is_index(const Value& key) {
  return is_integer_number(key) || (key.is_number() && key.whole);
}

void Translator::refuse_index(const std::string& name, const Value& index, const Expr& key, int line) const {
  const int division = index.is_number() ? line_of_division(key) : 0;
  refuse(line, "expected an integer as the index of " + name + ", got " + describe(index) +
                   (!index.is_number() ? ""
                    : division == 0    ? "; math.floor(x) makes an integer of it"
                    : division == line ? "; / gives fractions, math.floor(x / y) an integer"
                                       : "; / gives fractions, as in line " + std::to_string(division) +
                                             ", math.floor(x / y) an integer"));
}

Value Translator::indexed(Value array, const Expr& key, int line, bool load) {
  Value index = index_value(key);
  if (!is_index(index)) {
    const std::size_t axes = array_of(array).shape.size() - array.passed,
                      axis = array.indices.size() - array.passed + 1;
    refuse_index(array.name + (axes < 2 ? "" : " on axis " + std::to_string(axis)), index, key, line);
  }
  if (array.indices.size() == array_of(array).shape.size())
    refuse(line,
           array.name + " has " + std::to_string(array.indices.size() - array.passed) + " axes and as many indices");
  array.indices.push_back(std::move(index));
  return !load || array.indices.size() < array_of(array).shape.size() ? array : element(array, line);
}

/// The index along an axis, counted from 0, as an integer of that dtype.
std::string Translator::position(const Value& array, std::size_t axis, DType dtype, int line) {
  const Value& index = array.indices[axis];
  if (!index.uniform || index.uniform->kind != Uniform::Kind::constant) return "(" + as(index, dtype, line) + " - 1)";
  const double number = std::get<double>(index.uniform->constant);
  if (number == 0) refuse(line, "indices start at 1, got " + array.name + "[0]");
  const bool is_own = array.array >= request_.values.size();
  if (const auto size = array_of(array).shape[axis]; is_own && std::abs(number) > static_cast<double>(size))
    refuse(line, "expected an index of " + array.name + " from 1 to " + std::to_string(size) + ", got " +
                     std::to_string(static_cast<std::int64_t>(number)));
  if (number > 0) return std::to_string(static_cast<std::int64_t>(number) - 1);
  return "(" + as(uniform_value(extent(array, axis)), dtype, line) + " - " +
         std::to_string(static_cast<std::int64_t>(-number)) + ")";
}

/// Under `gpulua --check`, calls that end the kernel where an index is outside of its axis.
std::string Translator::index_checks(const Value& array, int line) {
  std::string checks;
  const std::size_t axes = array.indices.size();
  for (std::size_t axis = 0; request_.check_indices && axis < axes; ++axis) {
    const Value& index = array.indices[axis];
    const bool constant = index.uniform && index.uniform->kind == Uniform::Kind::constant;
    const bool negative = constant && std::get<double>(index.uniform->constant) < 0;
    const std::string size = as(uniform_value(extent(array, axis)), DType::int64, line);
    checks += "gpulua_check_index(" + std::string(negative ? size + " + 1 + " : "") + as(index, DType::int64, line) +
              ", " + size + ", " +
              std::to_string(axes - array.passed == 1 ? 0
                             : axis < array.passed    ? axis + 1
                                                      : axis - array.passed + 1) +
              ", \"" + array.name + "\", __FILE__, __LINE__), ";
  }
  return checks;
}

/// What to say about an array in the place of a number.
std::string Translator::about_whole(const Value& array) const {
  std::string text = "; an index in brackets gives an element, " + array.name + "[i]";
  const bool is_captured = array.array >= request_.function->first && array.array < request_.values.size();
  if (!is_captured || !request_.elementwise) return text;
  return text + ", and an array with an element for each call is an argument: function(x, q) ... end, called f(x, " +
         array.name + ")";
}

const HostValue& Translator::array_of(const Value& value) const {
  const std::size_t count = request_.values.size();
  return value.array < count ? request_.values[value.array] : own_arrays_[value.array - count].second;
}

const Uniform* Translator::extent(const Value& array, std::size_t axis) {
  if (array.array >= request_.values.size())
    return uniforms_->constant(static_cast<double>(array_of(array).shape[axis]));
  return uniforms_->extent(array.array, axis, array.name, array_of(array).small ? 0x1p30 : 0x1p53);
}

std::string Translator::array_name(const Value& array) {
  if (array.array >= request_.values.size()) return array.code;
  return parameter({Parameter::Kind::array, array.dtype, {}, array.array}, "r" + std::to_string(array.array),
                   array.name);
}

/// The element as C++ writes it.
std::string Translator::place(const Value& array, int line) {
  const HostValue& host = array_of(array);
  const DType dtype = host.small ? DType::int32 : DType::int64;
  const bool row_major = !request_.kernel || host.order == ElementOrder::row_major;
  const std::string parameter = array_name(array);
  const auto number = [&](const Uniform* uniform) { return as(uniform_value(uniform), dtype, line); };
  if (array.array >= request_.values.size()) {  // an array of the function's own has the axes of C++
    std::string text = parameter, checks = index_checks(array, line);
    for (std::size_t axis = 0; axis < array.indices.size(); ++axis)
      text += "[" + std::exchange(checks, {}) + position(array, axis, dtype, line) + "]";
    return text;
  }
  std::string offset = row_major || host.order != ElementOrder::backwards
                           ? ""
                           : number(uniforms_->origin(array.array, array.name + "_first"));
  const std::size_t axes = array.indices.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::string at = position(array, axis, dtype, line);
    const bool unit = axis + 1 == axes && host.order == ElementOrder::strided_rows;
    if (row_major && axis > 0) offset = "(" + offset + " * " + number(extent(array, axis)) + ")";
    if (!row_major && !unit) at += " * " + number(uniforms_->stride(array.array, axis, array.name + "_stride"));
    offset = offset.empty() ? at : "(" + offset + " + " + at + ")";
  }
  return parameter + "[" + index_checks(array, line) + (axes == 0 ? "0" : offset) + "]";
}

Value Translator::element(const Value& array, int line) {
  // In a function of elements a raw array widens its own elements.
  const std::string text = place(array, line);
  return strong_value(array.dtype, request_.kernel ? loaded(text, array.dtype) : text);
}

/// Stores the array's indices in variables of that name, so that later assignments do not change them.
void Translator::keep_indices(const std::string& prefix, Value& array) {
  int count = 0;
  for (Value& index : array.indices) {
    if (is_known(index)) continue;
    const std::string name = prefix + "at" + std::to_string(++count);
    declare_variable(*current_, name, index);
    emit(name + " = " + index.code + ";");
    index.code = name;
  }
}

/// Refuses a number with a fraction for an array of integers. One that the host computes is checked when it is known.
void Translator::check_stored(const Value& array, const Value& value, int line) const {
  if (!is_integer(array.dtype) || !value.is_number() || value.uniform || is_index(value)) return;
  const std::string dtype(gpulua::name(array.dtype));
  refuse(line, array.name + " has elements of dtype " + dtype + ", got " + describe(value) + "; gpu." + dtype +
                   "(...) makes an integer of it");
}

/// What to write for an assignment to an entry of a table of numbers; empty for one to something else.
std::string Translator::about_table(const Expr& target) {
  if (target.kind != ExprKind::index) return {};
  const Value object = expression(*target.parts[0]);
  if (object.kind != Value::Kind::table) return {};
  return "; " + object.name + " is a table, whose numbers are constants in a kernel: gpu.array(" + object.name +
         ") is an array, gpu.local_array(size, dtype) one of the thread's own";
}

/// An element that a statement assigns to.
Value Translator::target(const Expr& expr) {
  if (!request_.kernel)
    refuse(expr.line,
           "a function of elements returns its results, and writes to no array; gpu.jit makes kernels that do");
  Value array = index(expr, false);
  if (array.kind != Value::Kind::array || array.indices.size() != array_of(array).shape.size())
    refuse(expr.line, "expected an element to assign to, got " + describe(array) + about_table(expr));
  return array;
}

void Translator::store(const Value& array, const Value& value, int line) {
  if (value.kind == Value::Kind::boolean && array.dtype != DType::boolean)
    refuse(line, array.name + " has numbers, got a boolean; (condition and 1 or 0) makes a number of it");
  if (value.is_number() && array.dtype == DType::boolean)
    refuse(line, array.name + " has booleans, got a number; x ~= 0 makes a boolean of it");
  check_stored(array, value, line);
  written_.insert(array.array);
  note_effect();
  emit(place(array, line) + " = " + stored(as(value, array.dtype, line), array.dtype) + ";");
}

}  // namespace gpulua::luafn
