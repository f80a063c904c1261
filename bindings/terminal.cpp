#include "bindings/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "bindings/parts.h"
#include "bindings/state.h"

namespace gpulua {
namespace {

/// printing(): precision, edge, threshold and width of the lines that show arrays; 0: the terminal's width.
int printing(lua_State* L) {
  const PrintOptions& options = bindings_of(L).printing;
  lua_pushinteger(L, options.precision);
  lua_pushnumber(L, static_cast<double>(options.edge));
  lua_pushnumber(L, static_cast<double>(options.threshold));
  lua_pushnumber(L, static_cast<double>(options.width));
  return 4;
}

/// set_printing(precision, edge, threshold, width)
int set_printing(lua_State* L) {
  const auto at = [L](int index) { return check_integer(L, index, "print_options", "an integer"); };
  bindings_of(L).printing = {static_cast<int>(at(1)), at(2), at(3), static_cast<std::size_t>(at(4))};
  return 0;
}

/// shows_progress(): whether somebody sees the lines of gpu.progress as they come.
int shows_progress(lua_State* L) {
  lua_pushboolean(L, bindings_of(L).context().shows_progress || isatty(STDERR_FILENO) != 0);
  return 1;
}

/// displayer(): the function that shows a value elsewhere than on a terminal; nil: there is none.
int displayer(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, display_key);
  return 1;
}

int width_of_terminal(lua_State* L) {
  lua_pushnumber(L, static_cast<double>(terminal_width()));
  return 1;
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void add_terminal(lua_State* L) {
  set_functions(L, {{"printing", protect<printing>},
                    {"set_printing", protect<set_printing>},
                    {"shows_progress", protect<shows_progress>},
                    {"displayer", protect<displayer>},
                    {"terminal_width", protect<width_of_terminal>}});
}

}  // namespace gpulua
