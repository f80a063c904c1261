#include <utility>

#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_device.h"
#include "src/device/cuda/cuda_textures.h"

namespace gpulua::cuda {
namespace {

class CudaGraphicsResource final : public GraphicsResource {
 public:
  CudaGraphicsResource(std::shared_ptr<Context> context, CUgraphicsResource handle)
      : context_(std::move(context)), handle_(handle) {}
  ~CudaGraphicsResource() override {
    if (context_->lost()) return;
    const ContextGuard guard(*context_);
    context_->driver().graphics_unregister(handle_);
  }
  CUgraphicsResource handle() const { return handle_; }

 private:
  std::shared_ptr<Context> context_;
  CUgraphicsResource handle_;
};

class CudaGraphics final : public Graphics {
 public:
  explicit CudaGraphics(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  bool has_current_context() override {
    constexpr unsigned most = 64;
    constexpr int all = 1;  // CU_GL_DEVICE_LIST_ALL
    CUdevice devices[most];
    unsigned count = 0;
    const ContextGuard guard(*context_);
    // Of another vendor's OpenGL the driver knows nothing, and says so by one error or another.
    if (driver().gl_get_devices(&count, devices, most, all) != CUDA_SUCCESS) return false;
    for (unsigned i = 0; i < count; ++i)
      if (devices[i] == context_->device()) return true;
    return false;
  }

  GraphicsResourceRef register_buffer(std::uint32_t id) override {
    const ContextGuard guard(*context_);
    CUgraphicsResource handle = nullptr;
    context_->check(driver().gl_register_buffer(&handle, id, CU_GRAPHICS_REGISTER_FLAGS_NONE), op);
    return std::make_shared<CudaGraphicsResource>(context_, handle);
  }

  GraphicsResourceRef register_image(std::uint32_t id, std::uint32_t target) override {
    const ContextGuard guard(*context_);
    CUgraphicsResource handle = nullptr;
    CUresult result = driver().gl_register_image(&handle, id, target, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    // Kernels write no surface of a renderbuffer and of some formats.
    if (result == CUDA_ERROR_INVALID_VALUE)
      result = driver().gl_register_image(&handle, id, target, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    context_->check(result, op);
    return std::make_shared<CudaGraphicsResource>(context_, handle);
  }

  MappedMemory map(GraphicsResource& buffer, Stream& stream) override {
    const ContextGuard guard(*context_);
    CUgraphicsResource handle = static_cast<CudaGraphicsResource&>(buffer).handle();
    context_->check(driver().graphics_map(1, &handle, handle_of(stream)), op);
    CUdeviceptr address = 0;
    MappedMemory mapped;
    check_mapped(driver().graphics_get_pointer(&address, &mapped.bytes, handle), handle, stream);
    mapped.memory = reinterpret_cast<void*>(address);
    return mapped;
  }

  std::shared_ptr<Image> map_image(GraphicsResource& image, const ImageShape& shape, Stream& stream) override {
    const ContextGuard guard(*context_);
    CUgraphicsResource handle = static_cast<CudaGraphicsResource&>(image).handle();
    context_->check(driver().graphics_map(1, &handle, handle_of(stream)), op);
    CUarray array = nullptr;
    check_mapped(driver().graphics_get_array(&array, handle, 0, 0), handle, stream);
    return wrap_image(context_, array, shape);
  }

  void unmap(GraphicsResource& resource, Stream& stream) override {
    const ContextGuard guard(*context_);
    CUgraphicsResource handle = static_cast<CudaGraphicsResource&>(resource).handle();
    context_->check(driver().graphics_unmap(1, &handle, handle_of(stream)), op);
  }

 private:
  static constexpr const char* op = "gl";

  const Driver& driver() const { return context_->driver(); }

  void check_mapped(CUresult result, CUgraphicsResource handle, Stream& stream) {
    if (result == CUDA_SUCCESS) return;
    driver().graphics_unmap(1, &handle, handle_of(stream));
    context_->check(result, op);
  }

  std::shared_ptr<Context> context_;
};

}  // namespace

Graphics* CudaDevice::graphics() {
  if (!context_->driver().shares_with_opengl()) return nullptr;
  if (!graphics_) graphics_ = std::make_unique<CudaGraphics>(context_);
  return graphics_.get();
}

}  // namespace gpulua::cuda
