#pragma once

#include <lua.hpp>
#include <string_view>
#include <vector>

#include "bindings/arrays/lua_array.h"
#include "src/expressions/selection.h"

namespace gpulua {

/// Parses the index specs at stack positions `first` to `last` and checks them against `layout`. A spec is an integer,
/// {first, last[, step]}, "2:5", "::-1", ":", "...", gpu.newaxis, or an array of integers or bool. Positions start at
/// 1; -1 is the last; a range includes both ends and is clipped to the axis. Throws Error for invalid specs.
std::vector<IndexItem> check_index(lua_State* L, int first, int last, const Layout& layout);

/// Parses the key of x[key] at stack position `key`: one spec, or a table of specs.
std::vector<IndexItem> check_key(lua_State* L, int key, const Layout& layout);

/// Throws Error when the only spec of a call, at stack position `index`, is a table like {2, 5, 7}. As a range it would
/// select position 2 alone, but it looks like a list of positions.
void check_is_range(lua_State* L, int index);

/// True for a string that can be an index spec but not a name.
bool looks_like_spec(std::string_view text);

/// Pushes the value of gpu.newaxis.
void push_new_axis(lua_State* L);

/// Throws Error, with what makes an integer of it, for a Lua number with a fraction at `index`, where a position is
/// `expected`.
void refuse_fraction(lua_State* L, int index, const char* op, std::string_view expected);

}  // namespace gpulua
