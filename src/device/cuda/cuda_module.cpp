#include "src/device/cuda/cuda_module.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/device/cuda/compiler/cubin.h"
#include "src/device/cuda/compiler/module_text.h"
#include "src/device/cuda/compiler/ptx.h"
#include "src/device/cuda/compiler/version_text.h"
#include "src/device/cuda/context_guard.h"

namespace gpulua::cuda {
namespace {

bool is_binary(std::string_view image) {
  return image.starts_with(
             "\x7f"
             "ELF") ||
         image.starts_with("\x50\xed\x55\xba");  // a fatbin
}

/// `image` ends in a NUL, which text needs and binaries do not mind.
CUmodule load(Context& context, const std::string& image, const std::string& origin) {
  const ContextGuard guard(context);
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = context.driver().module_load(&module, image.c_str(), 2, options, values);
  if (result == CUDA_SUCCESS) return module;

  log.back() = '\0';
  std::string detail = "the driver does not take the module";
  if (!origin.empty())
    detail += " (made by " + origin + "; the driver runs CUDA " + version_text(context.driver().version) + ")";
  if (log.front() != '\0') detail += ":\n" + std::string(log.data());
  switch (result) {
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      throw Error(ErrorKind::compile, "[module] {}\n{}", detail, context.driver().describe(result));
    default:
      context.fail(result, "module", detail);
  }
}

PtxEntry entry_of(const Driver& driver, CUfunction function) {
  PtxEntry entry;
  const char* name = nullptr;
  if (driver.function_get_name(&name, function) == CUDA_SUCCESS) entry.symbol = name;
  if (driver.function_get_parameter == nullptr) return entry;
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; driver.function_get_parameter(function, i, &offset, &size) == CUDA_SUCCESS; ++i)
    entry.parameters.push_back({".b8", static_cast<std::uint32_t>(size), 0, true});
  return entry;
}

/// The kernels of a binary, as the driver lists them.
std::vector<PtxEntry> list_entries(Context& context, CUmodule module) {
  const Driver& driver = context.driver();
  if (driver.module_function_count == nullptr || driver.module_enumerate_functions == nullptr ||
      driver.function_get_name == nullptr)
    throw Error(ErrorKind::unavailable,
                "[module] expected PTX text, got a binary, whose kernels only a driver of CUDA 12.4 or later lists; "
                "this one is of CUDA {}",
                version_text(driver.version));
  const ContextGuard guard(context);
  unsigned count = 0;
  context.check(driver.module_function_count(&count, module), "module");
  std::vector<CUfunction> functions(count);
  context.check(driver.module_enumerate_functions(functions.data(), count, module), "module");
  std::vector<PtxEntry> entries;
  for (CUfunction function : functions) entries.push_back(entry_of(driver, function));
  return entries;
}

/// The module with the kernels and variables of its image that it does not describe.
std::shared_ptr<const CompiledModule> with_found(Context& context, CUmodule handle, const CompiledModule& compiled) {
  PtxModule found{list_entries(context, handle), read_cubin_globals(compiled.image)};
  const auto is_described = [](const auto& entries) {
    return [&entries](const auto& other) {
      return std::ranges::any_of(entries, [&](const auto& entry) { return entry.symbol == other.symbol; });
    };
  };
  std::erase_if(found.entries, is_described(compiled.kernels));
  std::erase_if(found.globals, is_described(compiled.globals));
  auto whole = std::make_shared<CompiledModule>(compiled);
  describe_module(found, {}, {}, *whole);
  return whole;
}

std::size_t attribute_of(Context& context, CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  context.check(context.driver().function_get_attribute(&value, attribute, function), "kernel");
  return static_cast<std::size_t>(value);
}

std::string text_of(const Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

}  // namespace

std::string describe_launch(const CudaKernel& kernel, const LaunchConfig& config) {
  std::string text = kernel.entry().name + " with grid " + text_of(config.grid) + ", block " + text_of(config.block) +
                     ", " + std::to_string(config.shared_bytes) + " bytes of dynamic shared memory";
  if (config.cluster.x > 0) text += ", cluster " + text_of(config.cluster);
  if (config.cooperative) text += ", cooperative";
  return text;
}

CudaKernel::CudaKernel(std::shared_ptr<CudaModule> module, const KernelEntry& entry)
    : Kernel(entry), module_(std::move(module)) {
  Context& context = module_->context();
  const ContextGuard guard(context);
  if (const CUresult result = context.driver().module_get_function(&function_, module_->handle(), entry.symbol.c_str());
      result != CUDA_SUCCESS)
    context.fail(result, "kernel", entry.name);
  attributes_.registers = static_cast<int>(attribute_of(context, function_, CU_FUNC_ATTRIBUTE_NUM_REGS));
  attributes_.shared_bytes = attribute_of(context, function_, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes_.local_bytes = attribute_of(context, function_, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes_.constant_bytes = attribute_of(context, function_, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes_.max_threads =
      static_cast<unsigned>(attribute_of(context, function_, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  admitted_shared_bytes_ = attribute_of(context, function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

int CudaKernel::occupancy(unsigned threads, std::size_t shared_bytes) const {
  Context& context = module_->context();
  const ContextGuard guard(context);
  admit_shared_bytes(shared_bytes);
  int blocks = 0;
  context.check(context.driver().occupancy_max_blocks(&blocks, function_, static_cast<int>(threads), shared_bytes),
                "occupancy");
  return blocks;
}

unsigned CudaKernel::suggested_block(std::size_t shared_bytes) const {
  Context& context = module_->context();
  const ContextGuard guard(context);
  admit_shared_bytes(shared_bytes);
  int grid = 0;
  int block = 0;
  context.check(context.driver().occupancy_max_block_size(&grid, &block, function_, nullptr, shared_bytes, 0),
                "occupancy");
  return static_cast<unsigned>(block);
}

void CudaKernel::raise_shared_limit() const {
  Context& context = module_->context();
  const auto most = static_cast<std::size_t>(context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  // All that a block can have, so that the driver is told once.
  const std::size_t limit = most > attributes_.shared_bytes ? most - attributes_.shared_bytes : 0;
  if (limit <= admitted_shared_bytes_) return;
  context.check(context.driver().function_set_attribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                        static_cast<int>(limit)),
                "launch");
  admitted_shared_bytes_ = limit;
}

std::shared_ptr<CudaModule> CudaModule::from_compiled(std::shared_ptr<Context> context,
                                                      std::shared_ptr<const CompiledModule> compiled,
                                                      const KernelSource& source, const std::string& origin) {
  const CUmodule handle = load(*context, compiled->image, origin);
  auto module = std::make_shared<CudaModule>(context, handle, compiled);
  const bool has_images =
      std::ranges::any_of(source.parts, [](const KernelSource& part) { return !part.image.empty(); });
  if (has_images) module->compiled_ = with_found(*context, handle, *compiled);
  return module;
}

std::shared_ptr<CudaModule> CudaModule::from_image(std::shared_ptr<Context> context, std::string_view image) {
  auto compiled = std::make_shared<CompiledModule>();
  compiled->image = image;
  const bool binary = is_binary(image);
  if (!binary && image.find(".version") == std::string_view::npos)
    throw Error("[module] expected PTX text, a cubin or a fatbin, got something else of {} bytes", image.size());
  if (binary) check_binary(image);
  const CUmodule handle = load(*context, compiled->image, "");
  // Made before the contents are read, so that the handle has an owner.
  auto module = std::make_shared<CudaModule>(context, handle, compiled);
  if (!binary) compiled->ptx = image;
  describe_module(binary ? PtxModule{list_entries(*context, handle), read_cubin_globals(image)} : parse_ptx(image), {},
                  {}, *compiled);
  return module;
}

CudaModule::CudaModule(std::shared_ptr<Context> context, CUmodule handle,
                       std::shared_ptr<const CompiledModule> compiled)
    : Module(std::move(compiled)), context_(std::move(context)), handle_(handle) {}

CudaModule::~CudaModule() {
  context_->retire([handle = handle_](const Driver& driver) { driver.module_unload(handle); });
}

std::shared_ptr<Kernel> CudaModule::kernel(const KernelEntry& entry) {
  std::weak_ptr<CudaKernel>& known = kernels_[entry.name];
  std::shared_ptr<CudaKernel> kernel = known.lock();
  if (kernel == nullptr) {
    kernel = std::make_shared<CudaKernel>(shared_from_this(), entry);
    known = kernel;
  }
  return kernel;
}

void* CudaModule::address(const GlobalEntry& entry) {
  const ContextGuard guard(*context_);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  if (const CUresult result = context_->driver().module_get_global(&address, &bytes, handle_, entry.symbol.c_str());
      result != CUDA_SUCCESS)
    context_->fail(result, "module", entry.name);
  if (bytes < entry.bytes)
    throw Error("[module] expected the variable \"{}\" to have {} bytes, as the module's text says, got {}", entry.name,
                entry.bytes, bytes);
  return reinterpret_cast<void*>(address);
}

}  // namespace gpulua::cuda
