/* lua54 path/to/libgpulua.so: a program with Lua 5.4, whose functions have the names of LuaJIT's. A state of it gets an error. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  lua_State* L = luaL_newstate();
  if (argc != 2) return 2;
  luaL_openlibs(L);
  lua_pushstring(L, argv[1]);
  lua_setglobal(L, "path");
  const int failed = luaL_dostring(L, "assert(package.loadlib(path, 'luaopen_gpu'))()");
  const char* message = lua_tostring(L, -1);
  if (!failed || strstr(message, "[gpu] expected a state of LuaJIT") == NULL) {
    printf("FAILED: %s\n", failed ? message : "no error");
    return 1;
  }
  /* The state is whole. */
  const int good = luaL_dostring(L, "return 3 // 2") == 0 && lua_tointeger(L, -1) == 1;
  lua_close(L);
  puts(good ? "passed" : "FAILED: the state after the error");
  return !good;
}
