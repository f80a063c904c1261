#pragma once

#include <lua.hpp>

namespace gpulua {

class Context;

/// Makes Ctrl-C stop what the Lua state runs with the error "interrupted!", and the waits of `context` too, until the
/// state is closed. A second Ctrl-C within a second, or one that comes while the first still waits to be honoured, ends
/// the process. Called on the thread that runs the state. At most one state of the process can have this: a signal has
/// no argument. May raise a Lua error.
void open_interrupts(lua_State* L, Context& context);

/// What Ctrl-C means now.
enum class InterruptTarget { script, prompt };

/// Sets it, and forgets what came before. While the prompt is the target a Ctrl-C only makes system calls of the thread
/// fail with EINTR, and prompt_interrupted() true.
void set_interrupt_target(InterruptTarget target);
bool prompt_interrupted();
/// True iff a Ctrl-C came since the script became the target.
bool script_interrupted();

}  // namespace gpulua
