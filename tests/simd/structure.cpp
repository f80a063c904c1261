// Which lanes are where: branches on %lane... part them, others do not.

#include "src/device/cpu/simd/structure.h"

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

bool by_name(const llvm::Instruction* branch) {
  const auto* conditional = llvm::dyn_cast<llvm::BranchInst>(branch);
  return conditional != nullptr && conditional->isConditional() &&
         conditional->getCondition()->getName().starts_with("lane");
}

std::string order(const Structure& structure) {
  std::string names;
  for (Block* block : structure.order()) names += block->getName().str() + " ";
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

// Lanes leave in different turns; the return is behind.
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

TEST_CASE("structure: lanes that part have masks of their own until they meet again", "[simd]") {
  Ir ir(diamond);
  Structure structure(ir.function());
  REQUIRE(structure.why_not().empty());
  structure.update(by_name);
  // Either way may come first; what a block dominates stands with it.
  CHECK_THAT(order(structure),
             Catch::StartsWith("entry ") && Catch::Contains("left inner ") && Catch::EndsWith("join "));
  CHECK(structure.diverges(ir.block("entry")));
  CHECK_FALSE(structure.diverges(ir.block("left")));
  CHECK(structure.root(ir.block("left")) == ir.block("left"));
  // The branch in it is one for all lanes that are there.
  CHECK(structure.root(ir.block("join")) == ir.block("entry"));
  CHECK_FALSE(structure.joins_together(ir.block("join")));
}

TEST_CASE("structure: nothing parts where all lanes decide alike", "[simd]") {
  Ir ir(diamond);
  Structure structure(ir.function());
  structure.update([](const llvm::Instruction*) { return false; });
  for (const char* name : {"left", "inner", "right", "join"}) {
    CHECK(structure.root(ir.block(name)) == ir.block("entry"));
    CHECK(structure.joins_together(ir.block(name)));
  }
}

TEST_CASE("structure: a loop that lanes leave in different turns", "[simd]") {
  Ir ir(loop);
  Structure structure(ir.function());
  structure.update(by_name);
  const llvm::Loop* found = structure.loops().getLoopFor(ir.block("header"));
  REQUIRE(found != nullptr);
  CHECK(structure.diverges(found));
  CHECK(structure.root(ir.block("header")) == ir.block("header"));
  CHECK(structure.leaves_divergent_loop(ir.block("header"), ir.block("exit")));
  CHECK(structure.root(ir.block("end")) == ir.block("entry"));
  CHECK(structure.is_back_edge(ir.block("latch"), ir.block("header")));
}

TEST_CASE("structure: where lanes that leave count no more, the others have not parted", "[simd]") {
  Ir ir(loop);
  Structure structure(ir.function());
  structure.disregard({ir.block("exit"), ir.block("other"), ir.block("end")});
  structure.update(by_name);
  CHECK_FALSE(structure.diverges(structure.loops().getLoopFor(ir.block("header"))));
  CHECK(structure.root(ir.block("latch")) == ir.block("entry"));
}

TEST_CASE("structure: lanes meet ahead of where they all leave", "[simd]") {
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
  Structure structure(ir.function());
  structure.disregard({ir.block("more"), ir.block("end")});
  structure.update(by_name);
  CHECK(structure.root(ir.block("barrier")) == ir.block("entry"));
}

TEST_CASE("structure: a loop with two entries is refused", "[simd]") {
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
  CHECK(Structure(ir.function()).why_not() == "irreducible control flow");
}

}  // namespace gpulua::cpu::simd
