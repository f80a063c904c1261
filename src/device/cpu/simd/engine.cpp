#include "src/device/cpu/simd/engine.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "src/device/cpu/instantiate.h"
#include "src/device/cpu/simd/gather_addresses.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/pipeline.h"
#include "src/device/cpu/simd/prepare.h"
#include "src/device/cpu/simd/resume.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// kernels/cpu/gpulua_warps.h.
constexpr const char* run_warps_template = "gpulua_run_warps";
constexpr const char* run_turns_template = "gpulua_run_warps_in_turns";
constexpr const char* run_strand_template = "gpulua_run_warp_strand";
constexpr const char* run_full_warp = "gpulua_run_full_warp";
constexpr const char* run_warp = "gpulua_run_warp";
constexpr const char* frames_placeholder = "gpulua_warp_frames";
constexpr const char* frame_bytes_placeholder = "gpulua_warp_frame_bytes";
constexpr const char* counts_placeholder = "gpulua_warps_count_predicates";
constexpr const char* helpers[] = {run_warps_template, run_turns_template, run_strand_template, "gpulua_fail_in_lane"};

// Registers are spilt; SLEEF's functions and the runtime's services have frames of their own.
constexpr std::uint64_t stack_bytes = 64 << 10;

void inline_calls(llvm::Function& function, const std::set<llvm::Function*>& callees) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && callees.contains(call->getCalledFunction()))
      calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
}

// Of a warp that takes turns; a block has at most 32 of them, on the stack.
constexpr std::uint64_t most_frame_bytes = 32 << 10;
constexpr unsigned most_warps = 32;

const char* pattern(Meeting meeting) {
  switch (meeting) {
    case Meeting::none:
      return run_warps_template;
    case Meeting::block:
      return run_turns_template;
    case Meeting::fibers:
      return run_strand_template;
  }
  return nullptr;
}

bool has_marker(const llvm::Function& scalar, Marker wanted) {
  return std::any_of(llvm::inst_begin(scalar), llvm::inst_end(scalar),
                     [&](const llvm::Instruction& instruction) { return marker(&instruction) == wanted; });
}

Meeting find_meeting(const llvm::Function& scalar) {
  if (has_marker(scalar, Marker::grid_barrier)) return Meeting::fibers;
  return has_marker(scalar, Marker::barrier) || has_marker(scalar, Marker::barrier_count) ? Meeting::block
                                                                                          : Meeting::none;
}

/// In the place of gpulua_warps.h's placeholders.
void make_frames(llvm::Function& run, std::uint64_t frame_bytes, bool counts_predicates) {
  llvm::IRBuilder<> builder(&*run.getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* frames = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), most_warps * frame_bytes));
  frames->setAlignment(llvm::Align(64));
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(run))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) continue;
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == frames_placeholder)
      call->replaceAllUsesWith(frames);
    else if (name == frame_bytes_placeholder)
      call->replaceAllUsesWith(builder.getInt64(frame_bytes));
    else if (name == counts_placeholder)
      call->replaceAllUsesWith(builder.getInt1(counts_predicates));
    else
      continue;
    call->eraseFromParent();
  }
}

std::uint64_t count_local_bytes(const llvm::Function& function) {
  std::uint64_t bytes = stack_bytes;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      bytes += variable->getAllocationSize(function.getParent()->getDataLayout())->getFixedValue();
  return bytes;
}

void allow_unwinding(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && call->getCalledFunction() == nullptr)
      call->removeFnAttr(llvm::Attribute::NoUnwind);
}

}  // namespace

Engine::Engine(SourceModule& source, const SharedLayout& layout, llvm::TargetMachine& machine)
    : source_(source), layout_(layout), machine_(machine) {
  for (const char* name : helpers) {
    llvm::Function* helper = source.module->getFunction(name);
    llvm::Function* unflatten = source.module->getFunction("_Z16gpulua_unflattenmN6gpulua3cpu6Index3E");
    inline_calls(*helper, {unflatten});
    allow_unwinding(*helper);
    finished_.insert(helper);
  }
}

std::optional<KernelCode> Engine::build(const SourceKernel& kernel, std::string& why_not) {
  Pipeline pipeline(machine_);
  llvm::Function* scalar = prepare(*source_.module->getFunction(kernel.symbol), layout_, pipeline, why_not);
  if (scalar == nullptr) return std::nullopt;
  why_not = simd::why_not(*scalar);
  llvm::Function* run = nullptr;
  if (why_not.empty()) {
    const Meeting meeting = find_meeting(*scalar);
    run = build(kernel, *scalar, meeting, pipeline, why_not);
    // Frames of that size are better off as stacks.
    if (run == nullptr && meeting == Meeting::block && why_not.empty())
      run = build(kernel, *scalar, Meeting::fibers, pipeline, why_not);
  }
  scalar->eraseFromParent();
  if (run == nullptr) return std::nullopt;

  KernelCode code;
  code.symbol = kernel.symbol;
  (run->arg_size() == 2 ? code.run_strand : code.run) = run;
  code.strand_threads = warp_size;
  code.shared_bytes = layout_.kernel_bytes.at(kernel.symbol);
  code.local_bytes = count_local_bytes(*run);
  code.max_threads = kernel.max_threads;
  return code;
}

llvm::Function* Engine::build(const SourceKernel& kernel, llvm::Function& scalar, Meeting meeting, Pipeline& pipeline,
                              std::string& why_not) {
  const MathLibrary math(scalar);
  llvm::Function* full = widen(scalar, {true, &math});
  llvm::Function* any = widen(scalar, {false, &math});
  std::uint64_t frame_bytes = 0;
  bool usable = true;
  for (llvm::Function* warp : {full, any}) {
    if (llvm::verifyFunction(*warp)) {
      usable = false;
      why_not = "the widened code is not valid";
    } else if (meeting == Meeting::fibers) {
      call_barrier_services(*warp);
    } else if (meeting == Meeting::block) {
      pipeline.finish(*warp);
      const std::optional<std::uint64_t> bytes = make_resumable(*warp, most_frame_bytes);
      usable = usable && bytes;
      frame_bytes = std::max(frame_bytes, bytes.value_or(0));
    }
  }
  llvm::Function* run = nullptr;
  if (usable) {
    run = instantiate(*source_.module->getFunction(pattern(meeting)), kernel, kernel.symbol + ".warps",
                      {{run_full_warp, full}, {run_warp, any}});
    for (llvm::Attribute attribute : scalar.getAttributes().getFnAttrs()) run->addFnAttr(attribute);
    allow_unwinding(*run);
    inline_calls(*run, {full, any});
    if (meeting == Meeting::block) make_frames(*run, frame_bytes, has_marker(scalar, Marker::barrier_count));
    pipeline.finish(*run);
    sink_gather_addresses(*run);
    run->addFnAttr(finished_attribute);
    finished_.insert(run);
  }
  full->eraseFromParent();
  any->eraseFromParent();
  return run;
}

std::set<const llvm::Function*> Engine::finish() {
  for (Meeting meeting : {Meeting::none, Meeting::block, Meeting::fibers}) {
    const char* name = pattern(meeting);
    llvm::Function* pattern = source_.module->getFunction(name);
    finished_.erase(pattern);
    pattern->eraseFromParent();
  }
  return std::move(finished_);
}

}  // namespace gpulua::cpu::simd
