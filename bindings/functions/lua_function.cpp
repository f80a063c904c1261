// A function's text is found by bytecode. `lua_dump` of a chunk holds its prototypes as blobs with a length in front,
// inner functions before outer ones: in the order in which functions end in the text. The dump of a function holds its
// own blob after those of its inner functions. Where the dump of the loaded text has the same blobs, there is the
// function, and the text is the one that was loaded. Only lengths are decoded.

#include "bindings/functions/lua_function.h"

#include <algorithm>
#include <atomic>

#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/source_location.h"
#include "bindings/lua/state.h"
#include "bindings/lua/text_pieces.h"
#include "src/luafn/parser.h"

namespace gpulua {

namespace {

constexpr std::size_t chunks_kept = 64;
constexpr const char* located_key = "gpulua.located_functions";

int append(lua_State*, const void* bytes, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return 0;
}

/// The bytecode of the function at the top of the stack.
std::string dump(lua_State* L) {
  std::string bytes;
  lua_dump(L, &append, &bytes);
  return bytes;
}

/// Reads a number in ULEB128. Moves `at` past it.
std::size_t read_length(std::string_view bytes, std::size_t& at) {
  std::size_t value = 0;
  for (int shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

/// Splits a dump into prototypes.
std::vector<std::string> split_prototypes(std::string_view dump) {
  std::vector<std::string> prototypes;
  std::size_t at = 4;     // a signature and a version
  read_length(dump, at);  // flags
  const std::size_t name = read_length(dump, at);
  at += name;
  while (at < dump.size()) {
    const std::size_t size = read_length(dump, at);
    if (size == 0 || size > dump.size() - at) break;
    prototypes.emplace_back(dump.substr(at, size));
    at += size;
  }
  return prototypes;
}

/// The function of the chunk that has this bytecode, its inner functions included; null: none.
const luafn::Function* find_function(const LuaChunk& chunk, const std::vector<std::string>& prototypes) {
  const auto found =
      std::search(chunk.prototypes.begin(), chunk.prototypes.end(), prototypes.begin(), prototypes.end());
  if (found == chunk.prototypes.end()) return nullptr;
  const auto inner = static_cast<std::size_t>(found - chunk.prototypes.begin());
  return chunk.tree->functions[inner + prototypes.size() - 1];
}

class Locator {
 public:
  Locator(lua_State* L, int index, const char* op) : L_(L), op_(op) {
    lua_pushvalue(L, index);
    if (lua_iscfunction(L, -1))
      refuse(
          "expected a function that is written in Lua, got one that is written in C; wrap it, as in function(x) return "
          "math.sin(x) end");
    prototypes_ = split_prototypes(dump(L));
    lua_getinfo(L, ">S", &frame_);
  }

  LocatedFunction locate() {
    std::shared_ptr<LuaChunks>& kept = bindings_of(L_).chunks;
    if (!kept) kept = std::make_shared<LuaChunks>();
    LuaChunks& chunks = *kept;
    for (const auto& chunk : chunks.latest)
      if (const luafn::Function* function = find_function(*chunk, prototypes_);
          function && chunk->name == chunk_name(frame_))
        return {chunk, function};
    LocatedFunction found;
    const auto take = [&](std::string_view text) {
      found = look_in(text);
      return found.function != nullptr;
    };
    const std::string name = chunk_name(frame_);
    if (find_chunk_text(L_, frame_.source, take)) {
      // a text that the program has kept
    } else if (frame_.source[0] == '@') {
      // A script that is not trusted names its chunks after any file.
      if (!bindings_of(L_).context().rights.trusted || !take(file_text(frame_.source + 1)))
        refuse(
            "the function of " + name + ":" + std::to_string(frame_.linedefined) + " is not in the file " + name +
            ", which is missing or has changed since it was loaded; run the script again. Of texts that come from no "
            "file the newest " +
            std::to_string(chunk_text_bytes >> 20) + " MB are kept");
    } else if (frame_.source == std::string_view("=?")) {  // newer releases of LuaJIT, of bytecode without its name
      refuse_bytecode();
    } else if (frame_.source[0] == '=') {
      refuse("the text of the chunk \"" + std::string(frame_.source) +
             "\" was not kept; loadstring(text) without a name keeps it, and so does a name \"@file.lua\"");
    } else if (!take(frame_.source)) {
      refuse("the chunk's name \"" + name + "\" is not its text; loadstring(text) without a name keeps the text");
    }
    chunks.latest.insert(chunks.latest.begin(), found.chunk);
    if (chunks.latest.size() > chunks_kept) chunks.latest.pop_back();
    return found;
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { throw Error("[{}] {}", op_, message); }
  [[noreturn]] void refuse_bytecode() const {
    refuse("the function's chunk, " + chunk_name(frame_) +
           ", is bytecode without debug information; load its text, or keep the information: luajit -bg");
  }

  /// Loads the text, and looks for the function in it. A chunk without a function: it is not there.
  LocatedFunction look_in(std::string_view text) {
    if (text.starts_with('\x1b')) refuse_bytecode();
    if (!load(text)) return {};
    auto chunk = std::make_shared<LuaChunk>();
    chunk->prototypes = split_prototypes(dump(L_));
    lua_pop(L_, 1);
    if (std::search(chunk->prototypes.begin(), chunk->prototypes.end(), prototypes_.begin(), prototypes_.end()) ==
        chunk->prototypes.end())
      return {};
    chunk->name = chunk_name(frame_);
    try {
      chunk->tree = luafn::parse(text);
    } catch (const Error& error) {
      refuse(chunk->name + ": " + error.what());
    }
    if (chunk->tree->functions.size() != chunk->prototypes.size())
      refuse("internal error: " + chunk->name + " has " + std::to_string(chunk->prototypes.size()) +
             " functions, and " + std::to_string(chunk->tree->functions.size()) + " were parsed");
    const luafn::Function* function = find_function(*chunk, prototypes_);
    return {std::move(chunk), function};
  }

  /// Pushes the text's function; false, with nothing, for a text that does not parse.
  bool load(std::string_view text) {
    const std::atomic<bool>& interrupted = bindings_of(L_).context().interrupted();
    const auto must_stop = [&] { return interrupted.load(std::memory_order_relaxed); };
    const bool parsed = load_in_pieces(L_, text, frame_.source, nullptr, must_stop) == 0;
    if (must_stop()) throw Error(ErrorKind::interrupted, "[{}] interrupted", op_);
    if (!parsed) lua_pop(L_, 1);
    return parsed;
  }

  lua_State* L_;
  const char* op_;
  lua_Debug frame_{};
  std::vector<std::string> prototypes_;  // of the function; inner ones come first
};

/// Pushes the table of located functions, whose keys are weak.
void push_located(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, located_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  new_metatable<LocatedFunction>(L, {});
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, located_key);
}

}  // namespace

const LocatedFunction& locate_function(lua_State* L, int index, const char* op) {
  lua_pushvalue(L, index);
  const int function = lua_gettop(L);
  push_located(L);
  lua_pushvalue(L, function);
  lua_rawget(L, -2);
  const LocatedFunction* found = test<LocatedFunction>(L, lua_gettop(L));
  if (!found) {
    LocatedFunction located = Locator(L, function, op).locate();
    lua_pushvalue(L, function);
    found = &push(L, std::move(located));
    lua_rawset(L, function + 1);
  }
  lua_settop(L, function - 1);
  return *found;
}

const LocatedFunction& locate_device_function(lua_State* L, int index, const char* op) {
  const LocatedFunction& located = locate_function(L, index, op);
  if (located.function->has_varargs)
    throw Error("[{}] {}:{}: a function for a device takes no \"...\"; name its parameters", op, located.chunk->name,
                located.function->line);
  return located;
}

}  // namespace gpulua
