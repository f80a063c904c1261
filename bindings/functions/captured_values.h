#pragma once

// The values that a Lua function captures, read anew at each call.

#include <lua.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bindings/functions/lua_function.h"
#include "src/array/array.h"
#include "src/luafn/host_value.h"

namespace gpulua {

/// The values of a call, and the key of their types: calls with equal keys share a translation.
class CapturedValues {
 public:
  struct Needs {
    bool constants = false;  // the key has the captured numbers themselves, which become constants of the text
    bool strides = false;    // arrays are used where they lie; else the others are made row-major
  };
  CapturedValues(lua_State* L, std::string op, Needs needs = {false, false});

  /// Adds the arguments, from stack index 2 on. What functions among them capture comes after them. Throws Error for a
  /// value that no function for a device takes.
  void add_arguments(std::size_t count);
  /// Adds an argument that is an element of the array, or all of it.
  void add_array(const Array& array, bool whole);
  /// Adds an argument that is an element of that dtype.
  void add_element(DType dtype);
  /// The function at `index`, with what it captures. Called once, after the arguments.
  std::shared_ptr<const luafn::Closure> add_function(int index);
  /// What add_function() has given.
  std::shared_ptr<const luafn::Closure> closure() const { return closure_; }

  /// Reads the values of another call: its arguments from stack index 2 on, and what the function at `function`
  /// captures. False if one of them has another type, so that the key would differ; then the object cannot be used
  /// again. Makes no garbage and allocates nothing.
  bool refresh(lua_State* L, int function);
  /// Lets go of the arrays until the next refresh().
  void release_arrays();

  const std::vector<luafn::HostValue>& values() const { return values_; }
  /// The array of that entry of values(), or null.
  const Array& array(std::size_t index) const {
    return index < known_.size() && known_[index] ? *known_[index] : arrays_[index];
  }
  const std::string& key() const { return key_; }
  /// The script's default dtype, which the key has.
  DType real() const { return real_; }

 private:
  void capture(luafn::Closure& closure, int function);
  int push_root(const luafn::Path& path, const luafn::Function& function, int lua_function);
  void set(std::size_t index, int value, const luafn::Path* path);
  luafn::HostValue read(int value);
  std::vector<double> read_numbers(int table) const;
  void read_array(const Array& array, luafn::HostValue& result) const;
  bool names_library(int table, const std::string& field);
  void add_key(const luafn::HostValue& value);

  /// What refresh() compares with.
  struct Slot {
    const void* identity = nullptr;  // of a function or a table
    const void* field = nullptr;     // of a function of `gpu`, by its name
    int upvalue = 0;                 // of its variable; 0: a global
    bool owns_closure = false;       // the first to lead to that function
  };
  bool refresh_slot(std::size_t index, int value, const luafn::Path* path);
  bool refresh_closure(const luafn::Closure& closure, int function);
  const void* module_field(int table, const luafn::Path* path, std::size_t field) const;

  lua_State* L_;
  std::string op_;
  Needs needs_;
  DType real_;
  std::vector<luafn::HostValue> values_;
  std::vector<Array> arrays_;
  std::vector<const Array*> known_{};  // those of the latest refresh(), which Lua keeps while the call lasts
  std::vector<Slot> slots_;
  std::size_t arguments_ = 0;
  std::shared_ptr<luafn::Closure> closure_;  // of the function itself
  std::string key_;
  std::map<const void*, std::shared_ptr<luafn::Closure>> closures_;  // by Lua function
};

/// Pushes the Lua function behind a value that stands for one, an object of gpu.vectorize. False: there is none.
bool push_function_of(lua_State* L, int index);

/// Notes the functions of Lua's libraries, so that a call of one is known whatever its name is. Called when the module
/// is opened.
void note_library_functions(lua_State* L);
/// The functions that a host program has put in the places of Lua's own have their names from now on: print, and those
/// of a sandbox.
void note_replaced_functions(lua_State* L);

}  // namespace gpulua
