// gpu.window: what window.lua uses of C++. The Lua code has checked the arguments, except keys, which C++ lists.

#include <string>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/graphics/graphics_parts.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/graphics/keys.h"
#include "src/graphics/window.h"

namespace gpulua {

using WindowRef = std::shared_ptr<GlWindow>;

template <>
struct LuaType<WindowRef> {
  static constexpr const char* name = "a window";
};

namespace {

GlWindow& check_window(lua_State* L) {
  return *check<WindowRef>(L, 1, "window");
}

constexpr const char* why_drawing_is_lost = "without what is drawn";

int field_integer(lua_State* L, int table, const char* name) {
  lua_getfield(L, table, name);
  const int value = static_cast<int>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return value;
}

bool field_flag(lua_State* L, int table, const char* name) {
  lua_getfield(L, table, name);
  const bool value = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return value;
}

/// A list of numbers that Lua has checked.
template <std::size_t count>
std::array<float, count> list_of_floats(lua_State* L, int index) {
  std::array<float, count> values{};
  for (std::size_t i = 0; i < count; ++i) {
    lua_rawgeti(L, index, static_cast<int>(i) + 1);
    values[i] = static_cast<float>(lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
  return values;
}

/// window_open(contexts, options, device)
int window_open(lua_State* L) {
  auto& contexts = check<GlContextsRef>(L, 1, "window");
  WindowOptions options;
  options.width = field_integer(L, 2, "width");
  options.height = field_integer(L, 2, "height");
  options.vsync = field_flag(L, 2, "vsync");
  options.resizable = field_flag(L, 2, "resizable");
  options.headless = field_flag(L, 2, "headless");
  lua_getfield(L, 2, "title");
  options.title = lua_tostring(L, -1);
  lua_pop(L, 1);
  push(L, std::make_shared<GlWindow>(*contexts, *check_device(L, 3, "window"), options));
  return 1;
}

/// window_is_open(window): takes the events.
int window_is_open(lua_State* L) {
  lua_pushboolean(L, check_window(L).is_open());
  return 1;
}

/// window_wait(window, seconds): until the next event.
int window_wait(lua_State* L) {
  check_window(L).screen("show").wait(check_number(L, 2, "show", "seconds"));
  return 0;
}

int window_close(lua_State* L) {
  check_window(L).close();
  return 0;
}

/// window_size(window): width and height in pixels.
int window_size(lua_State* L) {
  const Screen::Size size = check_window(L).size();
  lua_pushinteger(L, size.width);
  lua_pushinteger(L, size.height);
  return 2;
}

/// window_resize(window, width, height)
int window_resize(lua_State* L) {
  check_window(L).resize({static_cast<int>(lua_tointeger(L, 2)), static_cast<int>(lua_tointeger(L, 3))});
  return 0;
}

/// window_clear(window, color)
int window_clear(lua_State* L) {
  check_window(L).clear(list_of_floats<4>(L, 2));
  return 0;
}

/// Reads (places, view, has_depth, color) from stack index 2 on: arrays that are row-major, or a buffer of OpenGL's.
GlWindow::Vertices read_vertices(lua_State* L) {
  GlWindow::Vertices vertices;
  if (const auto* const buffer = test<SharedBufferRef>(L, 2))
    vertices.buffer = buffer->get();
  else
    vertices.places = check<Array>(L, 2, "window");
  vertices.view = list_of_floats<16>(L, 3);
  vertices.has_depth = lua_toboolean(L, 4) != 0;
  if (const Array* const colors = test<Array>(L, 5))
    vertices.colors = *colors;
  else
    vertices.color = list_of_floats<4>(L, 5);
  return vertices;
}

/// window_points(window, places, view, has_depth, color, size)
int window_points(lua_State* L) {
  check_not_recorded(L, "window:draw", why_drawing_is_lost);
  check_window(L).draw_points(read_vertices(L), static_cast<float>(lua_tonumber(L, 6)));
  return 0;
}

/// window_lines(window, places, view, has_depth, color, width)
int window_lines(lua_State* L) {
  check_not_recorded(L, "window:lines", why_drawing_is_lost);
  check_window(L).draw_lines(read_vertices(L), static_cast<float>(lua_tonumber(L, 6)));
  return 0;
}

/// window_picture(window, pixels, rectangle, smooth)
int window_picture(lua_State* L) {
  check_not_recorded(L, "window:image", why_drawing_is_lost);
  check_window(L).draw_picture(check<Array>(L, 2, "window"), list_of_floats<4>(L, 3), lua_toboolean(L, 4) != 0);
  return 0;
}

int window_present(lua_State* L) {
  check_window(L).present();
  return 0;
}

/// window_read(window, device)
int window_read(lua_State* L) {
  check_not_recorded(L, "window:read", why_drawing_is_lost);
  push_array(L, check_window(L).read(*check_device(L, 2, "window:read")));
  return 1;
}

/// window_enter(window, op)
int window_enter(lua_State* L) {
  check_window(L).enter(std::string(check_string(L, 2, "window", "a name")).c_str());
  return 0;
}

int window_leave(lua_State* L) {
  check_window(L).leave();
  return 0;
}

int check_key(lua_State* L, const char* op) {
  const std::string_view name = check_string(L, 2, op, "the name of a key, such as \"a\" or \"space\"");
  const int code = find_key(name);
  if (code >= 0) return code;
  NearName near(name);
  std::string names;
  for (const NamedKey& key : named_keys()) {
    near.offer(key.name);
    names += ", " + std::string(key.name);
  }
  throw Error("[{}] expected a key: a letter, a digit{}, got {}{}", op, names, describe(L, 2), near.question());
}

/// window_key(window, name): whether the key is down.
int window_key(lua_State* L) {
  const int key = check_key(L, "window:key");
  lua_pushboolean(L, check_window(L).screen("window:key").is_down(key));
  return 1;
}

/// window_pressed(window, name): whether the key went down before the last window_is_open.
int window_pressed(lua_State* L) {
  const int key = check_key(L, "window:pressed");
  lua_pushboolean(L, check_window(L).screen("window:pressed").was_pressed(key));
  return 1;
}

/// window_mouse(window): x, y, left, right, middle, wheel
int window_mouse(lua_State* L) {
  const Mouse mouse = check_window(L).screen("window:mouse").mouse();
  lua_pushnumber(L, mouse.x);
  lua_pushnumber(L, mouse.y);
  lua_pushboolean(L, mouse.left);
  lua_pushboolean(L, mouse.right);
  lua_pushboolean(L, mouse.middle);
  lua_pushnumber(L, mouse.wheel);
  return 6;
}

}  // namespace

void add_windows(lua_State* L) {
  new_metatable<WindowRef>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"window_open", protect<window_open>},
                    {"window_is_open", protect<window_is_open>},
                    {"window_wait", protect<window_wait>},
                    {"window_close", protect<window_close>},
                    {"window_size", protect<window_size>},
                    {"window_resize", protect<window_resize>},
                    {"window_clear", protect<window_clear>},
                    {"window_points", protect<window_points>},
                    {"window_lines", protect<window_lines>},
                    {"window_picture", protect<window_picture>},
                    {"window_present", protect<window_present>},
                    {"window_read", protect<window_read>},
                    {"window_enter", protect<window_enter>},
                    {"window_leave", protect<window_leave>},
                    {"window_key", protect<window_key>},
                    {"window_pressed", protect<window_pressed>},
                    {"window_mouse", protect<window_mouse>}});
}

}  // namespace gpulua
