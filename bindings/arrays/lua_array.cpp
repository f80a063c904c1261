// The array type: properties, indexing and methods.

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/unheld_mask.h"

#include <cstring>

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/assigned_values.h"
#include "bindings/arrays/condition.h"
#include "bindings/arrays/host_data.h"
#include "bindings/arrays/index.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/arrays/usual_nans.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/library.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/terminal.h"
#include "src/base/near_name.h"
#include "src/expressions/expression.h"
#include "src/expressions/format.h"
#include "src/expressions/selection.h"
#include "src/expressions/transfer.h"

namespace gpulua {

void push_address(lua_State* L, const Array& array) {
  check_not_followed(*array, "pointer");
  const void* address = array->write(array->device().stream());
  array->buffer()->fix();
  lua_pushnumber(L, static_cast<double>(reinterpret_cast<std::uintptr_t>(address)));
}

namespace {

// ---- properties: computed fields ------------------------------------------------------------------------------------

void push_dims(lua_State* L, const Dims& dims, std::int64_t factor) {
  lua_createtable(L, static_cast<int>(dims.size()), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    lua_pushnumber(L, static_cast<double>(dims[axis] * factor));
    lua_rawseti(L, -2, static_cast<int>(axis) + 1);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, sizes_key);
  lua_setmetatable(L, -2);
}

void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

struct ArrayProperty {
  std::string_view name;
  void (*push)(lua_State* L, const Array& array);
};

const ArrayProperty array_properties[] = {
    {"shape", [](lua_State* L, const Array& a) { push_dims(L, a->layout.shape, 1); }},
    {"ndim", [](lua_State* L, const Array& a) { lua_pushnumber(L, static_cast<double>(a->layout.ndim())); }},
    {"size", [](lua_State* L, const Array& a) { lua_pushnumber(L, static_cast<double>(a->layout.size())); }},
    {"dtype", [](lua_State* L, const Array& a) { push_text(L, name(a->dtype)); }},
    {"strides",
     [](lua_State* L, const Array& a) { push_dims(L, a->layout.strides, static_cast<std::int64_t>(a->itemsize())); }},
    {"nbytes", [](lua_State* L, const Array& a) { lua_pushnumber(L, static_cast<double>(a->nbytes())); }},
    {"device", [](lua_State* L, const Array& a) { push_text(L, a->device().name()); }},
    {"T", [](lua_State* L, const Array& a) { push_array(L, view(a, transpose(a->layout))); }},
    {"pointer",
     [](lua_State* L, const Array& a) {
       if (!a->device().context().rights.trusted)
         throw Error("[index] expected no address in a sandbox, got x.pointer");
       push_address(L, a);
     }},
};

// ---- indexing -------------------------------------------------------------------------------------------------------

/// Throws Error about the key at index 2, which is neither a property nor a method.
[[noreturn]] void refuse_name(lua_State* L) {
  NearName near(name_at(L, 2));
  load_library(L);
  for (const ArrayProperty& property : array_properties) near.offer(property.name);
  offer_names(L, lua_upvalueindex(own_upvalue), near);
  const std::string message = no_field(LuaType<Array>::name);
  const std::string name(name_at(L, 2)), here(name_elsewhere("x:" + name)), elsewhere(name_elsewhere(name));
  const std::string use = here.empty() && elsewhere.empty() ? call_in_gpu(name) : here;
  if (!use.empty()) throw Error("{}{}; use {}", message, describe(L, 2), use);
  if (name.ends_with('_') && elsewhere.empty()) {
    const std::string plain = name.substr(0, name.size() - 1);
    lua_getfield(L, lua_upvalueindex(own_upvalue), plain.c_str());
    if (lua_isfunction(L, -1)) throw Error("{}{}; x:copy_(x:{}(...)) writes in place", message, describe(L, 2), plain);
  }
  refuse_field(L, message, 2, near);
}

/// Pushes what the key at index 2 selects.
int push_selected(lua_State* L, const Array& array) {
  const Array selected = read_index(array, check_key(L, 2, array->layout));
  if (selected->layout.ndim() > 0 || lua_istable(L, 2) || test<Array>(L, 2)) {
    push_array(L, selected);
    refuse_condition_of_operator(L, "index", selected->dtype == DType::boolean);
  } else {
    check_not_strict(*array, "index", "reading an element by its index",
                     "x:table() or x:host() reads all, x(i):item() one");
    push_scalar(L, item(*selected));
  }
  return 1;
}

int other_index(lua_State* L) {
  const Array& array = check<Array>(L, 1, "index");
  if (lua_type(L, 2) == LUA_TSTRING) {
    const std::string_view key = check_string(L, 2, "index", "a name");
    for (const ArrayProperty& property : array_properties) {
      if (key != property.name) continue;
      property.push(L, array);
      return 1;
    }
    if (looks_like_spec(key)) return push_selected(L, array);
    if (push_from_library(L, "x:", key)) return 1;
    refuse_name(L);
  }
  return push_selected(L, array);
}

/// __index. A method needs nothing of the array.
int array_index(lua_State* L) {
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(own_upvalue));
  if (!lua_isnil(L, -1)) return 1;
  lua_settop(L, 2);
  return protect<other_index>(L);
}

/// True in the calls x:T() and x.T(), which call the view x.T.
bool calls_transpose(lua_State* L) {
  lua_Debug frame{};
  if (lua_gettop(L) > 2 || lua_getstack(L, 0, &frame) == 0 || lua_getinfo(L, "n", &frame) == 0) return false;
  if (frame.name && std::strcmp(frame.name, "T") == 0)
    return std::strcmp(frame.namewhat, lua_gettop(L) == 1 ? "field" : "method") == 0;
  // `return x:T()` leaves no name; then the argument decides: it is not an index but the array whose view is called.
  const Array *const view = test<Array>(L, 1), *const array = test<Array>(L, 2);
  return array && !is_integer((*array)->dtype) && (*array)->dtype != DType::boolean &&
         (*array)->buffer() == (*view)->buffer();
}

int array_call(lua_State* L) {
  const Array& array = check<Array>(L, 1, "index");
  // `for v in x` calls x(nil, nil).
  if (lua_gettop(L) == 3 && lua_isnil(L, 2) && lua_isnil(L, 3))
    throw Error(
        "[index] expected a loop over positions, for i = 1, #x do ... x[i] ... end, or over a table, for i, v in "
        "ipairs(x:table()) do; an array is not an iterator");
  if ((lua_gettop(L) == 1 || test<Array>(L, 2)) && calls_transpose(L))
    throw Error("[array] x.T is a property: it has no parentheses");
  if (lua_gettop(L) == 2) check_is_range(L, 2);
  const Node& made = *push_array(L, read_index(array, check_index(L, 2, lua_gettop(L), array->layout)));
  refuse_condition_of_selection(L, made.dtype == DType::boolean);
  return 1;
}

void assign(lua_State* L, const Array& target, int value, const char* op) {
  if (const auto scalar = assigned_scalar(L, value, target, op)) return fill(target, *scalar);
  if (const Array* source = test<Array>(L, value)) return copy_into(target, assigned_array(*source, target, op), op);
  copy_into(target, check_values(L, value, target, op), op);
}

int array_newindex(lua_State* L) {
  const Array& array = check<Array>(L, 1, "index");
  if (lua_type(L, 2) == LUA_TSTRING && !looks_like_spec(check_string(L, 2, "index", "a name"))) {
    const std::string name(name_at(L, 2));
    throw Error("[array] an array's fields cannot be set: {}; {}", describe(L, 2),
                name.find("grad") == name.npos
                    ? "x:reshape(...) and x:astype(dtype) give another array, x:copy_(values) writes the elements"
                    : "gpu.value_and_grad(f)(x) gives the gradient as a result");
  }
  std::vector<IndexItem> items = check_key(L, 2, array->layout);
  const Array values = check_values(L, 3, array, "index");
  bindings_of(L).unheld_mask->release(L, 2, *array);
  write_index(array, std::move(items), values, "index");
  return 0;
}

/// __eq. Lua calls it only for two different objects.
int array_equal(lua_State* L) {
  const Array& array = *test_array_or_column(L, 1);
  if (array->device().context().strict)
    throw Error(
        "[compare] expected x:eq(y), which gives an array, or x:equal(y), which gives a boolean; x == y tells "
        "whether both are the same object, which gpu.strict(true) refuses");
  lua_pushboolean(L, 0);
  return 1;
}

int array_concat(lua_State* L) {
  fail("..",
       std::string("strings or numbers: tostring(x) gives an array's text, ") +
           "x:item() its one number, and gpu.concat({x, y}) joins arrays",
       L, test<Array>(L, 1) ? 1 : 2);
}

int array_length(lua_State* L) {
  const Array& array = check<Array>(L, 1, "length");
  if (array->layout.ndim() == 0) throw Error("[length] a 0-d array has no length; x.size is 1");
  lua_pushnumber(L, static_cast<double>(array->layout.shape[0]));
  return 1;
}

int array_tostring(lua_State* L) {
  const Array& array = check<Array>(L, 1, "tostring");
  check_not_strict(*array, "tostring", "showing an array", "x:table() or x:host() reads its elements");
  PrintOptions options = bindings_of(L).printing;
  if (options.width == 0) options.width = terminal_width();
  push_text(L, format(*array, options));
  return 1;
}

// ---- methods --------------------------------------------------------------------------------------------------------

/// gpu.item(x)
int array_item(lua_State* L) {
  push_scalar(L, item(*check<Array>(L, 1, "item")));
  return 1;
}

/// x:table()
int array_table(lua_State* L) {
  push_table(L, *check<Array>(L, 1, "table"));
  return 1;
}

/// gpu.host(x)
int array_host(lua_State* L) {
  const Array& array = check<Array>(L, 1, "host");
  constexpr std::size_t most = 0x7fffff00;  // bytes of an FFI array, whose elements are counted in 32 bits
  if (array->nbytes() > most)
    throw Error(
        "[host] expected less than 2 GiB, as FFI arrays have, got {}, {}; x:copy_to takes a pointer to as much memory "
        "as there is",
        format_bytes(array->nbytes()), type_text(*array));
  push_text(L, name(array->dtype));
  lua_pushnumber(L, static_cast<double>(array->layout.size()));
  call_helper(L, "host_array", 2, 1);
  download_for_ffi(*array, const_cast<void*>(lua_topointer(L, -1)));
  return 1;
}

/// gpu.copy(x)
int array_copy(lua_State* L) {
  push_copy(L, copy(check<Array>(L, 1, "copy")), "copy");
  return 1;
}

/// gpu.astype(x, dtype)
int array_astype(lua_State* L) {
  const Array& array = check<Array>(L, 1, "astype");
  const DType dtype = check_dtype(L, 2, "astype");
  if (dtype == array->dtype)
    push_copy(L, copy(array), "astype");
  else
    push_array(L, cast(array, dtype));
  return 1;
}

/// gpu.to(x, device)
int array_to(lua_State* L) {
  const Array& array = check<Array>(L, 1, "to");
  if (lua_isnoneornil(L, 2)) fail("to", "a device's name", L, 2);
  push_array(L, to_device(array, *check_device(L, 2, "to")));
  return 1;
}

/// gpu.contiguous(x)
int array_contiguous(lua_State* L) {
  const Array& array = check<Array>(L, 1, "contiguous");
  if (array->contiguous)
    push_array(L, array);
  else
    push_copy(L, copy(array), "contiguous");
  return 1;
}

/// gpu.free(x)
int array_free(lua_State* L) {
  check<Array>(L, 1, "free")->free();
  return 0;
}

/// x:copy_(value)
int array_copy_(lua_State* L) {
  assign(L, check<Array>(L, 1, "copy_"), 2, "copy_");
  lua_settop(L, 1);
  return 1;
}

/// x:fill_(value)
int array_fill_(lua_State* L) {
  const Array& array = check<Array>(L, 1, "fill_");
  const Array* source = test<Array>(L, 2);
  if (source && (*source)->layout.ndim() == 0) {
    copy_into(array, to_device(assigned_array(*source, array, "fill_"), array->device()), "fill_");
  } else {
    const auto value = assigned_scalar(L, 2, array, "fill_");
    if (!value) fail("fill_", "a number, a boolean or a complex number; x:copy_(y) writes an array", L, 2);
    fill(array, *value);
  }
  lua_settop(L, 1);
  return 1;
}

}  // namespace

void push_copy(lua_State* L, Array array, const char* name) {
  array->copied_by = name;
  push_array(L, std::move(array));
}

Array& push_array(lua_State* L, Array array) {
  return push_array(bindings_of(L), L, std::move(array));
}

Array& push_array(Bindings& bindings, lua_State* L, Array array) {
  if (!bindings.scopes.empty()) bindings.scopes.back().add(array);
  bindings.pace.note_array(L);
  return push(bindings.held_values, L, std::move(array),
              [&](lua_State* state) { lua_rawgeti(state, LUA_REGISTRYINDEX, bindings.array_metatable); });
}

int push_nonzero(lua_State* L, const Array& array) {
  if (array->layout.ndim() == 0)
    throw Error("[nonzero] expected an array of one dimension or more, got {}", type_text(*array));
  std::vector<Array> positions = nonzero(array);
  luaL_checkstack(L, static_cast<int>(positions.size()), "nonzero");
  for (Array& axis : positions) push_array(L, std::move(axis));
  return static_cast<int>(positions.size());
}

void open_arrays(lua_State* L, AddFunctions add_operators, AddFunctions add_methods) {
  new_metatable<Array>(L, {
                              {"__call", protect<array_call>},
                              {"__concat", protect<array_concat>},
                              {"__eq", protect<array_equal>},
                              {"__len", protect<array_length>},
                              {"__newindex", protect<array_newindex>},
                              {"__tostring", protect<array_tostring>},
                          });
  add_operators(L);
  lua_pushvalue(L, -1);
  find_bindings(L)->array_metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  find_bindings(L)->unheld_mask = std::make_shared<UnheldMask>();
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
  lua_getfield(L, -1, "sizes");
  lua_setfield(L, LUA_REGISTRYINDEX, sizes_key);
  lua_pop(L, 1);
  lua_newtable(L);
  set_functions(L, {
                       {"astype", protect<array_astype>},
                       {"contiguous", protect<array_contiguous>},
                       {"copy", protect<array_copy>},
                       {"copy_", protect<array_copy_>},
                       {"fill_", protect<array_fill_>},
                       {"free", protect<array_free>},
                       {"host", protect<array_host>},
                       {"item", protect<array_item>},
                       {"table", protect<array_table>},
                       {"to", protect<array_to>},
                   });
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, array_methods_key);
  add_methods(L);
  push_function(L, array_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);

  push_new_axis(L);
  lua_setfield(L, -2, "newaxis");
}

}  // namespace gpulua
