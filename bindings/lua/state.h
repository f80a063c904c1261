#pragma once

#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "bindings/lua/collection_pace.h"
#include "bindings/lua/held_values.h"
#include "bindings/lua/nil_source.h"
#include "bindings/lua/scope.h"
#include "bindings/lua/signatures.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/expressions/format.h"
#include "src/expressions/random.h"
#include "src/runtime/context.h"

namespace gpulua {

struct CallerConditions;
struct LuaChunks;
class UnheldMask;
class LibraryWork;
class Ranks;

/// The library's data of one Lua state: the context, the callbacks of Host, and settings of the script.
class Bindings : public Host {
 public:
  Bindings(lua_State* main, std::shared_ptr<Context> context);
  ~Bindings() override;

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& context_ref() const { return context_; }
  OpenDevice& device() const { return *context_->current(); }
  /// The Lua thread that calls the library, or has called it.
  lua_State* running() const { return running_; }

  void collect() override;
  Origin origin() override;

  /// The host program ends this Lua state: what it has kept until then is no mistake.
  bool ends = false;

  /// The function of the script whose line origin() gives.
  struct Caller {
    std::uint64_t number = 0;  // another one for another function than the last
    int line = 0;              // 0: no script runs
    int level = 0;             // on Lua's stack: 1 has called the running function itself
  };
  Caller caller() {
    const int line = origin().line;
    return {caller_number_, caller_level_ > 0 ? line : 0, caller_level_};
  }

  /// Sets the running Lua thread for the duration of a call from it.
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

  /// Runs a function of the library while the context has an observer, which learns what the function does.
  int (*run_observed)(lua_State* L, LuaFunction function, const CallSignature* signature) = nullptr;
  /// The running gpu.scope calls, the innermost last.
  std::vector<Scope> scopes;
  NilSource gave_nil;
  /// The default stream of random numbers.
  std::shared_ptr<RandomStream> random = std::make_shared<RandomStream>();
  /// How many gpu.checkpoint functions run. They may be run again from where the default stream stood, and no other.
  int repeatable_calls = 0;
  /// How arrays are shown.
  PrintOptions printing;
  /// The ranks of the job, once a call has connected them.
  std::shared_ptr<Ranks> ranks;
  std::shared_ptr<LibraryWork> library_work;
  /// The signatures of the state's functions.
  CallSignatures signatures;
  std::shared_ptr<CallerConditions> conditions;
  CollectionPace pace;
  HeldValues held_values;
  /// The reference of the metatable of arrays in the registry.
  int array_metatable = LUA_NOREF;
  std::shared_ptr<UnheldMask> unheld_mask;
  /// The texts of Lua functions that run on devices.
  std::shared_ptr<LuaChunks> chunks;

 private:
  const char* lasting_name(const char* chunk);
  /// Where no frame of a script is left: its function ended with the call, `return gpu.linalg.inv(x)`, and the host
  /// program had called that function. Of one in which several lines may have made the call: its first.
  Origin origin_of_tail_call(bool in_library);

  lua_State* running_;
  std::shared_ptr<Context> context_;
  std::unordered_set<std::string> chunks_;  // names of chunks that an Origin points to
  Origin origin_;                           // of the running call; set by the first origin()
  const void* last_caller_ = nullptr;
  const char* last_chunk_ = nullptr;
  std::uint64_t caller_number_ = 0;  // counts the changes of last_caller_
  int caller_level_ = 0;             // of origin_
};

/// A Lua value that stays alive as long as this, or the state.
class KeptValue {
 public:
  /// Pops the value.
  KeptValue(lua_State* L, Context& context) : context_(context), reference_(luaL_ref(L, LUA_REGISTRYINDEX)) {}
  ~KeptValue() {
    // Without a host the state is closed, and the value is gone.
    if (auto* const bindings = static_cast<Bindings*>(context_.host()))
      luaL_unref(bindings->running(), LUA_REGISTRYINDEX, reference_);
  }
  KeptValue(const KeptValue&) = delete;
  KeptValue& operator=(const KeptValue&) = delete;

  /// The value is in the registry, under this number.
  const int& reference() const { return reference_; }

 private:
  Context& context_;
  int reference_;
};

/// The Bindings of the state. Only for functions set by set_functions. Throws Error while the state closes, after the
/// bindings were finalised: an older object's finalizer can still call the module's functions.
inline Bindings& bindings_of(lua_State* L) {
  auto& owner = *static_cast<std::optional<Bindings>*>(lua_touserdata(L, lua_upvalueindex(bindings_upvalue)));
  if (!owner) throw Error("[gpu] the Lua state is being closed, and its devices are closed already");
  return *owner;
}

/// The registry key of the std::optional<Bindings>.
inline constexpr const char* bindings_key = "gpulua.bindings";

/// The same for any caller; null where the state has none, or none any more.
Bindings* find_bindings(lua_State* L);

/// The position and message of the state's last call that returned nil and a message: "script.lua:3: [load] cannot open
/// x.npy: ..."; empty if there was none, or the running line has nothing to do with it. For reports of errors about a
/// nil.
std::string source_of_nil(lua_State* L);

/// True within a function that gpu.fuse or gpu.graph records, on any device.
bool is_recording(const Context& context);

/// The dtype of real numbers where nothing says which: gpu.default_dtype.
inline DType default_dtype(lua_State* L) {
  return bindings_of(L).context().default_dtype;
}

/// Pushes nil and the message, the results of a call that fails without misuse. Returns 2. Where the call is a
/// statement it throws Error.
int push_nil(lua_State* L, const std::string& message);

/// Calls the helper `name` of gpu.lua with the `arguments` values at the top of the stack and replaces them by
/// `results` values. Throws the helper's errors as Error.
void call_helper(lua_State* L, const char* name, int arguments, int results);

}  // namespace gpulua
