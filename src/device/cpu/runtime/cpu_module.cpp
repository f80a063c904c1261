#include "src/device/cpu/runtime/cpu_module.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "src/base/error.h"
#include "src/base/memory_file.h"

namespace gpulua::cpu {
namespace {

constexpr unsigned usual_block = 256;

// A block that waits for others takes memory only: its stacks and its shared memory. This is what an H200's
// multiprocessor has; with stacks of a few pages and the largest shared memory it is some tens of megabytes a core.
constexpr unsigned resident_blocks = 32, resident_threads = 2048;

/// The path of the file, spelt as no path before. The loader takes an equal spelling for a library that it has, and the
/// system gives a closed file's number out again; so the spelling carries a count, as "/." for a one and "//" for a
/// zero.
std::string unique_spelling(const std::string& path) {
  static std::atomic<std::uint64_t> loads{0};
  std::size_t slash = path.rfind('/');
  std::string result = path.substr(0, slash);
  for (std::uint64_t count = ++loads; count != 0; count >>= 1) result += count & 1 ? "/." : "//";
  return result + path.substr(slash);
}

void* load_library(std::string_view image) {
  MemoryFile file(image);
  void* library = dlopen(unique_spelling(file.path()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(ErrorKind::compile, "[compile] cannot load the compiled module: {}", dlerror());
  return library;
}

// Threads along the grid's x are numbered in 32 bits: from here on the numbers of a warp may wrap.
constexpr std::uint64_t most_in_a_line = std::uint64_t{1} << 31;

bool holds(BlockRule rule, const Dim3& grid, const Dim3& block) {
  switch (rule) {
    case BlockRule::rows:
      return block.x % 32 == 0;
    case BlockRule::rows_of_16:
      return block.x % 16 == 0;
    case BlockRule::rows_of_8:
      return block.x % 8 == 0;
    case BlockRule::half_rows:
      return block.x == 16 && block.y % 2 == 0;
    case BlockRule::line:
      return block.y == 1 && block.z == 1 && std::uint64_t{grid.x} * block.x <= most_in_a_line;
    default:
      return true;
  }
}

bool has_code(const KernelRecord& record) {
  return record.run != nullptr || record.run_fiber != nullptr;
}

}  // namespace

CpuKernel::CpuKernel(KernelEntry entry, std::vector<const KernelRecord*> records, std::shared_ptr<CpuModule> module)
    : Kernel(std::move(entry)), records_(std::move(records)), module_(std::move(module)) {
  attributes_.shared_bytes = records_.front()->shared_bytes;
  attributes_.max_threads = records_.front()->max_threads;
}

const KernelRecord& CpuKernel::record(const LaunchConfig& config) {
  const auto find = [&] {
    return std::ranges::find_if(
        records_, [&](const KernelRecord* record) { return holds(record->block_rule, config.grid, config.block); });
  };
  auto found = find();
  if (found != records_.end() && !has_code(**found)) {
    module_->add_code(entry().symbol, (*found)->block_rule);
    records_ = module_->records(entry().symbol);
    found = find();
  }
  if (found == records_.end())
    throw Error(ErrorKind::argument,
                "[launch] the kernel was compiled for blocks of whole warps, got blocks of {} threads along x",
                config.block.x);
  return **found;
}

int CpuKernel::occupancy(unsigned threads, std::size_t) const {
  return static_cast<int>(std::clamp(resident_threads / threads, 1u, resident_blocks));
}

unsigned CpuKernel::suggested_block(std::size_t) const {
  return std::min(usual_block, attributes_.max_threads);
}

CpuModule::CpuModule(std::shared_ptr<const CompiledModule> compiled, KernelSource source, const Heap& heap,
                     Compile compile)
    : Module(std::move(compiled)), source_(std::move(source)), compile_(std::move(compile)) {
  library_ = load_library(compiled_->image);
  record_ = static_cast<const ModuleRecord*>(dlsym(library_, "gpulua_module"));
  if (record_ == nullptr || record_->version != abi_version) {
    dlclose(library_);
    throw Error(ErrorKind::compile, "[compile] the compiled module is of another version of the cpu device");
  }
  if (record_->heap != nullptr) *record_->heap = heap;
}

CpuModule::~CpuModule() {
  dlclose(library_);
}

std::shared_ptr<Kernel> CpuModule::kernel(const KernelEntry& entry) {
  std::lock_guard lock(mutex_);
  std::weak_ptr<Kernel>& kept = kernels_[&entry];
  std::shared_ptr<Kernel> kernel = kept.lock();
  if (kernel) return kernel;
  if (records(entry.symbol).empty()) compile({.all = false, .kernel = entry.symbol, .ir = compiled_->ir});
  std::vector<const KernelRecord*> records = this->records(entry.symbol);
  if (records.empty()) throw Error("[kernel] expected a kernel of this module, got '{}'", entry.name);
  kernel = std::make_shared<CpuKernel>(described(entry), std::move(records), shared_from_this());
  kept = kernel;
  return kernel;
}

KernelEntry CpuModule::described(KernelEntry entry) const {
  for (const std::shared_ptr<CpuModule>& module : added_) {
    const KernelEntry& compiled = module->compiled().kernels.front();
    if (compiled.symbol != entry.symbol) continue;
    entry.engine = compiled.engine;
    entry.warning = compiled.warning;
    entry.limits = compiled.limits;
    break;
  }
  return entry;
}

std::vector<const KernelRecord*> CpuModule::records(const std::string& symbol) const {
  std::vector<const KernelRecord*> records;
  const auto add = [&](const CpuModule& module) {
    for (const KernelRecord& record : module.own_records()) {
      if (symbol != record.symbol) continue;
      const auto same = std::ranges::find(records, record.block_rule, &KernelRecord::block_rule);
      if (same == records.end())
        records.push_back(&record);
      else if (has_code(record))
        *same = &record;
    }
  };
  add(*this);
  for (const std::shared_ptr<CpuModule>& module : added_) add(*module);
  return records;
}

void CpuModule::add_code(const std::string& symbol, BlockRule rule) {
  std::lock_guard lock(mutex_);
  compile({.all = false, .kernel = symbol, .rule = rule, .ir = compiled_->ir});
}

void CpuModule::compile(const CodeChoice& code) {
  std::shared_ptr<CpuModule> module = compile_(source_, code);
  for (const VariablePlace& place : std::span(module->record_->places, module->record_->place_count))
    *place.place = address_of(place.symbol);
  added_.push_back(std::move(module));
}

void* CpuModule::symbol(const char* name) const {
  return dlsym(library_, name);
}

void* CpuModule::address(const GlobalEntry& entry) {
  return address_of(entry.symbol);
}

void* CpuModule::address_of(const std::string& symbol) const {
  for (const GlobalRecord& record : std::span(record_->globals, record_->global_count))
    if (symbol == record.symbol) return record.address;
  throw Error("[module] expected a variable of this module, got '{}'", symbol);
}

}  // namespace gpulua::cpu
