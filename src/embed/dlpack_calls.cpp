// DLPack's tensors in the C interface.

#include <memory>
#include <type_traits>

#include "src/embed/held_array.h"

using namespace gpulua;
using namespace gpulua::embed;

namespace {

/// The library's own struct for the one that the header only names.
template <class Struct, class Named>
Struct* as(Named* tensor) {
  return reinterpret_cast<Struct*>(tensor);
}

/// The deleter is called even where no state takes the tensor.
template <class Struct, class Take>
gpulua_status from(gpulua_state* state, Struct* tensor, gpulua_array** out, const char* op, Take take) {
  bool taken = false;
  const gpulua_status status = make_array(state, out, op, [&](ScriptState& script) {
    if (tensor == nullptr) throw Error("[{}] expected a tensor, got NULL", op);
    taken = true;
    return take(script.context(), tensor);
  });
  if (taken || tensor == nullptr) return status;
  try {
    drop(tensor);
  } catch (const Error&) {
    // The failure of the call is the one to report.
  }
  return status;
}

template <class Named, class Make>
gpulua_status to(gpulua_array* array, Named** out, const char* op, Make make) {
  if (out != nullptr) *out = nullptr;
  return in_array(array, op, [&](HeldArray& held) {
    if (out == nullptr) throw Error("[{}] expected a place for the tensor, got NULL", op);
    *out = reinterpret_cast<Named*>(make(held.array));
  });
}

}  // namespace

gpulua_status gpulua_array_from_dlpack(gpulua_state* state, DLManagedTensorVersioned* tensor, void* writer,
                                       gpulua_array** out) {
  return from(state, as<dlpack::Managed>(tensor), out, "array_from_dlpack",
              [&](Context& context, dlpack::Managed* taken) { return from_dlpack(context, taken, native(writer)); });
}

gpulua_status gpulua_array_from_dlpack_legacy(gpulua_state* state, DLManagedTensor* tensor, void* writer,
                                              gpulua_array** out) {
  return from(state, as<dlpack::LegacyManaged>(tensor), out, "array_from_dlpack_legacy",
              [&](Context& context, dlpack::LegacyManaged* taken) {
                return from_dlpack_legacy(context, taken, native(writer));
              });
}

gpulua_status gpulua_array_to_dlpack(gpulua_array* array, void* reader, DLManagedTensorVersioned** out) {
  return to(array, out, "array_to_dlpack", [&](const Array& held) { return to_dlpack(held, native(reader)); });
}

gpulua_status gpulua_array_to_dlpack_legacy(gpulua_array* array, void* reader, DLManagedTensor** out) {
  return to(array, out, "array_to_dlpack_legacy",
            [&](const Array& held) { return to_dlpack_legacy(held, native(reader)); });
}
