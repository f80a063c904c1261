#include "src/device/cpu/simd/markers.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace gpulua::cpu::simd {
namespace {

struct MarkerRow {
  Marker marker;
  const char* name;
};

constexpr MarkerRow marker_rows[] = {
    {Marker::thread_x, "gpulua.thread.x"},
    {Marker::thread_y, "gpulua.thread.y"},
    {Marker::thread_z, "gpulua.thread.z"},
    {Marker::block_x, "gpulua.block.x"},
    {Marker::linear, "gpulua.linear"},
    {Marker::private_memory, "gpulua.private"},
    {Marker::shared_memory, "gpulua.shared"},
    {Marker::escape, "gpulua.escape"},
    {Marker::private_histogram, "gpulua.histogram"},
    {Marker::flush_histogram, "gpulua.flush_histogram"},
    {Marker::all_lanes, "gpulua.all_lanes"},
    {Marker::whole_warp, "gpulua.whole_warp"},
    {Marker::first_lane, "gpulua.first_lane"},
    {Marker::lane, "gpulua.lane"},
    {Marker::first_running, "gpulua.first_running"},
    {Marker::consecutive, "gpulua.consecutive"},
    {Marker::end_lanes, "gpulua.end_lanes"},
    {Marker::load_strip, "gpulua.load_strip"},
    {Marker::store_strip, "gpulua.store_strip"},
    {Marker::fail, "_Z11gpulua_failPKcS0_j"},
    {Marker::barrier, "gpulua_barrier"},
    {Marker::barrier_count, "gpulua_barrier_count"},
    {Marker::grid_barrier, "gpulua_grid_barrier"},
    {Marker::tile_barrier, "gpulua_tile_barrier"},
    {Marker::warp_barrier, "gpulua_warp_barrier"},
    {Marker::shuffle, "gpulua_shuffle"},
    {Marker::ballot, "gpulua_ballot"},
    {Marker::activemask, "gpulua_activemask"},
    {Marker::yield, "gpulua_yield"},
    {Marker::pause, "gpulua_pause"},
};

}  // namespace

Marker marker(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  // A marker may take values of several types; the first call's are the function's.
  const auto* callee = call == nullptr ? nullptr : llvm::dyn_cast<llvm::Function>(call->getCalledOperand());
  if (callee == nullptr || !callee->getName().contains("gpulua")) return Marker::none;
  for (const MarkerRow& row : marker_rows)
    if (callee->getName() == row.name) return row.marker;
  return Marker::none;
}

bool has_marker(const llvm::Function& function, std::initializer_list<Marker> wanted) {
  return std::any_of(llvm::inst_begin(function), llvm::inst_end(function), [&](const llvm::Instruction& instruction) {
    return std::find(wanted.begin(), wanted.end(), marker(&instruction)) != wanted.end();
  });
}

bool is_barrier(const llvm::Instruction& instruction) {
  const Marker kind = marker(&instruction);
  return kind == Marker::barrier || kind == Marker::barrier_count || kind == Marker::grid_barrier ||
         kind == Marker::tile_barrier;
}

const char* marker_name(Marker marker) {
  for (const MarkerRow& row : marker_rows)
    if (row.marker == marker) return row.name;
  return nullptr;
}

llvm::CallInst* call_marker(llvm::IRBuilder<>& builder, Marker marker, llvm::Type* result,
                            const std::vector<llvm::Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::CallInst* call = builder.CreateCall(
      module.getOrInsertFunction(marker_name(marker), llvm::FunctionType::get(result, types, false)), arguments);
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

llvm::CallInst* call_private_memory(llvm::IRBuilder<>& builder, std::uint64_t bytes, std::uint64_t stride,
                                    const llvm::Twine& name) {
  llvm::CallInst* call = call_marker(builder, Marker::private_memory, builder.getPtrTy(),
                                     {builder.getInt64(bytes), builder.getInt64(stride)});
  call->setName(name);
  call->setDoesNotAccessMemory();
  call->addRetAttr(llvm::Attribute::NoAlias);
  return call;
}

}  // namespace gpulua::cpu::simd
