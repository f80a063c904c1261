#pragma once

#include <lua.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/open.h"
#include "src/eval/pipeline.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A Lua state with a context of its own.
class State {
 public:
  explicit State(Config config = Config::from_environment())
      : context_(std::make_shared<Context>(std::move(config), make_evaluator)), L_(luaL_newstate()) {
    luaL_openlibs(L_);
    open_bindings(L_, context_);
    run("gpu = require 'gpu'");
  }
  ~State() { lua_close(L_); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// The chunk's first result as text; its error, with "error: " before it.
  std::string run(const std::string& chunk) {
    lua_settop(L_, 0);
    if (luaL_dostring(L_, chunk.c_str()) != 0) return std::string("error: ") + lua_tostring(L_, -1);
    if (lua_gettop(L_) == 0) return {};
    const char* text = lua_tostring(L_, 1);
    return text ? text : luaL_typename(L_, 1);
  }

  lua_State* lua() const { return L_; }
  Context& context() { return *context_; }
  /// For a context whose rights are not trusted.
  void restrict() {
    const auto body = [](lua_State* L) { return restrict_bindings(L), 0; };
    if (lua_cpcall(L_, body, nullptr) != 0) throw std::runtime_error(lua_tostring(L_, -1));
  }

 private:
  std::shared_ptr<Context> context_;
  lua_State* L_;
};

}  // namespace gpulua
