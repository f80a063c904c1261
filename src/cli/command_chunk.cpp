#include "src/cli/command_chunk.h"

#include "bindings/lua/chunk.h"
#include "cli_text.h"

namespace gpulua {

int load_command_chunk(lua_State* L, const char* file) {
  return load_chunk(L, file, &cli_text);
}

}  // namespace gpulua
