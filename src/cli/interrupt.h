#pragma once

#include <lua.hpp>

namespace gpulua {

class Context;

/// What a second Ctrl-C does that comes within a second, or while the first still waits to be honoured.
enum class SecondInterrupt { ends_process, tries_again };

/// Makes Ctrl-C stop what the Lua state runs with the error "interrupted!", and the waits of `context` too, until the
/// state is closed. Called on the thread that runs the state. At most one state of the process can have this: a signal
/// has no argument. May raise a Lua error.
void open_interrupts(lua_State* L, Context& context, SecondInterrupt second);

/// What Ctrl-C means now.
enum class InterruptTarget { script, prompt };

/// Sets it, and forgets what came before. While the prompt is the target a Ctrl-C only makes system calls of the thread
/// fail with EINTR, and prompt_interrupted() true.
void set_interrupt_target(InterruptTarget target);
bool prompt_interrupted();
/// True iff a Ctrl-C came since the script became the target.
bool script_interrupted();

}  // namespace gpulua
