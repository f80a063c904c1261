#include "src/graphics/shared_buffer.h"

#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/exchange/exposed_readers.h"
#include "src/exchange/lend.h"
#include "src/graphics/opengl.h"
#include "src/graphics/sharing.h"
#include "src/runtime/buffer.h"

namespace gpulua {
namespace {

constexpr const char* why_unmapped =
    "the array showed a buffer of OpenGL's, which is not mapped any more: use it inside of b:with, or make a copy "
    "there with x:copy()";

}  // namespace

std::size_t SharedBuffer::Elements::bytes() const {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

SharedBuffer::SharedBuffer(GlContextRef context, OpenDevice& device, std::uint32_t id, bool is_ours, Elements elements)
    : context_(std::move(context)),
      device_(device.shared_from_this()),
      id_(id),
      is_ours_(is_ours),
      elements_(std::move(elements)) {}

std::unique_ptr<SharedBuffer> SharedBuffer::create(GlContexts& contexts, OpenDevice& device, Elements elements,
                                                   const char* op) {
  GlContextRef context = contexts.current(op);
  const GlScope scope(*context, op);
  check_shares(device, op);
  const OpenGl& gl = opengl();
  context->mark();
  GLuint id = 0;
  gl.gen_buffers(1, &id);
  std::unique_ptr<SharedBuffer> buffer(new SharedBuffer(std::move(context), device, id, true, std::move(elements)));
  const auto bytes = static_cast<std::int64_t>(buffer->elements_.bytes());
  {
    const BoundBuffer bound(id);
    gl.buffer_data(GL_ARRAY_BUFFER, bytes, nullptr, GL_DYNAMIC_DRAW);
  }
  if (buffer->bytes_of_buffer() != bytes) {
    gl.get_error();
    throw Error(ErrorKind::memory, "[{}] OpenGL has no memory for a buffer of {} bytes", op, bytes);
  }
  buffer->register_with_device(op);
  return buffer;
}

std::unique_ptr<SharedBuffer> SharedBuffer::adopt(GlContexts& contexts, OpenDevice& device, std::uint32_t id,
                                                  Elements elements, const char* op) {
  GlContextRef context = contexts.current(op);
  const GlScope scope(*context, op);
  if (opengl().is_buffer(id) == GL_FALSE)
    throw Error("[{}] expected the number of a buffer in the current OpenGL context, got {}, which is none", op, id);
  check_shares(device, op);
  std::unique_ptr<SharedBuffer> buffer(new SharedBuffer(std::move(context), device, id, false, std::move(elements)));
  if (const auto bytes = static_cast<std::int64_t>(buffer->elements_.bytes()); bytes > buffer->bytes_of_buffer())
    throw Error("[{}] expected a shape within the {} bytes of OpenGL's buffer, got {}{} with {} bytes", op,
                buffer->bytes_of_buffer(), name(buffer->elements_.dtype), to_string(buffer->elements_.shape), bytes);
  buffer->register_with_device(op);
  return buffer;
}

void SharedBuffer::register_with_device(const char* op) {
  bytes_ = bytes_of_buffer();
  if (device_->info().in_host_memory) return;
  try {
    resource_ = context_->keep(device_->device().graphics()->register_buffer(id_));
  } catch (const Error& error) {
    throw Error(error.kind(), "[{}] {} cannot share OpenGL's buffer {}: {}", op, device_->name(), id_, error.what());
  }
}

std::int64_t SharedBuffer::bytes_of_buffer() const {
  return BoundBuffer(id_).parameter(GL_BUFFER_SIZE);
}

void SharedBuffer::check_usable(const char* op) const {
  if (is_released()) throw Error("[{}] expected a buffer of OpenGL's, got one after b:release()", op);
  if (mapped_)
    throw Error("[{}] expected a buffer that is not mapped, got one inside of b:with: call this after its function",
                op);
  if (opengl().is_buffer(id_) == GL_FALSE)
    throw Error("[{}] OpenGL's buffer {} was deleted: call b:release() before glDeleteBuffers", op, id_);
  const BoundBuffer bound(id_);
  if (const GLint64 bytes = bound.parameter(GL_BUFFER_SIZE); bytes != bytes_)
    throw Error(
        "[{}] expected OpenGL's buffer {} with {} bytes, as it was registered, got {}: glBufferData gave it other "
        "memory; call b:release() before it, and gpu.gl.buffer_from({}, ...) after it",
        op, id_, bytes_, bytes, id_);
  if (bound.parameter(GL_BUFFER_MAPPED) != 0)
    throw Error("[{}] OpenGL's buffer {} is mapped by the program: call glUnmapBuffer before b:with", op, id_);
}

Array SharedBuffer::map(const char* op) {
  if (is_released()) check_usable(op);
  const GlScope scope(*context_, op);
  check_usable(op);
  device_->check_not_captured("maps a buffer of OpenGL's");
  const StreamRef stream = device_->stream();
  MemoryToLend memory;
  memory.dtype = elements_.dtype;
  memory.shape = elements_.shape;
  memory.is_mapped = true;
  const OpenGl& gl = opengl();
  if (resource_) {
    memory.first = device_->device().graphics()->map(*resource_, *stream).memory;
  } else {
    const BoundBuffer bound(id_);
    memory.first = gl.map_buffer_range(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(elements_.bytes()),
                                       GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    if (memory.first == nullptr) {
      gl.get_error();
      throw Error(ErrorKind::memory, "[{}] OpenGL cannot map its buffer {} of {} bytes", op, id_, bytes_);
    }
  }
  context_->add_mapped(1);
  mapped_.emplace(Mapped{nullptr, stream, current_binding()});
  try {
    mapped_->array = lend(*device_, std::move(memory), op);
  } catch (...) {
    unmap_memory(*std::exchange(mapped_, std::nullopt), op);
    throw;
  }
  return mapped_->array;
}

void SharedBuffer::unmap(const char* op) {
  const Mapped mapped = std::move(*mapped_);
  mapped_.reset();
  std::optional<Error> failure;
  const auto attempt = [&failure](const auto& step) {
    try {
      step();
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  };
  const BufferRef buffer = mapped.array->buffer();
  attempt([&] { detach_readers(*buffer); });
  attempt([&] { buffer->write(mapped.stream); });
  // Work that has failed is in no order. OpenGL's own memory is for the program's threads once all work is done.
  if (failure || !resource_) attempt([&] { device_->synchronize(); });
  attempt([&] { buffer->free(why_unmapped); });
  attempt([&] { unmap_memory(mapped, op); });
  if (failure) throw Error(*failure);
}

void SharedBuffer::unmap_memory(const Mapped& mapped, const char* op) {
  context_->add_mapped(-1);
  const CurrentContext current(mapped.binding, op);
  if (resource_) return device_->device().graphics()->unmap(*resource_, *mapped.stream);
  const BoundBuffer bound(id_);
  if (opengl().unmap_buffer(GL_ARRAY_BUFFER) == GL_FALSE)
    throw Error("[{}] OpenGL has lost the elements of its buffer {} while it was mapped: write them again", op, id_);
}

void SharedBuffer::release() noexcept {
  if (is_released()) return;
  if (mapped_) {
    try {
      unmap("release");
    } catch (const Error&) {  // the buffer goes with what it holds
    }
  }
  context_->retire(is_ours_ ? id_ : 0, std::exchange(resource_, nullptr));
  id_ = 0;
}

}  // namespace gpulua
