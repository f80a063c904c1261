// Which additions go to a tally, and when it is settled.

#include "src/device/cpu/simd/tallies.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

using Atomic = llvm::AtomicRMWInst;

Ir kernel(const std::string& body, const std::string& parameters = "ptr %in, ptr %out") {
  Ir ir(
      "declare void @gpulua_barrier(ptr, i32)\ndeclare i32 @gpulua_ballot(i32, i32) inaccessiblememonly\n"
      "define void @f(ptr %context, ptr %counts, i64 %i, i32 %v, " +
      parameters + ") {\n" + body + "\n ret void }");
  keep_tallies(ir.function());
  CHECK_FALSE(llvm::verifyFunction(ir.function(), &llvm::errs()));
  return ir;
}

const std::string address = "%p = getelementptr i32, ptr %counts, i64 %i\n";
const std::string add = address + "%old = atomicrmw add ptr %p, i32 %v monotonic\n";

bool keeps(const std::string& body) {
  Ir ir = kernel(body);
  return !calls(ir.function(), "gpulua.tally").empty();
}

/// The accesses, by the parameter or address that is settled for.
unsigned settlements(const std::string& body, const std::string& parameters = "ptr %in, ptr %out") {
  Ir ir = kernel(body, parameters);
  return static_cast<unsigned>(calls(ir.function(), "gpulua.settle").size());
}

}  // namespace

TEST_CASE("tallies: elements that a tally has go there, others to the array", "[simd]") {
  Ir ir = kernel(add);
  const auto tallies = calls(ir.function(), "gpulua.tally");
  REQUIRE(tallies.size() == 1);
  CHECK(number(tallies[0]->getArgOperand(0)) == 1);
  const auto atomics = all<Atomic>(ir.function());
  REQUIRE(atomics.size() == 2);
  for (const Atomic* atomic : atomics) {
    const auto* place = llvm::cast<llvm::GetElementPtrInst>(atomic->getPointerOperand());
    const bool own = place->getPointerOperand() == tallies[0];
    CHECK((own || place->getPointerOperand() == ir.function().getArg(1)));
    CHECK((atomic->getSyncScopeID() == llvm::SyncScope::SingleThread) == own);
    const auto* branch = llvm::cast<llvm::BranchInst>(atomic->getParent()->getSinglePredecessor()->getTerminator());
    const auto* compare = llvm::cast<llvm::ICmpInst>(branch->getCondition());
    CHECK(compare->getPredicate() == llvm::ICmpInst::ICMP_ULT);
    CHECK(number(compare->getOperand(1)) == tally_elements);
    CHECK((branch->getSuccessor(0) == atomic->getParent()) == own);
  }
}

TEST_CASE("tallies: a small index needs no question", "[simd]") {
  Ir ir = kernel(
      "%small = and i64 %i, 1023\n%p = getelementptr i32, ptr %counts, i64 %small\n"
      "atomicrmw add ptr %p, i32 %v monotonic");
  REQUIRE(all<Atomic>(ir.function()).size() == 1);
  CHECK(all<Atomic>(ir.function())[0]->getSyncScopeID() == llvm::SyncScope::SingleThread);
  CHECK(ir.function().size() == 1);
}

TEST_CASE("tallies: kernels that have none", "[simd]") {
  CHECK(keeps(add));
  CHECK(keeps(add + "call i32 @gpulua_ballot(i32 -1, i32 %v)"));
  CHECK_FALSE(keeps(add + "store i32 %old, ptr %out"));
  CHECK_FALSE(keeps(add + "call void @gpulua_barrier(ptr null, i32 1)"));
  CHECK_FALSE(keeps(add + "fence seq_cst"));
  CHECK_FALSE(keeps(add + "%seen = load volatile i32, ptr %in"));
  CHECK_FALSE(keeps(add + "store atomic i32 1, ptr %out monotonic, align 4"));
  CHECK_FALSE(keeps(add + "atomicrmw max ptr %out, i32 %v monotonic"));
  CHECK_FALSE(keeps(add + "cmpxchg ptr %out, i32 0, i32 1 monotonic monotonic"));
  CHECK_FALSE(keeps(address + "atomicrmw add ptr %p, i32 %v seq_cst"));
  CHECK_FALSE(keeps(address + "atomicrmw volatile add ptr %p, i32 %v monotonic"));
  CHECK_FALSE(keeps(address + "atomicrmw sub ptr %p, i32 %v monotonic"));
  CHECK_FALSE(keeps(address + "atomicrmw add ptr %p, i64 %i monotonic"));
  CHECK_FALSE(keeps("%q = load ptr, ptr %in\natomicrmw add ptr %q, i32 %v monotonic"));
}

TEST_CASE("tallies: settled ahead of what may be to the array", "[simd]") {
  const std::string load = "%seen = load i32, ptr %in\n", store = "store i32 1, ptr %out\n";
  CHECK(settlements(add + load) == 1);
  CHECK(settlements(add + load + store) == 2);
  CHECK(settlements(add + load + store, "ptr noalias %in, ptr %out") == 1);
  CHECK(settlements(add + "%seen = load i32, ptr %context") == 0);
  CHECK(settlements(add + "%shared = getelementptr i8, ptr %context, i64 48\n%s = load ptr, ptr %shared\n"
                          "store i32 1, ptr %s") == 0);
  // Two arrays with tallies, two accesses.
  const std::string other = "atomicrmw add ptr %out, i32 1 monotonic\n";
  CHECK(settlements(add + other + load + "%more = load i32, ptr %in\n") == 4);
  // More cost more than they give.
  CHECK(settlements(add + load + store + "store i32 2, ptr %out\nstore i32 3, ptr %out\nstore i32 4, ptr %out") == 0);

  Ir ir = kernel(add + "%in.place = getelementptr i16, ptr %in, i64 %i\n%seen = load i16, ptr %in.place");
  const llvm::CallInst* settle = calls(ir.function(), "gpulua.settle").at(0);
  CHECK(number(settle->getArgOperand(0)) == 1);
  CHECK(settle->getArgOperand(1) == ir.function().getArg(1));
  CHECK(settle->getArgOperand(2)->getName() == "in.place");
  CHECK(number(settle->getArgOperand(3)) == 2);
  CHECK(llvm::isa<llvm::LoadInst>(settle->getNextNode()));
}

TEST_CASE("tallies: tables of a core's own", "[simd]") {
  Ir ir(R"(
    declare ptr @gpulua.tally(i32)
    declare void @gpulua.settle(i32, ptr, ptr, i64)
    declare void @gpulua_settle(ptr, ptr)
    define void @f(ptr %arguments, ptr %array) {
      %a = call ptr @gpulua.tally(i32 2)
      %b = call ptr @gpulua.tally(i32 2)
      call void @gpulua.settle(i32 2, ptr %array, ptr %array, i64 4)
      store i32 1, ptr %a
      store i32 2, ptr %b
      ret void
    })");
  SourceKernel source;
  source.arguments = {{0, 0, nullptr}, {3, 8, nullptr}};
  make_tallies(ir.function(), source);
  REQUIRE_FALSE(llvm::verifyFunction(ir.function(), &llvm::errs()));
  const auto tables = all<llvm::AllocaInst>(ir.function());
  REQUIRE(tables.size() == 1);
  // The one use of a table but for filling it: addresses in it are not to be relative to the stack pointer.
  const llvm::CallInst* held = nullptr;
  for (const llvm::CallInst* call : all<llvm::CallInst>(ir.function()))
    if (call->isInlineAsm()) held = call;
  REQUIRE(held != nullptr);
  CHECK(held->getArgOperand(0) == tables[0]);
  CHECK(tables[0]->getNumUses() == 2);
  for (const llvm::StoreInst* store : all<llvm::StoreInst>(ir.function())) CHECK(store->getPointerOperand() == held);
  const auto zeroed = all<llvm::MemSetInst>(ir.function());
  REQUIRE(zeroed.size() == 1);
  CHECK(zeroed[0]->getRawDest() == tables[0]);
  CHECK(number(zeroed[0]->getLength()) == tally_bytes);
  CHECK(calls(ir.function(), "gpulua.settle").empty());
  const auto settled = calls(ir.function(), "gpulua_settle");
  REQUIRE(settled.size() == 2);
  CHECK(settled[0]->getArgOperand(0) == ir.function().getArg(1));
  CHECK(settled[0]->getArgOperand(1) == held);
  // At the end: the launch's argument 3, 8 bytes into it.
  CHECK(llvm::isa<llvm::ReturnInst>(settled[1]->getNextNode()));
  auto offset_of = [&](const llvm::Value* pointer, const llvm::Value* base) {
    llvm::APInt offset(64, 0);
    CHECK(pointer->stripAndAccumulateConstantOffsets(ir.module->getDataLayout(), offset, true) == base);
    return offset.getZExtValue();
  };
  const auto* array = llvm::cast<llvm::LoadInst>(settled[1]->getArgOperand(0));
  const auto* place = llvm::cast<llvm::GetElementPtrInst>(array->getPointerOperand())->getPointerOperand();
  CHECK(offset_of(array->getPointerOperand(), place) == 8);
  CHECK(offset_of(llvm::cast<llvm::LoadInst>(place)->getPointerOperand(), ir.function().getArg(0)) == 24);
}

}  // namespace gpulua::cpu::simd
