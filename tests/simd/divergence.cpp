// Divergence: branches on %lane... diverge, others do not.

#include "src/device/cpu/simd/divergence.h"

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

bool by_name(const llvm::Instruction* branch) {
  const auto* conditional = llvm::dyn_cast<llvm::BranchInst>(branch);
  return conditional != nullptr && conditional->isConditional() &&
         conditional->getCondition()->getName().starts_with("lane");
}

std::string order(const Divergence& divergence) {
  std::string names;
  for (Block* block : divergence.order()) names += block->getName().str() + " ";
  return names;
}

constexpr const char* diamond = R"(
  define void @f(i1 %lane, i1 %same) {
  entry:
    br i1 %lane, label %left, label %right
  right:
    br label %join
  left:
    br i1 %same, label %inner, label %join
  inner:
    br label %join
  join:
    ret void
  })";

// Lanes leave in different iterations and return together.
constexpr const char* loop = R"(
  define void @f(i1 %lane, i1 %same) {
  entry:
    br label %header
  header:
    br i1 %lane, label %exit, label %latch
  latch:
    br i1 %same, label %header, label %other
  exit:
    br label %end
  other:
    br label %end
  end:
    ret void
  })";

}  // namespace

TEST_CASE("divergence: lanes that diverge have masks of their own until they converge", "[simd]") {
  Ir ir(diamond);
  Divergence divergence(ir.function());
  REQUIRE(divergence.why_not().empty());
  divergence.update(by_name);
  // Either way may come first; what a block dominates stands with it.
  CHECK_THAT(order(divergence), Catch::Matchers::StartsWith("entry ") &&
                                    Catch::Matchers::ContainsSubstring("left inner ") &&
                                    Catch::Matchers::EndsWith("join "));
  CHECK(divergence.diverges(ir.block("entry")));
  CHECK_FALSE(divergence.diverges(ir.block("left")));
  CHECK(divergence.mask_owner(ir.block("left")) == ir.block("left"));
  // The branch in it is uniform.
  CHECK(divergence.mask_owner(ir.block("join")) == ir.block("entry"));
  CHECK_FALSE(divergence.enters_by_one_edge(ir.block("join")));
}

TEST_CASE("divergence: nothing diverges where conditions are uniform", "[simd]") {
  Ir ir(diamond);
  Divergence divergence(ir.function());
  divergence.update([](const llvm::Instruction*) { return false; });
  for (const char* name : {"left", "inner", "right", "join"}) {
    CHECK(divergence.mask_owner(ir.block(name)) == ir.block("entry"));
    CHECK(divergence.enters_by_one_edge(ir.block(name)));
  }
}

TEST_CASE("divergence: a loop that lanes leave in different iterations", "[simd]") {
  Ir ir(loop);
  Divergence divergence(ir.function());
  divergence.update(by_name);
  const llvm::Loop* found = divergence.loops().getLoopFor(ir.block("header"));
  REQUIRE(found != nullptr);
  CHECK(divergence.diverges(found));
  CHECK(divergence.mask_owner(ir.block("header")) == ir.block("header"));
  CHECK(divergence.leaves_divergent_loop(ir.block("header"), ir.block("exit")));
  CHECK(divergence.mask_owner(ir.block("end")) == ir.block("entry"));
  CHECK(divergence.is_back_edge(ir.block("latch"), ir.block("header")));
}

TEST_CASE("divergence: with lanes that leave ignored, the others have not diverged", "[simd]") {
  Ir ir(loop);
  Divergence divergence(ir.function());
  divergence.disregard({ir.block("exit"), ir.block("other"), ir.block("end")});
  divergence.update(by_name);
  CHECK_FALSE(divergence.diverges(divergence.loops().getLoopFor(ir.block("header"))));
  CHECK(divergence.mask_owner(ir.block("latch")) == ir.block("entry"));
}

TEST_CASE("divergence: lanes converge before they all leave", "[simd]") {
  Ir ir(R"(
    define void @f(i1 %lane, i1 %lane2) {
    entry:
      br i1 %lane, label %work, label %barrier
    work:
      br label %barrier
    barrier:
      br i1 %lane2, label %more, label %end
    more:
      br label %end
    end:
      ret void
    })");
  Divergence divergence(ir.function());
  divergence.disregard({ir.block("more"), ir.block("end")});
  divergence.update(by_name);
  CHECK(divergence.mask_owner(ir.block("barrier")) == ir.block("entry"));
}

TEST_CASE("divergence: a loop with two entries is refused", "[simd]") {
  Ir ir(R"(
    define void @f(i1 %lane) {
    entry:
      br i1 %lane, label %one, label %two
    one:
      br label %two
    two:
      br i1 %lane, label %one, label %end
    end:
      ret void
    })");
  CHECK(Divergence(ir.function()).why_not() == "irreducible control flow");
}

}  // namespace gpulua::cpu::simd
