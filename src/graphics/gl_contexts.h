#pragma once

// The OpenGL contexts that a script works with: those of the program that runs it, and those of its windows.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/device/graphics.h"
#include "src/graphics/current_context.h"
#include "src/graphics/screen.h"

namespace gpulua {

class GlContext {
 public:
  /// `screen`: what owns a window's context, which may be made current; null: a program's context, which the program
  /// makes current.
  GlContext(const GlBinding& binding, std::shared_ptr<Screen> screen)
      : screen_(std::move(screen)), binding_(binding), is_windows_(screen_ != nullptr) {}

  const GlBinding& binding() const { return binding_; }
  bool is_windows() const { return is_windows_; }
  /// The window goes, with the context and all that is in it. Precondition: nothing of it is mapped.
  void close() noexcept;
  bool is_closed() const { return is_closed_; }
  /// Makes a mark in a program's context, which is current, before the first object that we may have to delete there:
  /// another context may later have its address, and other objects by the same numbers.
  void mark();
  /// False where the current context is another one at the same address.
  bool is_still_there() const;
  /// Keeps what a device knows of an object, which goes before the context does.
  GraphicsResource* keep(GraphicsResourceRef resource);
  /// Deletes the buffer, or 0 for none, and forgets what was kept of it, or null: now if the context may be made
  /// current, else when a call next finds it current.
  void retire(std::uint32_t buffer, GraphicsResource* resource) noexcept;
  /// While something is mapped, its memory is used, and the context stays.
  bool has_mapped() const { return mapped_ > 0; }
  void add_mapped(int count) { mapped_ += count; }

 private:
  friend class GlScope;
  friend class GlContexts;

  struct Retired {
    std::uint32_t buffer;
    GraphicsResourceRef resource;
  };

  void delete_retired() noexcept;

  std::shared_ptr<Screen> screen_;
  GlBinding binding_;
  bool is_windows_, is_closed_ = false;
  int mapped_ = 0;
  std::map<GraphicsResource*, GraphicsResourceRef> resources_;
  std::vector<Retired> retired_;
  std::uint32_t mark_ = 0;  // a buffer with these bytes; 0: none
  std::array<std::uint32_t, 4> bytes_of_mark_{};
};
using GlContextRef = std::shared_ptr<GlContext>;

/// The scope of calls of OpenGL's in a context. A window's context is made current, and the caller's is current again
/// at the end. Throws Error, with `op` in brackets, where a program's context is not the current one.
class GlScope {
 public:
  GlScope(GlContext& context, const char* op);

 private:
  std::optional<CurrentContext> current_;
};

class GlContexts {
 public:
  /// The context that is current in the calling thread. Throws Error where there is none, or one that is too old.
  GlContextRef current(const char* op);
  GlContextRef add_window(std::shared_ptr<Screen> screen);

 private:
  std::vector<GlContextRef> contexts_;
};

}  // namespace gpulua
