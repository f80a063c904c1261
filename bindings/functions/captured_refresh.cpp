// Reading the captured values of another call of the same kind: CapturedValues::refresh.

#include <algorithm>

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/captured_values.h"
#include "bindings/functions/differentiated.h"
#include "src/luafn/uniform.h"

namespace gpulua {

using luafn::HostValue;

bool CapturedValues::refresh(lua_State* L, int function) {
  L_ = L;
  if (!closure_ || real_ != bindings_of(L).context().default_dtype || lua_checkstack(L, 32) == 0) return false;
  const int top = lua_gettop(L);
  bool same = static_cast<std::size_t>(function - 2) == arguments_;
  for (std::size_t i = 0; same && i < arguments_; ++i) same = refresh_slot(i, static_cast<int>(i) + 2, nullptr);
  same = same && refresh_closure(*closure_, function);
  lua_settop(L, top);
  return same;
}

void CapturedValues::release_arrays() {
  for (Array& array : arrays_) array.reset();
  std::fill(known_.begin(), known_.end(), nullptr);
}

bool CapturedValues::refresh_closure(const luafn::Closure& closure, int function) {
  const auto& free = closure.function->free;
  for (std::size_t k = 0; k < free.size(); ++k) {
    if (const int upvalue = slots_[closure.first + k].upvalue; upvalue > 0) {
      lua_getupvalue(L_, function, upvalue);
    } else {
      lua_getfenv(L_, function);
      if (lua_getmetatable(L_, -1) != 0) return false;
      lua_pushlstring(L_, free[k].root.data(), free[k].root.size());
      lua_rawget(L_, -2);
      lua_remove(L_, -2);
    }
    if (!refresh_slot(closure.first + k, lua_gettop(L_), &free[k])) return false;
    lua_pop(L_, 1);
  }
  return true;
}

/// The function of `gpu` that the path's next field names.
const void* CapturedValues::module_field(int table, const luafn::Path* path, std::size_t field) const {
  if (!path || field >= path->fields.size() || !lua_istable(L_, table)) return nullptr;
  lua_pushlstring(L_, path->fields[field].data(), path->fields[field].size());
  lua_rawget(L_, table);
  const void* identity = lua_topointer(L_, -1);
  lua_pop(L_, 1);
  return identity;
}

bool CapturedValues::refresh_slot(std::size_t index, int value, const luafn::Path* path) {
  HostValue& known = values_[index];
  const Slot& slot = slots_[index];
  int at = value;
  for (std::size_t field = 0; field < known.fields; ++field) {
    if (!lua_istable(L_, at)) return false;
    if (lua_getmetatable(L_, at) != 0) return false;
    lua_pushlstring(L_, path->fields[field].data(), path->fields[field].size());
    lua_rawget(L_, at);
    at = lua_gettop(L_);
  }
  bool same = false;
  switch (known.kind) {
    case HostValue::Kind::nil:
      same = lua_isnil(L_, at);
      break;
    case HostValue::Kind::number: {
      if (lua_type(L_, at) != LUA_TNUMBER || known.integer) break;
      const double number = lua_tonumber(L_, at);
      same = needs_.constants ? number == known.number : luafn::class_of(number) == luafn::class_of(known.number);
      known.number = number;
      break;
    }
    case HostValue::Kind::boolean:
      same = lua_isboolean(L_, at) && (lua_toboolean(L_, at) != 0) == known.boolean;
      break;
    case HostValue::Kind::text: {
      std::size_t size = 0;
      const char* text = lua_type(L_, at) == LUA_TSTRING ? lua_tolstring(L_, at, &size) : nullptr;
      same = text && known.name == std::string_view(text, size);
      break;
    }
    case HostValue::Kind::builtin:
      same = lua_topointer(L_, at) == slot.identity && module_field(at, path, known.fields) == slot.field;
      break;
    case HostValue::Kind::function:
      same = lua_topointer(L_, at) == slot.identity;
      if (same && slot.owns_closure) {
        std::vector<luafn::Differentiation> ignored;
        same = push_differentiated(L_, at, ignored) && refresh_closure(*known.function, lua_gettop(L_));
      }
      break;
    case HostValue::Kind::array: {
      const Array* array = test<Array>(L_, at);
      if (!array || (*array)->dtype != known.dtype || (*array)->layout.ndim() != known.shape.size()) break;
      const auto order = known.order;
      const bool small = known.small, weak = known.weak;
      read_array(*array, known);
      known_[index] = array;
      same = known.order == order && known.small == small && known.weak == weak;
      break;
    }
    case HostValue::Kind::table: {
      const std::size_t count = known.numbers.size();
      same = lua_istable(L_, at) && lua_objlen(L_, at) == count;
      for (std::size_t i = 0; same && i < count; ++i) {
        lua_rawgeti(L_, at, static_cast<int>(i) + 1);
        same = lua_type(L_, -1) == LUA_TNUMBER && lua_tonumber(L_, -1) == known.numbers[i];
        lua_pop(L_, 1);
      }
      break;
    }
    case HostValue::Kind::other:
      break;
  }
  lua_settop(L_, path ? value : lua_gettop(L_));
  return same;
}

}  // namespace gpulua
