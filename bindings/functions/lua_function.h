#pragma once

// The text of a Lua function: which function of which chunk it is, and its syntax tree.

#include <lua.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bindings/lua/lua.h"
#include "src/luafn/host_value.h"
#include "src/luafn/syntax.h"

namespace gpulua {

/// The translation of a function for arguments of given types.
struct FunctionVariant {
  // Those of the first call. They keep the trees of captured functions, whose addresses are in the variant's key.
  std::vector<luafn::HostValue> values{};

  virtual ~FunctionVariant() = default;
};

/// A chunk whose text is known.
struct LuaChunk {
  std::string name;  // without characters that end or escape a name in `#line`
  std::shared_ptr<const luafn::Chunk> tree;
  std::vector<std::string> prototypes;  // the bytecode of each function, in the order of luafn::Chunk::functions
  std::map<std::string, std::shared_ptr<const FunctionVariant>> variants{};
  // By a variant's key: which numbers are constants of its text, and so belong to the key.
  std::map<std::string, std::set<std::size_t>> constants{};
};

/// The chunks whose functions were used, the latest first.
struct LuaChunks {
  std::vector<std::shared_ptr<LuaChunk>> latest;
};

/// A function of a chunk.
struct LocatedFunction {
  std::shared_ptr<LuaChunk> chunk;
  const luafn::Function* function = nullptr;
};
template <>
struct LuaType<LocatedFunction> {
  static constexpr const char* name = "the text of a function";
};

/// Finds the text of the Lua function at `index`. Throws Error "[op] ..." for a function without a text: one of C, one
/// from stripped bytecode, one whose file has changed since it was loaded, one of a chunk whose text was not kept.
const LocatedFunction& locate_function(lua_State* L, int index, const char* op);
/// Finds the text of the Lua function at `index` that is to run on a device. Throws Error for one with "...", too.
const LocatedFunction& locate_device_function(lua_State* L, int index, const char* op);

}  // namespace gpulua
