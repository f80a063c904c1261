#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "src/base/error.h"
#include "src/ops/promotion.h"
#include "tests/catch.h"

using namespace gpulua;
using enum DType;

TEST_CASE("promotion is symmetric, and gives a dtype that takes both", "[promotion]") {
  for (const DTypeInfo& a : dtype_table()) {
    CHECK(promote(a.dtype, a.dtype) == a.dtype);
    CHECK(promote(a.dtype, boolean) == a.dtype);
    for (const DTypeInfo& b : dtype_table()) {
      INFO(a.name << " " << b.name);
      const DType both = promote(a.dtype, b.dtype);
      CHECK(promote(b.dtype, a.dtype) == both);
      CHECK(promote(both, a.dtype) == both);
      CHECK((info(both).kind == DTypeKind::complex) == (std::max(a.kind, b.kind) == DTypeKind::complex));
    }
  }
}

TEST_CASE("promotion follows NumPy 2 where kinds and sizes meet", "[promotion]") {
  CHECK(promote(int8, uint8) == int16);
  CHECK(promote(int16, uint8) == int16);
  CHECK(promote(int8, uint32) == int64);
  CHECK(promote(int64, uint64) == float64);
  CHECK(promote(int8, float16) == float16);
  CHECK(promote(int16, float16) == float32);
  CHECK(promote(int16, float32) == float32);
  CHECK(promote(int32, float32) == float64);
  CHECK(promote(uint64, float16) == float64);
  CHECK(promote(float32, complex64) == complex64);
  CHECK(promote(float64, complex64) == complex128);
  CHECK(promote(int32, complex64) == complex128);
  CHECK(promote(int16, complex64) == complex64);
  CHECK(promote(bfloat16, int8) == bfloat16);
  CHECK(promote(bfloat16, uint16) == float32);
  CHECK(promote(bfloat16, float16) == float32);
}

TEST_CASE("numbers of the host's are weak", "[promotion]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Scalar whole = 3.0, fraction = 0.5, integer = std::int64_t{3}, truth = true,
               complex = std::complex<double>(0, 1);
  const DType real = GENERATE(float32, float64);
  for (const DTypeInfo& row : dtype_table()) {
    INFO(row.name);
    CHECK(promote_weak(row.dtype, truth, real) == row.dtype);
    const DType of_number = row.dtype == boolean ? int64 : row.dtype;
    CHECK(promote_weak(row.dtype, whole, real) == of_number);
    CHECK(promote_weak(row.dtype, integer, real) == of_number);
    const DType of_fraction = row.kind >= DTypeKind::floating ? row.dtype : real;
    for (const double number : {0.5, infinity, -infinity, std::nan("")})
      CHECK(promote_weak(row.dtype, Scalar(number), real) == of_fraction);
    const bool is_integral = row.kind < DTypeKind::floating;
    const bool wide = is_integral ? real == float64 : row.dtype == float64 || row.dtype == complex128;
    CHECK(promote_weak(row.dtype, complex, real) == (wide ? complex128 : complex64));
  }
}

TEST_CASE("an operation's rule gives what it computes in and its result", "[promotion]") {
  const DType real = GENERATE(float32, float64);
  const auto gives = [real](const char* name, DType promoted) {
    const OpDTypes dtypes = op_dtypes(op(name), promoted, real);
    return std::pair(dtypes.compute, dtypes.result);
  };
  using Pair = std::pair<DType, DType>;
  CHECK(gives("add", int8) == Pair{int8, int8});
  CHECK(gives("add", boolean) == Pair{boolean, boolean});
  CHECK(gives("floor_divide", boolean) == Pair{int8, int8});
  CHECK(gives("divide", int64) == Pair{real, real});
  CHECK(gives("sqrt", bfloat16) == Pair{bfloat16, bfloat16});
  CHECK(gives("lt", uint64) == Pair{uint64, boolean});
  CHECK(gives("isnan", int32) == Pair{real, boolean});
  CHECK(gives("logical_and", complex64) == Pair{boolean, boolean});
  CHECK(gives("abs", complex128) == Pair{complex128, float64});
  CHECK(gives("angle", int16) == Pair{real, real});
  CHECK(gives("angle", complex64) == Pair{complex64, float32});
  CHECK(gives("bitwise_count", int64) == Pair{int64, uint8});
  CHECK(gives("bitwise_and", boolean) == Pair{boolean, boolean});
  CHECK_THROWS_AS(op_dtypes(op("subtract"), boolean, real), Error);
  CHECK_THROWS_AS(op_dtypes(op("bitwise_and"), float32, real), Error);
  CHECK_THROWS_AS(op_dtypes(op("gcd"), boolean, real), Error);
  CHECK_THROWS_AS(op_dtypes(op("floor"), complex64, real), Error);
}

TEST_CASE("names of operations are unique, and aliases name one", "[promotion]") {
  for (const OpInfo& row : op_table()) CHECK(find_op(row.name) == &row);
  for (const OpAlias& alias : op_aliases()) {
    CHECK(find_op(alias.name) == nullptr);
    CHECK(find_op(alias.op) != nullptr);
  }
}
