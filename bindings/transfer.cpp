// Copies between arrays and host memory that a script names: x:copy_from, x:copy_to, and the pinned memory they are
// quickest with.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "bindings/array.h"
#include "bindings/cdata.h"
#include "bindings/device.h"
#include "bindings/state.h"

namespace gpulua {

namespace {

/// Host memory of a device's driver. Scripts hold an FFI array over it (helpers.pinned), which holds this.
struct PinnedMemory {
  PinnedMemory(std::shared_ptr<OpenDevice> home, std::size_t bytes)
      : device(std::move(home)), memory(device->device().allocate_pinned(bytes)) {
    if (!memory)
      throw Error(ErrorKind::memory, "[pinned] the host has no room for " + format_bytes(bytes) + " of pinned memory");
  }
  PinnedMemory(PinnedMemory&& other) noexcept
      : device(std::move(other.device)), memory(std::exchange(other.memory, nullptr)), users(std::move(other.users)) {}
  PinnedMemory& operator=(PinnedMemory&&) = delete;
  ~PinnedMemory() {
    if (!memory) return;
    for (const StreamRef& stream : users) {
      try {
        device->device().synchronize(*stream);
      } catch (const Error&) {
        // Whoever waits for that stream is told; nothing runs on it any more.
      }
    }
    device->device().free_pinned(memory);
  }

  void used_by(const StreamRef& stream) {
    if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
  }

  std::shared_ptr<OpenDevice> device;
  void* memory;
  std::vector<StreamRef> users;  // with copies that may still be under way
};

}  // namespace

template <>
struct LuaType<PinnedMemory> {
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

  const auto& pinned =
      push(L, PinnedMemory(bindings_of(L).context().current(), static_cast<std::size_t>(count) * size_of(dtype)));
  std::memset(pinned.memory, 0, static_cast<std::size_t>(count) * size_of(dtype));
  lua_pushlightuserdata(L, pinned.memory);
  lua_pushvalue(L, -3);
  call_helper(L, "pinned", 3, 1);
  return 1;
}

/// The pinned memory that the FFI value at `index` stands for, or null.
PinnedMemory* find_pinned(lua_State* L, int index) {
  lua_pushvalue(L, index);
  call_helper(L, "pinned_owner", 1, 1);
  auto* pinned = test<PinnedMemory>(L, -1);
  lua_pop(L, 1);
  return pinned;
}

/// The third argument of copy_from and copy_to: {async=}.
bool check_async(lua_State* L, const char* op) {
  if (lua_isnoneornil(L, 3)) return false;
  if (!lua_istable(L, 3)) fail(op, "a table of options: {async=true}", L, 3);
  bool async = false;
  with_field(L, 3, "async", [&] { async = lua_toboolean(L, -1) != 0; });
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
    const Array from = array_from_host(L, 2, {array->dtype, array->buffer->device_ref()}, "copy_from");
    if (from->layout.shape != array->layout.shape)
      throw Error("[copy_from] expected a table of shape " + to_string(array->layout.shape) + ", got one of shape " +
                  to_string(from->layout.shape));
    copy_into(array, from);
    lua_settop(L, 1);
    return 1;
  }

  const CData host = check_host_memory(L, "copy_from", array);
  OpenDevice& device = array->device();
  const bool direct = *host.element == array->dtype && array->layout.contiguous();
  const Array target = direct ? array : empty(device, array->layout.shape, *host.element);
  upload(*target, host.data);
  if (!direct) copy_into(array, target);
  if (PinnedMemory* pinned = find_pinned(L, 2)) {
    if (async)
      pinned->used_by(device.stream());
    else
      device.synchronize(*device.stream());
  }
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
  PinnedMemory* pinned = async ? find_pinned(L, 2) : nullptr;
  if (pinned && source->nbytes() > 0) {
    const OpenDevice& device = array->device();
    device.device().download(host.data, source->read(device.stream()), source->nbytes(), *device.stream());
    pinned->used_by(device.stream());
  } else {
    download(*source, host.data);
  }
  lua_settop(L, 1);
  return 1;
}

}  // namespace

void open_array_transfer_methods(lua_State* L) {
  set_functions(L, {{"copy_from", protect<array_copy_from>}, {"copy_to", protect<array_copy_to>}});
}

void open_transfer(lua_State* L) {
  new_type<PinnedMemory>(L, {}, {});
  set_functions(L, {{"pinned", protect<new_pinned>}});
}

}  // namespace gpulua
