#include <cmath>
#include <unordered_set>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/arrays/sparse_matrix.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/bracket.h"
#include "bindings/lua/library.h"
#include "bindings/lua/state.h"
#include "bindings/session/session_parts.h"

namespace gpulua {

namespace {

/// gpu.memory([device])
/// {used=, peak=, pooled=, limit=}, in bytes.
int memory(lua_State* L) {
  const auto device = check_device(L, 1, "memory");
  const MemoryAccount& account = device->memory();
  const auto set = [L](const char* name, std::size_t bytes) {
    lua_pushnumber(L, static_cast<double>(bytes));
    lua_setfield(L, -2, name);
  };
  lua_newtable(L);
  set("used", account.used());
  set("peak", account.peak());
  set("pooled", device->device().pooled_bytes());
  set("limit", account.limit());
  seal_result(L, "memory");
  return 1;
}

/// gpu.set_memory_limit(bytes)
/// Limits the memory of the current device's arrays.
int set_memory_limit(lua_State* L) {
  const double bytes = check_number(L, 1, "set_memory_limit", "a number of bytes");
  if (!(bytes >= 0 && bytes < 0x1p63)) fail("set_memory_limit", "a number of bytes", L, 1);
  bindings_of(L).device().memory().set_limit(static_cast<std::size_t>(bytes));
  return 0;
}

/// gpu.trim([device])
/// Returns pooled memory to the system.
int trim(lua_State* L) {
  check_device(L, 1, "trim")->device().trim();
  return 0;
}

// gpu.scope(fn, ...): enter(fn), then fn(...), then leave(_, the results of fn); see helpers.bracket.

/// gpu.scope(fn, ...)
int enter_scope(lua_State* L) {
  if (!lua_isfunction(L, 1)) fail("scope", "a function to run", L, 1);
  Bindings& bindings = bindings_of(L);
  bindings.scopes.emplace_back(bindings.context().last_serial());
  lua_pushnil(L);
  return 1;
}

/// The arrays among the values, also those in nested tables. Pending arrays are evaluated, because the scope frees
/// their inputs.
class ReachableArrays {
 public:
  explicit ReachableArrays(lua_State* L) : L_(L) {}

  void visit(int index) {
    if (const Array* array = test_array_or_column(L_, index)) {
      if (buffers_.insert((*array)->buffer().get()).second) arrays_.push_back(*array);
    } else if (lua_istable(L_, index) && tables_.insert(lua_topointer(L_, index)).second) {
      if (!lua_checkstack(L_, 4)) throw Error("[scope] the results are nested too deeply");
      lua_pushvalue(L_, index);
      for (lua_pushnil(L_); lua_next(L_, -2); lua_pop(L_, 1)) {
        visit(lua_gettop(L_) - 1);
        visit(lua_gettop(L_));
      }
      lua_pop(L_, 1);
    } else if (test<SparseMatrix>(L_, index)) {
      push_fields(L_, index);
      visit(lua_gettop(L_));
      lua_pop(L_, 1);
    }
  }
  bool contains(const Buffer* buffer) const { return buffers_.count(buffer) > 0; }
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  lua_State* L_;
  std::unordered_set<const Buffer*> buffers_;
  std::vector<Array> arrays_;
  std::unordered_set<const void*> tables_;
};

int leave_scope(lua_State* L) {
  auto& scopes = bindings_of(L).scopes;
  if (scopes.empty()) return 0;  // end_brackets() was called while a coroutine was in one
  const Scope scope = std::move(scopes.back());
  scopes.pop_back();
  ReachableArrays results(L);
  const int last = lua_gettop(L);
  for (int index = 2; index <= last; ++index) results.visit(index);
  for (const BufferRef& buffer : scope.live())
    if (!results.contains(buffer.get())) buffer->free();
  if (!scopes.empty())
    for (const Array& array : results.arrays()) scopes.back().add(array);
  return 0;
}

}  // namespace

void open_memory(lua_State* L) {
  set_functions(
      L, {{"memory", protect<memory>}, {"set_memory_limit", protect<set_memory_limit>}, {"trim", protect<trim>}});
  set_bracket(L, "scope", protect<enter_scope>, protect<leave_scope>, 1);
}

}  // namespace gpulua
