#include "src/device/cuda/cuda_textures.h"

#include <utility>

#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_stream.h"

namespace gpulua::cuda {
namespace {

CUarray_format format_of(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return CU_AD_FORMAT_UNSIGNED_INT8;
    case DType::int8:
      return CU_AD_FORMAT_SIGNED_INT8;
    case DType::uint16:
      return CU_AD_FORMAT_UNSIGNED_INT16;
    case DType::int16:
      return CU_AD_FORMAT_SIGNED_INT16;
    case DType::uint32:
      return CU_AD_FORMAT_UNSIGNED_INT32;
    case DType::int32:
      return CU_AD_FORMAT_SIGNED_INT32;
    case DType::float16:
      return CU_AD_FORMAT_HALF;
    default:
      return CU_AD_FORMAT_FLOAT;
  }
}

class CudaImage final : public Image {
 public:
  /// `handle_` is null when there is no room.
  CudaImage(std::shared_ptr<Context> context, const ImageShape& shape) : context_(std::move(context)), shape_(shape) {
    CUDA_ARRAY3D_DESCRIPTOR wanted{};
    // An axis that the image does not have is 0.
    wanted.Width = static_cast<std::size_t>(shape.width);
    wanted.Height = shape.dimensions > 1 ? static_cast<std::size_t>(shape.height) : 0;
    wanted.Depth = shape.dimensions > 2 || shape.layered ? static_cast<std::size_t>(shape.depth) : 0;
    wanted.Format = format_of(shape.dtype);
    wanted.NumChannels = shape.channels;
    wanted.Flags = CUDA_ARRAY3D_SURFACE_LDST | (shape.layered ? CUDA_ARRAY3D_LAYERED : 0);
    const ContextGuard guard(*context_);
    const CUresult result = context_->driver().array_create(&handle_, &wanted);
    if (result != CUDA_ERROR_OUT_OF_MEMORY) context_->check(result, "texture");
  }
  /// The elements are somebody else's.
  CudaImage(std::shared_ptr<Context> context, const ImageShape& shape, CUarray array)
      : context_(std::move(context)), shape_(shape), handle_(array), is_borrowed_(true) {}
  ~CudaImage() override {
    if (handle_ == nullptr || context_->lost()) return;
    context_->retire([array = is_borrowed_ ? nullptr : handle_, surface = surface_](const Driver& driver) {
      if (surface != 0) driver.surface_destroy(surface);
      if (array != nullptr) driver.array_destroy(array);
    });
  }

  CUarray handle() const { return handle_; }
  const ImageShape& shape() const { return shape_; }

  std::uint64_t surface() override {
    if (surface_ != 0) return surface_;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = handle_;
    const ContextGuard guard(*context_);
    context_->check(context_->driver().surface_create(&surface_, &resource), "surface");
    return surface_;
  }

  /// A copy of all elements from this image to itself: the caller replaces its source or its target.
  CUDA_MEMCPY3D copy() const {
    CUDA_MEMCPY3D result{};
    result.srcPitch = result.dstPitch = shape_.row_bytes();
    result.srcHeight = result.dstHeight = static_cast<std::size_t>(shape_.height);
    result.srcArray = result.dstArray = handle_;
    result.srcMemoryType = result.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    result.WidthInBytes = shape_.row_bytes();
    result.Height = static_cast<std::size_t>(shape_.height);
    result.Depth = static_cast<std::size_t>(shape_.depth);
    return result;
  }

 private:
  std::shared_ptr<Context> context_;
  ImageShape shape_;
  CUarray handle_ = nullptr;
  bool is_borrowed_ = false;
  CUsurfObject surface_ = 0;  // 0: none yet
};

class CudaTexture final : public Texture {
 public:
  CudaTexture(std::shared_ptr<Context> context, CUtexObject object, std::shared_ptr<Image> image)
      : Texture(object), context_(std::move(context)), image_(std::move(image)) {}
  ~CudaTexture() override {
    if (context_->lost()) return;
    context_->retire([texture = object()](const Driver& driver) { driver.texture_destroy(texture); });
  }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Image> image_;  // null: the elements are an array's
};

class CudaTextures final : public Textures {
 public:
  explicit CudaTextures(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Image> create_image(const ImageShape& shape) override {
    auto image = std::make_shared<CudaImage>(context_, shape);
    return image->handle() != nullptr ? image : nullptr;
  }
  void write(Image& image, const void* memory, Stream& stream) override {
    CUDA_MEMCPY3D copy = static_cast<CudaImage&>(image).copy();
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(memory);
    run(copy, stream);
  }
  void read(void* memory, Image& image, Stream& stream) override {
    CUDA_MEMCPY3D copy = static_cast<CudaImage&>(image).copy();
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(memory);
    run(copy, stream);
  }
  std::shared_ptr<Texture> create_texture(std::shared_ptr<Image> image, const Sampling& sampling) override {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    const auto& elements = static_cast<CudaImage&>(*image);
    resource.res.array.hArray = elements.handle();
    return create(resource, elements.shape().dimensions, sampling, std::move(image));
  }
  std::shared_ptr<Texture> create_texture(const ImageShape& shape, void* memory, const Sampling& sampling) override {
    CUDA_RESOURCE_DESC resource{};
    if (shape.dimensions == 1) {
      resource.resType = CU_RESOURCE_TYPE_LINEAR;
      resource.res.linear.devPtr = reinterpret_cast<CUdeviceptr>(memory);
      resource.res.linear.format = format_of(shape.dtype);
      resource.res.linear.numChannels = shape.channels;
      resource.res.linear.sizeInBytes = shape.bytes();
    } else {
      resource.resType = CU_RESOURCE_TYPE_PITCH2D;
      resource.res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(memory);
      resource.res.pitch2D.format = format_of(shape.dtype);
      resource.res.pitch2D.numChannels = shape.channels;
      resource.res.pitch2D.width = static_cast<std::size_t>(shape.width);
      resource.res.pitch2D.height = static_cast<std::size_t>(shape.height);
      resource.res.pitch2D.pitchInBytes = shape.row_bytes();
    }
    return create(resource, shape.dimensions, sampling, nullptr);
  }

 private:
  void run(const CUDA_MEMCPY3D& copy, Stream& stream) {
    const ContextGuard guard(*context_);
    context_->check(context_->driver().copy_3d(&copy, handle_of(stream)), "texture");
  }

  std::shared_ptr<Texture> create(const CUDA_RESOURCE_DESC& resource, int dimensions, const Sampling& sampling,
                                  std::shared_ptr<Image> image) {
    CUDA_TEXTURE_DESC wanted{};
    // A texture unit reads a missing axis at 0, and would blend in half of what lies beyond the border there.
    for (int axis = 0; axis < 3; ++axis)
      wanted.addressMode[axis] =
          axis < dimensions ? static_cast<CUaddress_mode>(sampling.border) : CU_TR_ADDRESS_MODE_CLAMP;
    wanted.filterMode = sampling.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    wanted.flags = (sampling.normalized_values ? 0 : CU_TRSF_READ_AS_INTEGER) |
                   (sampling.normalized_coordinates ? CU_TRSF_NORMALIZED_COORDINATES : 0);
    const ContextGuard guard(*context_);
    CUtexObject object = 0;
    context_->check(context_->driver().texture_create(&object, &resource, &wanted, nullptr), "texture");
    return std::make_shared<CudaTexture>(context_, object, std::move(image));
  }

  std::shared_ptr<Context> context_;
};

}  // namespace

std::shared_ptr<Image> wrap_image(std::shared_ptr<Context> context, CUarray array, const ImageShape& shape) {
  return std::make_shared<CudaImage>(std::move(context), shape, array);
}

std::unique_ptr<Textures> make_textures(std::shared_ptr<Context> context) {
  return std::make_unique<CudaTextures>(std::move(context));
}

}  // namespace gpulua::cuda
