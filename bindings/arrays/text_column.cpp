// Columns of text of gpu.table: the C++ functions for text_column.lua.

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/lua_array.h"

namespace gpulua {

namespace {

int collect_text_column(lua_State* L) {
  if (auto* box = find_box<Array>(L, 1, &text_column_tag)) box->destroy();
  return 0;
}

/// array_metatable(x): the metatable of an array.
int array_metatable(lua_State* L) {
  check<Array>(L, 1, "table");
  lua_getmetatable(L, 1);
  return 1;
}

/// text_column(x, metatable): makes an array a column of text. `metatable` has all of array_metatable's events.
int text_column(lua_State* L) {
  check<Array>(L, 1, "table");
  lua_settop(L, 2);
  lua_pushcfunction(L, &collect_text_column);
  lua_setfield(L, 2, "__gc");
  lua_setmetatable(L, 1);
  find_box<Array>(L, 1)->tag = &text_column_tag;
  return 0;
}

/// text_positions(x): the positions of a column of text, as an array.
int text_positions(lua_State* L) {
  const Array* positions = test_text_column(L, 1);
  if (!positions) fail("table", "a column of text", L, 1);
  push_array(L, *positions);
  return 1;
}

}  // namespace

void add_text_columns(lua_State* L) {
  set_functions(L, {{"array_metatable", protect<array_metatable>},
                    {"text_column", protect<text_column>},
                    {"text_positions", protect<text_positions>}});
}

}  // namespace gpulua
