#pragma once

// Elements between arrays and the host's values: nested tables, numbers and FFI arrays.

#include "bindings/arrays/array_options.h"

namespace gpulua {

/// Makes an array from the host value at `index`: nested tables, a number, a boolean, a complex number, or an FFI
/// array. The default dtype is float32; bool when all values are booleans, complex64 for complex cdata, int64 for int64
/// cdata, and the element's own dtype for an FFI array. Throws Error for ragged tables and for values that do not fit.
/// A finite number beyond float16, float32 or complex64 becomes infinite, as astype makes it, only where the script
/// asked for the dtype; elsewhere it throws, too.
enum class Overflow { refused, infinite };
Array array_from_host(lua_State* L, int index, const ArrayOptions& options, const char* op, bool takes_booleans = true,
                      Overflow overflow = Overflow::refused);

/// Writes the elements of a row-major `array` to the table or FFI array at `index`, which has the same number of
/// elements. Waits.
void array_to_host(lua_State* L, int index, Node& array, const char* op);

/// Pushes the elements as nested tables; for a 0-d array, its value. Waits.
void push_table(lua_State* L, Node& array);

}  // namespace gpulua
