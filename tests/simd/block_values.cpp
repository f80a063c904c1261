// What warps have alike.

#include "src/device/cpu/simd/block_values.h"

#include <llvm/IR/InstIterator.h>

#include "src/device/cpu/abi/abi.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// Of a function whose %block, %thread and %n are blockIdx.x, the warp's first threadIdx.x and an argument.
Ir function(const std::string& body) {
  return Ir(
      "declare i32 @gpulua.arrive(i32, i32, ptr, i32)\ndeclare i64 @llvm.readcyclecounter()\n"
      "define void @f(ptr %context, i32 %n, ptr %data) {\nentry:\n"
      "  %of_block = getelementptr i8, ptr %context, i64 " +
      std::to_string(offsetof(ThreadContext, block)) +
      "\n  %block = load i32, ptr %of_block\n  %thread = load i32, ptr %context\n" + body + "}");
}

std::string alike(const std::string& body) {
  Ir ir = function(body);
  const BlockValues values(ir.function());
  std::string names;
  for (const llvm::Instruction& instruction : llvm::instructions(ir.function()))
    if (instruction.hasName() && values.is_alike(instruction)) names += instruction.getName().str() + " ";
  return names;
}

bool in_step(const std::string& body) {
  Ir ir = function(body);
  return BlockValues(ir.function()).in_step();
}

}  // namespace

TEST_CASE("block values: what follows from the block and the arguments", "[simd]") {
  CHECK(alike(R"(
    %a = add i32 %block, %n
    %b = add i32 %a, %thread
    %c = load i32, ptr %data
    %d = call i64 @llvm.readcyclecounter()
    %e = freeze i32 %a
    %f = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
    ret void)") == "of_block block a f ");
}

TEST_CASE("block values: warps that go other ways", "[simd]") {
  const std::string diamond = R"(
    br i1 %c, label %left, label %join
  left:
    br label %join
  join:
    %a = phi i32 [ %n, %left ], [ 7, %entry ]
    %b = phi i32 [ %n, %left ], [ undef, %entry ]
    ret void)";
  CHECK(alike("%c = icmp eq i32 %block, 0\n" + diamond) == "of_block block c a b ");
  CHECK(alike("%c = icmp eq i32 %thread, 0\n" + diamond) == "of_block block ");
  // %k is the same in each turn, but not behind the loop.
  CHECK(alike(R"(
    br label %loop
  loop:
    %k = phi i32 [ 0, %entry ], [ %more, %loop ]
    %more = add i32 %k, 1
    %stays = icmp ult i32 %more, %thread
    br i1 %stays, label %loop, label %end
  end:
    %last = phi i32 [ %k, %loop ]
    ret void)") == "of_block block k more ");
}

TEST_CASE("block values: warps are in step where all come to each barrier", "[simd]") {
  const std::string arrive = "\n call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)\n";
  const std::string branch =
      "br i1 %c, label %left, label %join\n left:" + arrive + "br label %join\n join:\n ret void\n";
  CHECK(in_step(arrive + "ret void"));
  CHECK(in_step("%c = icmp eq i32 %block, 0\n" + branch));
  CHECK_FALSE(in_step("%c = icmp eq i32 %thread, 0\n" + branch));
  const std::string loop =
      "br label %loop\n loop:\n %k = phi i32 [ 0, %entry ], [ %more, %loop ]\n" + arrive +
      "%more = add i32 %k, 1\n %c = icmp ult i32 %more, %end\n br i1 %c, label %loop, label %done\n"
      "done:\n ret void\n";
  CHECK(in_step("%end = add i32 %n, 1\n" + loop));
  CHECK_FALSE(in_step("%end = add i32 %thread, 1\n" + loop));
}

}  // namespace gpulua::cpu::simd
