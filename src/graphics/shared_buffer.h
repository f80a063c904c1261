#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "src/array/array.h"
#include "src/graphics/gl_contexts.h"

namespace gpulua {

/// A buffer of OpenGL's whose memory arrays of a device show while it is mapped: no copy.
class SharedBuffer {
 public:
  struct Elements {
    DType dtype = DType::float32;
    Dims shape;  // at least one element
    std::size_t bytes() const;
  };

  /// Makes a buffer in the current context.
  static std::unique_ptr<SharedBuffer> create(GlContexts& contexts, OpenDevice& device, Elements elements,
                                              const char* op);
  /// Registers a buffer that the program has made in the current context, and deletes later than this goes.
  static std::unique_ptr<SharedBuffer> adopt(GlContexts& contexts, OpenDevice& device, std::uint32_t id,
                                             Elements elements, const char* op);
  ~SharedBuffer() { release(); }
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  std::uint32_t id() const { return id_; }
  const Elements& elements() const { return elements_; }
  OpenDevice& device() const { return *device_; }
  const GlContext& context() const { return *context_; }
  bool is_mapped() const { return mapped_.has_value(); }
  bool is_released() const { return id_ == 0; }

  /// An array over the memory, until unmap(). OpenGL leaves the buffer alone meanwhile.
  Array map(const char* op);
  /// Orders OpenGL's later work behind what uses the memory. Pending nodes that read it get a copy, and a later use of
  /// an array over it throws Error. Throws the failure of the work, after all of that.
  void unmap(const char* op);
  /// Deletes the buffer, or forgets the program's. Unmaps it.
  void release() noexcept;
  /// Throws Error, with `op` in brackets, for a buffer that OpenGL cannot use now. Its context is current.
  void check_usable(const char* op) const;

 private:
  struct Mapped {
    Array array;
    StreamRef stream;
    GlBinding binding;
  };

  SharedBuffer(GlContextRef context, OpenDevice& device, std::uint32_t id, bool is_ours, Elements elements);
  void register_with_device(const char* op);
  std::int64_t bytes_of_buffer() const;
  void unmap_memory(const Mapped& mapped, const char* op);

  GlContextRef context_;
  std::shared_ptr<OpenDevice> device_;
  std::uint32_t id_;
  bool is_ours_;
  Elements elements_;
  std::int64_t bytes_ = 0;                // of the buffer, as it was registered
  GraphicsResource* resource_ = nullptr;  // the context keeps it; null: the device is in host memory
  std::optional<Mapped> mapped_;
};

}  // namespace gpulua
