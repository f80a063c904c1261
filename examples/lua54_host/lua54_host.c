/* A program with scripts in Lua 5.4 that gives them the GPU. Two Luas are in the process: the program's own, and the
 * LuaJIT that gpulua opens for itself. They see nothing of each other; numbers and text go through the C interface. */
#include <gpulua/gpulua.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

/* gpu(code, number...): runs the code of LuaJIT with the numbers as arguments, and gives its numbers. */
static int gpu(lua_State* L) {
  gpulua_state* state = lua_touserdata(L, lua_upvalueindex(1));
  size_t size;
  const char* code = luaL_checklstring(L, 1, &size);
  gpulua_value in[8] = {0}, out[8] = {0};
  const int count = lua_gettop(L) - 1;
  luaL_argcheck(L, count <= 8, 10, "at most 8 numbers");
  for (int i = 0; i < count; ++i) {
    in[i].kind = GPULUA_NUMBER;
    in[i].as.number = luaL_checknumber(L, i + 2);
  }
  gpulua_function* function;
  if (gpulua_load(state, code, size, "gpu", &function) != GPULUA_OK) return luaL_error(L, "%s", gpulua_error(state));
  size_t results = 8;
  const gpulua_status status = gpulua_call(function, in, (size_t)count, out, &results, 0);
  gpulua_function_release(function);
  if (status != GPULUA_OK) return luaL_error(L, "%s", gpulua_error(state));
  for (size_t i = 0; i < results; ++i) lua_pushnumber(L, out[i].as.number);
  return (int)results;
}

static const char script[] =
    "local n <const> = 1000000 // 1\n" /* Lua 5.4: constants, integer division */
    "local sum = gpu('local n = ... return (gpu.arange(n) * 2):sum():item()', n)\n"
    "assert(sum == n * (n - 1))\n"
    "local good, message = pcall(gpu, 'return gpu.ones(3) + gpu.ones(4)')\n"
    "assert(not good and message:find('shapes', 1, true), message)\n"
    "print(('%s with %d numbers on the device: %d'):format(_VERSION, n, sum // 1))\n";

int main(void) {
  gpulua_state* state;
  if (gpulua_create(NULL, &state) != GPULUA_OK) {
    fprintf(stderr, "%s\n", gpulua_error(NULL));
    return 1;
  }
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, state);
  lua_pushcclosure(L, gpu, 1);
  lua_setglobal(L, "gpu");
  const int failed = luaL_dostring(L, script);
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  gpulua_destroy(state);
  return failed;
}
