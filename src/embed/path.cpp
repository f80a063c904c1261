#include "src/embed/path.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/fields.h"
#include "src/base/characters.h"
#include "src/base/local_name.h"
#include "src/base/near_name.h"
#include "src/base/text_list.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {
namespace {

// What Lua itself has as globals: nobody who misspells a function of a script means one of these.
constexpr std::string_view names_of_lua[] = {
    "_G",     "_VERSION", "assert",   "bit",        "collectgarbage", "coroutine", "debug",
    "dofile", "error",    "gcinfo",   "getfenv",    "getmetatable",   "io",        "ipairs",
    "jit",    "load",     "loadfile", "loadstring", "math",           "module",    "newproxy",
    "next",   "os",       "package",  "pairs",      "pcall",          "print",     "rawequal",
    "rawget", "rawlen",   "rawset",   "require",    "select",         "setfenv",   "setmetatable",
    "string", "table",    "tonumber", "tostring",   "type",           "unpack",    "xpcall"};

/// The name in the table at the index that is like this one; the globals' without Lua's own.
NearName near_name(lua_State* L, int table, std::string_view name) {
  constexpr int most_names = 1000;
  NearName near(name);
  if (!lua_istable(L, table)) return near;
  const bool is_global = lua_rawequal(L, table, LUA_GLOBALSINDEX) != 0;
  lua_pushnil(L);
  for (int i = 0; i < most_names && lua_next(L, table) != 0; ++i) {
    lua_pop(L, 1);
    const std::string_view offered = name_at(L, -1);
    if (!is_global || std::ranges::find(names_of_lua, offered) == std::end(names_of_lua)) near.offer(offered);
  }
  return near;
}

/// table[key], which raises the module's error for a name that it lacks.
int field(lua_State* L) {
  lua_gettable(L, 1);
  return 1;
}

/// The keys of a path, one after the other.
class Keys {
 public:
  explicit Keys(std::string_view path) : path_(path) {}

  /// Reads the next key. False where the rest of the path is not well formed.
  bool next() {
    std::string_view rest = path_.substr(at_);
    key_ = {{}, 0, path_.substr(0, at_)};
    if (at_ > 0 && rest.starts_with('.')) rest.remove_prefix(1);
    if (rest.starts_with('[')) {
      const char* const first = rest.data() + 1;
      const auto [last, error] = std::from_chars(first, rest.data() + rest.size(), key_.position);
      if (error != std::errc() || last == rest.data() + rest.size() || *last != ']') return false;
      at_ = static_cast<std::size_t>(last + 1 - path_.data());
    } else {
      key_.name = rest.substr(0, rest.find_first_of(".["));
      at_ = static_cast<std::size_t>(key_.name.data() + key_.name.size() - path_.data());
    }
    return !key_.name.empty() || (rest.starts_with('[') && (is_last() || path_[at_] == '.' || path_[at_] == '['));
  }
  const Key& key() const { return key_; }
  bool is_last() const { return at_ == path_.size(); }
  std::string_view so_far() const { return path_.substr(0, at_); }

 private:
  std::string_view path_;
  std::size_t at_ = 0;
  Key key_;
};

constexpr std::string_view words_of_lua[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                             "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                             "repeat",   "return", "then", "true", "until",  "while"};

/// What is wrong with a name that nothing can have been given by: a call of a method, an expression.
std::string advice_about_text(lua_State* L, const Key& key) {
  const std::string whole = (key.holder.empty() ? "" : std::string(key.holder) + ".") + std::string(key.name);
  const std::size_t colon = key.name.find(':');
  if (colon == key.name.npos || !is_name_of_lua(key.name.substr(colon + 1)))
    return "; a path is names with dots between them: load(\"return " + whole + "\") computes an expression";
  const std::string method(key.name.substr(colon + 1));
  lua_pushcfunction(L, &field);
  lua_getglobal(L, "gpu");
  lua_pushstring(L, method.c_str());
  const bool is_of_arrays = lua_pcall(L, 2, 1, 0) == 0 && !lua_isnil(L, -1);
  lua_pop(L, 1);
  return "; a path has dots and no colon: " +
         (is_of_arrays ? "of an array, \"gpu." + method + "\" is the function, with the array as its first argument"
                       : "\"" + whole.substr(0, whole.rfind(':')) + "." + method +
                             "\" is the function, with the table as its first argument");
}

}  // namespace

bool is_name_of_lua(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word) && (text[0] < '0' || text[0] > '9') &&
         !is_one_of(text, words_of_lua);
}

std::string_view unwritable_name(std::string_view path, bool all) {
  for (Keys keys(path); keys.next() && (all || keys.key().holder.empty());) {
    if (const std::string_view name = keys.key().name; !name.empty() && !is_name_of_lua(name)) return name;
    if (keys.is_last()) break;
  }
  return {};
}

/// Whether names and positions make up the whole path.
static bool is_well_formed(std::string_view path) {
  Keys keys(path);
  while (keys.next())
    if (keys.is_last()) return true;
  return false;
}

void push_key(lua_State* L, const Key& key) {
  key.name.empty() ? lua_pushinteger(L, key.position) : lua_pushlstring(L, key.name.data(), key.name.size());
}

Path push_holder(lua_State* L, const char* op, const char* path, bool makes) {
  Keys keys(path);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  while (keys.next()) {
    if (keys.is_last()) return {keys.key(), true};
    const int holder = lua_gettop(L);
    push_key(L, keys.key());
    lua_gettable(L, holder);
    if (makes && lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_newtable(L);
      push_key(L, keys.key());
      lua_pushvalue(L, -2);
      lua_settable(L, holder);
    }
    if (!is_well_formed(path)) break;
    if (!lua_istable(L, -1) && luaL_getmetafield(L, -1, "__index") == 0) {
      const std::string message = "[" + std::string(op) + "] expected a table at '" + std::string(keys.so_far()) +
                                  "' of the path '" + path + "', got " + luaL_typename(L, -1) +
                                  (lua_isnil(L, -1) ? advice_about_nil(L, keys.key()) : "");
      lua_pushlstring(L, message.data(), message.size());
      return {};
    }
    lua_settop(L, holder + 1);
    lua_remove(L, holder);
  }
  lua_settop(L, 0);
  lua_pushfstring(L, "[%s] expected names with dots between them and positions in brackets, stages[1].gain, got '%s'",
                  op, path);
  return {};
}

const char* chunk_with_local(lua_State* L, std::string_view name, const char* other) {
  const char* found = nullptr;
  find_chunk(L, [&](const char* chunk, std::string_view text) {
    if ((other == nullptr || std::strcmp(chunk, other) != 0) && has_local(text, name)) found = chunk;
    return found != nullptr;
  });
  return found;
}

std::string advice_about_nil(lua_State* L, const Key& key) {
  const int holder = lua_gettop(L) - 1;
  const bool is_global = lua_rawequal(L, holder, LUA_GLOBALSINDEX) != 0;
  if (key.name.empty()) {
    if (!lua_istable(L, holder)) return "";
    const std::string table(key.holder), size = std::to_string(lua_objlen(L, holder));
    const std::string range = table + "[1]" + (size == "1" ? "" : " to " + table + "[" + size + "]");
    return "; #" + table + " is " + size +
           (key.position < 1 && size != "0" ? ", and positions count from 1: " + range : "");
  }
  lua_Integer position = 0;
  const char* const end = key.name.data() + key.name.size();
  if (std::from_chars(key.name.data(), end, position).ptr == end && lua_istable(L, holder)) {
    lua_pushinteger(L, position);
    lua_rawget(L, holder);
    const bool is_there = !lua_isnil(L, -1);
    lua_settop(L, holder + 1);
    if (is_there) return "; a position has brackets: '" + std::string(key.holder) + "[" + std::string(key.name) + "]'";
  }
  if (key.name.find(':') != key.name.npos) return advice_about_text(L, key);
  NearName near = near_name(L, holder, key.name);
  if (near.name().empty() && !is_name_of_lua(key.name)) {
    lua_settop(L, holder + 1);
    return advice_about_text(L, key);
  }
  if (near.name().empty() && is_global) {
    lua_pushcfunction(L, &field);
    lua_getglobal(L, "gpu");
    lua_pushlstring(L, key.name.data(), key.name.size());
    if (lua_pcall(L, 2, 1, 0) == 0 && !lua_isnil(L, -1)) near.offer(key.name, "gpu." + std::string(key.name));
  }
  lua_settop(L, holder + 1);
  if (!near.name().empty() || !is_global) return near.question();
  // Nothing interrupts a search through the texts of scripts that are not trusted.
  if (!ScriptState::of(L)->is_sandbox())
    if (const char* const chunk = chunk_with_local(L, key.name))
      return "; it is a local of " + std::string(chunk + 1) +
             ": without `local` it is a global, which the program sees";
  return "; nothing has set it yet: has the script run that does? A local of a script is not a global";
}

}  // namespace gpulua::embed
