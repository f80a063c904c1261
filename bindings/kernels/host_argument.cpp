#include "bindings/kernels/host_argument.h"

#include "bindings/arrays/host_data.h"
#include "bindings/kernels/struct_argument.h"
#include "src/expressions/transfer.h"

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/cdata.h"

namespace gpulua {

namespace {

/// Pushes the table or FFI value of the host argument at `index`.
void push_value(lua_State* L, int index) {
  lua_getfenv(L, index);
  lua_rawgeti(L, -1, 1);
  lua_remove(L, -2);
}

/// The number of elements of a nested table, in the sense of array_to_host.
std::int64_t count_elements(lua_State* L, int table) {
  std::int64_t count = 0;
  const int extent = static_cast<int>(lua_objlen(L, table));
  luaL_checkstack(L, 1, "nested tables");
  for (int i = 1; i <= extent; ++i) {
    lua_rawgeti(L, table, i);
    count += lua_istable(L, -1) ? count_elements(L, lua_gettop(L)) : 1;
    lua_pop(L, 1);
  }
  return count;
}

/// True for pointers that take bytes: pointers to structs, void and vectors.
bool takes_raw(const ArgumentRule& rule) {
  return !rule.parameter.dtype || rule.parameter.lanes > 1;
}

class Staging {
 public:
  Staging(lua_State* L, const HostArgument& argument, const ArgumentRule& rule, std::shared_ptr<OpenDevice> device)
      : L_(L), argument_(argument), rule_(rule), device_(std::move(device)) {}

  /// An array for the value at the top of the stack.
  Array make() {
    if (argument_.copied_out && rule_.parameter.kind == ParameterKind::pointer && !rule_.parameter.writable)
      throw Error("{}expected a pointer that the kernel may write through, got {}", op(), rule_.parameter.type);
    const int value = lua_gettop(L_);
    if (const auto cdata = to_cdata(L_, value))
      return cdata->is_struct() ? from_raw(*cdata, value) : from_elements(*cdata, value);
    return from_table(value);
  }

 private:
  std::string op() const { return std::string("[") + argument_.name + "] "; }

  Array from_raw(const CData& value, int index) {
    if (!takes_raw(rule_)) refuse(value.type);
    if (const std::string misfit = struct_misfit(L_, index, value, rule_); !misfit.empty())
      throw Error("{}{}", op(), misfit);
    Array array = empty(*device_, {static_cast<std::int64_t>(value.bytes)}, DType::uint8);
    if (argument_.copied_in) upload(*array, value.data);
    return array;
  }

  Array from_elements(const CData& value, int index) {
    const bool same_type = value.element && rule_.takes(*value.element);
    // Results are written over the host elements without conversion. Only an In argument can be converted.
    if (value.kind != CData::Kind::array || (!same_type && (argument_.copied_out || !rule_.parameter.dtype)))
      refuse(value.type);
    if (!argument_.copied_in) return empty(*device_, {static_cast<std::int64_t>(value.count())}, *value.element);
    return array_from_host(L_, index, {same_type ? *value.element : *rule_.parameter.dtype, device_}, argument_.name);
  }

  Array from_table(int index) {
    if (!rule_.parameter.dtype)
      throw Error("{}expected an FFI array, whose elements have a type, for {}, got a table", op(),
                  rule_.parameter.type.empty() ? "a parameter without one" : rule_.parameter.type);
    if (!argument_.copied_in) return empty(*device_, {count_elements(L_, index)}, *rule_.parameter.dtype);
    return array_from_host(L_, index, {*rule_.parameter.dtype, device_}, argument_.name);
  }

  [[noreturn]] void refuse(const std::string& type) {
    std::string wanted = "a table or an FFI array";
    if (!rule_.takes_any()) wanted += " that makes " + expected_array(rule_);
    if (!rule_.parameter.type.empty()) wanted += " for " + rule_.parameter.type;
    throw Error("{}expected {}, got an FFI value of type {}", op(), wanted, type);
  }

  lua_State* L_;
  const HostArgument& argument_;
  const ArgumentRule& rule_;
  std::shared_ptr<OpenDevice> device_;
};

int push_host_argument(lua_State* L, const HostArgument& argument) {
  const auto cdata = to_cdata(L, 1);
  const bool has_memory = cdata && (cdata->kind == CData::Kind::array || cdata->kind == CData::Kind::record);
  if (test<Array>(L, 1))
    throw Error("[{}] expected a table or an FFI array, got {}; kernels take gpu's arrays as they are, without gpu.{}",
                argument.name, describe(L, 1), argument.name);
  if (!lua_istable(L, 1) && !has_memory) fail(argument.name, "a table or an FFI array", L, 1);
  push(L, argument);
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2);
  return 1;
}

/// gpu.In(host)
/// The launch reads t's values.
int copy_in(lua_State* L) {
  return push_host_argument(L, {"In", true, false});
}
/// gpu.Out(host)
/// The results of the launch replace t's items.
int copy_out(lua_State* L) {
  return push_host_argument(L, {"Out", false, true});
}
/// gpu.InOut(host)
/// In and Out.
int copy_in_out(lua_State* L) {
  return push_host_argument(L, {"InOut", true, true});
}

int host_argument_text(lua_State* L) {
  lua_pushfstring(L, "gpu.%s argument", check<HostArgument>(L, 1, "tostring").name);
  return 1;
}

}  // namespace

StagedArgument stage(lua_State* L, int index, const HostArgument& argument, const ArgumentRule& rule,
                     OpenDevice& device) {
  push_value(L, index);
  StagedArgument staged{Staging(L, argument, rule, device.shared_from_this()).make(), index};
  lua_pop(L, 1);
  return staged;
}

void check_room(lua_State* L, const StagedArgument& staged) {
  const HostArgument& argument = *test<HostArgument>(L, staged.index);
  if (argument.copied_in || !argument.copied_out || staged.array->layout.size() > 0) return;
  throw Error("[Out] expected a table with as many items as there are results, got an empty one");
}

void copy_back(lua_State* L, const StagedArgument& staged) {
  const HostArgument& argument = *test<HostArgument>(L, staged.index);
  if (!argument.copied_out) return;
  push_value(L, staged.index);
  const auto cdata = to_cdata(L, -1);
  if (cdata && cdata->is_struct())
    download(*staged.array, cdata->data);
  else
    array_to_host(L, lua_gettop(L), *staged.array, argument.name);
  lua_pop(L, 1);
}

void open_host_arguments(lua_State* L) {
  new_metatable<HostArgument>(L, {{"__tostring", protect<host_argument_text>}});
  lua_pop(L, 1);
  set_functions(L, {{"In", protect<copy_in>}, {"Out", protect<copy_out>}, {"InOut", protect<copy_in_out>}});
}

}  // namespace gpulua
