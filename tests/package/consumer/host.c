/* A program with a LuaJIT of its own that links libgpulua.so. */
#include <gpulua/gpulua.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

int main(void) {
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, luaopen_gpu);
  lua_setglobal(L, "open");
  const int failed = luaL_dostring(L, "print(open().ones(3):sum():item())");
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return failed;
}
