// gpu.gl: what gl.lua uses of C++. The functions have the caller's name as an argument.

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/graphics/graphics_parts.h"
#include "bindings/lua/state.h"
#include "src/array/evaluator.h"

namespace gpulua {

std::uint32_t check_gl_number(lua_State* L, int index, const char* op, const char* what) {
  const std::int64_t number = check_integer(L, index, op, what);
  if (number < 1 || number > std::numeric_limits<std::uint32_t>::max()) fail(op, what, L, index);
  return static_cast<std::uint32_t>(number);
}

void check_not_recorded(lua_State* L, const char* op, const char* why) {
  if (is_recording(bindings_of(L).context()))
    throw Error("[{}] expected a call outside of a function that gpu.fuse or gpu.graph records: its work runs again {}",
                op, why);
}

namespace {

/// gl_contexts(): what the other functions find OpenGL contexts by, one for a state.
int gl_contexts(lua_State* L) {
  push(L, std::make_shared<GlContexts>());
  return 1;
}

SharedBuffer::Elements check_elements_to_share(lua_State* L, int shape, int dtype, const std::string& op) {
  SharedBuffer::Elements elements;
  elements.shape = check_one_shape(L, shape, op.c_str());
  elements.dtype = parse_dtype(check_string(L, dtype, op.c_str(), "the name of a dtype"));
  if (checked_size(elements.shape, op.c_str()) == 0)
    throw Error("[{}] expected a shape of at least one element, got {}", op, to_string(elements.shape));
  return elements;
}

/// gl_buffer(contexts, op, id, shape, dtype [, {device}]): a buffer that OpenGL and arrays share. `id`: the program's;
/// nil: a new one.
int gl_buffer(lua_State* L) {
  auto& contexts = check<GlContextsRef>(L, 1, "gl");
  const std::string op(check_string(L, 2, "gl", "a name"));
  SharedBuffer::Elements elements = check_elements_to_share(L, 4, 5, op);
  const ArrayOptions options = check_options(L, 6, op.c_str());
  if (lua_isnil(L, 3)) {
    push(L, SharedBufferRef(SharedBuffer::create(*contexts, *options.device, std::move(elements), op.c_str())));
    return 1;
  }
  const std::uint32_t id = check_gl_number(L, 3, op.c_str(), "the number of a buffer of OpenGL's");
  push(L, SharedBufferRef(SharedBuffer::adopt(*contexts, *options.device, id, std::move(elements), op.c_str())));
  return 1;
}

/// gl_map(buffer, op): an array over its memory.
int gl_map(lua_State* L) {
  auto& buffer = check<SharedBufferRef>(L, 1, "gl");
  const std::string op(check_string(L, 2, "gl", "a name"));
  check_not_recorded(L, op.c_str(), "when the buffer is not mapped");
  push_array(L, buffer->map(op.c_str()));
  return 1;
}

/// gl_unmap(buffer, op)
int gl_unmap(lua_State* L) {
  auto& buffer = check<SharedBufferRef>(L, 1, "gl");
  const std::string op(check_string(L, 2, "gl", "a name"));
  if (buffer->is_mapped()) buffer->unmap(op.c_str());
  return 0;
}

/// gl_release(buffer, op)
int gl_release(lua_State* L) {
  auto& buffer = check<SharedBufferRef>(L, 1, "gl");
  if (buffer->is_mapped())
    throw Error("[{}] expected a buffer that is not mapped, got one inside of b:with: call this after its function",
                check_string(L, 2, "gl", "a name"));
  buffer->release();
  return 0;
}

/// gl_id(buffer): OpenGL's number of it; 0 after its release.
int gl_id(lua_State* L) {
  lua_pushnumber(L, check<SharedBufferRef>(L, 1, "gl")->id());
  return 1;
}

}  // namespace

void add_gl_buffers(lua_State* L) {
  new_metatable<GlContextsRef>(L, {});
  lua_pop(L, 1);
  new_metatable<SharedBufferRef>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"gl_contexts", protect<gl_contexts>},
                    {"gl_buffer", protect<gl_buffer>},
                    {"gl_map", protect<gl_map>},
                    {"gl_unmap", protect<gl_unmap>},
                    {"gl_release", protect<gl_release>},
                    {"gl_id", protect<gl_id>}});
}

}  // namespace gpulua
