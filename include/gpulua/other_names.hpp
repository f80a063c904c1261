#ifndef GPULUA_OTHER_NAMES_HPP
#define GPULUA_OTHER_NAMES_HPP

// The names by which other libraries do what a State of gpulua.hpp, which includes this, does by its own.

#include <initializer_list>
#include <string_view>
#include <utility>

#include "errors.hpp"

namespace gpulua::detail {

/// A call of one does not compile, and says what does.
struct OtherNames {
  template <class... A>
  Refused script(const A&...) {
    static_assert(never<A...>, "state.run(text) runs a script, state.load<double()>(text)() gives its result");
    return {};
  }
  template <class... A>
  Refused safe_script(const A&... arguments) {
    return script(arguments...);
  }
  template <class... A>
  Refused do_string(const A&... arguments) {
    return script(arguments...);
  }
  template <class... A>
  Refused script_file(const A&...) {
    static_assert(never<A...>, "state.run_file(path) runs a file, state.load_file<double()>(path)() gives its result");
    return {};
  }
  template <class... A>
  Refused safe_script_file(const A&... arguments) {
    return script_file(arguments...);
  }
  template <class... A>
  Refused do_file(const A&... arguments) {
    return script_file(arguments...);
  }
  template <class... A>
  Refused open_libraries(const A&...) {
    static_assert(never<A...>,
                  "a state has Lua's libraries from its beginning on; GPULUA_SANDBOX leaves out those that reach files "
                  "and programs");
    return {};
  }
  template <class... A>
  Refused require(const A&...) {
    static_assert(never<A...>,
                  "the script requires a module, local port = require \"port\", or has one's functions from "
                  "state.bind<double()>(\"port.read\", function)");
    return {};
  }
  template <class... A>
  Refused require_file(const A&... arguments) {
    return require(arguments...);
  }
  template <class... A>
  Refused require_script(const A&... arguments) {
    return require(arguments...);
  }
  template <class... A>
  Refused set_function(const A&...) {
    static_assert(never<A...>, "state.bind<double(int)>(path, function) makes a C++ function one of Lua's");
    return {};
  }
  template <class Type, class... A>
  Refused new_usertype(const A&...) {
    static_assert(never<Type>,
                  "there are no user types: state.bind<double()>(\"motor.rpm\", [&] { return motor.rpm; }) is a "
                  "function of Lua's, and state.borrow(motors, &Motor::rpm) an array of a field of many");
    return {};
  }
  template <class Type = void, class... A>
  Refused new_enum(const A&...) {
    static_assert(never<Type, A...>, "each name is set: state.set(\"mode.fast\", 1)");
    return {};
  }
  template <class Type>
  Refused new_enum(std::string_view name, std::initializer_list<std::pair<std::string_view, Type>>) {
    return new_enum(name);
  }
  template <class... A>
  Refused create_table(const A&...) {
    static_assert(
        never<A...>,
        "state.set(\"port.rate\", 2.5) and state.bind<double()>(\"port.read\", function) make the table port");
    return {};
  }
  template <class... A>
  Refused create_named_table(const A&... arguments) {
    return create_table(arguments...);
  }
  template <class... A>
  Refused globals(const A&...) {
    static_assert(never<A...>,
                  "state.value<double>(\"gain\") reads a global, state.set(\"gain\", 2.5) sets it, and "
                  "state.bind<double(int)>(\"read\", function) makes a function");
    return {};
  }
  template <class... A>
  Refused getGlobalNamespace(const A&... arguments) {
    return globals(arguments...);
  }
  template <class Path>
  Refused operator[](const Path&) const {
    static_assert(never<Path>, "state.set(path, value) sets a value, state.value<double>(path) reads it");
    return {};
  }
  template <class... A>
  Refused collect_garbage(const A&...) {
    static_assert(never<A...>, "state.collect() collects all garbage");
    return {};
  }
  template <class... A>
  Refused lua_state(const A&...) {
    static_assert(never<A...>,
                  "a program has no lua_State: state.bind<double(int)>(path, function) makes a C++ function one of "
                  "Lua's, state.get<double(double)>(path) the reverse, state.value<double>(path) reads a value");
    return {};
  }
};

}  // namespace gpulua::detail

#endif
