// Copies between arrays and host memory that a script names: x:copy_from, x:copy_to, and the pinned memory they are
// quickest with.

#include <memory>

#include "bindings/cdata.h"
#include "bindings/lua_array.h"
#include "bindings/state.h"
#include "src/expressions/transfer.h"
#include "src/runtime/pinned.h"

namespace gpulua {

namespace {

// Scripts hold an FFI array over the memory (helpers.pinned), which holds this.
using PinnedHandle = std::unique_ptr<PinnedMemory>;

}  // namespace

template <>
struct LuaType<PinnedHandle> {
  static constexpr const char* name = "pinned memory";
};

namespace {

/// gpu.pinned(n, dtype): an FFI array of n elements, v[0] to v[n - 1], that copies to and from a device without
/// staging.
int new_pinned(lua_State* L) {
  const std::int64_t count = check_integer(L, 1, "pinned", "a number of elements");
  if (count < 1) fail("pinned", "at least one element", L, 1);
  const DType dtype =
      lua_isnoneornil(L, 2) ? DType::float32 : parse_dtype(check_string(L, 2, "pinned", "the name of a dtype"));
  lua_pushlstring(L, name(dtype).data(), name(dtype).size());
  lua_pushnumber(L, static_cast<double>(count));
  call_helper(L, "array_pointer", 2, 1);
  if (lua_isnil(L, -1))
    throw Error("[pinned] expected a dtype that the FFI has, and less than 2 GiB, got " + std::to_string(count) +
                " of " + std::string(name(dtype)));

  const auto bytes = static_cast<std::size_t>(count) * size_of(dtype);
  // To the collector a handle is a few bytes: it goes on as far as if it were all of them.
  lua_gc(L, LUA_GCSTEP, static_cast<int>(bytes >> 10));
  const auto& pinned = push(L, std::make_unique<PinnedMemory>(bindings_of(L).context().current(), bytes));
  lua_pushlightuserdata(L, pinned->data());
  lua_pushvalue(L, -3);
  call_helper(L, "pinned", 3, 1);
  return 1;
}

/// The third argument of copy_from and copy_to: {async=}.
bool check_async(lua_State* L, const char* op) {
  bool async = false;
  read_options(L, 3, op, {{"async", [&](int value) { async = lua_toboolean(L, value) != 0; }}});
  return async;
}

/// The FFI value at index 2, which has as many elements as the array; a pointer is taken at its word.
CData check_host_memory(lua_State* L, const char* op, const Array& array) {
  const auto host = to_cdata(L, 2);
  if (!host || !host->element || host->kind == CData::Kind::number || host->kind == CData::Kind::record)
    fail(op, "an FFI array or pointer", L, 2);
  if (host->kind == CData::Kind::array && host->count() != static_cast<std::size_t>(array->layout.size()))
    throw Error("[" + std::string(op) + "] expected as many elements as " + type_text(*array) + " has, got " +
                host->type);
  return *host;
}

/// x:copy_from(host [, {async=}]): the elements of an FFI array or pointer, in row-major order and converted to x's
/// dtype; or those of a nested table of x's shape. With async the call does not wait for the copy: leave pinned memory
/// as it is until the stream is done. Other memory is free for reuse in any case.
int array_copy_from(lua_State* L) {
  const Array array = check<Array>(L, 1, "copy_from");
  const bool async = check_async(L, "copy_from");
  if (lua_istable(L, 2)) {
    const Array from = array_from_host(L, 2, {array->dtype, array->device_ref()}, "copy_from");
    if (from->layout.shape != array->layout.shape)
      throw Error("[copy_from] expected a table of shape " + to_string(array->layout.shape) + ", got one of shape " +
                  to_string(from->layout.shape));
    copy_into(array, from);
    lua_settop(L, 1);
    return 1;
  }

  const CData host = check_host_memory(L, "copy_from", array);
  OpenDevice& device = array->device();
  const bool direct = *host.element == array->dtype && array->contiguous;
  const Array target = direct ? array : empty(device, array->layout.shape, *host.element);
  async ? queue_upload(*target, host.data) : upload(*target, host.data);
  if (!direct) copy_into(array, target);
  lua_settop(L, 1);
  return 1;
}

/// x:copy_to(host [, {async=}]): the elements, in row-major order and converted to the dtype of the FFI array or
/// pointer. With async and pinned memory the call does not wait: read the memory when the stream is done.
int array_copy_to(lua_State* L) {
  const Array array = check<Array>(L, 1, "copy_to");
  const bool async = check_async(L, "copy_to");
  const CData host = check_host_memory(L, "copy_to", array);
  const Array source = contiguous(*host.element == array->dtype ? array : astype(array, *host.element));
  async ? queue_download(*source, host.data) : download(*source, host.data);
  lua_settop(L, 1);
  return 1;
}

}  // namespace

void open_array_transfer_methods(lua_State* L) {
  set_functions(L, {{"copy_from", protect<array_copy_from>}, {"copy_to", protect<array_copy_to>}});
}

void open_transfer(lua_State* L) {
  new_type<PinnedHandle>(L, {}, "", {});
  set_functions(L, {{"pinned", protect<new_pinned>}});
}

}  // namespace gpulua
