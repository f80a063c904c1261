// Loops over a range of the lane's own become functions that lanes call one by one.

#include "src/device/cpu/simd/range_loops.h"

#include <llvm/IR/Verifier.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// for (k = first; k < last; ++k) `body`, which makes %more of %sum and has %k as %wide. Each lane loads both bounds;
/// they are the same in all lanes if `uniform`.
std::string loop(const std::string& body, bool uniform = false,
                 const std::string& stays = "icmp slt i32 %next, %last") {
  return R"(
    declare i32 @gpulua.thread.x()
    declare float @llvm.fmuladd.f32(float, float, float)
    declare float @llvm.sqrt.f32(float)
    define void @f(ptr %firsts, ptr %columns, ptr %a, ptr %x, ptr %out) {
    entry:
      %thread = call i32 @gpulua.thread.x()
      %i = add i32 %thread, 0
      %at = getelementptr i32, ptr %firsts, i32 )" +
         std::string(uniform ? "5" : "%i") + R"(
      %first = load i32, ptr %at
      %at.next = getelementptr i32, ptr %at, i32 1
      %last = load i32, ptr %at.next
      %any = icmp slt i32 %first, %last
      br i1 %any, label %before, label %done
    before:
      br label %body
    body:
      %k = phi i32 [ %first, %before ], [ %next, %body ]
      %sum = phi float [ 0.0, %before ], [ %more, %body ]
      %wide = sext i32 %k to i64
)" + body +
         R"(
      %next = add nsw i32 %k, 1
      %stays = )" +
         stays + R"(
      br i1 %stays, label %body, label %after
    after:
      %total = phi float [ %more, %body ]
      %end = phi i32 [ %next, %body ]
      br label %done
    done:
      %result = phi float [ 0.0, %entry ], [ %total, %after ]
      %ended = phi i32 [ %first, %entry ], [ %end, %after ]
      %place = getelementptr float, ptr %out, i32 %i
      store float %result, ptr %place
      store i32 %ended, ptr %place
      ret void
    })";
}

const std::string product = R"(
      %a.at = getelementptr float, ptr %a, i64 %wide
      %element = load float, ptr %a.at
      %column.at = getelementptr i32, ptr %columns, i64 %wide
      %column = load i32, ptr %column.at
      %column.wide = sext i32 %column to i64
      %x.at = getelementptr float, ptr %x, i64 %column.wide
      %factor = load float, ptr %x.at
      %more = call float @llvm.fmuladd.f32(float %element, float %factor, float %sum)
)";

/// The number of functions that become of the loop.
std::size_t functions(const std::string& text) {
  Ir ir(text);
  const std::set<llvm::Function*> found = outline_range_loops(ir.function(), WarpLayout::row);
  CHECK_FALSE(llvm::verifyModule(*ir.module));
  for (const llvm::Function* function : found) CHECK(calls(ir.function(), function->getName()).size() == 1);
  return found.size();
}

}  // namespace

TEST_CASE("range loops: a row of a sparse matrix times a vector", "[simd]") {
  CHECK(functions(loop(product)) == 1);
}

TEST_CASE("range loops: none whose lanes run the same range", "[simd]") {
  CHECK(functions(loop(product, true)) == 0);
}

TEST_CASE("range loops: none that compute more than they load", "[simd]") {
  std::string roots;
  for (int i = 0; i < 8; ++i)
    roots += "%r" + std::to_string(i + 1) + " = call float @llvm.sqrt.f32(float " +
             (i == 0 ? std::string("%sum") : "%r" + std::to_string(i)) + ")\n";
  CHECK(functions(loop(roots + "%more = fadd float %r8, 1.0\n")) == 0);
  CHECK(functions(loop("%a.at = getelementptr float, ptr %a, i64 %wide\n %element = load float, ptr %a.at\n" + roots +
                       "%more = fadd float %r8, %element\n")) == 0);
}

TEST_CASE("range loops: none with stores, with addresses or an end that an earlier iteration computes", "[simd]") {
  CHECK(functions(loop(product + "store float %more, ptr %a.at\n")) == 0);
  CHECK(functions(loop("%link = fptosi float %sum to i32\n %a.at = getelementptr float, ptr %a, i32 %link\n"
                       "%more = load float, ptr %a.at\n")) == 0);
  CHECK(functions(loop(product, false, "fcmp olt float %more, 100.0")) == 0);
}

}  // namespace gpulua::cpu::simd
