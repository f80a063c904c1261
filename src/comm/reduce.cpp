#include "src/comm/reduce.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "src/base/error.h"

namespace gpulua {

namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

/// The type in which elements of type T are reduced.
template <class T>
struct Computing {
  using Type = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
template <>
struct Computing<Half> {
  using Type = float;
  static float load(Half value) { return half_to_float(value.bits); }
  static Half store(float value) { return {to_half(value)}; }
};
template <>
struct Computing<BFloat> {
  using Type = float;
  static float load(BFloat value) { return bfloat16_to_float(value.bits); }
  static BFloat store(float value) { return {to_bfloat16(value)}; }
};

template <Reduction reduction, class T>
T combine(T a, T b) {
  if constexpr (reduction == Reduction::sum || reduction == Reduction::prod) {
    if constexpr (std::is_integral_v<T>) {
      const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
      return static_cast<T>(reduction == Reduction::sum ? x + y : x * y);
    } else {
      return reduction == Reduction::sum ? a + b : a * b;
    }
  } else {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a || b != b) return a + b;
    return reduction == Reduction::max ? std::max(a, b) : std::min(a, b);
  }
}

template <Reduction reduction, class T>
void reduce_typed(T* out, std::span<const void* const> parts, std::size_t count) {
  using Compute = Computing<T>;
  std::array<typename Compute::Type, 512> sums;
  for (std::size_t first = 0; first < count; first += sums.size()) {
    const std::size_t n = std::min(sums.size(), count - first);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const T* from = static_cast<const T*>(parts[part]) + first;
      for (std::size_t i = 0; i < n; ++i)
        sums[i] = part == 0 ? Compute::load(from[i]) : combine<reduction>(sums[i], Compute::load(from[i]));
    }
    for (std::size_t i = 0; i < n; ++i) out[first + i] = Compute::store(sums[i]);
  }
}

template <class T>
void reduce_by(void* out, std::span<const void* const> parts, std::size_t count, Reduction reduction) {
  T* to = static_cast<T*>(out);
  if (reduction == Reduction::sum) return reduce_typed<Reduction::sum>(to, parts, count);
  if constexpr (!std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>) {
    if (reduction == Reduction::prod) return reduce_typed<Reduction::prod>(to, parts, count);
    if (reduction == Reduction::max) return reduce_typed<Reduction::max>(to, parts, count);
    reduce_typed<Reduction::min>(to, parts, count);
  }
}

}  // namespace

Reduction parse_reduction(std::string_view text, DType dtype, const char* op) {
  constexpr std::array<std::string_view, 4> names = {"sum", "prod", "max", "min"};
  const auto found = std::ranges::find(names, text);
  const std::string in_op = "[" + std::string(op) + "] expected ";
  if (found == names.end()) throw Error("{}sum, prod, max, min or mean, got \"{}\"", in_op, text);
  const auto reduction = static_cast<Reduction>(found - names.begin());
  const DTypeKind kind = info(dtype).kind;
  if (kind == DTypeKind::complex && reduction != Reduction::sum)
    throw Error("{}sum or mean for complex numbers, got \"{}\"", in_op, text);
  if (kind == DTypeKind::boolean && reduction != Reduction::max && reduction != Reduction::min)
    throw Error("{}max (or) or min (and) for booleans, got \"{}\"; x:astype(\"int64\") counts them", in_op, text);
  return reduction;
}

void reduce_parts(void* out, std::span<const void* const> parts, std::size_t count, DType dtype, Reduction reduction) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
      return reduce_by<std::uint8_t>(out, parts, count, reduction);
    case DType::int8:
      return reduce_by<std::int8_t>(out, parts, count, reduction);
    case DType::int16:
      return reduce_by<std::int16_t>(out, parts, count, reduction);
    case DType::int32:
      return reduce_by<std::int32_t>(out, parts, count, reduction);
    case DType::int64:
      return reduce_by<std::int64_t>(out, parts, count, reduction);
    case DType::uint16:
      return reduce_by<std::uint16_t>(out, parts, count, reduction);
    case DType::uint32:
      return reduce_by<std::uint32_t>(out, parts, count, reduction);
    case DType::uint64:
      return reduce_by<std::uint64_t>(out, parts, count, reduction);
    case DType::float16:
      return reduce_by<Half>(out, parts, count, reduction);
    case DType::bfloat16:
      return reduce_by<BFloat>(out, parts, count, reduction);
    case DType::float32:
      return reduce_by<float>(out, parts, count, reduction);
    case DType::float64:
      return reduce_by<double>(out, parts, count, reduction);
    case DType::complex64:
      return reduce_by<std::complex<float>>(out, parts, count, reduction);
    case DType::complex128:
      return reduce_by<std::complex<double>>(out, parts, count, reduction);
  }
}

}  // namespace gpulua
