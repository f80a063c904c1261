#pragma once

// The Lua that the library works with. libgpulua.so is linked to none: it brings a forwarder for each function of Lua's
// C API, a jump through a table that is filled once a process. So a program with a LuaJIT of its own uses that one, and
// a program with another Lua, or none, gets a LuaJIT whose names it does not see.

namespace gpulua {

/// Fills the table from the program's LuaJIT: for a state that the program has made. `caller` is an address in the code
/// that has handed over the state; its shared object is asked when the program as a whole exports no LuaJIT. Returns
/// null, or why the program's LuaJIT cannot be used: a text that stays until the thread's next call. No function of Lua
/// may be called before this or connect_own_lua has succeeded. Any thread.
const char* connect_program_lua(const void* caller);

/// The same for a state that the library makes: the program's LuaJIT where it exports one, else the installed
/// libluajit-5.1.so.2.
const char* connect_own_lua();

/// True once either has succeeded.
bool lua_is_connected();

}  // namespace gpulua
