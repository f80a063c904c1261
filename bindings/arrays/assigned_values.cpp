#include "bindings/arrays/assigned_values.h"

#include "bindings/arrays/host_data.h"
#include "src/expressions/creation.h"
#include "src/expressions/format.h"
#include "src/expressions/transfer.h"

namespace gpulua {

std::optional<Scalar> assigned_scalar(lua_State* L, int index, const Array& target, const char* op) {
  if (lua_isboolean(L, index) && target->dtype != DType::boolean)
    fail(op, "a number or an array for elements of " + std::string(name(target->dtype)), L, index);
  const auto scalar = to_scalar(L, index);
  if (scalar) check_stored(target->dtype, *scalar);
  return scalar;
}

Array assigned_array(const Array& source, const Array& target, const char* op) {
  const bool takes_any = is_complex(target->dtype) || target->dtype == DType::boolean;  // z ~= 0
  if (is_complex(source->dtype) && !takes_any)
    throw Error(
        "[{}] expected real numbers for an array of {}, got {}; z:real(), z:imag() and z:abs() are real, and "
        "z:astype(\"{}\") keeps the real parts",
        op, name(target->dtype), type_text(*source), name(target->dtype));
  const bool may_have_fraction = source->weak && is_integer(target->dtype) && !is_integer(source->dtype);
  if (!may_have_fraction || source->layout.size() != 1) return source;
  return constant(target->device(), {}, target->dtype, item(*source));
}

Array check_values(lua_State* L, int index, const Array& target, const char* op) {
  if (const Array* array = test<Array>(L, index))
    return to_device(assigned_array(*array, target, op), target->device());
  if (const auto scalar = assigned_scalar(L, index, target, op))
    return constant(target->device(), {}, target->dtype, *scalar);
  return array_from_host(L, index, {target->dtype, target->device_ref()}, op, target->dtype == DType::boolean);
}

}  // namespace gpulua
