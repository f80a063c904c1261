// Arrays of the C interface.

#include <memory>
#include <string>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "src/embed/held_array.h"
#include "src/exchange/dlpack_tensors.h"
#include "src/exchange/lend.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

using namespace gpulua;
using namespace gpulua::embed;

namespace {

/// The host program's description of an array's memory.
struct Given {
  const char* op;
  void* pointer;
  const char* dtype;
  int ndim;
  const std::int64_t* shape;
  const std::int64_t* strides = nullptr;  // in bytes

  /// About a shape of int that was cast to int64_t: two extents are the halves of one.
  std::string about_halves() const {
    constexpr std::uint32_t most = 1 << 24;  // of halves that are extents
    for (int axis = 0; shape != nullptr && axis < ndim; ++axis) {
      const auto extent = static_cast<std::uint64_t>(shape[axis]);
      const auto low = static_cast<std::uint32_t>(extent), high = static_cast<std::uint32_t>(extent >> 32);
      if (low > 0 && high > 0 && low <= most && high <= most)
        return "; extents are int64_t, and " + std::to_string(extent) + " is the int pair (" + std::to_string(low) +
               "," + std::to_string(high) + ")";
    }
    return {};
  }

  std::string head() const { return "[" + std::string(op) + "] "; }

  MemoryToLend memory() const {
    if (dtype == nullptr) throw Error("{}expected the name of a dtype, got NULL", head());
    if (ndim < 0 || static_cast<std::size_t>(ndim) > max_ndim)
      throw Error("{}expected 0 to {} axes, got {}", head(), max_ndim, ndim);
    if (ndim > 0 && shape == nullptr) throw Error("{}expected a shape, got NULL", head());
    MemoryToLend memory;
    memory.first = pointer;
    memory.dtype = parse_dtype(dtype);
    memory.shape.assign(shape, shape + ndim);
    checked_size(memory.shape, op);
    if (strides != nullptr) memory.strides = strides_of_bytes(Dims(strides, strides + ndim), memory.dtype, op);
    return memory;
  }
};

/// Calls the program's release callback when the last owner lets go.
class Lender {
 public:
  Lender(void (*release)(void*), void* user) : release_(release), user_(user) {}
  ~Lender() {
    if (armed && release_ != nullptr) release_(user_);
  }
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;

  bool armed = false;  // the call that took the memory has succeeded

 private:
  void (*release_)(void*);
  void* user_;
};

Array lend_from(OpenDevice& device, const Given& given, void (*release)(void*), void* user, bool read_only = false) {
  MemoryToLend memory = given.memory();
  memory.read_only = read_only;
  const auto lender = std::make_shared<Lender>(release, user);
  memory.owner = lender;
  Array array = lend(device, std::move(memory), given.op);
  lender->armed = true;
  return array;
}

/// A copy of host memory, of any strides, on the device.
Array copy_of(ScriptState& state, const Given& given) {
  MemoryToLend memory = given.memory();
  OpenDevice& device = *state.context().current();
  if (!memory.strides) {
    Array array = empty(device, std::move(memory.shape), memory.dtype);
    if (array->layout.size() > 0 && given.pointer == nullptr)
      throw Error("{}expected an address of elements, got NULL", given.head());
    upload(*array, given.pointer);
    return array;
  }
  // Elements apart from each other are gathered on the processor.
  const Array there = lend(*state.context().device("cpu"), std::move(memory), given.op);
  Array here = copy(there);
  here->buffer();
  return to_device(here, device);
}

/// What `make` gives for the description; its errors tell of a shape that is none of int64_t.
template <class Make>
Array make_given(const Given& given, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string advice = given.about_halves();
    if (advice.empty()) throw;
    throw Error(error.kind(), "{}{}", error.what(), advice);
  }
}

void check_bytes(const HeldArray& held, const char* op, const void* host, std::size_t bytes) {
  if (bytes != held.array->nbytes())
    throw Error("[{}] expected {} bytes, as {} has, got {}", op, held.array->nbytes(), type_text(*held.array), bytes);
  if (host == nullptr && bytes > 0) throw Error("[{}] expected host memory, got NULL", op);
}

/// For the accessors: notes a failure of the handle.
const HeldArray* look(gpulua_array* array, const char* op) {
  const auto* held = find_held<HeldArray>(array);
  if (held == nullptr) fail_handle(op, "a gpulua_array", array);
  return held;
}

}  // namespace

gpulua_status gpulua_array_device(gpulua_state* state, const char* device, void* pointer, const char* dtype, int ndim,
                                  const int64_t* shape, const int64_t* strides, void (*release)(void*), void* user,
                                  gpulua_array** out) {
  return make_array(state, out, "array_device", [&](ScriptState& script) {
    Context& context = script.context();
    const std::shared_ptr<OpenDevice> where = device != nullptr ? context.device(device) : context.current();
    const Given given{"array_device", pointer, dtype, ndim, shape, strides};
    return make_given(given, [&] { return lend_from(*where, given, release, user); });
  });
}

gpulua_status gpulua_array_host(gpulua_state* state, void* pointer, const char* dtype, int ndim, const int64_t* shape,
                                const int64_t* strides, void (*release)(void*), void* user, int copy,
                                gpulua_array** out) {
  const gpulua_status status = make_array(state, out, "array_host", [&](ScriptState& script) {
    const Given given{"array_host", pointer, dtype, ndim, shape, strides};
    if (copy != 0 && copy != 1 && copy != GPULUA_READ_ONLY)
      throw Error("[array_host] expected copy 0, 1 or GPULUA_READ_ONLY, got {}", copy);
    return make_given(given, [&] {
      if (copy == 1) return copy_of(script, given);
      return lend_from(*script.context().current(), given, release, user, copy == GPULUA_READ_ONLY);
    });
  });
  if (status == GPULUA_OK && copy == 1 && release != nullptr) release(user);
  return status;
}

gpulua_status gpulua_array_zeros(gpulua_state* state, const char* dtype, int ndim, const int64_t* shape,
                                 gpulua_array** out) {
  return make_array(state, out, "array_zeros", [&](ScriptState& script) {
    const Given given{"array_zeros", nullptr, dtype, ndim, shape};
    return make_given(given, [&] {
      MemoryToLend wanted = given.memory();
      Array array = empty(*script.context().current(), std::move(wanted.shape), wanted.dtype);
      fill(array, Scalar(0.0));
      return array;
    });
  });
}

gpulua_status gpulua_array_retain(gpulua_array* array) {
  return retain<HeldArray>(array, "array_retain", "a gpulua_array");
}

gpulua_status gpulua_array_release(gpulua_array* array) {
  return release<HeldArray>(array, "array_release", "a gpulua_array");
}

const char* gpulua_array_dtype(gpulua_array* array) {
  const HeldArray* held = look(array, "array_dtype");
  return held != nullptr ? name(held->array->dtype).data() : nullptr;
}

const char* gpulua_array_device_name(gpulua_array* array) {
  const HeldArray* held = look(array, "array_device_name");
  return held != nullptr ? held->device.c_str() : nullptr;
}

int gpulua_array_ndim(gpulua_array* array) {
  const HeldArray* held = look(array, "array_ndim");
  return held != nullptr ? static_cast<int>(held->shape.size()) : -1;
}

const int64_t* gpulua_array_shape(gpulua_array* array) {
  const HeldArray* held = look(array, "array_shape");
  return held != nullptr ? held->shape.data() : nullptr;
}

const int64_t* gpulua_array_strides(gpulua_array* array) {
  const HeldArray* held = look(array, "array_strides");
  return held != nullptr ? held->strides.data() : nullptr;
}

int64_t gpulua_array_size(gpulua_array* array) {
  const HeldArray* held = look(array, "array_size");
  return held != nullptr ? held->size : -1;
}

int64_t gpulua_array_nbytes(gpulua_array* array) {
  const HeldArray* held = look(array, "array_nbytes");
  return held != nullptr ? held->size * static_cast<std::int64_t>(held->array->itemsize()) : -1;
}

gpulua_status gpulua_array_evaluate(gpulua_array* array, void* reader, void** pointer) {
  if (pointer != nullptr) *pointer = nullptr;
  return in_array(array, "array_evaluate", [&](HeldArray& held) {
    void* const address = hand_over(*held.array, native(reader));
    if (pointer != nullptr) *pointer = held.size > 0 ? address : nullptr;
  });
}

gpulua_status gpulua_array_copy_to(gpulua_array* array, void* host, size_t bytes) {
  return in_array(array, "array_copy_to", [&](HeldArray& held) {
    check_bytes(held, "array_copy_to", host, bytes);
    if (bytes > 0) download(*contiguous(held.array), host);
  });
}

gpulua_status gpulua_array_copy_from(gpulua_array* array, const void* host, size_t bytes) {
  return in_array(array, "array_copy_from", [&](HeldArray& held) {
    check_bytes(held, "array_copy_from", host, bytes);
    if (bytes == 0) return;
    if (held.array->contiguous) return upload(*held.array, host);
    const Array rows = empty(held.array->device(), held.array->layout.shape, held.array->dtype);
    upload(*rows, host);
    copy_into(held.array, rows);
  });
}

gpulua_status gpulua_set_stream(gpulua_state* state, void* cu_stream) {
  return in_state(state, ScriptState::Access::no_script_runs, "set_stream", [&](ScriptState& script) {
    const Context::Call call(script.context());
    OpenDevice& device = *script.context().current();
    device.device().redirect(*device.stream(), cu_stream);
  });
}

gpulua_status gpulua_wait_stream(gpulua_state* state, void* cu_stream) {
  return in_state(state, ScriptState::Access::always, "wait_stream", [&](ScriptState& script) {
    const Context::Call call(script.context());
    wait_for(*script.context().current(), native(cu_stream));
  });
}

gpulua_status gpulua_memory(gpulua_state* state, size_t* used, size_t* peak) {
  if (used != nullptr) *used = 0;
  if (peak != nullptr) *peak = 0;
  return in_state(state, ScriptState::Access::always, "memory", [&](ScriptState& script) {
    const Context::Call call(script.context());
    const MemoryAccount& account = script.context().current()->memory();
    if (used != nullptr) *used = account.used();
    if (peak != nullptr) *peak = account.peak();
  });
}
