#pragma once

// The traces of a function under gpu.fuse, and the keys by which a call finds its own.

#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/arrays/lua_array.h"

namespace gpulua {

/// What the result of a call of a fused function depends on, but for the elements of arrays.
struct FusedKey {
  std::string text;
  std::vector<Array> arrays;  // among the values that are described; in memory, all on `device`
  std::shared_ptr<OpenDevice> device;
};

/// A value that a fused function returns: result number `array` of the trace, or a value that stays the same.
struct Returned {
  std::optional<std::size_t> array;
  bool weak = false;  // the array
  int value = 0;      // its position in the environment
};

struct Recorded {
  std::shared_ptr<Trace> trace;
  std::vector<Returned> returned;
};

/// The traces of one fused function. The userdata's environment has the function at 1, from there on the returned
/// values that are no arrays, and as keys the objects whose addresses the keys of `known` have.
struct Traces {
  std::unordered_map<std::string, Recorded> known;
  // Of the call that takes place.
  FusedKey key;
  std::shared_ptr<Trace> trace;
  const Recorded* found = nullptr;
  int kept = 1;  // values in the environment
};

template <>
struct LuaType<Traces> {
  static constexpr const char* name = "the recordings of a fused function";
};

/// The registry's table of the globals that functions read.
constexpr const char* globals_key = "gpulua.globals";
/// The registry's table, with weak keys, of what calls of fused functions have met and what stays as it is: libraries,
/// and functions of ours that hold nothing of a script.
constexpr const char* libraries_key = "gpulua.libraries";

/// Describes the values at the indices from 1 to `last`, and what the functions among them reach through their
/// upvalues, their globals, and tables in these. Evaluates the arrays among them. `kept`: the index of a table that
/// gets the objects whose addresses the key has, so that no other object gets such an address; 0: none.
FusedKey key_of_call(lua_State* L, int last, int kept = 0);

}  // namespace gpulua
