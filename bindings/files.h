#pragma once

#include "bindings/lua.h"
#include "bindings/state.h"

namespace gpulua {

/// The results of `work`; nil and the message for a file that cannot be opened, which is no misuse.
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
