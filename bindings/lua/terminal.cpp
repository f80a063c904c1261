#include "bindings/lua/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "bindings/lua/state.h"

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

/// Switches off line editing and echo of the terminal while this lives.
class RawTerminal {
 public:
  RawTerminal() : descriptor_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0 || tcgetattr(descriptor_, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    is_raw_ = tcsetattr(descriptor_, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (is_raw_) tcsetattr(descriptor_, TCSANOW, &before_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// What it answers to the question, up to the letter that ends answers; empty when it has none within the time, or
  /// when something has been typed already, which would be taken for the answer.
  std::string ask(const std::string& question, char last, std::chrono::milliseconds patience) const {
    int typed = 0;
    if (!is_raw_ || ioctl(descriptor_, FIONREAD, &typed) != 0 || typed > 0) return {};
    if (::write(descriptor_, question.data(), question.size()) != static_cast<ssize_t>(question.size())) return {};
    const auto end = std::chrono::steady_clock::now() + patience;
    std::string answer;
    while (answer.empty() || answer.back() != last) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd wait{descriptor_, POLLIN, 0};
      char byte;
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return {};
      if (::read(descriptor_, &byte, 1) != 1) return {};
      answer += byte;
    }
    return answer;
  }

 private:
  int descriptor_;
  termios before_{};
  bool is_raw_ = false;
};

/// shows_sixel(): whether the terminal on the standard output draws pixels: attribute 4 of its answer to DA1.
int shows_sixel(lua_State* L) {
  std::string attributes;
  if (isatty(STDOUT_FILENO) != 0) attributes = RawTerminal().ask("\33[c", 'c', std::chrono::seconds(1));
  for (char& c : attributes)
    if (c == 'c') c = ';';
  lua_pushboolean(L, attributes.starts_with("\33[?") && attributes.find(";4;") != attributes.npos);
  return 1;
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
                    {"shows_sixel", protect<shows_sixel>},
                    {"displayer", protect<displayer>},
                    {"terminal_width", protect<width_of_terminal>}});
}

}  // namespace gpulua
