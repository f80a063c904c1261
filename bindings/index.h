#pragma once

#include <lua.hpp>
#include <string_view>
#include <vector>

#include "bindings/lua_array.h"
#include "src/expressions/selection.h"

namespace gpulua {

/// The index of the specification's grammar at stack positions `first` to `last`, one spec each, checked against
/// `layout`: an integer, {first, last[, step]}, "2:5", "::-1", ":", "...", gpu.newaxis, or an array of integers or
/// bool. Positions count from 1, -1 is the last, both ends of a range are taken, and a range past the end stops at the
/// end.
std::vector<IndexItem> check_index(lua_State* L, int first, int last, const Layout& layout);

/// The index at stack position `key`, as brackets take it: one spec, or a table of specs.
std::vector<IndexItem> check_key(lua_State* L, int key, const Layout& layout);

/// Throws Error where the only spec of a call, at stack position `index`, is a table like {2, 5, 7}: as a range it
/// would be position 2 alone, and whoever writes it means a list of positions.
void check_is_range(lua_State* L, int index);

/// True for a string that can only be an index spec, never a name.
bool looks_like_spec(std::string_view text);

/// Pushes the value of gpu.newaxis.
void push_new_axis(lua_State* L);

}  // namespace gpulua
