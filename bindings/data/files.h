#pragma once

#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"

namespace gpulua {

/// Runs `work` and returns its results. For an Error of kind `file`, which is not misuse, returns nil and the message.
template <class Work>
int or_file_failure(lua_State* L, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    return push_nil(L, error.what());
  }
}

}  // namespace gpulua
