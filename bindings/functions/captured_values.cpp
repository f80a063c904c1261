#include "bindings/functions/captured_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/differentiated.h"
#include "bindings/functions/vectorize.h"
#include "bindings/lua/parts.h"
#include "src/luafn/uniform.h"

namespace gpulua {

namespace {

using luafn::HostValue;

// The registry has a table: function -> name, "math.sin".
constexpr const char* names_key = "gpulua.function_names";
// The same for the functions of gpu, filled when it is first needed.
constexpr const char* gpu_names_key = "gpulua.gpu_function_names";
constexpr const char* module_key = "gpulua.module";

/// object[key] for the two values at the top, in a protected call: a metamethod may throw.
int get_field(lua_State* L) {
  lua_gettable(L, 1);
  return 1;
}

/// Adds the functions of the table at the top of the stack, and of the tables in it, to the table at `names`. Pops it.
void add_names(lua_State* L, int names, const std::string& prefix, bool parts) {
  push_own_functions(L);
  if (lua_istable(L, -1)) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING) continue;
      if (parts && lua_istable(L, -1)) {  // gpu.atomic
        const std::string part = prefix + lua_tostring(L, -2) + ".";
        lua_pushvalue(L, -1);
        add_names(L, names, part, false);
      }
      if (!lua_isfunction(L, -1)) continue;
      lua_pushvalue(L, -1);
      lua_pushstring(L, (prefix + lua_tostring(L, -3)).c_str());
      lua_rawset(L, names);
    }
  }
  lua_pop(L, 1);
}

/// Pushes the table of the names of gpu's functions.
void push_gpu_names(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, gpu_names_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  const int names = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, module_key);
  add_names(L, names, "gpu.", true);
  lua_pushvalue(L, names);
  lua_setfield(L, LUA_REGISTRYINDEX, gpu_names_key);
}

/// The name of a function of a library; empty for others.
std::string library_name(lua_State* L, int function) {
  std::string name;
  const auto look = [&] {
    lua_pushvalue(L, function);
    lua_rawget(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING) name = lua_tostring(L, -1);
    lua_pop(L, 2);
  };
  lua_getfield(L, LUA_REGISTRYINDEX, names_key);
  look();
  if (!name.empty()) return name;
  push_gpu_names(L);
  look();
  if (!name.empty()) return name;
  // A file of the library that was loaded later has more of them.
  lua_Debug frame{};
  lua_pushvalue(L, function);
  lua_getinfo(L, ">S", &frame);
  if (std::strcmp(frame.source, "=[gpulua]") != 0 && std::strcmp(frame.what, "C") != 0) return name;
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, gpu_names_key);
  push_gpu_names(L);
  look();
  return name;
}

bool is_module(lua_State* L, int index) {
  return part_at(L, index) == "gpu";
}

}  // namespace

CapturedValues::CapturedValues(lua_State* L, std::string op, Needs needs)
    : L_(L), op_(std::move(op)), needs_(needs), real_(bindings_of(L).context().default_dtype), key_(name(real_)) {}

void note_library_functions(lua_State* L) {
  lua_newtable(L);
  const int names = lua_gettop(L);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  add_names(L, names, "", false);
  for (const char* library : {"math", "bit", "string", "table", "coroutine"}) {
    lua_getfield(L, LUA_GLOBALSINDEX, library);
    add_names(L, names, std::string(library) + ".", false);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, names_key);
}

void note_replaced_functions(lua_State* L) {
  const int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, names_key);
  lua_newtable(L);
  const int names = top + 1, all = top + 2;
  for (lua_pushnil(L); lua_next(L, names) != 0; lua_settop(L, all + 1)) {
    const int name = all + 2;
    lua_pushvalue(L, all + 1);
    lua_pushvalue(L, name);
    lua_rawset(L, all);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    const std::string_view path = lua_tostring(L, name);
    const std::size_t dot = path.find('.');
    if (dot != path.npos) {
      lua_pushlstring(L, path.data(), dot);
      lua_gettable(L, -2);
    }
    if (!lua_istable(L, -1)) continue;
    lua_pushstring(L, dot == path.npos ? path.data() : path.data() + dot + 1);
    lua_gettable(L, -2);
    if (!lua_isfunction(L, -1)) continue;
    lua_pushvalue(L, name);
    lua_rawset(L, all);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, names_key);
  lua_settop(L, top);
}

HostValue CapturedValues::read(int value) {
  HostValue result;
  switch (lua_type(L_, value)) {
    case LUA_TNIL:
      return result;
    case LUA_TNUMBER:
      result.kind = HostValue::Kind::number;
      result.number = lua_tonumber(L_, value);
      return result;
    case LUA_TBOOLEAN:
      result.kind = HostValue::Kind::boolean;
      result.boolean = lua_toboolean(L_, value) != 0;
      return result;
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(L_, value, &size);
      result.kind = HostValue::Kind::text;
      result.name.assign(text, size);
      return result;
    }
    case LUA_TFUNCTION:
      result.kind = HostValue::Kind::other;
      result.name = "a function";
      if (is_differentiated(L_, value)) return result;
      result.name = library_name(L_, value);
      result.kind = result.name.empty() ? HostValue::Kind::other : HostValue::Kind::builtin;
      if (result.name.empty()) result.name = "a function";
      return result;
    case LUA_TTABLE:
      result.kind = is_module(L_, value) ? HostValue::Kind::builtin : HostValue::Kind::other;
      result.name = result.kind == HostValue::Kind::builtin ? "gpu" : "a table";
      return result;
    default:
      break;
  }
  if (const Array* array = test<Array>(L_, value)) {
    read_array(*array, result);
    return result;
  }
  const auto scalar = lua_type(L_, value) == LUA_TCDATA ? to_scalar(L_, value) : std::nullopt;
  const auto* integer = scalar ? std::get_if<std::int64_t>(&*scalar) : nullptr;
  const auto* natural = scalar ? std::get_if<std::uint64_t>(&*scalar) : nullptr;
  if (integer || (natural && std::in_range<std::int64_t>(*natural))) {
    const std::int64_t number = integer ? *integer : static_cast<std::int64_t>(*natural);
    result.kind = HostValue::Kind::number;
    result.number = static_cast<double>(number);
    if (std::abs(result.number) >= 0x1p53) result.integer = number;
    return result;
  }
  result.kind = HostValue::Kind::other;
  result.name = describe(L_, value) + (natural ? ", an integer of 2^63 or more" : "");
  return result;
}

void CapturedValues::read_array(const Array& array, HostValue& result) const {
  const Layout& layout = array->layout;
  result.kind = HostValue::Kind::array;
  result.dtype = array->dtype;
  result.shape.assign(layout.shape.begin(), layout.shape.end());
  result.strides.clear();
  result.order = luafn::ElementOrder::row_major;
  std::int64_t count = layout.size();
  if (needs_.strides && !array->contiguous && count > 0) {
    const Extent touched = extent(layout);
    result.strides.assign(layout.strides.begin(), layout.strides.end());
    result.origin = layout.offset - touched.begin;
    count = std::max(count, touched.end - touched.begin);
    const bool backwards = std::any_of(layout.strides.begin(), layout.strides.end(), [](auto s) { return s < 0; });
    result.order = backwards                    ? luafn::ElementOrder::backwards
                   : layout.strides.back() == 1 ? luafn::ElementOrder::strided_rows
                                                : luafn::ElementOrder::strided;
  }
  result.small = count <= (std::int64_t{1} << 30);
  result.weak = array->weak;
}

/// The numbers of a table that has nothing else from 1 on, and not too many; else none.
std::vector<double> CapturedValues::read_numbers(int table) const {
  constexpr std::size_t most = 64;
  std::vector<double> numbers;
  const std::size_t count = lua_objlen(L_, table);
  for (std::size_t i = 1; i <= count && count <= most; ++i) {
    lua_rawgeti(L_, table, static_cast<int>(i));
    const bool is_number = lua_type(L_, -1) == LUA_TNUMBER;
    if (is_number) numbers.push_back(lua_tonumber(L_, -1));
    lua_pop(L_, 1);
    if (!is_number) return {};
  }
  return numbers;
}

void CapturedValues::set(std::size_t index, int value, const luafn::Path* path) {
  HostValue result = read(value);
  const std::size_t fields = path ? path->fields.size() : 0;
  // Fields of tables lead on.
  lua_pushvalue(L_, value);
  const int top = lua_gettop(L_);
  while (result.fields < fields && lua_istable(L_, top) && !names_library(top, path->fields[result.fields])) {
    const std::size_t depth = result.fields + 1;
    lua_pushcfunction(L_, &get_field);
    lua_pushvalue(L_, top);
    lua_pushstring(L_, path->fields[depth - 1].c_str());
    if (lua_pcall(L_, 2, 1, 0) != 0) throw Error("[{}] {}: {}", op_, path->root, lua_tostring(L_, -1));
    lua_replace(L_, top);
    result = read(top);
    result.fields = depth;
  }
  if (const Array* array = test<Array>(L_, top)) arrays_[index] = *array;
  slots_[index].identity = lua_topointer(L_, top);
  slots_[index].field = module_field(top, path, result.fields);
  if (result.kind == HostValue::Kind::other && lua_istable(L_, top)) {
    result.numbers = read_numbers(top);
    if (!result.numbers.empty()) result.kind = HostValue::Kind::table;
  }
  if (result.kind == HostValue::Kind::other && lua_iscfunction(L_, top)) {
    result.name = "a function of the host program or of a library in C, which a device cannot call";
  } else if (result.kind == HostValue::Kind::other && push_differentiated(L_, top, result.derivatives)) {
    const int function = lua_gettop(L_);
    std::shared_ptr<luafn::Closure>& closure = closures_[lua_topointer(L_, function)];
    if (!closure) {
      slots_[index].owns_closure = true;
      closure = std::make_shared<luafn::Closure>();
      capture(*closure, function);
    }
    result.kind = HostValue::Kind::function;
    result.function = closure;
  }
  lua_settop(L_, top - 1);
  values_[index] = std::move(result);
}

/// True for a field of `gpu` that is the library's own: it stands for itself.
bool CapturedValues::names_library(int table, const std::string& field) {
  if (!is_module(L_, table)) return false;
  lua_pushlstring(L_, field.data(), field.size());
  lua_rawget(L_, table);
  const bool replaced = lua_isfunction(L_, -1) && library_name(L_, lua_gettop(L_)).empty();
  lua_pop(L_, 1);
  return !replaced;
}

void CapturedValues::add_arguments(std::size_t count) {
  arguments_ = count;
  values_.resize(count);
  arrays_.resize(count);
  slots_.resize(count);
  for (std::size_t i = 0; i < count; ++i) set(i, static_cast<int>(i) + 2, nullptr);
}

void CapturedValues::add_array(const Array& array, bool whole) {
  add_element(array->dtype);
  read_array(array, values_.back());
  values_.back().whole = whole;
  arrays_.back() = array;
}

void CapturedValues::add_element(DType dtype) {
  ++arguments_;
  arrays_.emplace_back();
  slots_.emplace_back();
  HostValue& value = values_.emplace_back();
  value.kind = HostValue::Kind::array;
  value.dtype = dtype;
}

std::shared_ptr<const luafn::Closure> CapturedValues::add_function(int index) {
  std::shared_ptr<luafn::Closure>& closure = closures_[lua_topointer(L_, index)];
  closure = closure_ = std::make_shared<luafn::Closure>();
  capture(*closure, index);
  for (const HostValue& value : values_) add_key(value);
  known_.resize(values_.size());
  return closure;
}

void CapturedValues::capture(luafn::Closure& closure, int function) {
  const LocatedFunction& located = locate_function(L_, function, op_.c_str());
  closure.chunk = located.chunk->tree;
  closure.function = located.function;
  closure.file = located.chunk->name;
  closure.first = values_.size();
  const auto& free = closure.function->free;
  values_.resize(closure.first + free.size());
  arrays_.resize(values_.size());
  slots_.resize(values_.size());
  if (lua_checkstack(L_, 16) == 0) throw std::bad_alloc();
  for (std::size_t k = 0; k < free.size(); ++k) {
    const int upvalue = push_root(free[k], *closure.function, function);
    set(closure.first + k, lua_gettop(L_), &free[k]);
    slots_[closure.first + k].upvalue = upvalue;
    lua_pop(L_, 1);
  }
}

/// Pushes the value of the path's variable. Gives the number of the upvalue; 0 for a global.
int CapturedValues::push_root(const luafn::Path& path, const luafn::Function& function, int lua_function) {
  if (!path.local) {
    lua_pushcfunction(L_, &get_field);
    lua_getfenv(L_, lua_function);
    lua_pushlstring(L_, path.root.data(), path.root.size());
    if (lua_pcall(L_, 2, 1, 0) != 0) throw Error("[{}] {}: {}", op_, path.root, lua_tostring(L_, -1));
    return 0;
  }
  // Of several upvalues with the name, the order of first use tells which is which.
  std::vector<const luafn::Local*> namesakes;
  for (const luafn::Path& other : function.free)
    if (other.local && other.root == path.root &&
        std::find(namesakes.begin(), namesakes.end(), other.local) == namesakes.end())
      namesakes.push_back(other.local);
  auto skipped = std::find(namesakes.begin(), namesakes.end(), path.local) - namesakes.begin();
  for (int i = 1; const char* name = lua_getupvalue(L_, lua_function, i); ++i) {
    if (name == path.root && skipped-- == 0) return i;
    lua_pop(L_, 1);
  }
  throw Error("[{}] internal error: the function has no upvalue {}", op_, path.root);
}

/// Numbers of one class have one key: 1000 closures over a number share a translation.
void CapturedValues::add_key(const HostValue& value) {
  key_ += static_cast<char>('a' + static_cast<int>(value.kind));
  key_ += static_cast<char>('0' + static_cast<int>(value.fields));
  switch (value.kind) {
    case HostValue::Kind::number:
      if (needs_.constants) {
        key_.append(reinterpret_cast<const char*>(&value.number), sizeof value.number);
        break;
      }
      key_ += static_cast<char>('0' + static_cast<int>(luafn::class_of(value)));
      break;
    case HostValue::Kind::boolean:
      key_ += value.boolean ? 't' : 'f';
      break;
    case HostValue::Kind::array:
      key_ += static_cast<char>('0' + static_cast<int>(value.dtype));
      key_ += static_cast<char>('0' + static_cast<int>(value.shape.size()));
      key_ += static_cast<char>('0' + static_cast<int>(value.order));
      key_ += value.small ? 's' : 'l';
      if (value.whole) key_ += 'w';
      if (value.weak) key_ += 'n';
      break;
    case HostValue::Kind::text:
      key_ += std::to_string(value.name.size()) + ":" + value.name;
      break;
    case HostValue::Kind::table:  // its numbers are constants of the text
      key_ += std::to_string(value.numbers.size()) + ":";
      key_.append(reinterpret_cast<const char*>(value.numbers.data()), value.numbers.size() * sizeof(double));
      break;
    case HostValue::Kind::function:
      key_ += std::to_string(reinterpret_cast<std::uintptr_t>(value.function->function)) + "," +
              std::to_string(value.function->first);
      for (const luafn::Differentiation& how : value.derivatives) {
        key_ += how.with_value ? 'v' : 'g';
        for (const std::size_t position : how.which) key_ += std::to_string(position) + ".";
      }
      break;
    default:
      key_ += value.name + ";";
  }
}

}  // namespace gpulua
