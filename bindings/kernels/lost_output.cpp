#include "bindings/kernels/lost_output.h"

#include <cstring>

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/bytecode_readers.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

namespace {

/// True for an array that the function of this name, or "[]", gives.
bool is_result_of(const Node& array, std::string_view name) {
  if (array.copied_by) return name == array.copied_by;
  const Pending& pending = *array.pending();
  if (pending.op) {
    const OpInfo* row = find_op(name);
    return row && row->name == pending.op->name;
  }
  if (pending.reducer) return name == pending.reducer->name;
  if (pending.roll) return name == "roll";
  return pending.indexed && (name == "[]" || name == "take" || name == "take_along_axis");
}

}  // namespace

bool is_temporary(lua_State* L, int count, int index, const Node& array) {
  if (!array.pending() && !array.copied_by) return false;
  const int top = lua_gettop(L);
  lua_Debug frame{};
  if (lua_checkstack(L, 10) == 0 || lua_getstack(L, 1, &frame) == 0) return false;
  push_bytecode_reader(L, "origin");
  lua_pushnil(L);
  // pcall(k, x) and xpcall(k, handler, x) stand between, also in pcall(function() return k(x) end).
  lua_getinfo(L, "Sf", &frame);
  if (std::strcmp(frame.what, "C") == 0 && lua_getstack(L, 2, &frame) != 0) {
    lua_replace(L, -2);
    lua_getinfo(L, "f", &frame);
  }
  lua_getinfo(L, "Sl", &frame);
  bool temporary = false;
  if (frame.currentline > 0 && std::strcmp(frame.source, "=[gpulua]") != 0) {
    lua_insert(L, -2);
    lua_pushinteger(L, frame.currentline);
    lua_insert(L, -2);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, count);
    lua_pushinteger(L, index - 1);
    if (lua_pcall(L, 6, 2, 0) == 0 && lua_type(L, -2) == LUA_TSTRING) {
      // A function of the script's could return an array that it also keeps, so a call must be of the array's
      // operation. A table holds its elements, an array makes them.
      const std::string_view made_by = lua_tostring(L, -2);
      temporary = made_by.empty() || is_result_of(array, made_by);
      if (made_by == "[]" && !test<Array>(L, -1)) temporary = false;
    }
  }
  lua_settop(L, top);
  return temporary;
}

std::string lost_output_text(const Node& array) {
  const std::string made =
      array.copied_by ? "the copy that " + std::string(array.copied_by) + " makes" : "the result of an expression";
  return "expected an array that a variable holds, as the kernel writes it, got " + made +
         ", which nothing could read after the call; y = expression before the call keeps it";
}

}  // namespace gpulua
