#include "bindings/lost_output.h"

#include <cstring>

#include "bindings/bytecode_readers.h"
#include "src/ops/op_table.h"

namespace gpulua {

bool is_temporary(lua_State* L, int count, int index, const Node& array) {
  const int top = lua_gettop(L);
  lua_Debug frame{};
  if (lua_checkstack(L, 8) == 0 || lua_getstack(L, 1, &frame) == 0) return false;
  push_bytecode_reader(L, "origin");
  // pcall(k, x) and xpcall(k, handler, x) stand between.
  lua_getinfo(L, "Sn", &frame);
  if (std::strcmp(frame.what, "C") == 0 && frame.name != nullptr) {
    const int before = std::strcmp(frame.name, "pcall") == 0 ? 1 : std::strcmp(frame.name, "xpcall") == 0 ? 2 : 0;
    if (before > 0 && lua_getstack(L, 2, &frame) != 0) count += before, index += before;
  }
  lua_getinfo(L, "Slf", &frame);
  bool temporary = false;
  if (frame.currentline > 0 && std::strcmp(frame.source, "=[gpulua]") != 0) {
    lua_pushinteger(L, frame.currentline);
    lua_pushinteger(L, count);
    lua_pushinteger(L, index - 1);
    if (lua_pcall(L, 4, 1, 0) == 0 && lua_type(L, -1) == LUA_TSTRING) {
      // A function of the script's could return an array that it also keeps, so a call must be of the array's
      // operation.
      const std::string_view called = lua_tostring(L, -1);
      const OpInfo* operation = array.pending()->op.get();
      const OpInfo* row = find_op(called);
      temporary = called.empty() || (row && operation && row->name == operation->name);
    }
  }
  lua_settop(L, top);
  return temporary;
}

const char* lost_output_text() {
  return "expected an array that a variable holds, as the kernel writes it, got the result of an expression, which "
         "nothing could read after the call; y = expression before the call keeps it";
}

}  // namespace gpulua
