#pragma once

#include "bindings/lua/lua.h"
#include "src/array/array.h"

namespace gpulua {

template <>
struct LuaType<Array> {
  static constexpr const char* name = "an array";
};

/// The tag of the boxes of columns of text of gpu.table, so that test<Array>() refuses them and no function takes the
/// positions for numbers.
inline constexpr char text_column_tag = 0;

/// The tag of the boxes of columns of dates and durations, for the same reason.
inline constexpr char date_column_tag = 0;

/// The positions of the column of text at `index`, or null.
inline const Array* test_text_column(lua_State* L, int index) {
  const auto* box = find_box<Array>(L, index, &text_column_tag);
  return box ? &box->held->value : nullptr;
}

/// The array at `index`, or the positions of a column of text, which select elements as such an array does; else null.
inline const Array* test_array_or_text(lua_State* L, int index) {
  const Array* array = test<Array>(L, index);
  return array ? array : test_text_column(L, index);
}

/// The integers of the column of dates or durations at `index`, or null.
inline const Array* test_date_column(lua_State* L, int index) {
  const auto* box = find_box<Array>(L, index, &date_column_tag);
  return box ? &box->held->value : nullptr;
}

/// The array that any of them is or holds; else null.
inline const Array* test_array_or_column(lua_State* L, int index) {
  const Array* array = test_array_or_text(L, index);
  return array ? array : test_date_column(L, index);
}

/// Whether the value is a weak number: an array without dimensions that an operation on numbers alone has made.
inline bool is_weak_number(lua_State* L, int index) {
  const Array* array = lua_type(L, index) == LUA_TUSERDATA ? test<Array>(L, index) : nullptr;
  return array != nullptr && (*array)->weak && (*array)->layout.size() == 1;
}

}  // namespace gpulua
