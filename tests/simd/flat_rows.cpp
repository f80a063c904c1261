// Kernels whose blocks' rows are parts of one row.

#include "src/device/cpu/simd/flat_rows.h"

#include <cstddef>

#include "src/device/cpu/abi/abi.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// Of a function that has threadIdx.x, blockIdx.x and blockDim.x as %t, %b and %s, and the same with 64 bits as %t64,
/// %b64 and %s64.
bool is_flat(const std::string& body) {
  Ir ir(R"(
    declare i32 @gpulua.thread.x()
    declare i32 @gpulua.block.x()
    define void @f(ptr %context, ptr %out) {
      %place = getelementptr i8, ptr %context, i64 )" +
        std::to_string(offsetof(ThreadContext, block)) + R"(
      %b = load i32, ptr %place
      %t = call i32 @gpulua.thread.x()
      %s = call i32 @gpulua.block.x()
      %b64 = zext i32 %b to i64
      %t64 = zext i32 %t to i64
      %s64 = zext i32 %s to i64
    )" + body +
        "ret void\n}");
  return has_flat_rows(ir.function());
}

/// Loads the context's field at `offset`.
std::string load_at(std::size_t offset) {
  return "%other = getelementptr i8, ptr %context, i64 " + std::to_string(offset) +
         "\n %value = load i32, ptr %other\n store i32 %value, ptr %out\n";
}

const std::string of_thread = "%start = mul i32 %b, %s\n %i = add i32 %start, %t\n store i32 %i, ptr %out\n";

}  // namespace

TEST_CASE("flat rows: blockIdx.x * blockDim.x + threadIdx.x alone, of any width", "[simd]") {
  CHECK(is_flat(of_thread));
  CHECK(is_flat("%start = mul i32 %s, %b\n %i = add i32 %t, %start\n store i32 %i, ptr %out\n"));
  CHECK(is_flat("%start = mul i64 %b64, %s64\n %i = add i64 %start, %t64\n store i64 %i, ptr %out\n"));
  CHECK(
      is_flat("%start = mul i32 %b, %s\n %wide = zext i32 %start to i64\n %i = add i64 %wide, %t64\n"
              "store i64 %i, ptr %out\n"));
  CHECK(is_flat(""));
  CHECK(is_flat(of_thread + load_at(offsetof(ThreadContext, block) + offsetof(Index3, y))));
  CHECK(is_flat(of_thread + load_at(offsetof(ThreadContext, grid_size))));
  CHECK(is_flat(of_thread + "store i32 %s, ptr %out\n"));
}

TEST_CASE("flat rows: not where a part of the number is used otherwise", "[simd]") {
  CHECK_FALSE(is_flat("store i32 %t, ptr %out\n"));
  CHECK_FALSE(is_flat("store i32 %b, ptr %out\n"));
  CHECK_FALSE(is_flat(of_thread + "store i64 %t64, ptr %out\n"));
  CHECK_FALSE(is_flat(of_thread + "store i32 %b, ptr %out\n"));
  CHECK_FALSE(is_flat(of_thread + "store i32 %start, ptr %out\n"));
  CHECK_FALSE(is_flat("%start = mul i32 %b, 256\n %i = add i32 %start, %t\n store i32 %i, ptr %out\n"));
  CHECK_FALSE(is_flat("%start = mul i32 %t, %s\n %i = add i32 %start, %b\n store i32 %i, ptr %out\n"));
  CHECK_FALSE(
      is_flat("%w = load i32, ptr %out\n %start = mul i32 %w, %s\n %i = add i32 %start, %t\n"
              "store i32 %i, ptr %out\n"));
}

TEST_CASE("flat rows: not where the context tells the thread's place", "[simd]") {
  CHECK_FALSE(is_flat(of_thread + load_at(offsetof(ThreadContext, linear))));
  CHECK_FALSE(is_flat(of_thread + load_at(offsetof(ThreadContext, thread))));
  CHECK_FALSE(is_flat(of_thread + "store ptr %context, ptr %out\n"));
}

}  // namespace gpulua::cpu::simd
