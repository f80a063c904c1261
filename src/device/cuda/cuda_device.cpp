#include "src/device/cuda/cuda_device.h"

#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/device/cuda/compiler/version_text.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_graph.h"
#include "src/device/cuda/cuda_module.h"
#include "src/device/cuda/cuda_textures.h"
#include "src/device/cuda/cufft.h"
#include "src/device/cuda/cusolver.h"
#include "src/device/cuda/nccl.h"
#include "src/device/shared/curand.h"
#include "src/device/shared/superlu.h"

namespace gpulua::cuda {
namespace {

// Copies of pageable memory up to here leave the driver's call at once; larger ones wait, in the driver, for the
// stream.
constexpr std::size_t small_copy = 64 * 1024;

CUdeviceptr address(const void* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

CUdevice device_of(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  if (const CUresult result = driver.device_get(&device, ordinal); result != CUDA_SUCCESS)
    throw Error(ErrorKind::unavailable, "[device] cuda:{}: {}", ordinal, driver.describe(result));
  return device;
}

DeviceInfo describe_device(const Context& context, int ordinal) {
  DeviceInfo info;
  info.name = "cuda:" + std::to_string(ordinal);
  char product[256] = "";
  context.driver().device_get_name(product, sizeof product, context.device());
  info.description = product;
  context.driver().device_total_memory(&info.total_memory, context.device());

  const auto value = [&context](CUdevice_attribute attribute) { return context.attribute(attribute); };
  const auto size = [&context](CUdevice_attribute attribute) {
    return static_cast<unsigned>(context.attribute(attribute));
  };
  info.architecture = "sm_" + std::to_string(value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) +
                      std::to_string(value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info.multiprocessors = value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.warp_size = size(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  info.max_threads_per_block = size(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.max_block = {size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                    size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  info.max_grid = {size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                   size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  info.max_shared_bytes = size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  return info;
}

/// Launches that need attributes: cooperative ones and clusters.
CUresult launch_with_attributes(const Driver& driver, const CudaKernel& kernel, const LaunchConfig& config,
                                void** arguments, CUstream stream) {
  if (driver.launch_kernel_ex == nullptr)
    throw Error(
        ErrorKind::unavailable,
        "[launch] kernel '{}': cooperative and cluster launches need a driver of CUDA 11.8 or later, this one is of "
        "CUDA {}",
        kernel.entry().name, version_text(driver.version));
  CUlaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (config.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count++].value.cooperative = 1;
  }
  if (config.cluster.x > 0) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
    constexpr unsigned portable_cluster = 8;
    if (config.cluster.x * config.cluster.y * config.cluster.z > portable_cluster)
      driver.function_set_attribute(kernel.function(), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  }
  CUlaunchConfig launch{};
  launch.gridDimX = config.grid.x;
  launch.gridDimY = config.grid.y;
  launch.gridDimZ = config.grid.z;
  launch.blockDimX = config.block.x;
  launch.blockDimY = config.block.y;
  launch.blockDimZ = config.block.z;
  launch.sharedMemBytes = static_cast<unsigned>(config.shared_bytes);
  launch.hStream = stream;
  launch.attrs = attributes;
  launch.numAttrs = count;
  return driver.launch_kernel_ex(&launch, kernel.function(), arguments, nullptr);
}

}  // namespace

CudaDevice::CudaDevice(const Driver& driver, int ordinal, const DeviceEnvironment& environment)
    : environment_(environment),
      context_(std::make_shared<Context>(driver, device_of(driver, ordinal),
                                         static_cast<CUcontext>(environment.config.cuda_context))),
      info_(describe_device(*context_, ordinal)),
      allocator_(context_),
      reads_host_pages_(context_->attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) != 0) {}

CudaDevice::~CudaDevice() {
  allocator_.free_pinned(staging_);
}

StreamRef CudaDevice::create_stream() {
  auto stream = std::make_shared<CudaStream>(context_);
  if (!allocator_.home()) allocator_.set_home(stream->handle());
  return stream;
}

StreamRef CudaDevice::adopt_stream(void* native) {
  return std::make_shared<CudaStream>(context_, static_cast<CUstream>(native));
}

void CudaDevice::redirect(Stream& stream, void* native) {
  auto& ours = static_cast<CudaStream&>(stream);
  const CUstream before = ours.handle();
  auto* const programs = static_cast<CUstream>(native);
  if (before == programs) return;
  CudaEvent passed(context_);
  record(passed, stream);
  CudaStream next(context_, programs);
  wait(next, passed);
  ours.redirect(programs);
  // Kept blocks are free in the order of the stream, which goes on.
  if (allocator_.home() == before) allocator_.set_home(programs);
}

void* CudaDevice::allocate(std::size_t bytes, Stream& stream) {
  return allocator_.allocate(bytes, handle_of(stream));
}

void CudaDevice::free(void* memory, Stream& stream) noexcept {
  // A stream that records a graph had no work left when it began, so the memory is free to go on any stream.
  const bool records = static_cast<CudaStream&>(stream).captured != nullptr;
  allocator_.free(memory, records ? *allocator_.home() : handle_of(stream));
}

void CudaDevice::upload(void* device, const void* host, std::size_t bytes, Stream& stream) {
  const ContextGuard guard(*context_);
  const CUstream queue = handle_of(stream);
  CudaGraph* graph = static_cast<CudaStream&>(stream).captured.get();
  if (graph != nullptr || allocator_.is_pinned(host)) {
    if (graph != nullptr && !allocator_.is_pinned(host)) host = graph->keep(host, bytes);
    context_->check(context_->driver().copy_host_to_device(address(device), host, bytes, queue), "upload");
    return;
  }
  // The driver reads pageable memory through its own staging buffers, unless the device walks the host's page tables:
  // then the copy may be read later than the call returns.
  const bool at_once = bytes <= small_copy && !reads_host_pages_;
  if (!at_once) wait_for(queue, "upload");
  context_->check(context_->driver().copy_host_to_device(address(device), host, bytes, queue), "upload");
  if (!at_once) wait_for(queue, "upload");
}

void CudaDevice::download(void* host, const void* device, std::size_t bytes, Stream& stream) {
  const ContextGuard guard(*context_);
  const CUstream queue = handle_of(stream);
  if (allocator_.is_pinned(host)) {
    context_->check(context_->driver().copy_device_to_host(host, address(device), bytes, queue), "download");
    return;
  }
  if (bytes <= small_copy) return download_staged(host, device, bytes, queue);
  // The driver's copy to pageable memory waits inside the call, where nothing can stop it: wait here first.
  wait_for(queue, "download");
  context_->check(context_->driver().copy_device_to_host(host, address(device), bytes, queue), "download");
  wait_for(queue, "download");
}

/// Through pinned memory, so that the copy is queued after the work it depends on and the wait can be stopped.
void CudaDevice::download_staged(void* host, const void* device, std::size_t bytes, CUstream stream) {
  // Taken out while a copy writes it: when the wait is given up, that copy still comes, and the buffer is left to it.
  void* staging = std::exchange(staging_, nullptr);
  if (staging == nullptr) staging = allocator_.allocate_pinned(small_copy);
  if (staging == nullptr) throw Error(ErrorKind::memory, "[download] out of host memory for a pinned buffer");
  context_->check(context_->driver().copy_device_to_host(staging, address(device), bytes, stream), "download");
  wait_for(stream, "download");
  std::memcpy(host, staging, bytes);
  staging_ = staging;
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes, Stream& stream) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().copy_device_to_device(address(to), address(from), bytes, handle_of(stream)),
                  "copy");
}

void CudaDevice::fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) {
  const ContextGuard guard(*context_);
  const Driver& driver = context_->driver();
  const CUstream queue = handle_of(stream);
  const auto item = [value]<class T>(T bits) {
    std::memcpy(&bits, value, sizeof bits);
    return bits;
  };
  switch (item_bytes) {
    case 1:
      return context_->check(driver.fill_8(address(memory), item(static_cast<unsigned char>(0)), count, queue), "fill");
    case 2:
      return context_->check(driver.fill_16(address(memory), item(static_cast<unsigned short>(0)), count, queue),
                             "fill");
    case 4:
      return context_->check(driver.fill_32(address(memory), item(0U), count, queue), "fill");
    default:
      throw Error("[fill] expected items of 1, 2 or 4 bytes, got {}", item_bytes);
  }
}

void CudaDevice::record(Event& event, Stream& stream) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().event_record(handle_of(event), handle_of(stream)), "record");
}

void CudaDevice::wait(Stream& stream, Event& event) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().stream_wait_event(handle_of(stream), handle_of(event), CU_EVENT_WAIT_DEFAULT),
                  "wait");
}

void CudaDevice::synchronize(Stream& stream) {
  wait_for(handle_of(stream), "sync");
}

void CudaDevice::synchronize(Event& event) {
  wait_until_done(*context_, handle_of(event), environment_, "sync");
}

void CudaDevice::wait_for(CUstream stream, const char* op) {
  wait_until_done(*context_, stream, environment_, op);
}

float CudaDevice::elapsed(Event& from, Event& to) {
  const ContextGuard guard(*context_);
  float milliseconds = 0;
  const CUresult result = context_->driver().event_elapsed_time(&milliseconds, handle_of(from), handle_of(to));
  if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_READY)
    throw Error("[elapsed] expected two events that were recorded and are past, got one that {}",
                result == CUDA_ERROR_NOT_READY ? "is not reached yet: sync it first" : "was not recorded");
  context_->check(result, "elapsed");
  return milliseconds;
}

std::shared_ptr<Module> CudaDevice::compile(const KernelSource& source) {
  if (!compiler_) {
    const auto folder = folder_of_code(reinterpret_cast<const void*>(&describe_device));
    compiler_.emplace(environment_.config, info_.architecture, context_->driver().version,
                      folder / pack_name(info_.architecture));
  }
  auto compiled = compiler_->get(source, environment_.cache);
  const int version = compiler_->nvrtc_version();
  return CudaModule::from_compiled(context_, std::move(compiled), source,
                                   version != 0 ? "NVRTC of CUDA " + version_text(version) : "an earlier compilation");
}

std::shared_ptr<Module> CudaDevice::load_image(std::string_view image) {
  return CudaModule::from_image(context_, image);
}

void CudaDevice::launch(Kernel& kernel, const LaunchConfig& config, void** arguments, Stream& stream) {
  const ContextGuard guard(*context_);
  const auto& function = static_cast<CudaKernel&>(kernel);
  function.admit_shared_bytes(config.shared_bytes);
  const Driver& driver = context_->driver();
  const CUstream queue = handle_of(stream);
  const CUresult result =
      !config.cooperative && config.cluster.x == 0
          ? driver.launch_kernel(function.function(), config.grid.x, config.grid.y, config.grid.z, config.block.x,
                                 config.block.y, config.block.z, static_cast<unsigned>(config.shared_bytes), queue,
                                 arguments, nullptr)
          : launch_with_attributes(driver, function, config, arguments, queue);
  if (result != CUDA_SUCCESS) [[unlikely]]
    context_->fail(result, "launch", describe_launch(function, config));
}

void CudaDevice::begin_capture(Stream& stream) {
  auto graph = std::make_shared<CudaGraph>(context_);
  graph->begin(handle_of(stream));
  static_cast<CudaStream&>(stream).captured = std::move(graph);
}

std::shared_ptr<Graph> CudaDevice::end_capture(Stream& stream) {
  const std::shared_ptr<CudaGraph> graph = std::exchange(static_cast<CudaStream&>(stream).captured, nullptr);
  graph->end(handle_of(stream));
  return graph;
}

void CudaDevice::launch(Graph& graph, Stream& stream) {
  static_cast<CudaGraph&>(graph).launch(handle_of(stream));
}

bool CudaDevice::launch_while(Graph& graph, const void* go_on, Stream& stream) {
  if (context_->driver().graph_conditional_handle_create == nullptr) return false;
  if (!set_condition_) {
    const std::shared_ptr<Module> module = load_image(condition_module);
    set_condition_ = module->kernel(module->compiled().kernels.front());
  }
  const auto& set_condition = static_cast<const CudaKernel&>(*set_condition_);
  return static_cast<CudaGraph&>(graph).launch_while(set_condition, go_on, handle_of(stream));
}

void CudaDevice::set_checking(bool on) {
  if (on)
    throw Error(ErrorKind::unavailable,
                "[check] the checker is the cpu device's; got {}. Run with --check, or --device cpu; or under NVIDIA's "
                "compute-sanitizer",
                info_.name);
}

bool CudaDevice::can_access(const Device& other) const {
  const auto* peer = dynamic_cast<const CudaDevice*>(&other);
  return peer != nullptr && context_->can_access(*peer->context_);
}

bool CudaDevice::copy_from(void* to, Stream& stream, Device& source, const void* from, Stream& source_stream,
                           std::size_t bytes) {
  auto* peer = dynamic_cast<CudaDevice*>(&source);
  if (peer == nullptr) return false;
  allocator_.allow_access(*peer->context_);
  peer->allocator_.allow_access(*context_);
  CudaEvent ready(context_), copied(peer->context_);
  record(ready, stream);
  peer->wait(source_stream, ready);
  {
    // Without a link the driver copies through the host.
    const ContextGuard guard(*peer->context_);
    context_->check(context_->driver().copy_peer(address(to), context_->handle(), address(from),
                                                 peer->context_->handle(), bytes, handle_of(source_stream)),
                    "to");
  }
  peer->record(copied, source_stream);
  wait(stream, copied);
  return true;
}

CublasBlas& CudaDevice::cublas() {
  if (!blas_) blas_ = open_blas(environment_.config, context_);
  return *blas_;
}

Blas& CudaDevice::blas() {
  return cublas();
}

Solver& CudaDevice::solver() {
  if (!solver_) solver_ = open_solver(environment_.config, context_, [this]() -> CublasBlas& { return cublas(); });
  return *solver_;
}

SparseSolver& CudaDevice::sparse_solver() {
  if (!sparse_solver_) sparse_solver_ = open_superlu(*this);
  return *sparse_solver_;
}

Rng& CudaDevice::rng() {
  if (!rng_) {
    const auto in_context = [context = context_](const std::function<void()>& work) {
      const ContextGuard guard(*context);
      work();
    };
    rng_ = open_device_curand(environment_.config, {*this, in_context});
  }
  return *rng_;
}

Fft* CudaDevice::fft() {
  if (!fft_) fft_ = environment_.config.fft_libraries ? open_fft(environment_.config, context_) : nullptr;
  return fft_->get();
}

Textures* CudaDevice::textures() {
  if (!textures_) textures_ = make_textures(context_);
  return textures_.get();
}

std::string CudaDevice::hardware_id() const {
  CUuuid id{};
  context_->check(context_->driver().device_get_uuid(&id, context_->device()), "device");
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : id.bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

CollectiveLibrary* CudaDevice::collectives(std::string& why) {
  if (!collectives_) collectives_ = open_nccl(environment_.config, context_, why);
  return collectives_.get();
}

}  // namespace gpulua::cuda
