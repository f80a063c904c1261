#include "bindings/kernels/texture.h"

#include <algorithm>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/kernels/kernel_parts.h"
#include "bindings/kernels/texture_options.h"
#include "bindings/lua/state.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/runtime/buffer.h"

namespace gpulua {

std::uint64_t TextureHandle::use(const StreamRef& stream) const {
  if (array) array->read(stream);
  is_surface ? order->write(stream) : order->read(stream);
  return object;
}

bool TextureHandle::fits(const TextureUse& use) const {
  const ImageShape& shape = elements->shape;
  if (use.is_surface != is_surface || use.dimensions != shape.dimensions || use.layered != shape.layered) return false;
  if (is_surface) return true;  // it reads and writes bytes
  const bool is_row = array && shape.dimensions == 1;
  if (use.in_rows != is_row) return false;
  if (!use.dtype) return true;
  if (use.lanes != shape.channels) return false;
  const DTypeInfo &wanted = info(*use.dtype), &present = info(shape.dtype);
  if (sampling.normalized_values || present.kind == DTypeKind::floating) return wanted.kind == DTypeKind::floating;
  return wanted.kind == present.kind && size_of(*use.dtype) >= size_of(shape.dtype);
}

namespace {

/// CUDA's name of the type of an element: "uchar4".
std::string element_type(const ImageShape& shape, const Sampling& sampling) {
  const std::string lanes = shape.channels > 1 ? std::to_string(shape.channels) : "";
  if (sampling.normalized_values || info(shape.dtype).kind == DTypeKind::floating) return "float" + lanes;
  switch (shape.dtype) {
    case DType::uint8:
      return lanes.empty() ? "unsigned char" : "uchar" + lanes;
    case DType::uint16:
      return lanes.empty() ? "unsigned short" : "ushort" + lanes;
    case DType::uint32:
      return lanes.empty() ? "unsigned int" : "uint" + lanes;
    case DType::int8:
      return lanes.empty() ? "signed char" : "char" + lanes;
    case DType::int16:
      return "short" + lanes;
    default:
      return "int" + lanes;
  }
}

}  // namespace

std::string TextureHandle::call() const {
  const ImageShape& shape = elements->shape;
  const std::string name = std::to_string(shape.dimensions) + "D" + (shape.layered ? "Layered" : "");
  if (is_surface) return "surf" + name + "read";
  return "tex" + name + (array && shape.dimensions == 1 ? "fetch" : "") + "<" + element_type(shape, sampling) + ">";
}

namespace {

void check_element(const Node& array) {
  switch (array.dtype) {
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int16:
    case DType::uint32:
    case DType::int32:
    case DType::float16:
    case DType::float32:
      return;
    default:
      break;
  }
  const char* const nearest = array.dtype == DType::boolean ? "uint8" : "float32";
  throw Error("[texture] expected float16, float32 or integers of 8, 16 or 32 bits, got {}; x:astype(\"{}\") converts",
              type_text(array), nearest);
}

// As CUDA's documentation lists them for all of today's GPUs, so that a script runs on each device.
struct Limits {
  std::int64_t width, height, depth;
};
Limits limits_of(const ImageShape& shape, bool in_rows) {
  if (in_rows) return shape.dimensions == 1 ? Limits{1 << 28, 1, 1} : Limits{131072, 65000, 1};
  if (shape.layered) return {32768, 32768, 2048};
  if (shape.dimensions == 3) return {16384, 16384, 16384};
  return {131072, 65536, 1};
}

ImageShape image_shape(const Node& array, const TextureOptions& options) {
  Dims dims = array.layout.shape;
  ImageShape shape;
  shape.dtype = array.dtype;
  shape.channels = options.channels.value_or(1);
  shape.layered = options.layered;
  const std::size_t least = 1 + (options.channels ? 1 : 0) + (options.layered ? 1 : 0);
  const std::size_t most = least + (options.layered ? 1 : 2);
  if (dims.size() < least || dims.size() > most)
    throw Error("[texture] expected an array with {} to {} axes{}{}, got {}{}", least, most,
                options.layered ? ", layers first" : "", options.channels ? ", channels last" : "", type_text(array),
                options.channels || dims.size() != most + 1 ? "" : "; channels = 4 is for colours in the last axis");
  if (options.channels) {
    if (dims.back() != *options.channels)
      throw Error("[texture] channels: expected as many as the last axis has, {}, got {}", dims.back(),
                  *options.channels);
    dims.pop_back();
  }
  if (options.layered) {
    shape.depth = dims.front();
    dims.erase(dims.begin());
  }
  shape.dimensions = static_cast<int>(dims.size());
  shape.width = dims.back();
  if (dims.size() > 1) shape.height = dims[dims.size() - 2];
  if (dims.size() > 2) shape.depth = dims.front();
  const Limits most_elements = limits_of(shape, options.in_rows);
  if (std::min({shape.width, shape.height, shape.depth}) < 1 || shape.width > most_elements.width ||
      shape.height > most_elements.height || shape.depth > most_elements.depth)
    throw Error("[texture] expected from 1 to {} columns, {} rows and {} slices or layers, got {}", most_elements.width,
                most_elements.height, most_elements.depth, type_text(array));
  return shape;
}

/// The array's own elements, where a device's texture units reach them.
void* check_rows(const Array& array, const ImageShape& shape) {
  if (!array->contiguous)
    throw Error("[texture] memory: expected a row-major array, got a strided view {}; x:copy() makes one",
                type_text(*array));
  constexpr std::size_t row_unit = 32, start_unit = 512;
  if (shape.dimensions == 2 && shape.row_bytes() % row_unit != 0)
    throw Error(
        "[texture] memory: expected rows of a multiple of {} bytes, got {}; gpu.pad makes them longer, memory = "
        "\"image\" copies the elements",
        row_unit, shape.row_bytes());
  void* const memory = array->read(array->device().stream());
  const auto offset =
      static_cast<std::size_t>(static_cast<char*>(memory) - static_cast<char*>(array->buffer()->address()));
  if (offset % start_unit != 0)
    throw Error(
        "[texture] memory: expected elements that start at a multiple of {} bytes, got a view that starts at {}; "
        "x:copy() makes an array",
        start_unit, offset);
  array->buffer()->fix();
  return memory;
}

Textures& textures_of(OpenDevice& device) {
  Textures* const textures = device.device().textures();
  if (textures == nullptr)
    throw Error(ErrorKind::unavailable, "[texture] expected a device with textures, got {}", device.name());
  return *textures;
}

/// A handle of elements, which only the handle knows yet.
TextureHandle handle_of(std::shared_ptr<TextureElements> elements) {
  TextureHandle handle;
  handle.order = make_buffer(*elements->device, nullptr, std::size_t{0}, std::shared_ptr<void>(elements));
  handle.elements = std::move(elements);
  return handle;
}

void write_elements(const TextureHandle& handle, const Array& values) {
  const TextureElements& elements = *handle.elements;
  OpenDevice& device = *elements.device;
  const Array source = contiguous(values);
  handle.order->write(device.stream());
  textures_of(device).write(*elements.image, source->read(device.stream()), *device.stream());
}

void set_texture(TextureHandle& handle, std::shared_ptr<Texture> texture, const Sampling& sampling) {
  handle.sampling = sampling;
  handle.object = texture->object();
  handle.elements->textures.push_back(std::move(texture));
}

/// gpu.texture(x [, {filter, border, normalized, read, channels, layered, memory}])
/// A texture of the array's elements, for kernels with a parameter cudaTextureObject_t.
int new_texture(lua_State* L) {
  const TextureOptions options = check_texture_options(L, 2);
  const Array* const array = test<Array>(L, 1);
  if (!array) fail("texture", "an array", L, 1);
  OpenDevice& device = (*array)->device();
  device.check_not_captured("makes a texture");
  check_not_followed(**array, "texture");
  check_element(**array);
  const ImageShape shape = image_shape(**array, options);
  check_sampling(shape, options);
  Textures& textures = textures_of(device);

  auto elements = std::make_shared<TextureElements>();
  elements->device = device.shared_from_this();
  elements->shape = shape;
  elements->dims = (*array)->layout.shape;
  TextureHandle handle = handle_of(elements);
  if (options.in_rows) {
    void* const memory = check_rows(*array, shape);
    handle.array = (*array)->buffer();
    set_texture(handle, textures.create_texture(shape, memory, options.sampling), options.sampling);
  } else {
    elements->counted = std::make_unique<CountedMemory>(elements->device, shape.bytes());
    elements->image = textures.create_image(shape);
    if (!elements->image) {
      device.collect();
      device.device().trim();
      elements->image = textures.create_image(shape);
    }
    if (!elements->image)
      throw Error(ErrorKind::memory, "[texture] out of memory on {}: {} wanted", device.name(),
                  format_bytes(shape.bytes()));
    write_elements(handle, *array);
    set_texture(handle, textures.create_texture(elements->image, options.sampling), options.sampling);
  }
  push(L, std::move(handle));
  return 1;
}

const TextureHandle& check_image(lua_State* L, const char* op) {
  const auto& handle = check<TextureHandle>(L, 1, op);
  if (handle.order->freed()) throw Error("[{}] {}", op, handle.order->why_freed());
  if (handle.array)
    throw Error("[{}] expected a texture with elements of its own, got one of memory = \"array\": they are the array's",
                op);
  return handle;
}

/// texture:surface()
/// The texture's elements for kernels with a parameter cudaSurfaceObject_t, which may write them.
int texture_surface(lua_State* L) {
  TextureHandle handle = check_image(L, "surface");
  handle.is_surface = true;
  handle.object = handle.elements->image->surface();
  push(L, std::move(handle));
  return 1;
}

/// texture:array()
/// A copy of the elements, with the shape of the array that the texture was made of.
int texture_array(lua_State* L) {
  const auto& handle = check_image(L, "array");
  const TextureElements& elements = *handle.elements;
  OpenDevice& device = *elements.device;
  const Array result = empty(device, elements.dims, elements.shape.dtype);
  handle.order->read(device.stream());
  textures_of(device).read(result->write(device.stream()), *elements.image, *device.stream());
  push_array(L, result);
  return 1;
}

/// texture:copy_(x)
/// The elements become those of an array of the same shape and dtype. Returns the texture.
int texture_copy(lua_State* L) {
  const auto& handle = check_image(L, "copy_");
  const TextureElements& elements = *handle.elements;
  const Array* const array = test<Array>(L, 2);
  if (!array) fail("copy_", "an array", L, 2);
  const Node& node = **array;
  if (node.dtype != elements.shape.dtype || node.layout.shape != elements.dims ||
      &node.device() != elements.device.get())
    throw Error("[copy_] expected an array {}{} on {}, got {} on {}", name(elements.shape.dtype),
                to_string(elements.dims), elements.device->name(), type_text(node), node.device().name());
  check_not_followed(**array, "copy_");
  write_elements(handle, *array);
  lua_settop(L, 1);
  return 1;
}

/// texture:object()
/// The value that a kernel gets, a number, for structs and arrays of textures. The texture must be kept meanwhile.
int texture_object(lua_State* L) {
  const auto& handle = check<TextureHandle>(L, 1, "object");
  if (!handle.elements->device->context().rights.trusted)
    throw Error("[object] expected no address in a sandbox, got texture:object()");
  lua_pushnumber(L, static_cast<double>(handle.object));
  return 1;
}

int texture_text(lua_State* L) {
  const auto& handle = check<TextureHandle>(L, 1, "tostring");
  const TextureElements& elements = *handle.elements;
  const std::string text = std::string(handle.is_surface ? "surface " : "texture ") +
                           std::string(name(elements.shape.dtype)) + to_string(elements.dims) + " on " +
                           elements.device->name() + ", for " + handle.call();
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

}  // namespace

void push_mapped_texture(lua_State* L, OpenDevice& device, std::shared_ptr<Image> image, const ImageShape& shape,
                         Dims dims, int options) {
  const TextureOptions read = check_texture_options(L, options);
  check_sampling(shape, read);
  auto elements = std::make_shared<TextureElements>();
  elements->device = device.shared_from_this();
  elements->shape = shape;
  elements->dims = std::move(dims);
  elements->image = std::move(image);
  TextureHandle handle = handle_of(elements);
  set_texture(handle, textures_of(device).create_texture(elements->image, read.sampling), read.sampling);
  push(L, std::move(handle));
}

void TextureHandle::end_mapping(const StreamRef& stream, const char* why) {
  const std::shared_ptr<TextureElements> last = elements;
  const auto end = [&] {
    order->free(why);
    last->textures.clear();
    last->image.reset();
  };
  try {
    order->write(stream);
  } catch (...) {
    end();
    throw;
  }
  end();
}

void open_textures(lua_State* L) {
  new_type<TextureHandle>(L, {{"__tostring", protect<texture_text>}}, "texture:",
                          {{"surface", protect<texture_surface>},
                           {"array", protect<texture_array>},
                           {"copy_", protect<texture_copy>},
                           {"object", protect<texture_object>}});
  set_functions(L, {{"texture", protect<new_texture>}});
}

}  // namespace gpulua
