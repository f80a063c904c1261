#pragma once

// The CPU device. It finishes work before a call returns, on the calling thread or, for long launches, on all cores. So
// a stream is always done.

#include <optional>

#include "src/device/cpu/check/checker.h"
#include "src/device/cpu/compiler_library.h"
#include "src/device/cpu/cpu_labels.h"
#include "src/device/cpu/cpu_shared_memory.h"
#include "src/device/cpu/cpu_sparse.h"
#include "src/device/cpu/runtime/block_pool.h"
#include "src/device/cpu/runtime/fault.h"
#include "src/device/cpu/runtime/kernel_heap.h"
#include "src/device/cpu/runtime/memory_pool.h"
#include "src/device/cpu/runtime/processor.h"
#include "src/device/cpu/runtime/worker_threads.h"
#include "src/device/cpu/sorting/cpu_adder.h"
#include "src/device/cpu/sorting/cpu_sorter.h"
#include "src/device/plugin.h"

namespace gpulua::cpu {

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const DeviceEnvironment& environment);

  const DeviceInfo& info() const override { return info_; }

  void* allocate(std::size_t bytes, Stream& stream) override;
  void free(void* memory, Stream& stream) noexcept override;
  Overwrite find_overwrite(void* memory, std::size_t bytes) noexcept override;
  std::size_t pooled_bytes() const override;
  void trim() override;
  void* allocate_pinned(std::size_t bytes) override;
  void free_pinned(void* memory) noexcept override;

  void upload(void* device, const void* host, std::size_t bytes, Stream& stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream& stream) override;
  void copy(void* to, const void* from, std::size_t bytes, Stream& stream) override;
  void copy_rows(const RowsToCopy& rows, Stream& stream) override;
  void fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) override;

  StreamRef create_stream() override;
  EventRef create_event() override;
  void record(Event& event, Stream& stream) override;
  void wait(Stream& stream, Event& event) override;
  bool done(Stream& stream) override;
  bool done(Event& event) override;
  void synchronize(Stream& stream) override;
  void synchronize(Event& event) override;
  float elapsed(Event& from, Event& to) override;

  std::shared_ptr<Module> compile(const KernelSource& source) override;
  std::shared_ptr<Module> load_image(std::string_view image) override;
  void launch(Kernel& kernel, const LaunchConfig& config, void** arguments, Stream& stream) override;

  void begin_capture(Stream& stream) override;
  std::shared_ptr<Graph> end_capture(Stream& stream) override;
  void launch(Graph& graph, Stream& stream) override;
  bool launch_while(Graph& graph, const void* go_on, Stream& stream) override;

  SharedMemory* shared_memory() override { return &shared_memory_; }

  void set_checking(bool on) override { checker_.set(on); }
  bool checking() const override { return checker_.on(); }
  std::string why_unreachable(const void* first, std::size_t bytes) override;
  void note_lent(const void* first, std::size_t bytes) override;
  void forget_lent(const void* first, std::size_t bytes) noexcept override;

  Blas& blas() override;
  Solver& solver() override;
  SparseSolver& sparse_solver() override;
  Rng& rng() override;
  Fft* fft() override;
  Textures* textures() override;
  Sorter* sorter() override { return works_by_kernels() ? nullptr : sorter_.get(); }
  Adder* adder() override { return works_by_kernels() ? nullptr : adder_.get(); }
  Labeller* labeller() override { return works_by_kernels() ? nullptr : labeller_.get(); }
  Sparse* sparse() override { return works_by_kernels() ? nullptr : sparse_.get(); }

 private:
  /// Checked work is done by kernels, which the checker sees, and so is all work of a GPU.
  bool works_by_kernels() const { return checker_.on() || environment_.config.gpu_schedules_on_cpu; }
  void copy_now(const RowsToCopy& rows);
  void copy_now(void* to, const void* from, std::size_t bytes);
  /// Calls work(), which accesses memory. While the host program lends memory, which may be no longer there, a fault is
  /// an Error; no destructor of the work's frames runs then.
  template <class Work>
  void access(const char* op, const Work& work);
  /// The code for the launch's blocks.
  void run(CpuKernel& kernel, const LaunchConfig& config, void** arguments);
  std::shared_ptr<CpuModule> load(const KernelSource& source, const CompileTarget& target);
  void prepare_checks(CpuModule& module);

  WorkerThreads worker_threads_;
  std::optional<FaultHandlers> fault_handlers_;
  DeviceEnvironment environment_;
  Processor processor_;
  DeviceInfo info_;
  MemoryPool memory_, pinned_;
  CpuSharedMemory shared_memory_;
  KernelHeap heap_;
  BlockPool blocks_;
  std::size_t lent_ranges_ = 0;
  Checker checker_{memory_, heap_};
  CompilerLibrary compiler_{environment_.config};
  std::unique_ptr<Blas> blas_;
  std::unique_ptr<Solver> solver_;
  std::unique_ptr<SparseSolver> sparse_solver_;
  std::unique_ptr<Rng> rng_;
  std::optional<std::unique_ptr<Fft>> fft_;  // null: looked for, and not found
  std::unique_ptr<Textures> textures_;
  std::unique_ptr<Adder> adder_ = make_adder();
  std::unique_ptr<Labeller> labeller_ = make_labeller();
  std::unique_ptr<Sparse> sparse_ = make_sparse();
  std::unique_ptr<Sorter> sorter_ = make_sorter(memory_, environment_.interrupted);
};

}  // namespace gpulua::cpu
