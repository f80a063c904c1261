// In place of lua_library.cpp where the library is instrumented and linked to LuaJIT: sanitizers refuse RTLD_DEEPBIND.
#include "src/embed/lua_library.h"

namespace gpulua {

const char* connect_program_lua(const void*) {
  return nullptr;
}
const char* connect_own_lua() {
  return nullptr;
}
bool lua_is_connected() {
  return true;
}

}  // namespace gpulua
