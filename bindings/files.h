#pragma once

#include "bindings/lua.h"
#include "bindings/state.h"

namespace gpulua {

/// The results of `work`; nil and the message for a file that cannot be opened, which is no misuse.
template <class Work>
int or_file_failure(lua_State* L, const Work& work) {
  std::string message;
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    message = error.what();
  }
  bindings_of(L).missing_file = caller_position(L) + message;
  lua_pushnil(L);
  lua_pushlstring(L, message.data(), message.size());
  return 2;
}

}  // namespace gpulua
