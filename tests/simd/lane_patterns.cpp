// Lane patterns of values in each layout of warps.

#include "src/device/cpu/simd/lane_pattern_analysis.h"

#include <limits>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// A function with the body, which uses %x, %y, %z (threadIdx), %w (blockDim.x), %b (blockIdx.x), %by, %h (blockDim.y)
/// and the arguments %p, %n (i32), %m (i64) and %uniform (i1).
std::string with_thread(const std::string& body) {
  return R"(
    declare i32 @gpulua.thread.x()
    declare i32 @gpulua.thread.y()
    declare i32 @gpulua.thread.z()
    declare i32 @gpulua.block.x()
    declare i32 @llvm.smin.i32(i32, i32)
    define void @f(ptr %context, ptr %p, i32 %n, i64 %m, i1 %uniform) {
    entry:
      %x = call i32 @gpulua.thread.x()
      %y = call i32 @gpulua.thread.y()
      %z = call i32 @gpulua.thread.z()
      %w = call i32 @gpulua.block.x()
      %b.place = getelementptr i8, ptr %context, i64 12
      %b = load i32, ptr %b.place
      %by.place = getelementptr i8, ptr %context, i64 16
      %by = load i32, ptr %by.place
      %h.place = getelementptr i8, ptr %context, i64 28
      %h = load i32, ptr %h.place
      )" +
         body + "\n ret void }";
}

/// The pattern of %v, as text: "1 16" is affine with stride 1 and half stride 16, "1 |" one in each half.
std::string pattern(const std::string& body, WarpLayout layout) {
  Ir ir(with_thread(body));
  Divergence divergence(ir.function());
  const LanePatterns patterns(ir.function(), divergence, layout);
  for (const llvm::BasicBlock& block : ir.function())
    for (const llvm::Instruction& instruction : block) {
      if (instruction.getName() != "v") continue;
      const LanePattern found = patterns(&instruction);
      if (found.is_varying()) return "varying";
      if (found.is_uniform()) return "uniform";
      if (found.is_half_affine()) return std::to_string(found.stride) + " |";
      return std::to_string(found.stride) + " " + std::to_string(found.half_stride);
    }
  FAIL("no %v");
  return "";
}

std::string row_chunk(const std::string& body) {
  return pattern(body, WarpLayout::row_chunk);
}
std::string row(const std::string& body) {
  return pattern(body, WarpLayout::row);
}
std::string half_rows(const std::string& body) {
  return pattern(body, WarpLayout::half_rows);
}
std::string any(const std::string& body) {
  return pattern(body, WarpLayout::any);
}

}  // namespace

TEST_CASE("lane patterns: threadIdx in each layout", "[simd]") {
  const std::string x = "%v = add i32 %x, %n", y = "%v = add i32 %y, %n", z = "%v = add i32 %z, %n";
  CHECK(row_chunk(x) == "1 16");
  CHECK(row(x) == "1 16");
  CHECK(half_rows(x) == "1 0");
  CHECK(any(x) == "varying");
  CHECK(row_chunk(y) == "uniform");
  CHECK(row(y) == "uniform");
  CHECK(half_rows(y) == "0 1");
  CHECK(any(y) == "varying");
  CHECK(half_rows(z) == "uniform");
  CHECK(any(z) == "varying");
}

TEST_CASE("lane patterns: sums and products", "[simd]") {
  CHECK(half_rows("%a = mul i32 %y, 16 \n %v = add i32 %a, %x") == "1 16");
  CHECK(half_rows("%a = mul i32 %y, %w \n %v = add i32 %a, %x") == "1 |");
  CHECK(half_rows("%a = shl i32 %y, 5 \n %v = sub i32 %a, %x") == "-1 32");
  CHECK(half_rows("%a = mul i32 %y, %n \n %v = add i32 %a, %x") == "1 |");
  CHECK(half_rows("%v = mul i32 %x, %n") == "varying");
  CHECK(half_rows("%v = mul i32 %x, %x") == "varying");
  CHECK(half_rows("%a = xor i32 %y, %n \n %v = lshr i32 %a, %n") == "0 |");
  CHECK(half_rows("%v = udiv i32 %n, %y") == "varying");
  CHECK(row("%v = mul i32 %x, -3") == "-3 -48");
  CHECK(row("%v = mul i32 %x, %n") == "varying");
  CHECK(row("%a = or disjoint i32 %x, 1024 \n %v = or i32 %a, 1") == "varying");
  CHECK(half_rows("%v = or i32 %y, %n") == "0 |");
  CHECK(half_rows("%v = and i32 %y, %n") == "0 |");
  CHECK(row("%v = select i1 %uniform, i32 %x, i32 %n") == "varying");
  CHECK(half_rows("%a = mul i32 %y, %n \n %v = select i1 %uniform, i32 %a, i32 %y") == "0 |");
}

TEST_CASE("lane patterns: lanes within a warp", "[simd]") {
  CHECK(row("%v = and i32 %x, 31") == "1 16");
  CHECK(row("%v = and i32 %x, 15") == "1 0");
  CHECK(row("%v = and i32 %x, 16") == "0 16");
  CHECK(row("%v = and i32 %x, 7") == "varying");
  CHECK(row("%v = lshr i32 %x, 5") == "uniform");
  CHECK(row("%v = lshr i32 %x, 4") == "0 1");
  CHECK(row("%v = lshr i32 %x, 3") == "varying");
  CHECK(row("%a = mul i32 %n, 64 \n %v = urem i32 %x, %a") == "1 16");
  CHECK(row("%v = urem i32 %x, %n") == "varying");
  // A chunk may start anywhere.
  CHECK(row_chunk("%v = and i32 %x, 31") == "varying");
  CHECK(row_chunk("%v = lshr i32 %x, 5") == "varying");
  CHECK(half_rows("%a = mul i32 %y, 16 \n %b1 = add i32 %a, %x \n %v = lshr i32 %b1, 5") == "uniform");
  CHECK(half_rows("%v = and i32 %y, 1") == "0 1");
  CHECK(half_rows("%v = and i32 %y, 2") == "uniform");
}

TEST_CASE("lane patterns: what is chosen by a thread's row", "[simd]") {
  const std::string least = "%v = call i32 @llvm.smin.i32(i32 ";
  CHECK(half_rows(least + "%y, i32 %n)") == "0 |");
  CHECK(row(least + "%y, i32 %n)") == "uniform");
  CHECK(half_rows(least + "%x, i32 %n)") == "varying");
  CHECK(half_rows("%v = icmp slt i32 %y, %n") == "0 |");
  CHECK(half_rows("%v = icmp slt i32 %x, %n") == "varying");
  const std::string chosen = "%c = icmp slt i32 %y, %n\n%v = select i1 %c, ";
  CHECK(half_rows(chosen + "i32 %y, i32 %n") == "0 |");
  CHECK(half_rows(chosen + "i32 %x, i32 %n") == "varying");
  CHECK(half_rows(chosen + "float 1.0, float 2.0") == "varying");
}

TEST_CASE("lane patterns: extended indices", "[simd]") {
  const std::string number = "%a = mul i32 %b, %w \n %i = add i32 %a, %x \n ";
  for (auto layout : {WarpLayout::row_chunk, WarpLayout::row}) {
    CHECK(pattern(number + "%v = sext i32 %i to i64", layout) == "1 16");
    CHECK(pattern(number + "%v = zext i32 %i to i64", layout) == "1 16");
    CHECK(pattern("%v = zext i32 %x to i64", layout) == "1 16");
    // These may wrap within a warp.
    CHECK(pattern("%i = add i32 %n, %x \n %v = sext i32 %i to i64", layout) == "varying");
    CHECK(pattern(number + "%j = add i32 %i, 1 \n %v = zext i32 %j to i64", layout) == "varying");
    CHECK(pattern("%a = mul i32 %n, %w \n %i = add i32 %a, %x \n %v = sext i32 %i to i64", layout) == "varying");
    CHECK(pattern(number + "%j = add nsw i32 %i, %n \n %v = sext i32 %j to i64", layout) == "1 16");
    CHECK(pattern(number + "%j = add nsw i32 %i, %n \n %v = zext i32 %j to i64", layout) == "varying");
    CHECK(pattern(number + "%j = add nsw i32 %i, %n \n %v = zext nneg i32 %j to i64", layout) == "1 16");
  }
  // What counts as -1 is extended to 2^32 - 1.
  CHECK(row("%a = mul nuw i32 %x, -1 \n %v = zext i32 %a to i64") == "varying");
  CHECK(row("%a = trunc i32 %x to i8 \n %c = mul i8 %a, 9 \n %v = sext i8 %c to i32") == "varying");
  CHECK(half_rows(number + "%v = sext i32 %i to i64") == "1 0");
  CHECK(half_rows("%a = mul i32 %by, %h \n %i = add i32 %a, %y \n %v = sext i32 %i to i64") == "0 1");
  // Strides have 64 bits.
  CHECK(row("%v = zext i32 %x to i128") == "varying");
  CHECK(half_rows("%i = add i32 %n, %y \n %v = sext i32 %i to i64") == "0 |");
  CHECK(half_rows("%a = mul nsw i32 %y, %n \n %i = add nsw i32 %a, %x \n %v = sext i32 %i to i64") == "1 |");
  CHECK(half_rows("%a = mul i32 %y, %n \n %i = add i32 %a, %x \n %v = sext i32 %i to i64") == "varying");
}

TEST_CASE("lane patterns: offsets wrap as 64-bit integers do", "[simd]") {
  const LanePattern pattern = LanePattern::affine(std::int64_t{1} << 62) + LanePattern::uniform();
  CHECK(pattern.offset(1) == std::int64_t{1} << 62);
  CHECK(pattern.offset(2) == std::numeric_limits<std::int64_t>::min());
  CHECK(pattern.offset(5) == std::int64_t{1} << 62);
  CHECK(pattern.offset(31) == -(std::int64_t{1} << 62));
  CHECK(pattern.is_consecutive(pattern.stride));
}

TEST_CASE("lane patterns: addresses", "[simd]") {
  const std::string i = "%i = zext i32 %x to i64 \n %j = zext i32 %y to i64 \n ";
  CHECK(row_chunk(i + "%v = getelementptr float, ptr %p, i64 %i") == "4 64");
  CHECK(half_rows(i + "%v = getelementptr float, ptr %p, i64 %i") == "4 0");
  CHECK(half_rows(i + "%v = getelementptr [16 x float], ptr %p, i64 %j, i64 %i") == "4 64");
  CHECK(half_rows(i + "%v = getelementptr [17 x double], ptr %p, i64 %j, i64 %i") == "8 136");
  CHECK(half_rows(i + "%r = mul i64 %j, %m \n %v = getelementptr float, ptr %p, i64 %r") == "0 |");
  CHECK(half_rows(i + "%r = mul i64 %j, %m \n %c = add i64 %r, %i \n %v = getelementptr float, ptr %p, i64 %c") ==
        "4 |");
}

}  // namespace gpulua::cpu::simd
