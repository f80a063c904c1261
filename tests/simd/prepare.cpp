// A kernel as the front end leaves it, and what the other stages are given.

#include "src/device/cpu/simd/prepare.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/simd_engine.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

std::unique_ptr<llvm::TargetMachine> make_machine() {
  llvm::InitializeNativeTarget();
  const std::string triple = llvm::sys::getDefaultTargetTriple();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  REQUIRE(target != nullptr);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, "", "", {}, std::nullopt));
}

class Kernel {
 public:
  /// The kernel is `k`. Its variable @s is 16 bytes into shared memory.
  explicit Kernel(const std::string& text)
      : ir_("%dim = type { i32, i32, i32 }\n@threadIdx = external global %dim\n@blockDim = external global %dim\n"
            "@gridDim = external global %dim\n@s = internal global [64 x i32] undef\n"
            "@d = external global [0 x i32]\ndeclare void @_Z11gpulua_failPKcS0_j(ptr, ptr, i32)\n" +
            text),
        machine_(make_machine()) {
    ir_.module->setTargetTriple(machine_->getTargetTriple().str());
    ir_.module->setDataLayout(machine_->createDataLayout());
    layout_.offsets[ir_.module->getNamedGlobal("s")] = 16;
    layout_.dynamic.push_back(ir_.module->getNamedGlobal("d"));
    Pipeline pipeline(*machine_);
    std::string limits;
    prepared_ = prepare(ir_.function("k"), layout_, pipeline, why_not, limits, [](const llvm::Function&) {});
    if (prepared_ != nullptr) REQUIRE_FALSE(llvm::verifyFunction(*prepared_, &llvm::errs()));
  }

  llvm::Function& function() {
    REQUIRE(prepared_ != nullptr);
    return *prepared_;
  }
  /// Bytes from the ThreadContext on; -1 for what is not in it.
  std::int64_t context_offset(const llvm::Value* pointer) {
    llvm::APInt offset(64, 0);
    const bool found =
        pointer->stripAndAccumulateConstantOffsets(ir_.module->getDataLayout(), offset, true) == function().getArg(0);
    return found ? offset.getSExtValue() : -1;
  }

  std::string why_not;

 private:
  Ir ir_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  SharedLayout layout_;
  llvm::Function* prepared_ = nullptr;
};

}  // namespace

TEST_CASE("prepare: the built-in variables", "[simd]") {
  Kernel kernel(R"(define void @k(ptr %out) {
      %x = load i32, ptr @threadIdx
      %y = load i32, ptr getelementptr (i8, ptr @threadIdx, i64 4)
      %w = load i32, ptr @blockDim
      %g = load i32, ptr @gridDim
      %a = add i32 %x, %y
      %b = add i32 %a, %w
      %c = add i32 %b, %g
      store i32 %c, ptr %out
      ret void })");
  llvm::Function& function = kernel.function();
  CHECK(function.arg_size() == 2);
  CHECK(function.getArg(1)->getName() == "out");
  CHECK(calls(function, "gpulua.thread.x").size() == 1);
  CHECK(calls(function, "gpulua.thread.y").size() == 1);
  CHECK(calls(function, "gpulua.thread.z").empty());
  CHECK(calls(function, "gpulua.block.x").size() == 1);
  const auto loads = all<llvm::LoadInst>(function);
  REQUIRE(loads.size() == 1);
  CHECK(kernel.context_offset(loads[0]->getPointerOperand()) == offsetof(ThreadContext, grid_size));
  CHECK(all<llvm::AllocaInst>(function).empty());
}

TEST_CASE("prepare: as many blocks as CUDA allows", "[simd]") {
  for (const char* size : {"1", "2147483647"}) {
    Kernel kernel(std::string("define void @k(ptr %out) {\n %g = load i32, ptr @gridDim\n %all = icmp eq i32 %g, ") +
                  size + "\n store i1 %all, ptr %out\n ret void }");
    CHECK(all<llvm::ICmpInst>(kernel.function()).size() == 1);
  }
  for (const char* size : {"0", "-2147483648"}) {
    Kernel kernel(std::string("define void @k(ptr %out) {\n %g = load i32, ptr @gridDim\n %all = icmp eq i32 %g, ") +
                  size + "\n store i1 %all, ptr %out\n ret void }");
    CHECK(all<llvm::ICmpInst>(kernel.function()).empty());
  }
}

TEST_CASE("prepare: shared memory, and atomics on it", "[simd]") {
  Kernel kernel(R"(define void @k(ptr %out) {
      %a = atomicrmw add ptr getelementptr (i32, ptr @s, i64 3), i32 1 monotonic
      %b = atomicrmw add ptr @d, i32 %a monotonic
      %c = atomicrmw add ptr %out, i32 %b monotonic
      store i32 %c, ptr %out
      ret void })");
  const auto atomics = all<llvm::AtomicRMWInst>(kernel.function());
  REQUIRE(atomics.size() == 3);
  auto memory_of = [&](const llvm::AtomicRMWInst* atomic, std::int64_t offset) {
    llvm::APInt found(64, 0);
    const llvm::Value* base = atomic->getPointerOperand()->stripAndAccumulateConstantOffsets(
        atomic->getModule()->getDataLayout(), found, true);
    CHECK(found.getSExtValue() == offset);
    return kernel.context_offset(llvm::cast<llvm::LoadInst>(base)->getPointerOperand());
  };
  CHECK(memory_of(atomics[0], 16 + 12) == offsetof(ThreadContext, shared));
  CHECK(memory_of(atomics[1], 0) == offsetof(ThreadContext, dynamic_shared));
  CHECK(atomics[0]->getSyncScopeID() == llvm::SyncScope::SingleThread);
  CHECK(atomics[1]->getSyncScopeID() == llvm::SyncScope::SingleThread);
  CHECK(atomics[2]->getSyncScopeID() == llvm::SyncScope::System);
}

TEST_CASE("prepare: the output does not depend on where variables lie in the heap", "[simd]") {
  const std::string names = "abcdefgh";
  // Parsing allocates variables in the order of the text.
  auto output = [&](const std::string& order) {
    std::string text;
    for (char name : order) text += std::string("@") + name + " = internal global [64 x i32] undef\n";
    text += "define void @k(ptr %out, i64 %i) {\n";
    for (char name : names)
      text += std::string("  %at.") + name + " = getelementptr i32, ptr @" + name +
              ", i64 %i\n  store volatile i32 1, ptr %at." + name + "\n";
    Ir ir(text + "  ret void\n}");
    const std::unique_ptr<llvm::TargetMachine> machine = make_machine();
    ir.module->setTargetTriple(machine->getTargetTriple().str());
    ir.module->setDataLayout(machine->createDataLayout());
    SharedLayout layout;
    for (char name : names)
      layout.offsets[ir.module->getNamedGlobal(std::string(1, name))] = layout.offsets.size() * 256;
    Pipeline pipeline(*machine);
    std::string why_not, limits, result;
    llvm::Function* prepared =
        prepare(ir.function("k"), layout, pipeline, why_not, limits, [](const llvm::Function&) {});
    REQUIRE(prepared != nullptr);
    llvm::raw_string_ostream stream(result);
    prepared->print(stream);
    return result;
  };
  CHECK(output(names) == output(std::string(names.rbegin(), names.rend())));
}

TEST_CASE("prepare: what is read of shared memory is so until a barrier, whatever a parameter's memory takes",
          "[simd]") {
  const auto loads = [](const std::string& between) {
    Kernel kernel(R"(
      declare void @gpulua_barrier(ptr)
      define void @k(ptr %out, i32 %n) {
        %at = getelementptr [64 x i32], ptr @s, i32 0, i32 %n
        %first = load i32, ptr %at
        )" + between +
                  R"(
        %second = load i32, ptr %at
        %difference = sub i32 %second, %first
        store i32 %difference, ptr %out
        ret void
      })");
    CHECK(calls(kernel.function(), "gpulua.shared").empty());
    CHECK(calls(kernel.function(), "gpulua.escape").empty());
    return std::ranges::count_if(all<llvm::LoadInst>(kernel.function()),
                                 [](const llvm::LoadInst* load) { return load->getType()->isIntegerTy(32); });
  };
  CHECK(loads("store i32 7, ptr %out") == 0);
  CHECK(loads("call void @gpulua_barrier(ptr null)") == 2);
  CHECK(loads("store i32 7, ptr @s") == 2);
}

TEST_CASE("prepare: one function, with one end", "[simd]") {
  Kernel kernel(R"(
    declare void @sincosf(float, ptr, ptr)
    define float @twice(float %x) noinline { %y = fadd float %x, %x  ret float %y }
    define void @k(ptr %out, i32 %n, float %x) noinline optnone {
    entry:
      switch i32 %n, label %other [ i32 1, label %one  i32 2, label %two ]
    one:
      %t = call float @twice(float %x)
      store float %t, ptr %out
      ret void
    two:
      %next = getelementptr float, ptr %out, i64 1
      call void @sincosf(float %x, ptr %out, ptr %next)
      ret void
    other:
      store i32 %n, ptr %out
      ret void
    })");
  llvm::Function& function = kernel.function();
  CHECK(all<llvm::ReturnInst>(function).size() == 1);
  CHECK(all<llvm::SwitchInst>(function).empty());
  for (const llvm::CallInst* call : all<llvm::CallInst>(function)) CHECK(llvm::isa<llvm::IntrinsicInst>(call));
  CHECK(calls(function, "llvm.sin.f32").size() == 1);
  CHECK(calls(function, "llvm.cos.f32").size() == 1);
}

TEST_CASE("prepare: a failed assertion is no way out of a loop", "[simd]") {
  Kernel kernel(R"(
    define void @k(ptr %out, i32 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %good ]
      %v = load volatile i32, ptr %out
      %bad = icmp eq i32 %v, 5
      br i1 %bad, label %fail, label %good
    fail:
      call void @_Z11gpulua_failPKcS0_j(ptr null, ptr null, i32 3)
      unreachable
    good:
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    })");
  llvm::Function& function = kernel.function();
  CHECK(calls(function, "_Z11gpulua_failPKcS0_j").size() == 1);
  CHECK(all<llvm::UnreachableInst>(function).empty());
  CHECK(Divergence(function).why_not().empty());
}

TEST_CASE("prepare: what is left to the other engine", "[simd]") {
  Kernel kernel(R"(
    define i32 @f(i32 %n) {
      %m = sub i32 %n, 1
      %r = call i32 @f(i32 %m)
      ret i32 %r
    }
    define void @k(ptr %out, i32 %n) {
      %r = call i32 @f(i32 %n)
      store i32 %r, ptr %out
      ret void
    })");
  CHECK(kernel.why_not == "recursion");
  Kernel circle(R"(
    define i32 @f(i32 %n) {
      %r = call i32 @g(i32 %n)
      ret i32 %r
    }
    define i32 @g(i32 %n) {
      %r = call i32 @f(i32 %n)
      ret i32 %r
    }
    define void @k(ptr %out, i32 %n) {
      %r = call i32 @f(i32 %n)
      store i32 %r, ptr %out
      ret void
    })");
  CHECK(circle.why_not == "recursion");
}

}  // namespace gpulua::cpu::simd
