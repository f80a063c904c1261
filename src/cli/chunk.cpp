#include "src/cli/chunk.h"

#include <string>
#include <string_view>

#include "cli_text.h"

namespace gpulua {

int load_chunk(lua_State* L, const char* file) {
  // The bytecode is of the build's LuaJIT; the command may be linked to another release of it.
  const std::string_view bytecode = cli_text(std::string(file) + "c");
  if (luaL_loadbuffer(L, bytecode.data(), bytecode.size(), "=[gpulua]") == 0) return 0;
  lua_pop(L, 1);
  const std::string_view text = cli_text(file);
  return luaL_loadbuffer(L, text.data(), text.size(), "=[gpulua]");
}

}  // namespace gpulua
