// Which additions go to a private histogram, and when it is flushed.

#include "src/device/cpu/simd/privatised_histograms.h"

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
  privatise_histograms(ir.function());
  CHECK_FALSE(llvm::verifyFunction(ir.function(), &llvm::errs()));
  return ir;
}

const std::string address = "%p = getelementptr i32, ptr %counts, i64 %i\n";
const std::string add = address + "%old = atomicrmw add ptr %p, i32 %v monotonic\n";

bool is_privatised(const std::string& body) {
  Ir ir = kernel(body);
  return !calls(ir.function(), "gpulua.histogram").empty();
}

/// The number of accesses that flush first.
unsigned flushes(const std::string& body, const std::string& parameters = "ptr %in, ptr %out") {
  Ir ir = kernel(body, parameters);
  return static_cast<unsigned>(calls(ir.function(), "gpulua.flush_histogram").size());
}

}  // namespace

TEST_CASE("privatised histograms: the first elements go to the histogram, others to the array", "[simd]") {
  Ir ir = kernel(add);
  const auto histograms = calls(ir.function(), "gpulua.histogram");
  REQUIRE(histograms.size() == 1);
  CHECK(number(histograms[0]->getArgOperand(0)) == 1);
  const auto atomics = all<Atomic>(ir.function());
  REQUIRE(atomics.size() == 2);
  for (const Atomic* atomic : atomics) {
    const auto* place = llvm::cast<llvm::GetElementPtrInst>(atomic->getPointerOperand());
    const bool own = place->getPointerOperand() == histograms[0];
    CHECK((own || place->getPointerOperand() == ir.function().getArg(1)));
    CHECK((atomic->getSyncScopeID() == llvm::SyncScope::SingleThread) == own);
    const auto* branch = llvm::cast<llvm::BranchInst>(atomic->getParent()->getSinglePredecessor()->getTerminator());
    const auto* compare = llvm::cast<llvm::ICmpInst>(branch->getCondition());
    CHECK(compare->getPredicate() == llvm::ICmpInst::ICMP_ULT);
    CHECK(number(compare->getOperand(1)) == histogram_elements);
    CHECK((branch->getSuccessor(0) == atomic->getParent()) == own);
  }
}

TEST_CASE("privatised histograms: a small index needs no comparison", "[simd]") {
  Ir ir = kernel(
      "%small = and i64 %i, 1023\n%p = getelementptr i32, ptr %counts, i64 %small\n"
      "atomicrmw add ptr %p, i32 %v monotonic");
  REQUIRE(all<Atomic>(ir.function()).size() == 1);
  CHECK(all<Atomic>(ir.function())[0]->getSyncScopeID() == llvm::SyncScope::SingleThread);
  CHECK(ir.function().size() == 1);
}

TEST_CASE("privatised histograms: kernels that have none", "[simd]") {
  CHECK(is_privatised(add));
  CHECK(is_privatised(add + "call i32 @gpulua_ballot(i32 -1, i32 %v)"));
  CHECK_FALSE(is_privatised(add + "store i32 %old, ptr %out"));
  CHECK_FALSE(is_privatised(add + "call void @gpulua_barrier(ptr null, i32 1)"));
  CHECK_FALSE(is_privatised(add + "fence seq_cst"));
  CHECK_FALSE(is_privatised(add + "%seen = load volatile i32, ptr %in"));
  CHECK_FALSE(is_privatised(add + "store atomic i32 1, ptr %out monotonic, align 4"));
  CHECK_FALSE(is_privatised(add + "atomicrmw max ptr %out, i32 %v monotonic"));
  CHECK_FALSE(is_privatised(add + "cmpxchg ptr %out, i32 0, i32 1 monotonic monotonic"));
  CHECK_FALSE(is_privatised(address + "atomicrmw add ptr %p, i32 %v seq_cst"));
  CHECK_FALSE(is_privatised(address + "atomicrmw volatile add ptr %p, i32 %v monotonic"));
  CHECK_FALSE(is_privatised(address + "atomicrmw sub ptr %p, i32 %v monotonic"));
  CHECK_FALSE(is_privatised(address + "atomicrmw add ptr %p, i64 %i monotonic"));
  CHECK_FALSE(is_privatised("%q = load ptr, ptr %in\natomicrmw add ptr %q, i32 %v monotonic"));
}

TEST_CASE("privatised histograms: flushed before accesses that may see its counts", "[simd]") {
  const std::string load = "%seen = load i32, ptr %in\n", store = "store i32 1, ptr %out\n";
  CHECK(flushes(add + load) == 1);
  CHECK(flushes(add + load + store) == 2);
  CHECK(flushes(add + load + store, "ptr noalias %in, ptr %out") == 1);
  CHECK(flushes(add + "%seen = load i32, ptr %context") == 0);
  CHECK(flushes(add + "%shared = getelementptr i8, ptr %context, i64 48\n%s = load ptr, ptr %shared\n"
                      "store i32 1, ptr %s") == 0);
  // Two arrays with histograms, two accesses.
  const std::string other = "atomicrmw add ptr %out, i32 1 monotonic\n";
  CHECK(flushes(add + other + load + "%more = load i32, ptr %in\n") == 4);
  // More flushes cost more than they gain.
  CHECK(flushes(add + load + store + "store i32 2, ptr %out\nstore i32 3, ptr %out\nstore i32 4, ptr %out") == 0);

  Ir ir = kernel(add + "%in.place = getelementptr i16, ptr %in, i64 %i\n%seen = load i16, ptr %in.place");
  const llvm::CallInst* flush = calls(ir.function(), "gpulua.flush_histogram").at(0);
  CHECK(number(flush->getArgOperand(0)) == 1);
  CHECK(flush->getArgOperand(1) == ir.function().getArg(1));
  CHECK(flush->getArgOperand(2)->getName() == "in.place");
  CHECK(number(flush->getArgOperand(3)) == 2);
  CHECK(llvm::isa<llvm::LoadInst>(flush->getNextNode()));
}

TEST_CASE("privatised histograms: one table for each array", "[simd]") {
  Ir ir(R"(
    declare ptr @gpulua.histogram(i32)
    declare void @gpulua.flush_histogram(i32, ptr, ptr, i64)
    declare void @gpulua_flush_histogram(ptr, ptr)
    define void @f(ptr %arguments, ptr %array) {
      %a = call ptr @gpulua.histogram(i32 2)
      %b = call ptr @gpulua.histogram(i32 2)
      call void @gpulua.flush_histogram(i32 2, ptr %array, ptr %array, i64 4)
      store i32 1, ptr %a
      store i32 2, ptr %b
      ret void
    })");
  SourceKernel source;
  source.arguments = {{0, 0, nullptr}, {3, 8, nullptr}};
  make_private_histograms(ir.function(), source);
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
  CHECK(number(zeroed[0]->getLength()) == histogram_bytes);
  CHECK(calls(ir.function(), "gpulua.flush_histogram").empty());
  const auto flushed = calls(ir.function(), "gpulua_flush_histogram");
  REQUIRE(flushed.size() == 2);
  CHECK(flushed[0]->getArgOperand(0) == ir.function().getArg(1));
  CHECK(flushed[0]->getArgOperand(1) == held);
  // At the end: the launch's argument 3, 8 bytes into it.
  CHECK(llvm::isa<llvm::ReturnInst>(flushed[1]->getNextNode()));
  auto offset_of = [&](const llvm::Value* pointer, const llvm::Value* base) {
    llvm::APInt offset(64, 0);
    CHECK(pointer->stripAndAccumulateConstantOffsets(ir.module->getDataLayout(), offset, true) == base);
    return offset.getZExtValue();
  };
  const auto* array = llvm::cast<llvm::LoadInst>(flushed[1]->getArgOperand(0));
  const auto* place = llvm::cast<llvm::GetElementPtrInst>(array->getPointerOperand())->getPointerOperand();
  CHECK(offset_of(array->getPointerOperand(), place) == 8);
  CHECK(offset_of(llvm::cast<llvm::LoadInst>(place)->getPointerOperand(), ir.function().getArg(0)) == 24);
}

}  // namespace gpulua::cpu::simd
