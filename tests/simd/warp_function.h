#pragma once

// A widened function under construction, for tests of the parts of widening: a part emits code into it, which then
// runs.

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "src/device/cpu/simd/widen_arithmetic.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {

/// The scalar function is f(ptr %context, ptr %in, ptr %out, i32 %mask, i32 %n, i32 %m). Its body uses %x, which is
/// threadIdx.x, 0 in lane 0, and %y, which is threadIdx.y, 0 in lane 0. The bits of %mask are the lanes that run.
class WarpFunction {
 public:
  explicit WarpFunction(const std::string& body, WarpLayout layout = WarpLayout::row,
                        const std::string& attributes = "\"target-features\"=\"+avx\"")
      : ir_("declare i32 @gpulua.thread.x()\ndeclare i32 @gpulua.thread.y()\n"
            "declare i32 @llvm.smin.i32(i32, i32)\ndeclare ptr @gpulua.private(i64, i64)\n"
            "define void @f(ptr %context, ptr %in, ptr %out, i32 %mask, i32 %n, i32 %m) " +
            attributes + " {\n  %x = call i32 @gpulua.thread.x()\n  %y = call i32 @gpulua.thread.y()\n" + body +
            "\n  ret void\n}"),
        divergence_(ir_.function()),
        patterns_(ir_.function(), divergence_, layout),
        to_(*llvm::Function::Create(ir_.function().getFunctionType(), llvm::GlobalValue::ExternalLinkage, "g",
                                    ir_.module.get())),
        warp_(ir_.function(), to_, patterns_) {
    start_ = warp_.new_block("start");
    WarpBuilder::Builder& builder = warp_.builder();
    builder.SetInsertPoint(start_);
    llvm::Value* mask = builder.CreateBitCast(to_.getArg(3), widened(builder.getInt1Ty()));
    warp_.set_mask(mask, false);
    warp_.entry().CreateBr(start_);
    warp_.entry().SetInsertPoint(to_.getEntryBlock().getTerminator());
    for (const char* name : {"x", "y"}) {
      const llvm::Instruction& index = instruction(name);
      if (patterns_(&index).is_varying()) continue;
      warp_.set_scalar(&index, builder.getInt32(0));
    }
  }

  WarpBuilder& warp() { return warp_; }
  llvm::IRBuilder<>& builder() { return warp_.builder(); }
  llvm::Function& function() { return to_; }
  llvm::Value* argument(unsigned i) { return to_.getArg(i); }

  llvm::Instruction& instruction(const std::string& name) {
    for (llvm::Instruction& instruction : llvm::instructions(ir_.function()))
      if (instruction.getName() == name) return instruction;
    FAIL("no instruction " << name);
    throw std::logic_error("unreachable");
  }

  /// Widens the arithmetic of the body up to the instruction of that name. That one and calls are left to the test.
  llvm::Instruction& widen_up_to(const std::string& name) {
    Arithmetic arithmetic(warp_);
    llvm::Instruction& last = instruction(name);
    for (llvm::Instruction& instruction : ir_.function().getEntryBlock()) {
      if (&instruction == &last) break;
      if (llvm::isa<llvm::CallInst>(instruction)) continue;
      if (!warp_.is_varying(&instruction))
        arithmetic.emit_scalar(instruction);
      else if (llvm::Value* result = arithmetic.emit_vector(instruction))
        warp_.set_vector(&instruction, result);
    }
    return last;
  }

  /// Stores a vector to %out.
  void output(llvm::Value* vector) { builder().CreateAlignedStore(vector, argument(2), llvm::Align(1)); }

  /// Compiles and runs the function.
  template <class Input, class Output>
  void run(Input* in, Output* out, unsigned mask = ~0u, int n = 0, int m = 0) {
    if (jit_ == nullptr) compile();
    run_(nullptr, in, out, mask, n, m);
  }

 private:
  void compile() {
    builder().CreateRetVoid();
    ir_.function().deleteBody();
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    const bool broken = llvm::verifyFunction(to_, &stream);
    INFO(problems);
    REQUIRE_FALSE(broken);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    ir_.module->setDataLayout(jit_->getDataLayout());
    llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(ir_.module), std::move(ir_.context))));
    run_ = llvm::cantFail(jit_->lookup("g")).toPtr<void(void*, void*, void*, unsigned, int, int)>();
  }

  Ir ir_;
  Divergence divergence_;
  LanePatterns patterns_;
  llvm::Function& to_;
  WarpBuilder warp_;
  llvm::BasicBlock* start_ = nullptr;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  void (*run_)(void*, void*, void*, unsigned, int, int) = nullptr;
};

}  // namespace gpulua::cpu::simd
