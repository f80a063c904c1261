// Block-uniform values, and warps in lockstep.

#include "src/device/cpu/simd/block_uniformity.h"

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

std::string block_uniform(const std::string& body) {
  Ir ir = function(body);
  const BlockUniformity values(ir.function());
  std::string names;
  for (const llvm::Instruction& instruction : llvm::instructions(ir.function()))
    if (instruction.hasName() && values.is_block_uniform(instruction)) names += instruction.getName().str() + " ";
  return names;
}

bool in_lockstep(const std::string& body) {
  Ir ir = function(body);
  return BlockUniformity(ir.function()).in_lockstep();
}

}  // namespace

TEST_CASE("block uniformity: values that depend on the block and the arguments", "[simd]") {
  CHECK(block_uniform(R"(
    %a = add i32 %block, %n
    %b = add i32 %a, %thread
    %c = load i32, ptr %data
    %d = call i64 @llvm.readcyclecounter()
    %e = freeze i32 %a
    %f = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
    ret void)") == "of_block block a f ");
}

TEST_CASE("block uniformity: warps that take different paths", "[simd]") {
  const std::string diamond = R"(
    br i1 %c, label %left, label %join
  left:
    br label %join
  join:
    %a = phi i32 [ %n, %left ], [ 7, %entry ]
    %b = phi i32 [ %n, %left ], [ undef, %entry ]
    ret void)";
  CHECK(block_uniform("%c = icmp eq i32 %block, 0\n" + diamond) == "of_block block c a b ");
  CHECK(block_uniform("%c = icmp eq i32 %thread, 0\n" + diamond) == "of_block block ");
  // %k is uniform in each iteration, but not after the loop.
  CHECK(block_uniform(R"(
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

TEST_CASE("block uniformity: warps are in lockstep where all arrive at each barrier", "[simd]") {
  const std::string arrive = "\n call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)\n";
  const std::string branch =
      "br i1 %c, label %left, label %join\n left:" + arrive + "br label %join\n join:\n ret void\n";
  CHECK(in_lockstep(arrive + "ret void"));
  CHECK(in_lockstep("%c = icmp eq i32 %block, 0\n" + branch));
  CHECK_FALSE(in_lockstep("%c = icmp eq i32 %thread, 0\n" + branch));
  const std::string loop =
      "br label %loop\n loop:\n %k = phi i32 [ 0, %entry ], [ %more, %loop ]\n" + arrive +
      "%more = add i32 %k, 1\n %c = icmp ult i32 %more, %end\n br i1 %c, label %loop, label %done\n"
      "done:\n ret void\n";
  CHECK(in_lockstep("%end = add i32 %n, 1\n" + loop));
  CHECK_FALSE(in_lockstep("%end = add i32 %thread, 1\n" + loop));
}

}  // namespace gpulua::cpu::simd
