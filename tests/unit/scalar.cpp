#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/error.h"
#include "src/base/scalar.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

template <class T>
T encoded(DType dtype, const Scalar& value) {
  T result;
  encode(dtype, value, &result);
  return result;
}

}  // namespace

TEST_CASE("integers take what fits and nothing else") {
  CHECK(encoded<std::int8_t>(DType::int8, -128.0) == -128);
  CHECK_THROWS_WITH(encoded<std::int8_t>(DType::int8, 128.0), "[convert] 128 does not fit int8: it is out of range");
  CHECK_THROWS_WITH(encoded<std::int8_t>(DType::int8, 1.5), "[convert] 1.5 does not fit int8: it is not an integer");
  CHECK_THROWS_AS(encoded<std::uint32_t>(DType::uint32, -1.0), Error);
  CHECK_THROWS_AS(encoded<std::int32_t>(DType::int32, std::nan("")), Error);
  CHECK_THROWS_AS(encoded<std::int64_t>(DType::int64, 0x1p63), Error);
  CHECK(encoded<std::int64_t>(DType::int64, -0x1p63) == std::numeric_limits<std::int64_t>::min());
  CHECK(encoded<std::uint64_t>(DType::uint64, 0x1p63) == (std::uint64_t{1} << 63));
  CHECK_THROWS_AS(encoded<std::uint64_t>(DType::uint64, 0x1p64), Error);
  CHECK_THROWS_AS(encoded<std::int64_t>(DType::int64, std::numeric_limits<std::uint64_t>::max()), Error);
  CHECK_THROWS_AS(encoded<std::int32_t>(DType::int32, std::complex<double>(1, 0)), Error);
}

TEST_CASE("floats round and overflow to infinity") {
  CHECK(encoded<float>(DType::float32, 0.1) == 0.1f);
  CHECK(std::isinf(encoded<float>(DType::float32, 1e300)));
  CHECK(encoded<std::uint16_t>(DType::float16, 1.0) == 0x3c00);
  CHECK(encoded<std::uint16_t>(DType::bfloat16, 1.0) == 0x3f80);
  CHECK(encoded<std::complex<float>>(DType::complex64, 2.0) == std::complex<float>(2, 0));
}

TEST_CASE("numbers are rounded once, also where float lies between") {
  // Just beside the middle of two neighbours, as float is the middle.
  for (const double sign : {1.0, -1.0})
    for (const double scale : {1.0, 0x1p-14, 0x1p15}) {
      const double middle = sign * scale * (1 + 0x1p-11), more = sign * scale * 0x1p-40;
      CHECK(half_to_float(encoded<std::uint16_t>(DType::float16, middle + more)) == sign * scale * (1 + 0x1p-10));
      CHECK(half_to_float(encoded<std::uint16_t>(DType::float16, middle - more)) == sign * scale);
      CHECK(half_to_float(encoded<std::uint16_t>(DType::float16, middle)) == sign * scale);
      const double middle8 = sign * scale * (1 + 0x1p-8);
      CHECK(bfloat16_to_float(encoded<std::uint16_t>(DType::bfloat16, middle8 + more)) == sign * scale * (1 + 0x1p-7));
      CHECK(bfloat16_to_float(encoded<std::uint16_t>(DType::bfloat16, middle8 - more)) == sign * scale);
    }
  // Subnormals, and what is next to nothing.
  CHECK(half_to_float(encoded<std::uint16_t>(DType::float16, 0x1p-25 + 0x1p-60)) == 0x1p-24);
  CHECK(half_to_float(encoded<std::uint16_t>(DType::float16, 0x1p-25)) == 0);
  CHECK(encoded<std::uint16_t>(DType::bfloat16, -1e-300) == 0x8000);
  CHECK(encoded<std::uint16_t>(DType::float16, 65520 - 0x1p-30) == 0x7bff);
  CHECK(encoded<std::uint16_t>(DType::bfloat16, 0x1.ffp127) == 0x7f80);
  CHECK(encoded<std::uint16_t>(DType::bfloat16, 0x1.feffffffffp127) == 0x7f7f);
  // 2^53 + 2^29 + 1 is no double, and just above the middle of two floats.
  const std::int64_t large = (std::int64_t{1} << 53) + (1 << 29) + 1;
  CHECK(encoded<float>(DType::float32, large) == 0x1p53f + 0x1p30f);
  CHECK(encoded<float>(DType::float32, -large) == -0x1p53f - 0x1p30f);
  CHECK(encoded<std::complex<float>>(DType::complex64, large).real() == 0x1p53f + 0x1p30f);
  const std::uint64_t wide = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 55) + 1;
  CHECK(bfloat16_to_float(encoded<std::uint16_t>(DType::bfloat16, wide)) == 0x1p63f + 0x1p56f);
}

TEST_CASE("every dtype gives back what was put in") {
  for (const DTypeInfo& row : dtype_table()) {
    char bytes[16] = {};
    encode(row.dtype, 1.0, bytes);
    const Scalar value = decode(row.dtype, bytes);
    std::visit([&](auto v) { CHECK(v == decltype(v)(1)); }, value);
  }
}
