// Copies for warps of which all lanes run.

#include "src/device/cpu/simd/whole_warps.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include <algorithm>

#include "src/device/cpu/simd/markers.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// if (condition) out[threadIdx.x] = 1, after `before`.
std::string guarded_by(const std::string& before, const std::string& condition) {
  return R"(
    declare i32 @gpulua.thread.x()
    declare void @gpulua_barrier()
    define void @f(i32 %n, i32 %d, ptr %in, ptr %out) {
    entry:
      %i = call i32 @gpulua.thread.x()
      %place = getelementptr i32, ptr %out, i32 %i
)" + before +
         "\n      %stays = " + condition + R"(
      br i1 %stays, label %body, label %done
    body:
      store i32 1, ptr %place
      br label %done
    done:
      ret void
    })";
}

long count(llvm::Function& function, Marker wanted) {
  return std::count_if(llvm::inst_begin(function), llvm::inst_end(function),
                       [&](const llvm::Instruction& instruction) { return marker(&instruction) == wanted; });
}

/// The number of copies.
long copies(const std::string& text, WarpLayout layout = WarpLayout::row) {
  Ir ir(text);
  const bool any = split_whole_warps(ir.function(), layout);
  CHECK_FALSE(llvm::verifyFunction(ir.function()));
  const long number = count(ir.function(), Marker::whole_warp);
  CHECK(any == (number > 0));
  return number;
}

}  // namespace

TEST_CASE("whole warps: what a bound guards is copied", "[simd]") {
  CHECK(copies(guarded_by("", "icmp slt i32 %i, %n")) == 1);
  CHECK(copies(guarded_by("", "icmp ugt i32 %i, %n")) == 1);
  CHECK(copies(guarded_by("%a = icmp slt i32 %i, %n\n %b = icmp sgt i32 %i, 0", "select i1 %a, i1 %b, i1 false")) == 1);
}

TEST_CASE("whole warps: none where the condition depends on data, or does not diverge", "[simd]") {
  const std::string load = "%from = getelementptr i32, ptr %in, i32 %i\n %value = load i32, ptr %from\n";
  CHECK(copies(guarded_by(load, "icmp slt i32 %value, %n")) == 0);
  CHECK(copies(guarded_by("", "icmp slt i32 %d, %n")) == 0);
}

TEST_CASE("whole warps: none with a barrier", "[simd]") {
  std::string text = guarded_by("", "icmp slt i32 %i, %n");
  text.replace(text.find("store"), 0, "call void @gpulua_barrier()\n      ");
  CHECK(copies(text) == 0);
}

TEST_CASE("whole warps: a body without a bound is copied where warps may be parts of one", "[simd]") {
  std::string text = guarded_by("store i32 0, ptr %place", "icmp slt i32 %d, %n");
  CHECK(copies(text, WarpLayout::row) == 0);
  CHECK(copies(text, WarpLayout::row_chunk) == 1);
}

}  // namespace gpulua::cpu::simd
