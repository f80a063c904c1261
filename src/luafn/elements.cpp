// Elements of arrays, their shapes, and fields.

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

Value Translator::field(const Value& object, const std::string& name, int line) {
  if (object.kind == Value::Kind::builtin) {
    Value result = object;
    result.name += "." + name;
    return result;
  }
  if (object.kind != Value::Kind::array || !object.indices.empty())
    refuse(line, "expected an array or a table outside of the function before ." + name + ", got " + describe(object));
  const HostValue& array = request_.values[object.array];
  if (name == "shape") {
    Value result = object;
    result.kind = Value::Kind::shape;
    return result;
  }
  if (name == "ndim") return uniform_value(uniforms_->constant(static_cast<double>(array.shape.size())));
  if (name == "size") {
    const Uniform* size = uniforms_->constant(1.0);
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
      size = uniforms_->operation("*", {size, uniforms_->extent(object.array, axis, object.name + "_size")});
    return uniform_value(size);
  }
  refuse(line, "a device knows shape, size and ndim of an array, got " + object.name + "." + name);
}

Value Translator::index(const Expr& expr) {
  Value object = expression(*expr.parts[0]);
  const Expr& key = *expr.parts[1];
  if (key.kind == ExprKind::string) return field(object, key.text, expr.line);
  if (object.kind == Value::Kind::shape) {
    const Value axis = expression(key);
    const bool constant = axis.uniform && axis.uniform->kind == Uniform::Kind::constant && !axis.uniform->is_boolean;
    const double number = constant ? std::get<double>(axis.uniform->constant) : 0;
    const auto count = static_cast<double>(request_.values[object.array].shape.size());
    const double position = number < 0 ? count + number : number - 1;
    if (!constant || number == 0 || position < 0 || position >= count)
      refuse(expr.line, "expected an axis of " + object.name + " as a constant from 1 to " +
                            std::to_string(static_cast<int>(count)));
    return uniform_value(uniforms_->extent(object.array, static_cast<std::size_t>(position), object.name + "_size"));
  }
  if (object.kind != Value::Kind::array)
    refuse(expr.line, "expected an array before the brackets, got " + describe(object) +
                          (object.is_number() ? "; inside of the function an argument is one element" : ""));
  if (key.kind != ExprKind::table) return indexed(std::move(object), expression(key), expr.line);
  for (const ExprPtr& part : key.parts) {
    if (object.kind != Value::Kind::array)
      refuse(expr.line, "expected an index for each axis, got " + std::to_string(key.parts.size()));
    object = indexed(std::move(object), expression(*part), expr.line);
  }
  return object;
}

Value Translator::indexed(Value array, Value key, int line) {
  const bool whole = key.kind == Value::Kind::integer || (key.kind == Value::Kind::strong && is_integer(key.dtype)) ||
                     (key.is_number() && key.whole);
  if (!whole)
    refuse(line, "expected an integer as the index of " + array.name + ", got " + describe(key) +
                     (key.is_number() ? "; math.floor(x) makes an integer of it" : ""));
  if (request_.values[array.array].shape.empty()) refuse(line, array.name + " has no axes, so it takes no index");
  array.indices.push_back(std::move(key));
  return array.indices.size() < request_.values[array.array].shape.size() ? array : element(array, line);
}

/// The index along an axis, counted from 0.
std::string Translator::position(const Value& array, std::size_t axis, int line) {
  const Value& index = array.indices[axis];
  if (!index.uniform || index.uniform->kind != Uniform::Kind::constant)
    return "(" + as(index, DType::int64, line) + " - 1)";
  const double number = std::get<double>(index.uniform->constant);
  if (number == 0) refuse(line, "indices start at 1, got " + array.name + "[0]");
  if (number > 0) return std::to_string(static_cast<std::int64_t>(number) - 1);
  const Uniform* extent = uniforms_->extent(array.array, axis, array.name + "_size");
  return "(" + uniform_name(*extent, DType::int64) + " - " + std::to_string(static_cast<std::int64_t>(-number)) + ")";
}

Value Translator::element(const Value& array, int line) {
  const std::string key = "r" + std::to_string(array.array);
  const std::string name = parameter({Parameter::Kind::array, array.dtype, {}, array.array}, key, array.name);
  std::string offset = position(array, 0, line);
  for (std::size_t axis = 1; axis < array.indices.size(); ++axis) {
    const Uniform* extent = uniforms_->extent(array.array, axis, array.name + "_size");
    offset = "(" + offset + " * " + uniform_name(*extent, DType::int64) + " + " + position(array, axis, line) + ")";
  }
  return strong_value(array.dtype, name + "[" + offset + "]");
}

}  // namespace gpulua::luafn
