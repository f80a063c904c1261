// Copies between arrays and a script's host memory: x:copy_from, x:copy_to, and pinned memory, which makes them
// fastest.

#include <memory>

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/host_data.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/usual_nans.h"
#include "bindings/lua/cdata.h"
#include "bindings/lua/state.h"
#include "src/expressions/transfer.h"
#include "src/runtime/pinned.h"

namespace gpulua {

namespace {

// A script holds an FFI array over the memory (helpers.pinned), and the FFI array keeps this handle alive.
using PinnedHandle = std::unique_ptr<PinnedMemory>;

}  // namespace

template <>
struct LuaType<PinnedHandle> {
  static constexpr const char* name = "pinned memory";
};

namespace {

/// gpu.pinned(count [, dtype])
/// An FFI array of n elements, v[0] to v[n - 1], in pinned memory, which is copied to and from a device without
/// staging.
int new_pinned(lua_State* L) {
  const std::int64_t count = check_integer(L, 1, "pinned", "a number of elements");
  if (count < 1) fail("pinned", "at least one element", L, 1);
  const DType dtype =
      lua_isnoneornil(L, 2) ? default_dtype(L) : parse_dtype(check_string(L, 2, "pinned", "the name of a dtype"));
  lua_pushlstring(L, name(dtype).data(), name(dtype).size());
  lua_pushnumber(L, static_cast<double>(count));
  call_helper(L, "array_pointer", 2, 1);
  if (lua_isnil(L, -1))
    throw Error("[pinned] expected a dtype that the FFI has, and less than 2 GiB, got {} of {}", count, name(dtype));

  const auto bytes = static_cast<std::size_t>(count) * size_of(dtype);
  // The collector sees only the few bytes of a handle, so it is run as far as for the whole memory.
  lua_gc(L, LUA_GCSTEP, static_cast<int>(bytes >> 10));
  void* const memory = push(L, std::make_unique<PinnedMemory>(bindings_of(L).context().current(), bytes))->data();
  lua_pushlightuserdata(L, memory);
  lua_pushvalue(L, -3);
  call_helper(L, "pinned", 3, 1);
  return 1;
}

/// Reads the third argument of copy_from and copy_to: {async=}.
bool check_async(lua_State* L, const char* op) {
  bool async = false;
  read_options(L, 3, op, {{"async", [&](int value) { async = check_flag(L, value, op, "async"); }}});
  return async;
}

/// Reads the FFI value at index 2. Throws Error unless it has as many elements as the array; the length of a pointer is
/// not checked. A struct, or an array of structs, is its bytes.
CData check_host_memory(lua_State* L, const char* op, const Array& array) {
  auto host = to_cdata(L, 2);
  if (host && host->is_struct()) {
    if (array->dtype != DType::uint8)
      throw Error("[{}] expected an FFI array or pointer for {}, got {}, whose bytes an array of uint8 takes", op,
                  type_text(*array), host->type_text());
    if (host->bytes != array->nbytes())
      throw Error("[{}] expected as many bytes as {} has, got {} of {} bytes", op, type_text(*array), host->type_text(),
                  host->bytes);
    host->element = DType::uint8;
    return *host;
  }
  if (!host || !host->element || host->kind == CData::Kind::number || host->kind == CData::Kind::record)
    fail(op, "an FFI array or pointer", L, 2);
  if (host->kind == CData::Kind::array && host->count() != static_cast<std::size_t>(array->layout.size()))
    throw Error("[{}] expected as many elements as {} has, got {}", op, type_text(*array), host->type);
  return *host;
}

/// gpu.copy_from(x, host [, {async}])
/// Copies the elements of an FFI array or pointer, in row-major order and converted to x's dtype, or of a nested table
/// of x's shape. With async the call does not wait for the copy from pinned memory, which must not change until the
/// stream is done. Other memory can be reused at once.
int array_copy_from(lua_State* L) {
  const Array array = check<Array>(L, 1, "copy_from");
  const bool async = check_async(L, "copy_from");
  if (lua_istable(L, 2)) {
    const Array from = array_from_host(L, 2, {array->dtype, array->device_ref()}, "copy_from");
    if (from->layout.shape != array->layout.shape)
      throw Error("[copy_from] expected a table of shape {}, got one of shape {}", to_string(array->layout.shape),
                  to_string(from->layout.shape));
    copy_into(array, from);
    lua_settop(L, 1);
    return 1;
  }

  const CData host = check_host_memory(L, "copy_from", array);
  OpenDevice& device = array->device();
  // An observer hears of a write by copy_into alone.
  const bool direct = *host.element == array->dtype && array->contiguous && !device.context().observer;
  const Array target = direct ? array : empty(device, array->layout.shape, *host.element);
  async ? queue_upload(*target, host.data) : upload(*target, host.data);
  if (!direct) copy_into(array, target);
  lua_settop(L, 1);
  return 1;
}

/// gpu.copy_to(x, host [, {async}])
/// Copies the elements to an FFI array or pointer, in row-major order and converted to its dtype. With async the call
/// does not wait for the copy to pinned memory, which can be read when the stream is done.
int array_copy_to(lua_State* L) {
  const Array array = check<Array>(L, 1, "copy_to");
  const bool async = check_async(L, "copy_to");
  const CData host = check_host_memory(L, "copy_to", array);
  const Array source = contiguous(*host.element == array->dtype ? array : astype(array, *host.element));
  async ? queue_download(*parts_with_usual_nans(source), host.data) : download_for_ffi(*source, host.data);
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
