// A program with a LuaJIT of its own, as those with sol2 or plain C functions have: the C interface works in its
// lua_State.

#include <lua.hpp>
#include <memory>

#include "tests/embed/api.h"

namespace {

/// The program's Lua.
class ProgramLua {
 public:
  ProgramLua() { luaL_openlibs(L_); }
  ~ProgramLua() { lua_close(L_); }
  ProgramLua(const ProgramLua&) = delete;
  ProgramLua& operator=(const ProgramLua&) = delete;

  lua_State* get() const { return L_; }
  /// The chunk's first result as text, or its error.
  std::string run(const char* chunk) {
    lua_settop(L_, 0);
    if (luaL_dostring(L_, chunk) != 0) return std::string("error: ") + lua_tostring(L_, -1);
    const char* text = lua_gettop(L_) > 0 ? lua_tostring(L_, 1) : "";
    return text != nullptr ? text : luaL_typename(L_, 1);
  }

 private:
  lua_State* L_ = luaL_newstate();
};

gpulua_options over(const ProgramLua& lua) {
  gpulua_options options = options_with(0);
  options.lua_state = lua.get();
  return options;
}

/// The program's C function: takes an array and a number, gives the array's handle to the C interface, and pushes what
/// that makes of it.
int scale(lua_State* L) {
  gpulua_array* in = gpulua_to_array(L, 1);
  if (in == nullptr) return luaL_error(L, "expected an array, got %s", luaL_typename(L, 1));
  gpulua_value arguments[2] = {};
  arguments[0].kind = GPULUA_ARRAY;
  arguments[0].as.array = in;
  arguments[1] = number_value(lua_tonumber(L, 2));
  gpulua_value out{};
  size_t count = 1;
  auto* const multiply = static_cast<gpulua_function*>(lua_touserdata(L, lua_upvalueindex(1)));
  const gpulua_status status = gpulua_call(multiply, arguments, 2, &out, &count, 0);
  gpulua_array_release(in);
  if (status != GPULUA_OK) return luaL_error(L, "%s", gpulua_error(nullptr));
  const int results = gpulua_push_array(L, out.as.array);
  gpulua_array_release(out.as.array);
  return results;
}

/// The program's C function: calls the Lua function whose handle it has, which calls it again.
int call_again(lua_State* L) {
  auto* const function = *static_cast<gpulua_function**>(lua_touserdata(L, lua_upvalueindex(1)));
  if (gpulua_call(function, nullptr, 0, nullptr, nullptr, 0) == GPULUA_OK) return 0;
  lua_pushstring(L, gpulua_error(nullptr));
  return lua_error(L);
}

gpulua_status note_and_try(gpulua_state* state, void* user, const gpulua_value* in, size_t in_count, gpulua_value* out,
                           size_t* out_count) {
  if (gpulua_run(state, "inner = k", 9, "nested") != GPULUA_OK) return gpulua_fail(state, gpulua_error(state));
  if (gpulua_destroy(state) != GPULUA_BUSY) return gpulua_fail(state, "the state was destroyed");
  gpulua_value k{};
  if (gpulua_get_value(state, "k", &k) != GPULUA_OK) return gpulua_fail(state, gpulua_error(state));
  *static_cast<double*>(user) += in_count == 1 ? in[0].as.number : 0;
  out[0] = number_value(k.as.number + 1);
  *out_count = 1;
  return GPULUA_OK;
}

void keep_line(void* user, const char* text, size_t size) {
  static_cast<std::string*>(user)->append(text, size).append("\n");
}

}  // namespace

// The first of the process: no state has connected the library to LuaJIT yet.
TEST_CASE("arrays on the stack of a state without gpulua_state, before any other call") {
  lua_State* const L = luaL_newstate();
  lua_pushnumber(L, 1);
  CHECK(gpulua_to_array(L, 1) == nullptr);
  CHECK(gpulua_push_array(L, nullptr) == 1);
  CHECK(lua_isnil(L, -1));
  CHECK(gpulua_to_array(L, 1) == nullptr);
  lua_close(L);
}

TEST_CASE("a lua_State without Lua's libraries is refused by name") {
  lua_State* const L = luaL_newstate();
  gpulua_options options = options_with(0);
  options.lua_state = L;
  gpulua_state* state = nullptr;
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(std::string(gpulua_error(nullptr)) ==
        "[create] expected a lua_State with Lua's libraries, got one without `package`; call luaL_openlibs(L) first");
  lua_pushcfunction(L, luaopen_gpu);
  CHECK(lua_pcall(L, 0, 1, 0) != 0);
  CHECK(std::string(lua_tostring(L, -1)) ==
        "[gpu] expected a lua_State with Lua's libraries, got one without `package`; call luaL_openlibs(L) first");
  lua_close(L);
}

TEST_CASE("arrays cross between the program's C functions and scripts") {
  ProgramLua lua, other;
  ApiState state(over(lua)), stranger(over(other));
  REQUIRE(state.run("multiply = gpu.multiply") == GPULUA_OK);
  lua_pushlightuserdata(lua.get(), state.function("multiply"));
  lua_pushcclosure(lua.get(), &scale, 1);
  lua_setglobal(lua.get(), "scale");
  CHECK(lua.run("return scale(gpu.arange(4), 10):sum():item()") == "60");
  CHECK(lua.run("return require 'gpu' == gpu") == "boolean");
  CHECK(lua.run("scale({}, 1)").find("expected an array, got table") != std::string::npos);

  const int64_t shape = 3;
  gpulua_array* foreign = nullptr;
  REQUIRE(gpulua_array_zeros(stranger.get(), "float32", 1, &shape, &foreign) == GPULUA_OK);
  lua_settop(lua.get(), 0);
  CHECK(gpulua_push_array(lua.get(), foreign) == 1);
  CHECK(lua_isnil(lua.get(), -1));
  CHECK(gpulua_push_array(other.get(), foreign) == 1);
  CHECK(lua_isuserdata(other.get(), -1));
  CHECK(gpulua_to_array(lua.get(), -1) == nullptr);
  ProgramLua plain;
  lua_pushinteger(plain.get(), 1);
  CHECK(gpulua_to_array(plain.get(), -1) == nullptr);
}

TEST_CASE("the program's Lua calls the program's functions, and lives longer than the state") {
  ProgramLua lua;
  std::string lines;
  double sum = 0;
  lua.run("original = print; written = {} print = function(...) written[#written + 1] = ... end");
  gpulua_options options = over(lua);
  options.print = &keep_line;
  options.user = &lines;
  {
    ApiState state(options);
    REQUIRE(gpulua_register(state.get(), "host", &note_and_try, &sum) == GPULUA_OK);
    // By the program's own lua_pcall, and in a coroutine.
    CHECK(lua.run("k = 1 print('a', 2) return host(20)") == "2");
    CHECK(lua.run("return coroutine.wrap(function() return host(3) end)()") == "2");
    CHECK(sum == 23);
    CHECK(lines == "a\t2\n");
    // And by the interface, on the same globals.
    REQUIRE(state.run("x = gpu.ones(3) r = host(1)") == GPULUA_OK);
    CHECK(sum == 24);
  }
  CHECK(lua.run("return host(1)").find("got one of a state that was destroyed") != std::string::npos);
  CHECK(sum == 24);
  CHECK(lua.run("print('later') return written[1]") == "later");
  CHECK(lines == "a\t2\n");
  CHECK(lua.run("return (x + gpu.ones(3)):sum():item()") == "6");
  // Once more on the same Lua.
  ApiState again(over(lua));
  REQUIRE(again.run("y = (x * 2):sum():item()") == GPULUA_OK);
  CHECK(again.number("y") == 6);
}

TEST_CASE("a lua_State has one gpulua_state, and a module that is there keeps its context") {
  ProgramLua lua;
  gpulua_state* second = nullptr;
  gpulua_options options = over(lua);
  {
    ApiState first(options);
    CHECK(gpulua_create(&options, &second) == GPULUA_ARGUMENT);
    CHECK(std::string(gpulua_error(nullptr)).find("expected a lua_state without gpulua_state") != std::string::npos);
  }
  ProgramLua opened;
  lua_pushcfunction(opened.get(), &luaopen_gpu);
  lua_call(opened.get(), 0, 0);
  options = over(opened);
  options.device = "cpu";
  CHECK(gpulua_create(&options, &second) == GPULUA_ARGUMENT);
  CHECK(std::string(gpulua_error(nullptr)).find("call gpulua_create before luaopen_gpu") != std::string::npos);
  ApiState state(over(opened));
  REQUIRE(state.run("x = gpu.ones(5):sum():item()") == GPULUA_OK);
  CHECK(opened.run("return x") == "5");
}

TEST_CASE("a lua_State that is closed before its gpulua_state ends that one") {
  int released = 0;
  double calls = 0;
  auto lua = std::make_unique<ProgramLua>();
  gpulua_state* state = nullptr;
  const gpulua_options options = over(*lua);
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  // Objects of a script's that are older and younger than the state call it in their finalizers.
  lua->run("older = newproxy(true) getmetatable(older).__gc = function() pcall(host) end");
  REQUIRE(gpulua_register(state, "host", &note_and_try, &calls) == GPULUA_OK);
  const std::string script =
      "x = gpu.ones(3); y = x * 2; function f() end; late = newproxy(true) getmetatable(late).__gc = function() "
      "pcall(host) end";
  REQUIRE(gpulua_run(state, script.data(), script.size(), "script") == GPULUA_OK);
  static float memory[3] = {1, 2, 3};
  const int64_t shape = 3;
  const auto count = [](void* user) { ++*static_cast<int*>(user); };
  gpulua_value lent = array_value(nullptr);
  REQUIRE(gpulua_array_device(state, "cpu", memory, "float32", 1, &shape, nullptr, count, &released, &lent.as.array) ==
          GPULUA_OK);
  REQUIRE(gpulua_set(state, "lent", &lent) == GPULUA_OK);
  gpulua_function* function = nullptr;
  REQUIRE(gpulua_get(state, "f", &function) == GPULUA_OK);
  lua.reset();
  CHECK(released == 1);
  CHECK(gpulua_run(state, "x = 1", 5, "script") == GPULUA_ARGUMENT);
  CHECK(std::string(gpulua_error(nullptr)) ==
        "[run] expected a gpulua_state, got a gpulua_state whose lua_State the program has closed; call gpulua_destroy "
        "before lua_close");
  CHECK(gpulua_call(function, nullptr, 0, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(gpulua_array_dtype(lent.as.array) == nullptr);
  CHECK(gpulua_array_release(lent.as.array) == GPULUA_ARGUMENT);
  CHECK(gpulua_interrupt(state) == GPULUA_ARGUMENT);
  CHECK(gpulua_set_stream(state, nullptr) == GPULUA_ARGUMENT);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_ARGUMENT);
}

TEST_CASE("a state in a coroutine of the program's that has ended") {
  ProgramLua lua;
  gpulua_options options = over(lua);
  lua_State* const coroutine = lua_newthread(lua.get());
  options.lua_state = coroutine;
  gpulua_state* state = nullptr;
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  lua.run("collectgarbage() collectgarbage()");
  REQUIRE(gpulua_run(state, "x = 5", 5, "script") == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  CHECK(lua.run("return x") == "5");
}

TEST_CASE("the program's debug hook comes back after a call with a deadline") {
  ProgramLua lua;
  const auto hook = [](lua_State*, lua_Debug*) {};
  ApiState state(over(lua));
  REQUIRE(state.run("function spin() while true do end end") == GPULUA_OK);
  lua_sethook(lua.get(), hook, LUA_MASKCOUNT, 77);
  CHECK(gpulua_call(state.function("spin"), nullptr, 0, nullptr, nullptr, 10) == GPULUA_DEADLINE);
  CHECK(lua_gethook(lua.get()) == static_cast<lua_Hook>(hook));
  CHECK(lua_gethookcount(lua.get()) == 77);
}

TEST_CASE("the program's Lua and the C interface call each other without an end and fill no C stack") {
  const ProgramLua lua;
  ApiState state(over(lua));
  gpulua_function* again = nullptr;
  lua_pushlightuserdata(lua.get(), &again);
  lua_pushcclosure(lua.get(), &call_again, 1);
  lua_setglobal(lua.get(), "call_again");
  REQUIRE(state.run("function again() call_again() end") == GPULUA_OK);
  again = state.function("again");
  CHECK(lua_gettop(lua.get()) == 0);
  CHECK(gpulua_call(again, nullptr, 0, nullptr, nullptr, 0) == GPULUA_RUNTIME);
  CHECK(state.error().find("stack overflow: scripts and functions of the host program") != std::string::npos);
  CHECK(state.run("assert(gpu.ones(3):sum():item() == 3)") == GPULUA_OK);
}
