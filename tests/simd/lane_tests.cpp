// Tests whether the mask of the first n lanes is empty.

#include "src/device/cpu/simd/lane_tests.h"

#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/Verifier.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// The comparison that is returned for a mask of `number` lanes (an i32 named %number), and its operands' names.
std::string simplified(const std::string& number, const std::string& test = "icmp eq i32 %bits, -1") {
  Ir ir(R"(
    declare i32 @llvm.usub.sat.i32(i32, i32)
    declare i32 @llvm.umin.i32(i32, i32)
    define i1 @f(i32 %base, i32 %end, i64 %wide) {
      )" +
        number +
        R"(
      %extended = zext i32 %number to i64
      %lanes = shl i64 -1, %extended
      %bits = trunc i64 %lanes to i32
      %test = )" +
        test + "\n  ret i1 %test\n}");
  simplify_lane_tests(ir.function());
  REQUIRE_FALSE(llvm::verifyFunction(ir.function()));
  const auto* end = llvm::cast<llvm::ReturnInst>(ir.function().getEntryBlock().getTerminator());
  const auto* compare = llvm::cast<llvm::ICmpInst>(end->getReturnValue());
  const auto text = [](const llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr ? std::to_string(constant->getSExtValue()) : value->getName().str();
  };
  return text(compare->getOperand(0)) + " " + llvm::CmpInst::getPredicateName(compare->getPredicate()).str() + " " +
         text(compare->getOperand(1));
}

const std::string below = "%left = call i32 @llvm.usub.sat.i32(i32 %end, i32 %base)\n";

}  // namespace

TEST_CASE("lane tests: a mask of lanes below a bound is empty where the first lane is not", "[simd]") {
  const std::string number = below + "%number = call i32 @llvm.umin.i32(i32 %left, i32 32)";
  CHECK(simplified(number) == "end ule base");
  CHECK(simplified(number, "icmp ne i32 %bits, -1") == "end ugt base");
  CHECK(simplified("%number = call i32 @llvm.umin.i32(i32 %base, i32 32)") == "base eq 0");
  CHECK(simplified("%number = add i32 %base, 3") == "number eq 0");
}

TEST_CASE("lane tests: other tests stay as they are", "[simd]") {
  CHECK(simplified(below + "%number = call i32 @llvm.umin.i32(i32 %left, i32 32)", "icmp eq i32 %bits, -2") ==
        "bits eq -2");
  CHECK(simplified("%number = add i32 %base, 0", "icmp ult i32 %bits, -1") == "bits ult -1");
  // Nothing but 0 stands for no lanes.
  CHECK(simplified("%number = call i32 @llvm.umin.i32(i32 %base, i32 0)") == "number eq 0");
}

TEST_CASE("lane tests: the last lane of a mask of one lane is known", "[simd]") {
  const auto lane = [](const std::string& mask) {
    Ir ir(R"(
      declare i32 @llvm.ctlz.i32(i32, i1)
      define float @f(<32 x float> %values, i32 %bits) {
        %mask = and i32 %bits, )" +
          mask + R"(
        %leading = call i32 @llvm.ctlz.i32(i32 %mask, i1 false)
        %last = xor i32 %leading, 31
        %value = extractelement <32 x float> %values, i32 %last
        ret float %value
      })");
    simplify_lane_tests(ir.function());
    for (const llvm::Instruction& instruction : llvm::instructions(ir.function()))
      if (const auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction))
        if (const auto* index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()))
          return static_cast<int>(index->getZExtValue());
    return -1;
  };
  CHECK(lane("1") == 0);
  CHECK(lane("64") == 6);
  CHECK(lane("3") == -1);
}

}  // namespace gpulua::cpu::simd
