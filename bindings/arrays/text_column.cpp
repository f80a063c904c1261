// gpu.table, and its columns of text, dates and durations: the C++ functions for the Lua files of the library.

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/lua_array.h"

namespace gpulua {

namespace {

template <const char* tag>
int collect_column(lua_State* L) {
  if (auto* box = find_box<Array>(L, 1, tag)) box->destroy();
  return 0;
}

/// array_metatable(x): the metatable of an array.
int array_metatable(lua_State* L) {
  check<Array>(L, 1, "table");
  lua_getmetatable(L, 1);
  return 1;
}

/// text_column(x, metatable), date_column(x, metatable): makes an array such a column. `metatable` has all of
/// array_metatable's events.
template <const char* tag>
int make_column(lua_State* L) {
  check<Array>(L, 1, "table");
  lua_settop(L, 2);
  lua_pushcfunction(L, &collect_column<tag>);
  lua_setfield(L, 2, "__gc");
  lua_setmetatable(L, 1);
  find_box<Array>(L, 1)->tag = tag;
  return 0;
}

/// text_positions(x): the positions of a column of text, as an array.
int text_positions(lua_State* L) {
  const Array* positions = test_text_column(L, 1);
  if (!positions) fail("table", "a column of text", L, 1);
  push_array(L, *positions);
  return 1;
}

/// date_counts(x): the integers of a column of dates or durations, as an array.
int date_counts(lua_State* L) {
  const Array* counts = test_date_column(L, 1);
  if (!counts) fail("table", "a column of dates or durations", L, 1);
  push_array(L, *counts);
  return 1;
}

/// object(metatable): an object whose length and loops the metatable decides, as it does not of a table.
int new_object(lua_State* L) {
  lua_newuserdata(L, 0);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  return 1;
}

}  // namespace

void add_text_columns(lua_State* L) {
  set_functions(L, {{"array_metatable", protect<array_metatable>},
                    {"text_column", protect<make_column<&text_column_tag>>},
                    {"text_positions", protect<text_positions>},
                    {"date_column", protect<make_column<&date_column_tag>>},
                    {"date_counts", protect<date_counts>},
                    {"object", protect<new_object>}});
}

}  // namespace gpulua
