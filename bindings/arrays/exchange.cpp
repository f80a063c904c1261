// Elements shared with others: gpu.view over memory that somebody else owns, DLPack's tensors, arrays of other
// processes.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/lua/cdata.h"
#include "bindings/lua/list.h"
#include "bindings/lua/state.h"
#include "src/exchange/dlpack_tensors.h"
#include "src/exchange/lend.h"
#include "src/exchange/shared_arrays.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// A tensor for a consumer. Its deleter is called at the end, unless a consumer has taken the tensor.
struct Capsule {
  dlpack::Managed* tensor = nullptr;
  dlpack::LegacyManaged* legacy = nullptr;

  Capsule() = default;
  Capsule(Capsule&& other) noexcept
      : tensor(std::exchange(other.tensor, nullptr)), legacy(std::exchange(other.legacy, nullptr)) {}
  ~Capsule() {
    if (tensor != nullptr) tensor->deleter(tensor);
    if (legacy != nullptr) legacy->deleter(legacy);
  }

  void* address() const { return tensor != nullptr ? static_cast<void*>(tensor) : legacy; }
};

}  // namespace

template <>
struct LuaType<Capsule> {
  static constexpr const char* name = "a DLPack capsule";
};

namespace {

Dims check_strides(lua_State* L, int index, DType dtype) {
  if (!lua_istable(L, index)) fail("view", "strides in bytes, a table with one for each axis", L, index);
  Dims bytes;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    bytes.push_back(check_integer(L, -1, "view", "strides in bytes"));
    lua_pop(L, 1);
  }
  return strides_of_bytes(bytes, dtype, "view");
}

/// Throws Error for a view that goes beyond the FFI array at stack index 1.
void check_within(lua_State* L, const MemoryToLend& memory) {
  const auto data = to_cdata(L, 1);
  if (!data || data->kind != CData::Kind::array) return;
  if (memory.strides && memory.strides->size() != memory.shape.size()) return;  // lend() refuses it
  const auto size = static_cast<std::int64_t>(size_of(memory.dtype));
  std::int64_t first = 0, end = size, row = size;
  for (std::size_t axis = memory.shape.size(); axis-- > 0;) {
    const std::int64_t extent = memory.shape[axis];
    if (extent <= 0) return;
    const std::int64_t step = memory.strides ? (*memory.strides)[axis] * size : row;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(extent - 1, step, &reach) || __builtin_mul_overflow(row, extent, &row) ||
        __builtin_add_overflow(reach < 0 ? first : end, reach, reach < 0 ? &first : &end))
      end = std::numeric_limits<std::int64_t>::max();
  }
  if (first >= 0 && end <= static_cast<std::int64_t>(data->bytes)) return;
  throw Error("[view] expected a view within the {} bytes of {}, got {}", data->bytes, data->type,
              first < 0 ? "elements before it" : std::to_string(end) + " bytes of " + std::string(name(memory.dtype)));
}

/// Throws Error for FFI memory of other elements than `dtype`. Bytes hold any, numbers of 16 bits also those that the
/// FFI lacks, and real numbers complex ones.
void check_elements(lua_State* L, DType dtype) {
  const auto data = to_cdata(L, 1);
  if (!data || !data->element) return;
  const DType element = *data->element;
  const bool is_half = dtype == DType::float16 || dtype == DType::bfloat16;
  if (element == dtype || size_of(element) == 1 || element == real_part(dtype)) return;
  if (is_half && is_integer(element) && size_of(element) == 2) return;
  throw Error("[view] expected {}, the elements of {}, got {}; ffi.cast(\"void *\", p) points to elements of any dtype",
              name(element), data->type, name(dtype));
}

/// gpu.view(pointer, shape, dtype [, {owner, device, strides, read_only}])
/// An array over memory that somebody else owns.
int view_memory(lua_State* L) {
  constexpr const char* what = "an address: a number, or an FFI pointer or array";
  if (lua_isnoneornil(L, 1)) fail("view", what, L, 1);
  MemoryToLend memory;
  memory.first = check_memory_address(L, 1, "view", what);
  int next = 0;
  if (lua_istable(L, 2)) {
    memory.shape = check_shape(L, 2, next, "view");
  } else {
    memory.shape = {check_integer(L, 2, "view", "a shape, a number or a table of numbers")};
  }
  memory.dtype = parse_dtype(check_string(L, 3, "view", "the name of a dtype"));
  check_elements(L, memory.dtype);
  std::shared_ptr<OpenDevice> device;
  int owner = lua_type(L, 1) == LUA_TCDATA ? 1 : 0;  // an FFI array lives as long as its view
  read_options(L, 4, "view",
               {{"owner", [&](int value) { owner = value; }},
                {"device", [&](int value) { device = check_device(L, value, "view"); }},
                {"strides", [&](int value) { memory.strides = check_strides(L, value, memory.dtype); }},
                {"read_only", [&](int value) { memory.read_only = check_flag(L, value, "view", "read_only"); }}});
  if (!device) device = bindings_of(L).context().current();
  if (owner != 0) {
    // The value of an option is gone from the stack by now.
    if (owner == 1)
      lua_pushvalue(L, 1);
    else
      lua_getfield(L, 4, "owner");
    memory.owner = std::make_shared<KeptValue>(L, device->context());
  }
  check_within(L, memory);
  push_array(L, lend(*device, std::move(memory), "view"));
  return 1;
}

/// The option `stream`: a stream of the program's, by its address or number; nothing where none waits.
NativeStream check_native_stream(lua_State* L, int index, const char* op) {
  return check_address(L, index, op, "a CUstream, by its address: 0 or 1 is the legacy default stream");
}

/// gpu.dlpack(x [, {stream, legacy}])
/// A capsule with a tensor over the array's elements.
int array_dlpack(lua_State* L) {
  const Array& array = check<Array>(L, 1, "dlpack");
  NativeStream stream;
  bool legacy = false;
  read_options(L, 2, "dlpack",
               {{"stream", [&](int value) { stream = check_native_stream(L, value, "dlpack"); }},
                {"legacy", [&](int value) { legacy = check_flag(L, value, "dlpack", "legacy"); }}});
  Capsule capsule;
  if (legacy)
    capsule.legacy = to_dlpack_legacy(array, stream);
  else
    capsule.tensor = to_dlpack(array, stream);
  push(L, std::move(capsule));
  return 1;
}

void push_number_of(lua_State* L, const void* address) {
  lua_pushnumber(L, static_cast<double>(reinterpret_cast<std::uintptr_t>(address)));
}

Capsule& check_full(lua_State* L, const char* op) {
  auto& capsule = check<Capsule>(L, 1, op);
  if (capsule.address() == nullptr)
    throw Error("[{}] expected a capsule with a tensor, got one whose tensor was taken", op);
  return capsule;
}

/// capsule:pointer()
/// The tensor's address; the capsule keeps the tensor.
int capsule_pointer(lua_State* L) {
  push_number_of(L, check_full(L, "pointer").address());
  return 1;
}

/// capsule:take()
/// The tensor's address, for a consumer that calls the deleter.
int capsule_take(lua_State* L) {
  auto& capsule = check_full(L, "take");
  push_number_of(L, capsule.address());
  capsule.tensor = nullptr;
  capsule.legacy = nullptr;
  return 1;
}

int capsule_tostring(lua_State* L) {
  const auto& capsule = check<Capsule>(L, 1, "tostring");
  lua_pushfstring(L, "DLPack capsule: %s",
                  capsule.tensor != nullptr   ? "a versioned tensor"
                  : capsule.legacy != nullptr ? "a tensor of the form from before 1.0"
                                              : "taken");
  return 1;
}

/// gpu.from_dlpack(tensor [, {stream, legacy}])
/// An array over the elements of a capsule's tensor, or of one at an address.
int lua_from_dlpack(lua_State* L) {
  NativeStream stream;
  bool legacy = false;
  read_options(L, 2, "from_dlpack",
               {{"stream", [&](int value) { stream = check_native_stream(L, value, "from_dlpack"); }},
                {"legacy", [&](int value) { legacy = check_flag(L, value, "from_dlpack", "legacy"); }}});
  Context& context = bindings_of(L).context();
  dlpack::Managed* tensor = nullptr;
  dlpack::LegacyManaged* old = nullptr;
  if (test<Capsule>(L, 1) != nullptr) {
    auto& capsule = check_full(L, "from_dlpack");
    tensor = std::exchange(capsule.tensor, nullptr);
    old = std::exchange(capsule.legacy, nullptr);
  } else {
    constexpr const char* what = "a capsule of x:dlpack(), or the address of a DLManagedTensorVersioned";
    if (lua_isnoneornil(L, 1)) fail("from_dlpack", what, L, 1);
    void* const address = check_memory_address(L, 1, "from_dlpack", what);
    if (address == nullptr) fail("from_dlpack", what, L, 1);
    if (legacy)
      old = static_cast<dlpack::LegacyManaged*>(address);
    else
      tensor = static_cast<dlpack::Managed*>(address);
  }
  push_array(L, tensor != nullptr ? from_dlpack(context, tensor, stream) : from_dlpack_legacy(context, old, stream));
  return 1;
}

/// gpu.ipc_handle(x)
/// A text from which gpu.from_ipc makes the array in another process.
int array_ipc_handle(lua_State* L) {
  const Array& array = check<Array>(L, 1, "ipc_handle");
  check_not_followed(*array, "ipc_handle");
  const std::string text = ipc_handle(array);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// gpu.from_ipc(handle [, {read_only}])
/// The array of a text of x:ipc_handle(), which shares its memory.
int array_from_ipc(lua_State* L) {
  const std::string text(check_string(L, 1, "from_ipc", "a text of x:ipc_handle()"));
  bool read_only = false;
  read_options(L, 2, "from_ipc",
               {{"read_only", [&](int value) { read_only = check_flag(L, value, "from_ipc", "read_only"); }}});
  push_array(L, from_ipc(bindings_of(L).context(), text, read_only));
  return 1;
}

}  // namespace

void open_exchange(lua_State* L) {
  new_type<Capsule>(L, {{"__tostring", protect<capsule_tostring>}},
                    "capsule:", {{"pointer", protect<capsule_pointer>}, {"take", protect<capsule_take>}});
  set_functions(L, {{"view", protect<view_memory>},
                    {"from_dlpack", protect<lua_from_dlpack>},
                    {"from_ipc", protect<array_from_ipc>}});
}

void open_exchange_methods(lua_State* L) {
  set_functions(L, {{"dlpack", protect<array_dlpack>}, {"ipc_handle", protect<array_ipc_handle>}});
}

}  // namespace gpulua
