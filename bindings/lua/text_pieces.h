#pragma once

#include <cstddef>
#include <lua.hpp>
#include <string_view>

namespace gpulua {

/// As luaL_loadbufferx, but the parser gets the text in pieces, and no more of them once `must_stop()` is true: what it
/// has pushed then is of a part of the text. Some texts take it time in proportion to the square of their length, such
/// as those whose numbers all collide in a hash table. `mode`: null takes text and bytecode.
template <class MustStop>
int load_in_pieces(lua_State* L, std::string_view text, const char* chunk, const char* mode,
                   const MustStop& must_stop) {
  struct Pieces {
    std::string_view rest;
    const MustStop& must_stop;
  };
  constexpr std::size_t piece = 1024;
  Pieces pieces{text, must_stop};
  const lua_Reader next = [](lua_State*, void* data, std::size_t* size) -> const char* {
    auto& from = *static_cast<Pieces*>(data);
    const std::string_view taken = from.must_stop() ? std::string_view() : from.rest.substr(0, piece);
    from.rest.remove_prefix(taken.size());
    *size = taken.size();
    return taken.empty() ? nullptr : taken.data();
  };
  return lua_loadx(L, next, &pieces, chunk, mode);
}

}  // namespace gpulua
