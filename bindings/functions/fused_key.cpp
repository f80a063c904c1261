#include "bindings/functions/fused_key.h"

#include <algorithm>
#include <unordered_set>
#include <variant>

#include "bindings/arrays/sparse_matrix.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

// More values than this are not looked at for one call.
constexpr std::size_t most_values = 1000;

class Key {
 public:
  Key(lua_State* L, int kept) : L_(L), kept_(kept) {}

  void add(int index) {
    if (++values_ > most_values)
      throw Error(
          "[fuse] expected a function that reaches at most {} values through its variables, got more; pass what it "
          "needs as arguments",
          most_values);
    const int type = lua_type(L_, index);
    text_.push_back(static_cast<char>('a' + type));
    switch (type) {
      case LUA_TBOOLEAN:
        return add_bytes(lua_toboolean(L_, index));
      case LUA_TNUMBER:
        return add_bytes(lua_tonumber(L_, index));
      case LUA_TSTRING: {
        std::size_t length = 0;
        const char* text = lua_tolstring(L_, index, &length);
        add_bytes(length);
        text_.append(text, length);
        return;
      }
      case LUA_TTABLE:
        return add_table(index);
      case LUA_TFUNCTION:
        return add_function(index);
      case LUA_TUSERDATA:
        if (const Array* array = test<Array>(L_, index)) return add_array(*array);
        if (test<Traces>(L_, index)) return add_fused(index);
        if (test<SparseMatrix>(L_, index)) return add_matrix(index);
        return add_object(index);
      case LUA_TCDATA:
        if (const auto number = to_scalar(L_, index)) return add_number(*number);
        check_is_type(index);
        return add_identity(index);
      case LUA_TNIL:
        return;
      default:
        return add_identity(index);
    }
  }

  /// Evaluates the arrays, and adds their layouts and which of them lie in one buffer.
  FusedKey finish() {
    const std::shared_ptr<OpenDevice> device = evaluate_arrays();
    add_bytes(device.get());
    add_bytes(device->context().default_dtype);
    std::vector<Node*> first_in;
    for (const Array& input : inputs_) {
      const Layout& layout = input->layout;
      add_bytes(input->dtype);
      add_bytes(input->weak);
      add_bytes(layout.ndim());
      add_dims(layout.shape);
      add_dims(layout.strides);
      add_bytes(layout.offset % Trace::offset_modulus);
      const auto same =
          std::find_if(first_in.begin(), first_in.end(), [&](Node* one) { return one->buffer() == input->buffer(); });
      add_bytes(same - first_in.begin());
      if (same == first_in.end())
        first_in.push_back(input.get());
      else
        add_bytes(input->first_byte() - (*same)->first_byte());
    }
    return {std::move(text_), std::move(inputs_), device};
  }

 private:
  /// Gives the device of the arrays; without arrays, the current one.
  std::shared_ptr<OpenDevice> evaluate_arrays() {
    if (inputs_.empty()) return bindings_of(L_).context().current();
    OpenDevice& device = inputs_.front()->device();
    std::vector<Node*> nodes;
    for (const Array& input : inputs_) {
      if (&input->device() != &device)
        throw Error("[fuse] expected arrays of one device, got one on {} and one on {}; x:to(name) copies one over",
                    device.name(), input->device().name());
      if (input->pending()) nodes.push_back(input.get());
    }
    evaluate(nodes);
    return device.shared_from_this();
  }

  template <class T>
  void add_bytes(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add_dims(const Dims& dims) {
    text_.append(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof dims[0]);
  }
  void add_identity(int index) {
    add_bytes(lua_topointer(L_, index));
    if (kept_ == 0) return;
    lua_pushvalue(L_, index);
    lua_pushboolean(L_, true);
    lua_rawset(L_, kept_);
  }

  /// The function that another fused function calls.
  void add_fused(int index) {
    check_stack();
    lua_getfenv(L_, index);
    lua_rawgeti(L_, -1, 1);
    add(lua_gettop(L_));
    lua_pop(L_, 2);
  }

  /// An object that may hold functions of the script, as one of gpu.vectorize does, in its environment.
  void add_object(int index) {
    constexpr int most_functions = 3;
    check_stack();
    add_identity(index);
    lua_getfenv(L_, index);
    for (int place = 1; place <= most_functions && lua_istable(L_, -1); ++place) {
      lua_rawgeti(L_, -1, place);
      if (lua_isfunction(L_, -1)) add(lua_gettop(L_));
      lua_pop(L_, 1);
    }
    lua_pop(L_, 1);
  }

  /// Whether a value that a function of the library captured must be part of the key: true for functions of the script
  /// and for objects. A function of the library must be if one of these is among its own captured values, at any depth,
  /// as in a function that gpu.grad gave.
  bool leads_to_script(int index) {
    std::vector<const void*> visited;
    if (leads_to_script(index, visited)) return true;
    // Functions of the library that hold nothing of a script are many. They stay as they are.
    if (lua_isfunction(L_, index)) remember(index);
    return false;
  }

  bool leads_to_script(int index, std::vector<const void*>& visited) {
    if (lua_type(L_, index) == LUA_TUSERDATA) return !test<Array>(L_, index);
    if (!lua_isfunction(L_, index) || lua_iscfunction(L_, index)) return false;
    lua_Debug info{};
    lua_pushvalue(L_, index);
    lua_getinfo(L_, ">S", &info);
    if (std::string_view(info.source) != "=[gpulua]") return true;
    const void* const function = lua_topointer(L_, index);
    if (is_met(index) || std::ranges::find(visited, function) != visited.end()) return false;
    visited.push_back(function);
    check_stack();
    bool leads = false;
    for (int i = 1; !leads && lua_getupvalue(L_, index, i); ++i) {
      leads = leads_to_script(lua_gettop(L_), visited);
      lua_pop(L_, 1);
    }
    return leads;
  }

  void add_matrix(int index) {
    check_stack();
    push_fields(L_, index);
    add(lua_gettop(L_));
    lua_pop(L_, 1);
  }

  void add_number(const Scalar& number) {
    text_.push_back(static_cast<char>(number.index()));
    std::visit([&](const auto& value) { add_bytes(value); }, number);
  }

  void add_array(const Array& array) {
    const auto known = std::find(inputs_.begin(), inputs_.end(), array);
    add_bytes(known - inputs_.begin());
    if (known == inputs_.end()) inputs_.push_back(array);
  }

  /// True when the value was added before; then its position is added.
  bool is_known(int index) {
    const auto [place, is_new] = places_.emplace(lua_topointer(L_, index), places_.size());
    add_bytes(place->second);
    return !is_new;
  }

  /// True for a value that the registry remembers as one that stays as it is.
  bool is_met(int index) {
    lua_getfield(L_, LUA_REGISTRYINDEX, libraries_key);
    lua_pushvalue(L_, index);
    lua_rawget(L_, -2);
    const bool is_one = lua_toboolean(L_, -1);
    lua_pop(L_, 2);
    return is_one;
  }
  void remember(int index) {
    lua_getfield(L_, LUA_REGISTRYINDEX, libraries_key);
    lua_pushvalue(L_, index);
    lua_pushboolean(L_, true);
    lua_rawset(L_, -3);
    lua_pop(L_, 1);
  }

  /// True for a table that `require` gives: a library, which stays as it is. The registry remembers those that were
  /// found, so that calls do not gather the libraries anew.
  bool is_library(int index) {
    if (is_met(index)) return true;
    if (libraries_.empty()) gather_libraries();
    if (!libraries_.contains(lua_topointer(L_, index))) return false;
    remember(index);
    return true;
  }

  void gather_libraries() {
    lua_getfield(L_, LUA_REGISTRYINDEX, "_LOADED");
    for (lua_pushnil(L_); lua_next(L_, -2); lua_pop(L_, 1))
      if (lua_istable(L_, -1)) libraries_.insert(lua_topointer(L_, -1));
    lua_pop(L_, 1);
  }

  void add_table(int index) {
    check_stack();
    if (is_library(index)) return add_identity(index);
    if (is_known(index)) return;
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      add(lua_gettop(L_) - 1);
      add(lua_gettop(L_));
    }
    if (lua_getmetatable(L_, index)) {  // where missing fields are found
      lua_pushliteral(L_, "__index");
      lua_rawget(L_, -2);
      add(lua_gettop(L_));
      lua_pop(L_, 2);
    }
    text_.push_back('.');
  }

  /// Throws Error for FFI memory, whose elements may change; types and functions of the FFI stay as they are.
  void check_is_type(int index) {
    lua_getglobal(L_, "tostring");
    lua_pushvalue(L_, index);
    const std::string text = lua_pcall(L_, 1, 1, 0) == 0 && lua_tostring(L_, -1) ? lua_tostring(L_, -1) : "";
    lua_pop(L_, 1);
    if (text.starts_with("ctype<") || text.find("()>") != text.npos) return;
    throw Error(
        "[fuse] expected a function that reads no FFI memory, got {}, whose changes would not be seen: pass numbers, "
        "or an array",
        text);
  }

  void add_function(int index) {
    check_stack();
    add_identity(index);
    if (lua_iscfunction(L_, index) || is_known(index)) return;
    push_globals(index);
    const int names = lua_gettop(L_);
    const bool is_own = lua_istable(L_, names);  // else it is a function of the library
    for (int i = 1; lua_getupvalue(L_, index, i); ++i) {
      if (is_own || leads_to_script(lua_gettop(L_))) add(lua_gettop(L_));
      lua_pop(L_, 1);
    }
    if (is_own) {
      lua_getfenv(L_, index);
      for (int i = 1; i <= static_cast<int>(lua_objlen(L_, names)); ++i) {
        lua_rawgeti(L_, names, i);
        push_global(names + 1);
        add(lua_gettop(L_));
        lua_pop(L_, 1);
      }
    }
    lua_settop(L_, names - 1);
  }

  /// Replaces the name at the top of the stack by the value of that global in the environment at `index`; nil where
  /// reading it raises an error.
  void push_global(int index) {
    lua_pushcfunction(L_, [](lua_State* L) {
      lua_gettable(L, 1);
      return 1;
    });
    lua_insert(L_, -2);
    lua_pushvalue(L_, index);
    lua_insert(L_, -2);
    if (lua_pcall(L_, 2, 1, 0) == 0) return;
    lua_pop(L_, 1);
    lua_pushnil(L_);
  }

  /// Pushes the names of the globals that the function reads; false for a function of the library.
  void push_globals(int index) {
    lua_getfield(L_, LUA_REGISTRYINDEX, globals_key);
    lua_pushvalue(L_, index);
    lua_rawget(L_, -2);
    if (lua_isnil(L_, -1)) {
      lua_pop(L_, 1);
      lua_getfield(L_, -1, "find");
      lua_pushvalue(L_, index);
      if (lua_pcall(L_, 1, 1, 0) != 0) throw Error(lua_tostring(L_, -1));
    }
    lua_remove(L_, -2);
  }

  void check_stack() {
    if (!lua_checkstack(L_, 8)) throw Error("[fuse] the function's tables are nested too deeply");
  }

  lua_State* L_;
  std::string text_;
  std::vector<Array> inputs_;
  int kept_;
  std::size_t values_ = 0;
  std::unordered_map<const void*, std::size_t> places_;
  std::unordered_set<const void*> libraries_;
};

}  // namespace

FusedKey key_of_call(lua_State* L, int last, int kept) {
  Key key(L, kept);
  for (int index = 1; index <= last; ++index) key.add(index);
  return key.finish();
}

}  // namespace gpulua
