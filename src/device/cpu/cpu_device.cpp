#include "src/device/cpu/cpu_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "src/base/error.h"
#include "src/device/cpu/cpu_blas.h"
#include "src/device/cpu/cpu_fft.h"
#include "src/device/cpu/cpu_solver.h"
#include "src/device/cpu/cpu_textures.h"
#include "src/device/cpu/runtime/cpu_launch.h"
#include "src/device/cpu/runtime/cpu_stream.h"
#include "src/device/cpu/runtime/fault_text.h"
#include "src/device/cpu/runtime/readable_memory.h"
#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/shared/cache.h"
#include "src/device/shared/curand.h"
#include "src/device/shared/superlu.h"
#include "src/device/take_interrupt.h"

namespace gpulua::cpu {
namespace {

// As an H200 has, so that a kernel which fits there fits here.
constexpr std::size_t max_shared_bytes = 227 * 1024;

class CpuEvent : public Event {
 public:
  std::chrono::steady_clock::time_point time;
};

// Of an H100.
constexpr int multiprocessors_of_gpu = 132;

DeviceInfo describe(const Processor& processor, bool gpu_schedules) {
  DeviceInfo info;
  info.name = "cpu";
  info.description = processor.model;
  info.architecture = processor.architecture;
  info.total_memory = processor.memory;
  info.in_host_memory = true;
  info.works_at_once = true;
  info.multiprocessors = gpu_schedules ? multiprocessors_of_gpu : processor.cores;
  info.max_shared_bytes = max_shared_bytes;
  if (gpu_schedules) return info;  // the rest is a GPU's unless it is set
  info.access_bytes = 1;           // a warp is a vector already
  info.block_is_warp = true;       // a warp merges by permutes
  info.division_branches = false;
  info.least_copied_row = 64;
  return info;
}

template <class T>
void fill_items(void* memory, std::uint32_t item, std::size_t count) {
  std::fill_n(static_cast<T*>(memory), count, static_cast<T>(item));
}

/// The values of a kernel's arguments.
class KeptArguments {
 public:
  KeptArguments(const Signature& signature, void** arguments) {
    std::vector<std::size_t> places;
    for (const Parameter& parameter : signature.parameters) {
      places.push_back(values_.size());
      values_.resize(values_.size() + (parameter.size + sizeof(Unit) - 1) / sizeof(Unit));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      pointers_.push_back(&values_[places[i]]);
      std::memcpy(pointers_[i], arguments[i], signature.parameters[i].size);
    }
  }
  void** pointers() { return pointers_.data(); }

 private:
  struct alignas(64) Unit {
    char bytes[64];
  };
  std::vector<Unit> values_;
  std::vector<void*> pointers_;
};

}  // namespace

CpuDevice::CpuDevice(const DeviceEnvironment& environment)
    : environment_(environment),
      processor_(describe_processor()),
      info_(describe(processor_, environment.config.gpu_schedules_on_cpu)) {
  if (environment.config.fault_handlers) fault_handlers_.emplace();
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void* CpuDevice::allocate(std::size_t bytes, Stream&) {
  return checker_.memory().allocate(bytes);
}
void CpuDevice::free(void* memory, Stream&) noexcept {
  checker_.memory().free(memory);
}
Overwrite CpuDevice::find_overwrite(void* memory, std::size_t bytes) noexcept {
  return checker_.memory().guards(memory) ? Overwrite::none : memory_.find_overwrite(memory, bytes);
}
std::size_t CpuDevice::pooled_bytes() const {
  return memory_.kept_bytes() + checker_.memory().kept_bytes();
}
void CpuDevice::trim() {
  checker_.memory().trim();
  memory_.trim();
  pinned_.trim();
  blocks_.trim();
}
void* CpuDevice::allocate_pinned(std::size_t bytes) {
  return pinned_.allocate(bytes);
}
void CpuDevice::free_pinned(void* memory) noexcept {
  pinned_.free(memory);
}

std::string CpuDevice::why_unreachable(const void* first, std::size_t bytes) {
  if (is_readable(first, bytes)) return {};
  return "where this process has not " + std::to_string(bytes) + " bytes of memory that it can read";
}
void CpuDevice::note_lent(const void* first, std::size_t bytes) {
  checker_.note_lent(first, bytes);
  ++lent_ranges_;
}
void CpuDevice::forget_lent(const void* first, std::size_t bytes) noexcept {
  checker_.forget_lent(first, bytes);
  --lent_ranges_;
}

template <class Work>
void CpuDevice::access(const char* op, const Work& work) {
  if (lent_ranges_ == 0) return work();
  const FaultGuard guard;
  if (const auto fault = call_kernel(work))
    throw Error(
        "[{}] expected memory that is there while an array uses it, got {}; an array over another owner's memory, as "
        "of "
        "gpu.view, keeps the owner by the option owner, and is read_only where the memory is",
        op, describe(*fault).message);
}

// ---- copies ---------------------------------------------------------------------------------------------------------

namespace {

/// Calls work(first, count) for parts of so many items. Memory that is used for the first time takes the system up to a
/// second a gigabyte, so between the parts it looks for an interrupt.
template <class Work>
void in_parts(std::size_t count, std::size_t item_bytes, std::atomic<bool>& interrupted, const char* op, Work work) {
  const std::size_t most = (std::size_t{16} << 20) / item_bytes;
  for (std::size_t first = 0; first < count; first += most) {
    if (first > 0) take_interrupt(interrupted, op);
    work(first, std::min(most, count - first));
  }
}

}  // namespace

void CpuDevice::upload(void* device, const void* host, std::size_t bytes, Stream& stream) {
  const auto write = [=, this](const void* from) {
    copy_now(device, from, bytes);
    if (checker_.on()) checker_.memory().mark_written(device, bytes);
  };
  CpuGraph* graph = recorded_by(stream);
  if (!graph) return write(host);
  const auto* first = static_cast<const char*>(host);
  const auto holds = [first](const auto& block) {
    const auto* begin = static_cast<const char*>(block.first);
    return begin <= first && first < begin + block.second;
  };
  if (std::ranges::any_of(pinned_.handed_out(), holds)) return graph->add([=] { write(host); });
  graph->add([write, kept = std::vector<char>(first, first + bytes)] { write(kept.data()); });
}

void CpuDevice::download(void* host, const void* device, std::size_t bytes, Stream& stream) {
  queue(stream, [=, this] { copy_now(host, device, bytes); });
}

void CpuDevice::copy(void* to, const void* from, std::size_t bytes, Stream& stream) {
  queue(stream, [=, this] {
    copy_now(to, from, bytes);
    if (checker_.on()) checker_.memory().copy_marks(to, from, bytes);
  });
}

void CpuDevice::copy_now(void* to, const void* from, std::size_t bytes) {
  in_parts(bytes, 1, environment_.interrupted, "copy", [=, this](std::size_t first, std::size_t count) {
    access("copy", [=] { std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, count); });
  });
}

void CpuDevice::copy_rows(const RowsToCopy& rows, Stream& stream) {
  queue(stream, [=, this] { copy_now(rows); });
}

void CpuDevice::copy_now(const RowsToCopy& rows) {
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      char* const to = rows.to + row * rows.to_step;
      const char* const from = rows.from + row * rows.from_step;
      access("copy", [&] { std::memcpy(to, from, static_cast<std::size_t>(rows.bytes)); });
      if (checker_.on()) checker_.memory().copy_marks(to, from, static_cast<std::size_t>(rows.bytes));
    }
  };
  constexpr std::int64_t worth_sharing = 1 << 16;  // bytes
  if (rows.rows * rows.bytes < 2 * worth_sharing || checker_.on())
    some(0, rows.rows);
  else
    share_ranges(std::int64_t{0}, rows.rows, std::max<std::int64_t>(worth_sharing / rows.bytes, 1), some);
}

void CpuDevice::fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) {
  if (item_bytes != 1 && item_bytes != 2 && item_bytes != 4)
    throw Error("[fill] expected items of 1, 2 or 4 bytes, got {}", item_bytes);
  std::uint32_t item = 0;
  std::memcpy(&item, value, item_bytes);
  queue(stream, [=, this] {
    if (checker_.on()) checker_.memory().mark_written(memory, item_bytes * count);
    in_parts(count, item_bytes, environment_.interrupted, "fill", [=, this](std::size_t first, std::size_t some) {
      void* const part = static_cast<char*>(memory) + first * item_bytes;
      access("fill", [=] {
        if (item_bytes == 1)
          fill_items<std::uint8_t>(part, item, some);
        else if (item_bytes == 2)
          fill_items<std::uint16_t>(part, item, some);
        else
          fill_items<std::uint32_t>(part, item, some);
      });
    });
  });
}

// ---- streams and events
// ------------------------------------------------------------------------------------------------

StreamRef CpuDevice::create_stream() {
  return std::make_shared<CpuStream>();
}
EventRef CpuDevice::create_event() {
  return std::make_shared<CpuEvent>();
}
void CpuDevice::record(Event& event, Stream&) {
  static_cast<CpuEvent&>(event).time = std::chrono::steady_clock::now();
}
void CpuDevice::wait(Stream&, Event&) {}
bool CpuDevice::done(Stream&) {
  return true;
}
bool CpuDevice::done(Event&) {
  return true;
}
void CpuDevice::synchronize(Stream&) {
  take_interrupt(environment_.interrupted, "synchronize");
}
void CpuDevice::synchronize(Event&) {
  take_interrupt(environment_.interrupted, "synchronize");
}

float CpuDevice::elapsed(Event& from, Event& to) {
  auto time = static_cast<CpuEvent&>(to).time - static_cast<CpuEvent&>(from).time;
  return std::chrono::duration<float, std::milli>(time).count();
}

// ---- kernels
// ----------------------------------------------------------------------------------------------------------

std::shared_ptr<CpuModule> CpuDevice::load(const KernelSource& source, const CompileTarget& target) {
  auto compile = [&] { return compiler_.compile(source, target, environment_.interrupted); };
  std::shared_ptr<const CompiledModule> compiled =
      target.code.ir.empty() && includes_files(source)
          ? environment_.cache.compile_now(compile)
          : environment_.cache.get(compiler_.cache_digest(source, target, processor_), compile);
  return std::make_shared<CpuModule>(
      std::move(compiled), source, checker_.heap(), [this](const KernelSource& same, const CodeChoice& code) {
        return load(same, CompileTarget{.processor = environment_.config.cpu_target, .features = {}, .code = code});
      });
}

void CpuDevice::prepare_checks(CpuModule& module) {
  const CompileTarget target{environment_.config.cpu_target, {}, /*checked=*/true};
  checker_.prepare(module, [&](const KernelSource& source) { return load(source, target); });
}

std::shared_ptr<Module> CpuDevice::compile(const KernelSource& source) {
  std::shared_ptr<CpuModule> module =
      load(source, CompileTarget{.processor = environment_.config.cpu_target, .features = {}, .code = {.all = false}});
  // Now rather than at the first launch: files that the source includes may be gone then.
  if (checker_.on()) prepare_checks(*module);
  return module;
}

std::shared_ptr<Module> CpuDevice::load_image(std::string_view) {
  throw Error(ErrorKind::unavailable,
              "[load_module] the cpu device runs CUDA C++ source only, got a compiled image; PTX, cubin and fatbin "
              "files need a "
              "cuda device");
}

void CpuDevice::launch(Kernel& kernel, const LaunchConfig& config, void** arguments, Stream& stream) {
  if (config.cluster.x > 1 || config.cluster.y > 1 || config.cluster.z > 1)
    throw Error(
        ErrorKind::unavailable,
        "[launch] kernel '{}': the cpu device has no clusters of blocks: launch the kernel without the cluster option",
        kernel.entry().name);
  auto& own = static_cast<CpuKernel&>(kernel);
  CpuGraph* graph = recorded_by(stream);
  if (!graph) return run(own, config, arguments);
  own.record(config);  // compiled now, so that no replay waits for a compiler
  const auto kept = std::make_shared<KeptArguments>(kernel.entry().signature, arguments);
  graph->add([this, &own, config, kept] { run(own, config, kept->pointers()); });
}

void CpuDevice::run(CpuKernel& kernel, const LaunchConfig& config, void** arguments) {
  const auto run = [&](CpuKernel& any) {
    run_launch(any.entry(), any.record(config), config, arguments, environment_.interrupted, blocks_, checker_.on());
  };
  if (!checker_.on()) return run(kernel);
  prepare_checks(kernel.module());
  checker_.launch(kernel, config, arguments, environment_.interrupted, run);
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

void CpuDevice::begin_capture(Stream& stream) {
  static_cast<CpuStream&>(stream).recorded = std::make_shared<CpuGraph>();
}
std::shared_ptr<Graph> CpuDevice::end_capture(Stream& stream) {
  return std::exchange(static_cast<CpuStream&>(stream).recorded, nullptr);
}
void CpuDevice::launch(Graph& graph, Stream& stream) {
  queue(stream, [&graph] { static_cast<CpuGraph&>(graph).run(); });
}
bool CpuDevice::launch_while(Graph& graph, const void* go_on, Stream&) {
  while (*static_cast<const bool*>(go_on)) {
    take_interrupt(environment_.interrupted, "loop_while");
    static_cast<CpuGraph&>(graph).run();
  }
  return true;
}

// ---- libraries
// ----------------------------------------------------------------------------------------------------------

Blas& CpuDevice::blas() {
  if (!blas_) blas_ = open_blas();
  return *blas_;
}

Solver& CpuDevice::solver() {
  if (!solver_) solver_ = open_solver();
  return *solver_;
}

SparseSolver& CpuDevice::sparse_solver() {
  if (!sparse_solver_) sparse_solver_ = open_superlu(*this);
  return *sparse_solver_;
}

Rng& CpuDevice::rng() {
  if (!rng_) rng_ = open_host_curand(environment_.config);
  return *rng_;
}

Fft* CpuDevice::fft() {
  if (works_by_kernels()) return nullptr;
  if (!fft_) fft_ = environment_.config.fft_libraries ? open_fft() : nullptr;
  return fft_->get();
}

Textures* CpuDevice::textures() {
  if (!textures_) textures_ = make_textures(*this);
  return textures_.get();
}

}  // namespace gpulua::cpu
