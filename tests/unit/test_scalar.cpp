#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/core/error.h"
#include "src/core/scalar.h"

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

TEST_CASE("every dtype gives back what was put in") {
  for (const DTypeInfo& row : dtype_table()) {
    char bytes[16] = {};
    encode(row.dtype, 1.0, bytes);
    const Scalar value = decode(row.dtype, bytes);
    std::visit([&](auto v) { CHECK(v == decltype(v)(1)); }, value);
  }
}
