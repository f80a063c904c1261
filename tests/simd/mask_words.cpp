// Words of bits that become masks.

#include "src/device/cpu/simd/mask_words.h"

#include <llvm/IR/Verifier.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// The instructions that make a mask of a word of as many bits.
std::string made_by(unsigned lanes, const std::string& features) {
  const std::string word = "i" + std::to_string(lanes), mask = "<" + std::to_string(lanes) + " x i1>";
  Ir ir("define " + mask + " @f(" + word + " %word) \"target-features\"=\"" + features + "\" {\n  %mask = bitcast " +
        word + " %word to " + mask + "\n  ret " + mask + " %mask\n}");
  lower_mask_words(ir.function());
  REQUIRE_FALSE(llvm::verifyFunction(ir.function()));
  std::string names;
  for (const llvm::Instruction& instruction : llvm::instructions(ir.function()))
    names += std::string(names.empty() ? "" : " ") + instruction.getOpcodeName();
  return names;
}

}  // namespace

TEST_CASE("mask words: masks are the first lanes of 64", "[simd]") {
  CHECK(made_by(32, "+avx512f,+avx512bw") == "zext bitcast shufflevector ret");
  CHECK(made_by(16, "+avx512f,+avx512bw") == "zext bitcast shufflevector ret");
  CHECK(made_by(64, "+avx512f,+avx512bw") == "bitcast ret");
  CHECK(made_by(32, "+avx2") == "insertelement shufflevector and icmp ret");
}

TEST_CASE("mask words: a part of a wider word is not cut off first", "[simd]") {
  Ir ir(R"(
    define <32 x i1> @f(i64 %long) "target-features"="+avx512f,+avx512bw" {
      %word = trunc i64 %long to i32
      %mask = bitcast i32 %word to <32 x i1>
      ret <32 x i1> %mask
    })");
  lower_mask_words(ir.function());
  REQUIRE_FALSE(llvm::verifyFunction(ir.function()));
  const auto masks = all<llvm::ShuffleVectorInst>(ir.function());
  REQUIRE(masks.size() == 1);
  CHECK(llvm::cast<llvm::BitCastInst>(masks[0]->getOperand(0))->getOperand(0) == ir.function().getArg(0));
  for (int lane = 0; lane < 32; ++lane) CHECK(masks[0]->getMaskValue(static_cast<unsigned>(lane)) == lane);
}

TEST_CASE("mask words: what is made of words is computed on words", "[simd]") {
  Ir ir(R"(
    declare void @use(<32 x i1>)
    define i32 @f(i32 %a, i32 %b, <32 x i1> %other) "target-features"="+avx512f,+avx512bw" {
      %first = bitcast i32 %a to <32 x i1>
      %second = bitcast i32 %b to <32 x i1>
      %both = select <32 x i1> %first, <32 x i1> %second, <32 x i1> zeroinitializer
      %none = xor <32 x i1> %both, splat (i1 true)
      %mixed = or <32 x i1> %second, %other
      call void @use(<32 x i1> %none)
      call void @use(<32 x i1> %mixed)
      %bits = bitcast <32 x i1> %both to i32
      ret i32 %bits
    })");
  lower_mask_words(ir.function());
  REQUIRE_FALSE(llvm::verifyFunction(ir.function()));
  std::string names;
  for (const llvm::Instruction& instruction : llvm::instructions(ir.function()))
    names += std::string(instruction.getOpcodeName()) + " ";
  CHECK(names == "zext bitcast shufflevector freeze and xor zext bitcast shufflevector or call call ret ");
  CHECK(all<llvm::FreezeInst>(ir.function())[0]->getOperand(0) == ir.function().getArg(1));
}

}  // namespace gpulua::cpu::simd
