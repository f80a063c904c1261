#pragma once

// Kinds of columns of dates and durations between Lua and the host: {unit = "ns", duration = true or nil}.

#include <optional>

#include "bindings/lua/lua.h"
#include "src/files/date_text.h"

namespace gpulua {

void push_date_kind(lua_State* L, DateKind kind);

/// The kind at `index`; nothing for a table without a unit.
std::optional<DateKind> test_date_kind(lua_State* L, int index);

/// Adds the C++ functions for date_column.lua to the table at the top of the stack.
void add_dates(lua_State* L);

}  // namespace gpulua
