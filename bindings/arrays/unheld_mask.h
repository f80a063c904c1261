#pragma once

#include <lua.hpp>

#include "src/array/array.h"

namespace gpulua {

/// Masks that a line of the script makes for its assignment alone, as in x[x:gt(0.5)] = 0: no variable holds one. Lua
/// still has a handle to it while the assignment runs, so the mask would be stored, as it reads what the assignment
/// changes.
class UnheldMask {
 public:
  /// Notes the array at the top of the stack, which the running function of C has made by an operation.
  void note(lua_State* L, const Node& made);
  /// Takes the handle away from the userdata at `index`, the key of the running assignment to `target`, if it is a
  /// pending mask that nothing can reach after the assignment.
  void release(lua_State* L, int index, Node& target);

 private:
  bool is_unheld(lua_State* L, int index) const;

  // The last mask, the function that made the call for it, and the line there. Addresses are used again for other
  // objects, the number is not.
  const void* box_ = nullptr;
  const Node* node_ = nullptr;
  std::uint64_t number_ = 0;
  const void* caller_ = nullptr;
  int line_ = 0;
};

}  // namespace gpulua
