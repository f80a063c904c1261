#pragma once

// The CUDA device: the seam's Device over the driver API.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/cuda/cublas.h"
#include "src/device/cuda/cuda_context.h"
#include "src/device/cuda/cuda_memory.h"
#include "src/device/cuda/cuda_shared_memory.h"
#include "src/device/cuda/cuda_stream.h"
#include "src/device/device.h"
#include "src/device/graphics.h"
#include "src/device/plugin.h"

namespace gpulua::cuda {

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, int ordinal, const DeviceEnvironment& environment);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }

  void* allocate(std::size_t bytes, Stream& stream) override;
  void free(void* memory, Stream& stream) noexcept override;
  std::size_t pooled_bytes() const override { return allocator_.pooled_bytes(); }
  void trim() override {
    shared_memory_.free_unused();
    allocator_.trim();
  }
  void* allocate_pinned(std::size_t bytes) override { return allocator_.allocate_pinned(bytes); }
  void free_pinned(void* memory) noexcept override { allocator_.free_pinned(memory); }

  void upload(void* device, const void* host, std::size_t bytes, Stream& stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream& stream) override;
  void copy(void* to, const void* from, std::size_t bytes, Stream& stream) override;
  void fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) override;

  StreamRef create_stream() override;
  EventRef create_event() override { return std::make_shared<CudaEvent>(context_); }
  void record(Event& event, Stream& stream) override;
  void wait(Stream& stream, Event& event) override;
  bool done(Stream& stream) override { return is_done(*context_, handle_of(stream), "stream"); }
  bool done(Event& event) override { return is_done(*context_, handle_of(event), "event"); }
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

  void set_checking(bool on) override;
  bool checking() const override { return false; }

  Blas& blas() override;
  Solver& solver() override;
  SparseSolver& sparse_solver() override;
  Rng& rng() override;
  Fft* fft() override;
  Textures* textures() override;
  Graphics* graphics() override;
  std::string hardware_id() const override;
  CollectiveLibrary* collectives(std::string& why) override;

  SharedMemory* shared_memory() override { return &shared_memory_; }
  void start_profiler() override { context_->control_profiler(context_->driver().profiler_start); }
  void stop_profiler() override { context_->control_profiler(context_->driver().profiler_stop); }

  std::string why_unreachable(const void* first, std::size_t) override {
    return allocator_.reaches(first) ? ""
                                     : "that its driver does not know: host memory is for the cpu device, or copied";
  }
  StreamRef adopt_stream(void* native) override;
  void redirect(Stream& stream, void* native) override;

  bool can_access(const Device& other) const override;
  bool copy_from(void* to, Stream& stream, Device& source, const void* from, Stream& source_stream,
                 std::size_t bytes) override;

 private:
  CublasBlas& cublas();
  void download_staged(void* host, const void* device, std::size_t bytes, CUstream stream);
  void wait_for(CUstream stream, const char* op);

  DeviceEnvironment environment_;
  std::shared_ptr<Context> context_;
  DeviceInfo info_;
  Allocator allocator_;
  CudaSharedMemory shared_memory_{context_};
  bool reads_host_pages_;
  void* staging_ = nullptr;  // pinned; made by the first small download to pageable memory
  std::optional<Compiler> compiler_;
  std::shared_ptr<Kernel> set_condition_;  // of loops; null before the first one
  std::unique_ptr<CublasBlas> blas_;
  std::unique_ptr<Solver> solver_;
  std::unique_ptr<SparseSolver> sparse_solver_;
  std::unique_ptr<Rng> rng_;
  std::unique_ptr<Textures> textures_;
  std::unique_ptr<Graphics> graphics_;
  std::unique_ptr<CollectiveLibrary> collectives_;
  std::optional<std::unique_ptr<Fft>> fft_;  // null: looked for, and not found
};

}  // namespace gpulua::cuda
