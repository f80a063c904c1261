#include "src/device/cpu/simd/simd_engine.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "src/device/cpu/abi/call_stack.h"
#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/ir/instantiate.h"
#include "src/device/cpu/ir/run_templates.h"
#include "src/device/cpu/simd/barrier_splitting.h"
#include "src/device/cpu/simd/block_uniformity.h"
#include "src/device/cpu/simd/choose_lanes.h"
#include "src/device/cpu/simd/flat_numbers.h"
#include "src/device/cpu/simd/flat_rows.h"
#include "src/device/cpu/simd/full_mask_loops.h"
#include "src/device/cpu/simd/gather_addresses.h"
#include "src/device/cpu/simd/llvm_passes.h"
#include "src/device/cpu/simd/lockstep_loops.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/mask_words.h"
#include "src/device/cpu/simd/prepare.h"
#include "src/device/cpu/simd/privatised_histograms.h"
#include "src/device/cpu/simd/range_loops.h"
#include "src/device/cpu/simd/strip_mining.h"
#include "src/device/cpu/simd/whole_warps.h"
#include "src/device/cpu/simd/why_not.h"
#include "src/device/cpu/simd/widen.h"
#include "src/device/cpu/simd/widen_warp_builtins.h"

namespace gpulua::cpu::simd {

/// How the warps of a kernel wait for each other.
enum class WarpSync {
  none,
  phases,  // at the block's barriers: the kernel is split into phases
  fibers,  // at the grid's barrier, or with too much memory for phases: each warp has a stack
};

namespace {

// src/device/cpu/headers/gpulua_warps.h.
constexpr const char* run_rows_template = "gpulua_run_rows";
constexpr const char* run_warps_template = "gpulua_run_warps";
constexpr const char* run_phases_template = "gpulua_run_warps_in_phases";
constexpr const char* run_lockstep_template = "gpulua_run_warps_in_lockstep";
constexpr const char* run_fiber_template = "gpulua_run_warp_fiber";
constexpr const char* run_warp = "gpulua_run_warp";
constexpr const char* frames_placeholder = "gpulua_warp_frames";
constexpr const char* frame_bytes_placeholder = "gpulua_warp_frame_bytes";
constexpr const char* block_frame_bytes_placeholder = "gpulua_block_frame_bytes";
constexpr const char* counts_placeholder = "gpulua_warps_count_predicates";
constexpr const char* independent_placeholder = "gpulua_blocks_are_independent";
constexpr const char* flat_placeholder = "gpulua_rows_are_flat";
constexpr const char* row_ends_placeholder = "gpulua_warps_end_with_rows";
constexpr const char* lanes_placeholder = "gpulua_lane_count";

void inline_calls(llvm::Function& function, const std::set<llvm::Function*>& callees) {
  const auto is_wanted = [&](const llvm::CallInst& call) { return callees.contains(call.getCalledFunction()); };
  for (llvm::CallInst* call : collect<llvm::CallInst>(function, is_wanted)) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
}

// Of a thread that runs in phases. The frames of a block, at most 1,024 threads, are on the stack.
constexpr std::uint64_t max_frame_bytes = 1 << 10;
constexpr unsigned max_threads = 1024;

const char* find_template(WarpSync sync, WarpLayout layout, bool lockstep) {
  switch (sync) {
    case WarpSync::none:
      return layout == WarpLayout::row_chunk ? run_rows_template : run_warps_template;
    case WarpSync::phases:
      return lockstep ? run_lockstep_template : run_phases_template;
    case WarpSync::fibers:
      return run_fiber_template;
  }
  return nullptr;
}

/// Blocks whose rows are whole warps.
BlockRule rule_of_rows() {
  return lane_count() == warp_size ? BlockRule::rows
         : lane_count() == 16      ? BlockRule::rows_of_16
                                   : BlockRule::rows_of_8;
}

/// Replaces the calls of a placeholder of gpulua_warps.h.
void answer(llvm::Function& run, const char* placeholder, unsigned value) {
  const auto is_asked = [&](const llvm::CallInst& call) {
    return call.getCalledFunction() != nullptr && call.getCalledFunction()->getName() == placeholder;
  };
  for (llvm::CallInst* call : collect<llvm::CallInst>(run, is_asked)) {
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), value));
    call->eraseFromParent();
  }
}

/// Replaces the placeholders of gpulua_warps.h for frames.
void make_frames(llvm::Function& run, const FrameSizes& frames) {
  llvm::IRBuilder<> builder(&*run.getEntryBlock().getFirstInsertionPt());
  auto memory = [&](std::uint64_t bytes) {
    llvm::AllocaInst* place = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes));
    place->setAlignment(llvm::Align(64));
    return place;
  };
  llvm::Value* warps = memory(max_threads / lane_count() * frames.warp_bytes);
  llvm::Value* block[] = {memory(frames.block_bytes), memory(frames.block_bytes)};
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(run))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) continue;
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == frames_placeholder)
      call->replaceAllUsesWith(warps);
    else if (name == frame_bytes_placeholder)
      call->replaceAllUsesWith(builder.getInt64(frames.warp_bytes));
    else if (name == block_frame_function)
      call->replaceAllUsesWith(block[llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue()]);
    else if (name == block_frame_bytes_placeholder)
      call->replaceAllUsesWith(builder.getInt64(frames.block_bytes));
    else
      continue;
    call->eraseFromParent();
  }
}

/// True if no thread can tell whether another block's threads have run: none shares memory that a block has at a time,
/// waits, or does what others see in an order.
bool blocks_are_independent(const llvm::Function& scalar) {
  return std::none_of(llvm::inst_begin(scalar), llvm::inst_end(scalar), [](const llvm::Instruction& instruction) {
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const Marker kind = marker(call);
      if (kind != Marker::none) return kind == Marker::shared_memory || kind == Marker::fail || kind == Marker::yield;
      return !llvm::isa<llvm::IntrinsicInst>(call) && !call->onlyReadsMemory();
    }
    return instruction.isAtomic() || instruction.isVolatile();
  });
}

std::uint64_t count_local_bytes(const llvm::Function& function) {
  std::uint64_t bytes = call_stack_bytes;
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

/// What a kernel requires of the engine.
struct Engine::Needs {
  Needs() = default;
  /// `is_warp`: each block is one whole warp, so no code needs masks for the lanes that there are.
  Needs(const llvm::Function& scalar, std::uint64_t shared_bytes, bool is_warp);
  Needs with(WarpSync other) const {
    Needs needs = *this;
    needs.sync = other;
    return needs;
  }

  WarpSync sync = WarpSync::none;
  bool warps = false;  // it depends on which threads are a warp
  bool rows = false;   // it uses the thread's row, so its blocks may have several
  bool independent_blocks = false;
  bool flat_rows = false;
  std::set<llvm::Function*> lane_functions;  // that its lanes call (range_loops.h)
};

Engine::Needs::Needs(const llvm::Function& scalar, std::uint64_t shared_bytes, bool is_warp) {
  if (has_marker(scalar, {Marker::barrier, Marker::barrier_count})) sync = WarpSync::phases;
  if (has_marker(scalar, {Marker::grid_barrier, Marker::tile_barrier})) sync = WarpSync::fibers;
  warps = is_warp || depends_on_warps(scalar);
  rows = has_marker(scalar, {Marker::thread_y, Marker::thread_z});
  independent_blocks = shared_bytes == 0 && blocks_are_independent(scalar);
  flat_rows = independent_blocks && !warps && has_flat_rows(scalar);
}

Engine::Engine(SourceModule& source, const SharedLayout& layout, llvm::TargetMachine& machine)
    : source_(source), layout_(layout), machine_(machine) {}

llvm::Function& Engine::add_finished(const char* name, const llvm::Function& like) {
  llvm::Function& function = add_template(*source_.module, name, like);
  if (finished_.insert(&function).second) {
    allow_unwinding(function);
    function.addFnAttr(finished_attribute);
  }
  return function;
}

std::vector<KernelCode> Engine::build(const SourceKernel& kernel, std::string& why_not, std::string& limits) {
  Pipeline pipeline(machine_);
  LaneCount lanes;
  llvm::Function* scalar = prepare(*source_.module->getFunction(kernel.symbol), layout_, pipeline, why_not, limits,
                                   [&](const llvm::Function& simplified) {
                                     lanes.set(choose_lanes(simplified, kernel.max_threads));
                                   });
  if (scalar == nullptr) return {};
  why_not = simd::why_not(*scalar);
  std::vector<KernelCode> variants;
  Needs needs;
  if (why_not.empty()) {
    needs = Needs(*scalar, layout_.kernel_bytes.at(kernel.symbol),
                  source_.whole_warps && kernel.max_threads == lane_count());
    const WarpLayout rows = needs.warps ? WarpLayout::row : WarpLayout::row_chunk;
    needs.lane_functions = outline_range_loops(*scalar, rows);
    if (has_marker(*scalar, {Marker::fail})) add_finished(fail_function, *scalar);
    if (has_marker(*scalar, {Marker::private_histogram})) add_finished(flush_function, *scalar);
    const bool narrow = lane_count() != warp_size;
    if (!narrow && strip_mine(*scalar, rows)) pipeline.order(*scalar);
    if (split_flat_numbers(*scalar, rows)) pipeline.order(*scalar);
    split_full_mask_loops(*scalar, rows);
    if (split_whole_warps(*scalar, rows)) pipeline.order(*scalar);
    std::vector<std::pair<BlockRule, WarpLayout>> wanted;
    if (needs.rows && !needs.flat_rows && !source_.whole_warps && !narrow)
      wanted.emplace_back(BlockRule::half_rows, WarpLayout::half_rows);
    if (needs.warps) wanted.emplace_back(rule_of_rows(), WarpLayout::row);
    if (needs.warps && !needs.rows && !source_.whole_warps) wanted.emplace_back(BlockRule::line, WarpLayout::row_part);
    if (!needs.warps || !source_.whole_warps)
      wanted.emplace_back(BlockRule::any, needs.warps ? WarpLayout::any : WarpLayout::row_chunk);
    const CodeChoice& choice = source_.code;
    const BlockRule chosen = choice.rule.value_or(needs.warps ? rule_of_rows() : BlockRule::any);
    for (auto [rule, layout] : wanted) {
      if (!choice.all && rule != chosen) {
        variants.push_back(describe(kernel, nullptr, rule));
        continue;
      }
      llvm::Function* run = build(kernel, *scalar, needs, layout, pipeline, why_not);
      // FrameSizes of that size are better off as stacks.
      if (run == nullptr && needs.sync == WarpSync::phases && why_not.empty())
        run = build(kernel, *scalar, needs.with(WarpSync::fibers), layout, pipeline, why_not);
      if (run != nullptr) variants.push_back(describe(kernel, run, rule));
    }
  }
  scalar->eraseFromParent();
  for (llvm::Function* function : needs.lane_functions) function->eraseFromParent();
  if (why_not.empty()) return variants;
  for (const KernelCode& variant : variants) {
    llvm::Function* run = variant.run != nullptr ? variant.run : variant.run_fiber;
    if (run == nullptr) continue;
    finished_.erase(run);
    run->eraseFromParent();
  }
  return {};
}

KernelCode Engine::describe(const SourceKernel& kernel, llvm::Function* run, BlockRule rule) const {
  KernelCode code;
  code.symbol = kernel.symbol;
  if (run != nullptr) {
    (run->arg_size() == 2 ? code.run_fiber : code.run) = run;
    code.local_bytes = count_local_bytes(*run);
  }
  code.threads_per_fiber = lane_count();
  code.block_rule = rule;
  code.shared_bytes = layout_.kernel_bytes.at(kernel.symbol);
  code.max_threads = kernel.max_threads;
  return code;
}

llvm::Function* Engine::build(const SourceKernel& kernel, llvm::Function& scalar, const Needs& needs, WarpLayout layout,
                              Pipeline& pipeline, std::string& why_not) {
  const WarpSync sync = needs.sync;
  const MathLibrary math(scalar);
  llvm::Function* warp = widen(scalar, {layout, &math});
  inline_calls(*warp, needs.lane_functions);
  std::optional<FrameSizes> frames = FrameSizes();
  bool lockstep = false;
  if (llvm::verifyFunction(*warp)) {
    why_not = "the widened code is not valid";
  } else if (sync == WarpSync::fibers) {
    call_barrier_services(*warp);
  } else if (sync == WarpSync::phases) {
    pipeline.finish(*warp);
    pipeline.order(*warp);
    const BlockUniformity values(*warp);
    lockstep = values.in_lockstep();
    frames = split_at_barriers(*warp, lane_count() * max_frame_bytes, lockstep ? &values : nullptr);
  }
  llvm::Function* run = nullptr;
  if (why_not.empty() && frames) {
    llvm::Function& pattern = add_finished(find_template(sync, layout, lockstep), scalar);
    templates_.insert(&pattern);
    run = instantiate(pattern, kernel, kernel.symbol + ".warps", {{run_warp, warp}});
    for (llvm::Attribute attribute : scalar.getAttributes().getFnAttrs()) run->addFnAttr(attribute);
    allow_unwinding(*run);
    const std::set<llvm::Function*> called = lockstep ? make_loop_per_state(*run, *warp) : std::set{warp};
    inline_calls(*run, called);
    for (llvm::Function* state : called)
      if (state != warp) state->eraseFromParent();
    if (sync == WarpSync::phases) make_frames(*run, *frames);
    answer(*run, counts_placeholder, has_marker(scalar, {Marker::barrier_count}));
    answer(*run, independent_placeholder, needs.independent_blocks);
    answer(*run, flat_placeholder, needs.flat_rows);
    answer(*run, row_ends_placeholder, has_marker(scalar, {Marker::end_lanes}));
    answer(*run, lanes_placeholder, lane_count());
    make_private_histograms(*run, kernel);
    pipeline.finish(*run);
    sink_gather_addresses(*run);
    lower_mask_words(*run);
    run->addFnAttr(finished_attribute);
    finished_.insert(run);
  }
  warp->eraseFromParent();
  return run;
}

std::set<const llvm::Function*> Engine::finish() {
  for (llvm::Function* pattern : templates_) {
    finished_.erase(pattern);
    pattern->eraseFromParent();
  }
  templates_.clear();
  return std::move(finished_);
}

}  // namespace gpulua::cpu::simd
