#include "src/graphics/gl_contexts.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/graphics/opengl.h"

namespace gpulua {
namespace {

/// Throws Error for a context without what gpulua calls: OpenGL 3.2 has it.
void check_version(const char* op) {
  const auto* const text = reinterpret_cast<const char*>(opengl().get_string(GL_VERSION));
  const std::string version = text != nullptr ? text : "none";
  char* end = nullptr;
  const long major = std::strtol(version.c_str(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  if (major > 3 || (major == 3 && minor >= 2)) return;
  throw Error("[{}] expected a context of OpenGL 3.2 or newer, got version {}", op, version);
}

}  // namespace

void GlContext::close() noexcept {
  try {
    const GlScope scope(*this, "window:close");
    resources_.clear();
  } catch (const Error&) {  // the context is current in another thread
  }
  is_closed_ = true;
  resources_.clear();
  retired_.clear();
  screen_.reset();
}

GraphicsResource* GlContext::keep(GraphicsResourceRef resource) {
  GraphicsResource* const address = resource.get();
  resources_.emplace(address, std::move(resource));
  return address;
}

void GlContext::retire(std::uint32_t buffer, GraphicsResource* resource) noexcept {
  if (is_closed_) return;
  try {
    const auto kept = resources_.find(resource);
    retired_.push_back({buffer, kept != resources_.end() ? kept->second : nullptr});
    if (kept != resources_.end()) resources_.erase(kept);
    if (is_windows_ || current_binding().context == binding_.context) const GlScope scope(*this, "gl");
  } catch (...) {  // no memory for the list, or a context that is gone: the object goes with its context
  }
}

void GlContext::mark() {
  if (is_windows_ || mark_ != 0) return;
  std::random_device random;
  for (std::uint32_t& word : bytes_of_mark_) word = random();
  opengl().gen_buffers(1, &mark_);
  const BoundBuffer bound(mark_);
  opengl().buffer_data(GL_ARRAY_BUFFER, sizeof bytes_of_mark_, bytes_of_mark_.data(), GL_STATIC_READ);
}

bool GlContext::is_still_there() const {
  if (mark_ == 0) return true;
  const OpenGl& gl = opengl();
  if (gl.is_buffer(mark_) == GL_FALSE) return false;
  const BoundBuffer bound(mark_);
  if (bound.parameter(GL_BUFFER_SIZE) != sizeof bytes_of_mark_) return false;
  auto found = bytes_of_mark_;
  gl.get_buffer_sub_data(GL_ARRAY_BUFFER, 0, sizeof found, found.data());
  return found == bytes_of_mark_;
}

void GlContext::delete_retired() noexcept {
  if (retired_.empty()) return;
  if (!is_still_there()) return retired_.clear();
  for (Retired& retired : std::exchange(retired_, {})) {
    retired.resource.reset();
    if (retired.buffer != 0) opengl().delete_buffers(1, &retired.buffer);
  }
}

GlScope::GlScope(GlContext& context, const char* op) {
  if (context.is_closed_)
    throw Error("[{}] the window was closed, and with it all that was in its OpenGL context: gpu.window opens another",
                op);
  if (context.is_windows_) {
    current_.emplace(context.binding_, op);
  } else if (void* const current = current_binding().context; current != context.binding_.context) {
    throw Error(
        "[{}] expected the OpenGL context in which the buffer was made or registered to be current in this thread, got "
        "{}: make it current before the call",
        op, current == nullptr ? "none" : "another one");
  }
  context.delete_retired();
}

GlContextRef GlContexts::current(const char* op) {
  const GlBinding binding = current_binding();
  if (binding.context == nullptr)
    throw Error(
        "[{}] expected a current OpenGL context, got none in this thread: the program makes its own current, and "
        "window:with(fn) a window's",
        op);
  std::erase_if(contexts_, [&](const GlContextRef& known) {
    const bool is_gone = known->binding().context == binding.context && !known->is_closed() && !known->is_still_there();
    return is_gone || (known.use_count() == 1 && known->mark_ == 0);
  });
  for (const GlContextRef& known : contexts_)
    if (known->binding().context == binding.context && !known->is_closed()) return known;
  check_version(op);
  auto context = std::make_shared<GlContext>(binding, nullptr);
  contexts_.push_back(context);
  return context;
}

GlContextRef GlContexts::add_window(std::shared_ptr<Screen> screen) {
  const GlBinding binding = screen->binding();
  contexts_.push_back(std::make_shared<GlContext>(binding, std::move(screen)));
  return contexts_.back();
}

}  // namespace gpulua
