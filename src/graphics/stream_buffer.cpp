#include "src/graphics/stream_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/graphics/opengl.h"
#include "src/runtime/buffer.h"

namespace gpulua {
namespace {

constexpr std::size_t least_capacity = 4096;

/// OpenGL's memory, in the program's.
void* map_bound(std::size_t bytes, GLbitfield access) {
  void* const memory = opengl().map_buffer_range(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(bytes), access);
  if (memory != nullptr) return memory;
  opengl().get_error();
  throw Error(ErrorKind::memory, "[window] OpenGL cannot map a buffer of {} bytes", bytes);
}

/// Unmaps the device's memory at the end of its scope.
class MappedResource {
 public:
  MappedResource(OpenDevice& device, GraphicsResource& resource)
      : graphics_(*device.device().graphics()), resource_(resource), stream_(device.stream()) {
    memory_ = static_cast<char*>(graphics_.map(resource_, *stream_).memory);
  }
  ~MappedResource() {
    try {
      graphics_.unmap(resource_, *stream_);
    } catch (const Error&) {  // the device is lost, as the next call says
    }
  }
  MappedResource(const MappedResource&) = delete;
  MappedResource& operator=(const MappedResource&) = delete;
  char* memory() const { return memory_; }

 private:
  Graphics& graphics_;
  GraphicsResource& resource_;
  StreamRef stream_;
  char* memory_ = nullptr;
};

}  // namespace

std::uint32_t StreamBuffer::reserve(std::size_t bytes) {
  const OpenGl& gl = opengl();
  if (id_ == 0) gl.gen_buffers(1, &id_);
  if (bytes <= capacity_) return id_;
  resource_.reset();
  const std::size_t wanted = std::bit_ceil(std::max(bytes, least_capacity));
  const BoundBuffer bound(id_);
  gl.buffer_data(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(wanted), nullptr, GL_STREAM_DRAW);
  capacity_ = static_cast<std::size_t>(bound.parameter(GL_BUFFER_SIZE));
  if (capacity_ == wanted) return id_;
  gl.get_error();
  throw Error(ErrorKind::memory, "[window] OpenGL has no memory for a buffer of {} bytes", wanted);
}

bool StreamBuffer::shares_with(OpenDevice& device) {
  if (device_.get() != &device) {
    resource_.reset();
    device_ = device.shared_from_this();
    Graphics* const graphics = device.device().graphics();
    shares_ = graphics != nullptr && graphics->has_current_context();
  }
  if (shares_ && !resource_) resource_ = device.device().graphics()->register_buffer(id_);
  return shares_;
}

std::uint32_t StreamBuffer::write(const Array& elements) {
  OpenDevice& device = elements->device();
  const std::size_t bytes = elements->nbytes();
  reserve(bytes);
  if (bytes == 0) return id_;
  const void* const from = elements->read(device.stream());
  if (shares_with(device)) {
    const MappedResource mapped(device, *resource_);
    device.copy(mapped.memory(), from, bytes, *device.stream());
    return id_;
  }
  std::vector<char> host;
  const void* source = from;
  if (device.info().in_host_memory) {
    device.synchronize(*device.stream());
  } else {
    host.resize(bytes);
    device.download(host.data(), from, bytes);
    source = host.data();
  }
  const BoundBuffer bound(id_);
  void* const to = map_bound(bytes, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  std::memcpy(to, source, bytes);
  opengl().unmap_buffer(GL_ARRAY_BUFFER);
  return id_;
}

Array StreamBuffer::read(OpenDevice& device, Dims shape, DType dtype) {
  Array result = empty(device, std::move(shape), dtype);
  const std::size_t bytes = result->nbytes();
  void* const to = result->write(device.stream());
  if (shares_with(device)) {
    const MappedResource mapped(device, *resource_);
    device.copy(to, mapped.memory(), bytes, *device.stream());
    return result;
  }
  const BoundBuffer bound(id_);
  const void* const from = map_bound(bytes, GL_MAP_READ_BIT);
  device.upload(to, from, bytes, *device.stream());
  opengl().unmap_buffer(GL_ARRAY_BUFFER);
  return result;
}

}  // namespace gpulua
