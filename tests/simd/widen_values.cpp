// The values of lanes, computed from patterns and compared with those that the scalar function computes.

#include <array>

#include "tests/simd/warp_function.h"

namespace gpulua::cpu::simd {
namespace {

using Lanes = std::array<int, warp_size>;

/// %v in each lane, for the given %n and %m.
Lanes values(const std::string& body, WarpLayout layout, int n = 0, int m = 0) {
  WarpFunction function(body + "\n %end = add i32 0, 0", layout);
  function.widen_up_to("end");
  function.output(function.warp().vector(&function.instruction("v")));
  Lanes result{};
  function.run(static_cast<int*>(nullptr), result.data(), ~0u, n, m);
  return result;
}

template <class Formula>
Lanes expected(Formula formula) {
  Lanes result{};
  for (int lane = 0; lane < static_cast<int>(warp_size); ++lane) result[static_cast<unsigned>(lane)] = formula(lane);
  return result;
}

}  // namespace

TEST_CASE("widening: vectors of uniform, affine and half-affine values", "[simd]") {
  CHECK(values("%v = mul i32 %n, %m", WarpLayout::row, 6, 7) == expected([](int) { return 42; }));
  CHECK(values("%a = mul i32 %x, 3\n %v = add i32 %a, %n", WarpLayout::row, 100) ==
        expected([](int lane) { return 100 + 3 * lane; }));
  // Two rows of 16 threads: x = lane % 16, y = lane / 16.
  CHECK(values("%a = mul i32 %y, 1000\n %v = add i32 %a, %x", WarpLayout::half_rows) ==
        expected([](int lane) { return 1000 * (lane / 16) + lane % 16; }));
  CHECK(values("%a = mul i32 %y, %n\n %v = add i32 %a, %x", WarpLayout::half_rows, 77) ==
        expected([](int lane) { return 77 * (lane / 16) + lane % 16; }));
}

TEST_CASE("widening: varying values", "[simd]") {
  CHECK(values("%v = mul i32 %x, %x", WarpLayout::row) == expected([](int lane) { return lane * lane; }));
  CHECK(values("%a = mul i32 %x, 5\n %b = add i32 %a, 1\n %v = sdiv i32 %b, 7", WarpLayout::row) ==
        expected([](int lane) { return (5 * lane + 1) / 7; }));
  CHECK(values("%a = mul i32 %x, %n\n %v = srem i32 %a, %m", WarpLayout::row, -37, 11) ==
        expected([](int lane) { return -37 * lane % 11; }));
}

TEST_CASE("widening: consecutive numbers within a bound, also where they wrap", "[simd]") {
  for (const char* predicate : {"slt", "ult", "sge", "uge"}) {
    WarpFunction function("%i = add i32 %x, %m\n %v = icmp " + std::string(predicate) + " i32 %i, %n\n" +
                          "%end = add i32 0, 0");
    function.widen_up_to("end");
    function.output(function.warp().bits_of(function.warp().vector(&function.instruction("v"))));
    for (int first : {0, 5, -3, -40, 2147483647, 2147483620, -2147483647 - 1})
      for (int bound : {0, 1, 16, 31, 32, 40, -1, -20, 2147483647, -2147483647 - 1, -2147483630}) {
        unsigned found = 0, wanted = 0;
        function.run(static_cast<int*>(nullptr), &found, ~0u, bound, first);
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          const unsigned i = static_cast<unsigned>(first) + lane, n = static_cast<unsigned>(bound);
          const bool below = predicate[0] == 's' ? static_cast<int>(i) < static_cast<int>(n) : i < n;
          wanted |= static_cast<unsigned>(below == (std::string(predicate + 1) == "lt")) << lane;
        }
        INFO(predicate << ", from " << first << ", bound " << bound);
        CHECK(found == wanted);
      }
  }
}

TEST_CASE("widening: either of two paths at run time", "[simd]") {
  WarpFunction function("%end = add i32 0, 0");
  WarpBuilder& warp = function.warp();
  llvm::Value* condition = function.builder().CreateICmpSGT(function.argument(4), function.builder().getInt32(10));
  llvm::Value* result = warp.either(
      condition, [&] { return function.builder().CreateAdd(function.argument(4), function.argument(5)); },
      [&] { return function.builder().CreateMul(function.argument(4), function.argument(5)); });
  function.output(result);
  int out = 0;
  function.run(static_cast<int*>(nullptr), &out, ~0u, 11, 3);
  CHECK(out == 14);
  function.run(static_cast<int*>(nullptr), &out, ~0u, 10, 3);
  CHECK(out == 30);
}

}  // namespace gpulua::cpu::simd
