#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpulua {

enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};

enum class DTypeKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

/// One row of the table of element types.
struct DTypeInfo {
  DType dtype;
  std::string_view name;    // NumPy's: "float32"
  std::string_view alias;   // "f32"
  std::string_view device;  // the type's name in the device code that we emit
  DTypeKind kind;
  std::uint8_t size;          // bytes an element; the alignment too, but complex aligns to half
  std::uint8_t fraction = 0;  // bits of the fraction of a floating number; else 0
};

std::span<const DTypeInfo> dtype_table();
const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) {
  return info(dtype).name;
}
inline std::size_t size_of(DType dtype) {
  return info(dtype).size;
}

/// True for numbers without fractions, of either sign; bool is none.
inline bool is_integer(DType dtype) {
  const DTypeKind kind = info(dtype).kind;
  return kind == DTypeKind::signed_integer || kind == DTypeKind::unsigned_integer;
}

inline bool is_complex(DType dtype) {
  return info(dtype).kind == DTypeKind::complex;
}
/// True for floating and complex dtypes.
inline bool is_inexact(DType dtype) {
  return info(dtype).kind == DTypeKind::floating || is_complex(dtype);
}

/// The bits of infinity in a floating dtype.
std::uint64_t infinity_bits(DType dtype);
/// The distance from 1 to the next greater number of a floating dtype.
double precision(DType dtype);

/// The dtype of that name or alias, if there is one.
std::optional<DType> find_dtype(std::string_view name);
/// As find_dtype; throws Error that lists the names there are.
/// What to write for a name that is no dtype's, `; did you mean "float64"?`, or nothing.
std::string dtype_question(std::string_view name);
DType parse_dtype(std::string_view name);

/// The dtype of that name if it can be the default one of real numbers: float32 or float64.
std::optional<DType> find_default_dtype(std::string_view name);

/// IEEE binary16 and bfloat16 as raw bits, rounded to nearest even: once, whatever the number's type. A long double
/// holds every double and every integer of 64 bits.
float half_to_float(std::uint16_t bits);
std::uint16_t to_half(long double value);
float bfloat16_to_float(std::uint16_t bits);
std::uint16_t to_bfloat16(long double value);

}  // namespace gpulua
