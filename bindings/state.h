#pragma once

#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "bindings/scope.h"
#include "bindings/signatures.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/expressions/random.h"
#include "src/runtime/context.h"

namespace gpulua {

/// What hangs on one Lua state: its context, and what the core asks of the script's side.
class Bindings : public Host {
 public:
  Bindings(lua_State* main, std::shared_ptr<Context> context);
  ~Bindings() override;

  Context& context() const { return *context_; }
  OpenDevice& device() const { return *context_->current(); }

  void collect() override;
  Origin origin() override;

  /// The Lua thread that runs now, for the length of a call from it.
  class Running {
   public:
    Running(Bindings& bindings, lua_State* L)
        : bindings_(bindings), previous_(bindings.running_), call_(*bindings.context_) {
      bindings_.running_ = L;
      bindings_.origin_ = {};
    }
    ~Running() {
      bindings_.running_ = previous_;
      bindings_.origin_ = {};
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Bindings& bindings_;
    lua_State* previous_;
    Context::Call call_;
  };

  /// One for each gpu.scope that is running, the innermost last.
  std::vector<Scope> scopes;
  /// The message of the last call that gave nil and a message, and where that was: a script that does not look at the
  /// message meets a nil later.
  std::string gave_nil;
  /// Where random numbers come from unless a generator is named.
  RandomStream random;
  /// How the functions are called.
  CallSignatures signatures;

 private:
  lua_State* running_;
  std::shared_ptr<Context> context_;
  std::unordered_set<std::string> chunks_;  // names of chunks that an Origin points to
  Origin origin_;                           // of the call that runs, once it has been asked for
  const void* last_caller_ = nullptr;
  const char* last_chunk_ = nullptr;
};

/// Of the state that L belongs to, inside a function set by set_functions. Throws Error where the state is being closed
/// and the bindings were finalised: an older object's finalizer may call what is left of the module.
inline Bindings& bindings_of(lua_State* L) {
  auto& owner = *static_cast<std::optional<Bindings>*>(lua_touserdata(L, lua_upvalueindex(bindings_upvalue)));
  if (!owner) throw Error("[gpu] the Lua state is being closed, and its devices are closed already");
  return *owner;
}

/// The results of a call that fails without being misuse: nil and the message.
int push_nil(lua_State* L, const std::string& message);

/// "script.lua:12: ", the line of the script that made the call; "" outside of one. Chunks of the library itself are
/// passed over. Of a call made as `return f(x)`, whose function has left the stack, that function's line where it is
/// known.
std::string caller_position(lua_State* L);

/// Calls function `name` of the library's own Lua file (gpu.lua) with the `arguments` values at the top of the stack,
/// which it replaces by `results` values. An error in it is thrown as Error.
void call_helper(lua_State* L, const char* name, int arguments, int results);

/// Runs `file`, one of the library's own, with the `arguments` values at the top of the stack, which it replaces by
/// `results` values.
void run_library_chunk(lua_State* L, const char* file, int arguments, int results);

// Each part adds its functions and types to the `gpu` table at the top of the stack.
void open_arrays(lua_State* L);
void open_check(lua_State* L);
void open_composed(lua_State* L);
void open_creation(lua_State* L);
void open_devices(lua_State* L);
void open_files(lua_State* L);
void open_evaluation(lua_State* L);
void open_images(lua_State* L);
void open_indexing(lua_State* L);
void open_kernels(lua_State* L);
void open_linear_algebra(lua_State* L);
/// Adds what measure.lua asks of C++ to the table at the top of the stack.
void add_measuring(lua_State* L);
void open_memory(lua_State* L);
void open_operations(lua_State* L);
void open_random(lua_State* L);
void open_reductions(lua_State* L);
void open_shapes(lua_State* L);
void open_scans(lua_State* L);
void open_sorting(lua_State* L);
void open_streams(lua_State* L);
void open_tail_calls(lua_State* L);
void open_transfer(lua_State* L);
void open_user_operations(lua_State* L);

}  // namespace gpulua
