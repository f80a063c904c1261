#pragma once

#include <cstddef>
#include <lua.hpp>
#include <optional>
#include <string>

#include "src/base/dtype.h"

namespace gpulua {

/// The description of an FFI value.
struct CData {
  void* data = nullptr;          // address of the value's bytes; for a pointer, the pointer itself
  std::size_t bytes = 0;         // 0 for a pointer: its length is not known
  std::optional<DType> element;  // dtype of a number, of an array of numbers or of a pointer to numbers
  enum class Kind { number, array, pointer, record } kind = Kind::record;
  std::string type;  // the FFI's name of the type: "float [16]"

  std::size_t count() const { return element ? bytes / size_of(*element) : 0; }
  /// A struct or an array of structs, which are copied as bytes.
  bool is_struct() const { return !element && (kind == Kind::record || kind == Kind::array); }
  /// The type for messages: "a struct", "structs [3]". The FFI's number of an unnamed struct means nothing to a script.
  std::string type_text() const;
};

/// The FFI value at `index`; nullopt for another value. `data` is valid while the value lives.
std::optional<CData> to_cdata(lua_State* L, int index);

/// The address at `index`: a number, such as x.pointer, a light userdata, or an FFI pointer or array. Throws Error
/// "[op] expected <what>, got ..." for another value.
void* check_address(lua_State* L, int index, const char* op, const char* what);
/// The same for an address at which memory can lie, or 0: the first page of a process is never there.
void* check_memory_address(lua_State* L, int index, const char* op, const char* what);

}  // namespace gpulua
