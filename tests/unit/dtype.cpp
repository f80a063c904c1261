#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "src/base/dtype.h"
#include "src/base/error.h"
#include "tests/catch.h"

using namespace gpulua;
using Catch::Matchers::Message;

TEST_CASE("each dtype is found by its name and its alias", "[dtype]") {
  std::set<std::string_view> names;
  for (const DTypeInfo& row : dtype_table()) {
    CHECK(&info(row.dtype) == &row);
    CHECK(find_dtype(row.name) == row.dtype);
    CHECK(find_dtype(row.alias) == row.dtype);
    CHECK(names.insert(row.name).second);
    CHECK(names.insert(row.alias).second);
  }
  CHECK(dtype_table().size() == 15);
  CHECK(size_of(DType::complex128) == 16);
  CHECK(name(DType::bfloat16) == "bfloat16");
}

TEST_CASE("floating dtypes know their infinities and their precision", "[dtype]") {
  CHECK(infinity_bits(DType::float16) == to_half(INFINITY));
  CHECK(infinity_bits(DType::bfloat16) == to_bfloat16(INFINITY));
  CHECK(infinity_bits(DType::float32) == std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity()));
  CHECK(infinity_bits(DType::float64) == std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()));
  CHECK(precision(DType::float64) == std::numeric_limits<double>::epsilon());
  CHECK(precision(DType::float32) == std::numeric_limits<float>::epsilon());
  CHECK(1 + precision(DType::float16) == half_to_float(to_half(1) + 1));
  CHECK(1 + precision(DType::bfloat16) == bfloat16_to_float(to_bfloat16(1) + 1));
}

TEST_CASE("integers are those of either sign, without bool", "[dtype]") {
  for (const DTypeInfo& row : dtype_table()) CHECK(is_integer(row.dtype) == (row.name.find("int") != row.name.npos));
}

TEST_CASE("an unknown dtype names those there are", "[dtype]") {
  CHECK(parse_dtype("f32") == DType::float32);
  CHECK(find_dtype("") == std::nullopt);
  CHECK(find_dtype("float") == std::nullopt);
  CHECK_THROWS_MATCHES(
      parse_dtype("flot32"), Error,
      Message("[dtype] expected one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
              "float16, bfloat16, float32, float64, complex64, complex128, got \"flot32\"; did you mean \"float32\"?"));
  // C's names are no dtypes, but say which one is meant.
  CHECK_THROWS_WITH(parse_dtype("double"), Catch::Matchers::EndsWith("did you mean \"float64\"?"));
  CHECK_THROWS_WITH(parse_dtype("int"), Catch::Matchers::EndsWith("NumPy's int is \"int64\", C's \"int32\""));
}

namespace {

bool is_nan_half(std::uint16_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}

}  // namespace

TEST_CASE("every half survives the way to float and back", "[dtype]") {
  for (unsigned i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = half_to_float(bits);
    if (is_nan_half(bits)) {
      REQUIRE(std::isnan(value));
      REQUIRE(to_half(value) == (bits | 0x200));
    } else {
      REQUIRE(to_half(value) == bits);
    }
  }
}

TEST_CASE("every bfloat16 survives the way to float and back", "[dtype]") {
  for (unsigned i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = bfloat16_to_float(bits);
    if (std::isnan(value))
      REQUIRE(to_bfloat16(value) == (bits | 0x40));
    else
      REQUIRE(to_bfloat16(value) == bits);
  }
}

TEST_CASE("floats round to the nearest half, ties to even", "[dtype]") {
  CHECK(to_half(1.0f) == 0x3c00);
  CHECK(to_half(-0.0f) == 0x8000);
  CHECK(to_half(65504.0f) == 0x7bff);
  CHECK(to_half(65519.996f) == 0x7bff);
  CHECK(to_half(65520.0f) == 0x7c00);
  CHECK(to_half(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(to_half(0x1p-24f) == 0x0001);
  CHECK(to_half(0x1p-25f) == 0x0000);
  CHECK(to_half(0x1.000002p-25f) == 0x0001);
  CHECK(to_half(0x1.ffcp-15f) == 0x0400);
  CHECK(to_half(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(to_half(1.0f + 0x3p-11f) == 0x3c02);
  // A NaN whose payload has low bits alone must not turn into an infinity.
  CHECK(is_nan_half(to_half(std::bit_cast<float>(0x7f800001u))));
}

TEST_CASE("floats round to the nearest bfloat16, ties to even", "[dtype]") {
  CHECK(to_bfloat16(1.0f) == 0x3f80);
  CHECK(to_bfloat16(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(to_bfloat16(1.0f + 0x3p-8f) == 0x3f82);
  CHECK(to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(bfloat16_to_float(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

#if defined(__x86_64__) && defined(__FLT16_MAX__)
TEST_CASE("half conversions agree with the compiler's", "[dtype]") {
  std::mt19937 random(1);
  for (int i = 0; i < 4'000'000; ++i) {
    float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    // Half of them in a half's range, where rounding matters.
    if (i % 2 == 0)
      value = std::ldexp(1.0f + static_cast<float>(random() % (1u << 23)) * 0x1p-23f, int(random() % 44) - 27);
    if (std::isnan(value)) continue;
    const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    if (to_half(value) != expected) FAIL(value << " gives " << to_half(value) << ", not " << expected);
  }
}
#endif
