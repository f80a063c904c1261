// Tables in the Arrow C data interface. The C++ functions for arrow.lua.

#include "src/files/arrow.h"

#include "bindings/arrays/array_options.h"
#include "bindings/data/data_parts.h"
#include "bindings/data/tables.h"
#include "bindings/lua/cdata.h"

namespace gpulua {

namespace {

template <class Struct>
Struct& check_struct(lua_State* L, int index, const char* op, const char* what) {
  if (lua_isnoneornil(L, index)) fail(op, what, L, index);
  void* const address = check_memory_address(L, index, op, what);
  if (address == nullptr) fail(op, what, L, index);
  return *static_cast<Struct*>(address);
}

constexpr const char* a_schema = "the address of a struct ArrowSchema";
constexpr const char* an_array = "the address of a struct ArrowArray";

/// Calls the release of a struct at the end.
template <class Struct>
struct Released {
  explicit Released(Struct& released) : value(released) {}
  ~Released() {
    if (value.release != nullptr) value.release(&value);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  Struct& value;
};

/// read_arrow(schema, array, options): the columns. Releases both structs.
int read(lua_State* L) {
  constexpr const char* op = "from_arrow";
  const ArrayOptions options = check_options(L, 3, op);
  auto& schema = check_struct<arrow::Schema>(L, 1, op, a_schema);
  auto& array = check_struct<arrow::Array>(L, 2, op, an_array);
  const Released released_schema(schema);
  const Released released_array(array);
  push_columns(L, arrow::read(schema, array), *options.device);
  return 1;
}

/// write_arrow(schema, array, columns, rows): fills both structs.
int write(lua_State* L) {
  constexpr const char* op = "to_arrow";
  auto& schema = check_struct<arrow::Schema>(L, 1, op, a_schema);
  auto& array = check_struct<arrow::Array>(L, 2, op, an_array);
  const std::int64_t rows = check_integer(L, 4, op, "a number");
  const HostColumns columns = check_columns(L, 3, op);
  arrow::write(columns.columns, rows, schema, array);
  return 0;
}

}  // namespace

void add_arrow(lua_State* L) {
  set_functions(L, {{"read_arrow", protect<read>}, {"write_arrow", protect<write>}});
}

}  // namespace gpulua
