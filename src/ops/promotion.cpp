#include "src/ops/promotion.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/base/error.h"

namespace gpulua {

namespace {

bool is_floating(DType dtype) {
  return info(dtype).kind == DTypeKind::floating;
}

/// The smallest floating dtype that holds the integers of `dtype`. `half` is the dtype used for 16 bits.
DType floating_for(DType dtype, DType half) {
  switch (size_of(dtype)) {
    case 1:
      return half;
    case 2:
      return DType::float32;
    default:
      return DType::float64;
  }
}

DType promote_real(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_floating(a) && is_floating(b)) {
    if (size_of(a) == size_of(b)) return DType::float32;  // float16 and bfloat16
    return size_of(a) > size_of(b) ? a : b;
  }
  if (is_floating(b)) std::swap(a, b);
  if (is_floating(a)) return promote_real(a, floating_for(b, size_of(a) == 2 ? a : DType::float16));

  const DTypeKind unsigned_kind = DTypeKind::unsigned_integer;
  if (info(a).kind == info(b).kind) return size_of(a) > size_of(b) ? a : b;
  if (info(a).kind == unsigned_kind) std::swap(a, b);
  if (size_of(a) > size_of(b)) return a;
  switch (size_of(b)) {
    case 1:
      return DType::int16;
    case 2:
      return DType::int32;
    case 4:
      return DType::int64;
    default:
      return DType::float64;
  }
}

[[noreturn]] void refuse(const OpInfo& op, const char* expected, DType dtype) {
  throw Error("[{}] expected {}, got {}", op.name, expected, name(dtype));
}

}  // namespace

DType real_part(DType dtype) {
  if (!is_complex(dtype)) return dtype;
  return dtype == DType::complex64 ? DType::float32 : DType::float64;
}

DType complex_of(DType part) {
  return part == DType::float64 ? DType::complex128 : DType::complex64;
}

DType promote(DType a, DType b) {
  if (!is_complex(a) && !is_complex(b)) return promote_real(a, b);
  return complex_of(promote_real(real_part(a), real_part(b)));
}

DType promote_weak(DType array, const Scalar& number, DType real) {
  if (std::holds_alternative<bool>(number)) return array;
  if (std::holds_alternative<std::complex<double>>(number))
    return is_complex(array) ? array : complex_of(to_floating(array, real));
  const auto* value = std::get_if<double>(&number);
  const bool integral = !value || *value == std::trunc(*value);
  if (is_floating(array) || is_complex(array)) return array;
  if (!integral || (value && std::isinf(*value))) return real;
  return array == DType::boolean ? DType::int64 : array;
}

DType to_floating(DType dtype, DType real) {
  return is_floating(dtype) || is_complex(dtype) ? dtype : real;
}

DType dtype_of_number(const Scalar& number, DType real) {
  const DType by_kind[] = {DType::boolean, DType::int64, DType::uint64, real, complex_of(real)};
  return by_kind[number.index()];
}

DType in_double(DType dtype) {
  return dtype == DType::float32 ? DType::float64 : dtype == DType::complex64 ? DType::complex128 : dtype;
}

OpDTypes op_dtypes(const OpInfo& op, DType promoted, DType real) {
  if (promoted == DType::boolean && op.boolean == as_int8) promoted = DType::int8;
  const DTypeKind kind = info(promoted).kind;
  if (kind == DTypeKind::complex && !op.complex && op.rule != DTypeRule::logical) refuse(op, "real numbers", promoted);
  switch (op.rule) {
    case DTypeRule::numeric:
      if (kind == DTypeKind::boolean && op.boolean.empty())
        throw Error(
            "[{}] expected numbers, got bool; x:logical_not() reverses a mask, x:astype(\"int32\") makes numbers",
            op.name);
      return {promoted, promoted};
    case DTypeRule::magnitude:
      return {promoted, real_part(promoted)};
    case DTypeRule::select:
      return {promoted, promoted};
    case DTypeRule::floating:
    case DTypeRule::scaled:
      return {to_floating(promoted, real), to_floating(promoted, real)};
    case DTypeRule::phase:
      return {to_floating(promoted, real), real_part(to_floating(promoted, real))};
    case DTypeRule::comparison:
      return {promoted, DType::boolean};
    case DTypeRule::test:
      return {to_floating(promoted, real), DType::boolean};
    case DTypeRule::logical:
      return {DType::boolean, DType::boolean};
    case DTypeRule::integer:
    case DTypeRule::count:
      if (kind == DTypeKind::boolean && op.boolean.empty()) refuse(op, "integers", promoted);
      if (kind != DTypeKind::boolean && !is_integer(promoted)) refuse(op, "integers or bool", promoted);
      return {promoted, op.rule == DTypeRule::count ? DType::uint8 : promoted};
    case DTypeRule::conversion:
    case DTypeRule::random:
      break;
  }
  refuse(op, "a dtype to convert to", promoted);
}

}  // namespace gpulua
