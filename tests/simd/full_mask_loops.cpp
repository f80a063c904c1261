// Copies of loops for the iterations that all lanes take.

#include "src/device/cpu/simd/full_mask_loops.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include <algorithm>

#include "src/device/cpu/simd/markers.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// for (i = threadIdx.x; i < n; i += step) sum += i, where the lanes' i and n are named in the comparison.
std::string loop_while(const std::string& comparison) {
  return R"(
    declare i32 @gpulua.thread.x()
    define i32 @f(i32 %n, i32 %step) {
    entry:
      %first = call i32 @gpulua.thread.x()
      br label %loop
    loop:
      %i = phi i32 [ %first, %entry ], [ %next, %loop ]
      %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
      %more = add i32 %sum, %i
      %next = add i32 %i, %step
      %stays = )" +
         comparison + R"(
      br i1 %stays, label %loop, label %done
    done:
      %result = phi i32 [ %more, %loop ]
      ret i32 %result
    })";
}

long count_copies(const std::string& comparison) {
  Ir ir(loop_while(comparison));
  split_full_mask_loops(ir.function(), WarpLayout::row);
  CHECK_FALSE(llvm::verifyFunction(ir.function()));
  Divergence divergence(ir.function());
  CHECK(divergence.why_not() == "");
  const LanePatterns patterns(ir.function(), divergence, WarpLayout::row);
  const auto loops = divergence.loops().getLoopsInPreorder();
  const auto divergent =
      std::count_if(loops.begin(), loops.end(), [&](auto* loop) { return divergence.diverges(loop); });
  CHECK(divergent == 1);
  return static_cast<long>(loops.size()) - divergent;
}

}  // namespace

TEST_CASE("full-mask loops: no lanes diverge in the copy of the loop", "[simd]") {
  CHECK(count_copies("icmp slt i32 %next, %n") == 1);
  CHECK(count_copies("icmp ult i32 %next, %n") == 1);
  CHECK(count_copies("icmp sge i32 %n, %next") == 1);
}

TEST_CASE("full-mask loops: none where one lane's number does not bound the others", "[simd]") {
  CHECK(count_copies("icmp slt i32 %more, %n") == 0);
  CHECK(count_copies("icmp ne i32 %next, %n") == 0);
  CHECK(count_copies("icmp sgt i32 %next, %n") == 0);
}

}  // namespace gpulua::cpu::simd
