#ifndef GPULUA_GPULUA_H
#define GPULUA_GPULUA_H

/* gpulua inside another program: link or load libgpulua.so beside a LuaJIT of your own. The library brings no Lua; it
 * takes the functions of Lua's C API from the program. */

#ifdef __cplusplus
extern "C" {
#endif

#include <lua.h>

/* Pushes the module `gpu` and returns 1: what `require "gpu"` calls. A program registers it once for each state,
 *
 *   lua_getglobal(L, "package");
 *   lua_getfield(L, -1, "preload");
 *   lua_pushcfunction(L, luaopen_gpu);
 *   lua_setfield(L, -2, "gpu");
 *
 * or calls it by itself; called again on a state it gives the module that is there. Each state gets a context of its
 * own, with the configuration of the environment; states share nothing. While a state has the cpu device open, the
 * process's handlers of SIGSEGV, SIGBUS, SIGILL, SIGTRAP and SIGFPE are the library's, which passes on what is not a
 * fault of a kernel; GPULUA_FAULT_HANDLERS=0 in the environment leaves them out. Raises a Lua error when the environment's configuration makes no sense. Opens no device. */
__attribute__((visibility("default"))) int luaopen_gpu(lua_State* L);

#ifdef __cplusplus
}
#endif

#endif
