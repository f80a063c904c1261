#include "src/cli/edit_library.h"

#include <dlfcn.h>

namespace gpulua {

bool EditLibrary::open(std::string& why) {
  void* library = ::dlopen("libedit.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* message = ::dlerror();
    why = std::string("lines are not edited without libedit (") + (message ? message : "") +
          "); install it with: apt-get install libedit2";
    return false;
  }
#define GPULUA_EDIT_LOAD(symbol)                                          \
  symbol = reinterpret_cast<decltype(symbol)>(::dlsym(library, #symbol)); \
  if (symbol == nullptr) {                                                \
    why = "lines are not edited: libedit.so.2 has no " #symbol;           \
    return false;                                                         \
  }
  GPULUA_EDIT_SYMBOLS(GPULUA_EDIT_LOAD)
#undef GPULUA_EDIT_LOAD
  return true;
}

}  // namespace gpulua
