#pragma once

#include <cstddef>
#include <lua.hpp>
#include <optional>
#include <string>

#include "src/base/dtype.h"

namespace gpulua {

/// An FFI value as the library sees it.
struct CData {
  void* data = nullptr;          // of the value; of what it points to, for a pointer
  std::size_t bytes = 0;         // 0 for a pointer: its length is not known
  std::optional<DType> element;  // of a number, an array of numbers or a pointer to them; none for structs
  enum class Kind { number, array, pointer, record } kind = Kind::record;
  std::string type;  // as the FFI writes it: "float [16]"

  std::size_t count() const { return element ? bytes / size_of(*element) : 0; }
};

/// Nothing when the value at `index` is not an FFI value. `data` is valid while that value lives.
std::optional<CData> to_cdata(lua_State* L, int index);

}  // namespace gpulua
