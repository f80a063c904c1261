// Tapes and reverse passes as Lua values, for library/gradients/.

#include "bindings/gradients/gradient_parts.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/number_argument.h"
#include "bindings/gradients/derived_call.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/signatures.h"
#include "bindings/lua/state.h"
#include "src/array/array.h"
#include "src/array/node_observer.h"
#include "src/expressions/expression.h"
#include "src/gradients/reverse.h"

namespace gpulua {

namespace {

using TapeHandle = std::shared_ptr<Tape>;

struct Pass {
  std::shared_ptr<Reverse> reverse;
  std::int32_t rule = no_place;  // the call whose inputs are to get their cotangents
};

}  // namespace

template <>
struct LuaType<TapeHandle> {
  static constexpr const char* name = "a tape";
};

template <>
struct LuaType<Pass> {
  static constexpr const char* name = "a reverse pass";
};

namespace {

TapeHandle& check_tape(lua_State* L) {
  return check<TapeHandle>(L, 1, "grad");
}

Pass& check_pass(lua_State* L) {
  return check<Pass>(L, 1, "grad");
}

/// open_tape(op): a tape that notes what follows from its variables. `op`: the name in errors.
int open_tape(lua_State* L) {
  // The signature's names are constants that live as long as the state; texts of the library's files do too.
  push(L, std::make_shared<Tape>(bindings_of(L).context(), lua_tostring(L, 1)));
  return 1;
}

/// variable(tape, x): the array or number as a variable.
int variable(lua_State* L) {
  const TapeHandle tape = check_tape(L);
  const Array* array = test<Array>(L, 2);
  push_array(L, tape->variable(array ? *array : weak_constant(bindings_of(L).device(), *to_scalar(L, 2))));
  return 1;
}

/// close_tape(tape, results...)
int close_tape(lua_State* L) {
  Tape& tape = *check_tape(L);
  for (int i = 2; i <= lua_gettop(L); ++i)
    if (const Array* array = test<Array>(L, i)) tape.find_place(**array);
  tape.close();
  return 0;
}

/// follows(tape, x): whether the array depends on a variable.
int follows(lua_State* L) {
  lua_pushboolean(L, check_tape(L)->place(*check<Array>(L, 2, "grad")) != no_place);
  return 1;
}

/// has_tape(): whether a tape is open.
int has_tape(lua_State* L) {
  lua_pushboolean(L, bindings_of(L).context().observer != nullptr);
  return 1;
}

/// is_recorded(): whether a tape, gpu.fuse or gpu.graph records operations. Nothing may read their results' elements
/// then.
int is_recorded(lua_State* L) {
  const Context& context = bindings_of(L).context();
  lua_pushboolean(L, context.observer != nullptr || is_recording(context));
  return 1;
}

/// depends(values...): whether a tape is open and one of the arrays, or of those in the lists, depends on a variable.
int depends_on_variables(lua_State* L) {
  NodeObserver* observer = bindings_of(L).context().observer;
  lua_pushboolean(L, observer && depends(L, 1, lua_gettop(L), *observer));
  return 1;
}

/// refuse_derivative(op [, of]): raises the error about a function without a derivative. `of`: " for its operand 1".
int refuse(lua_State* L) {
  refuse_derivative(check_string(L, 1, "grad", "a name"), lua_isstring(L, 2) ? lua_tostring(L, 2) : "");
}

/// reverse(tape, each): a pass over the closed tape.
int reverse(lua_State* L) {
  const TapeHandle& tape = check_tape(L);
  push(L, Pass{std::make_shared<Reverse>(tape, bindings_of(L).context(), lua_toboolean(L, 2))});
  return 1;
}

/// add_cotangent(pass, y [, g]): g, by default 1, is the derivative of the whole for y, an array that follows from a
/// variable.
int add_cotangent(lua_State* L) {
  Reverse& reverse = *check_pass(L).reverse;
  const Array& y = check<Array>(L, 2, "grad");
  const Array* g = test<Array>(L, 3);
  reverse.add(reverse.tape().place(*y), g ? *g : constant(y->device(), Dims(y->layout.shape), y->dtype, Scalar(1.0)));
  return 0;
}

/// Pushes a copy of a table, and of the plain ones in it, that has readers in the place of arrays that were written
/// after the call. `found`: for each array whether it was there.
void push_with_readers(lua_State* L, int table, std::span<const TapeMemory> memory, std::vector<bool>& found) {
  luaL_checkstack(L, 5, nullptr);
  lua_newtable(L);
  const int copy = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, table) != 0;) {
    const Array* array = test<Array>(L, -1);
    for (std::size_t i = 0; array && i < memory.size(); ++i) {
      if (!memory[i].kept || *array != memory[i].array) continue;
      found[i] = true;
      push_array(L, memory[i].kept);
      break;
    }
    if (lua_istable(L, -1) && !lua_getmetatable(L, -1)) push_with_readers(L, lua_gettop(L), memory, found);
    lua_pushvalue(L, copy + 1);
    lua_insert(L, -2);
    lua_rawset(L, copy);
    lua_settop(L, copy + 1);
  }
}

/// Pushes what note_call() has kept of a rule's call.
void push_call(lua_State* L, const TapeEntry& entry, const char* op) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, *entry.rule);
  const std::span<const TapeMemory> memory = entry.memory;
  if (std::ranges::none_of(memory, [](const TapeMemory& one) { return one.kept != nullptr; })) return;
  const int call = lua_gettop(L);
  lua_newtable(L);
  std::vector<bool> found;
  for (const char* field : {"rule", "arrays", "arguments", "results"}) {
    lua_getfield(L, call, field);
    if (field != std::string_view("results")) found.assign(memory.size(), false);
    if (lua_istable(L, -1)) push_with_readers(L, lua_gettop(L), memory, found);
    lua_setfield(L, call + 1, field);
    lua_settop(L, call + 1);
  }
  // The array of a sparse matrix is none of the arguments.
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].kept && !found[i]) refuse_written(entry, op);
  lua_remove(L, call);
}

/// next_rule(pass): the next call that a rule derives, as note_call() has kept it, and the cotangents of its results,
/// false for one without; nothing at the end.
int next_rule(lua_State* L) {
  Pass& pass = check_pass(L);
  pass.rule = pass.reverse->next_rule();
  if (pass.rule == no_place) return 0;
  const TapeEntry& entry = pass.reverse->tape().entry(pass.rule);
  push_call(L, entry, pass.reverse->tape().op());
  const std::vector<Array> cotangents = pass.reverse->cotangents_of(pass.rule);
  for (const Array& one : cotangents)
    if (one)
      push_array(L, one);
    else
      lua_pushboolean(L, false);
  return 1 + static_cast<int>(cotangents.size());
}

/// needs(pass): for each array among the arguments of that call, whether it depends on a variable.
int needs(lua_State* L) {
  const Pass& pass = check_pass(L);
  const auto& inputs = pass.reverse->tape().entry(pass.rule).inputs;
  lua_createtable(L, static_cast<int>(inputs.size()), 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    lua_pushboolean(L, inputs[i].place != no_place);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// contribute(pass, gradients...): the cotangents that the rule has given for the arrays among the call's arguments,
/// false or nil for none.
int contribute(lua_State* L) {
  const Pass& pass = check_pass(L);
  const TapeEntry& entry = pass.reverse->tape().entry(pass.rule);
  for (std::size_t i = 0; i < entry.inputs.size(); ++i) {
    const Array* g = test<Array>(L, static_cast<int>(i) + 2);
    if (g && entry.inputs[i].place != no_place) pass.reverse->contribute(entry, i, *g, false);
  }
  return 0;
}

/// gradient(pass, x): the derivative for the variable; nil: nothing depends on it.
int gradient(lua_State* L) {
  Reverse& reverse = *check_pass(L).reverse;
  const Array array = reverse.gradient(reverse.tape().place(*check<Array>(L, 2, "grad")));
  if (!array) return 0;
  push_array(L, array);
  return 1;
}

/// end_pass(pass, tape): what both keep is free now, not when the collector comes. Neither is used again.
int end_pass(lua_State* L) {
  check_pass(L).reverse.reset();
  check<TapeHandle>(L, 2, "grad").reset();
  return 0;
}

/// detach(x): the same elements, constant for derivatives.
int detach(lua_State* L) {
  const Array& array = check<Array>(L, 1, "detach");
  NodeObserver* const observer = array->device().context().observer;
  const ObservedBy nobody(array->device().context(), nullptr);
  const Array same = same_elements(array);
  if (observer) observer->detached(*same, *array);
  push_array(L, same);
  return 1;
}

/// pause(): nothing is noted until resume() gets what this returns.
struct PausedObserver {
  NodeObserver* observer;
};

}  // namespace

template <>
struct LuaType<PausedObserver> {
  static constexpr const char* name = "a pause";
};

namespace {

int pause(lua_State* L) {
  Context& context = bindings_of(L).context();
  push(L, PausedObserver{std::exchange(context.observer, nullptr)});
  return 1;
}

int resume(lua_State* L) {
  bindings_of(L).context().observer = check<PausedObserver>(L, 1, "grad").observer;
  return 0;
}

/// note_rule(rule, arguments, values...): the rule derives a call with that many arguments, the first values; the
/// others are its results.
int note_rule(lua_State* L) {
  note_call(L, 1, 3, static_cast<int>(lua_tointeger(L, 2)), bindings_of(L).context());
  return 0;
}

/// core.called_op(): the name of the library's function that the script called; nil where it called none.
int called_op(lua_State* L) {
  const CallSignature* called = called_function(L);
  if (!called) return 0;
  const std::string op = called->op();
  lua_pushlstring(L, op.data(), op.size());
  return 1;
}

}  // namespace

void add_gradients(lua_State* L) {
  find_bindings(L)->run_observed = &run_derived;
  new_type<TapeHandle>(L, {}, "tape:", {});
  new_type<Pass>(L, {}, "pass:", {});
  new_type<PausedObserver>(L, {}, "pause:", {});
  for (const char* key : {rules_key, constants_key}) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
    lua_setfield(L, -2, key == rules_key ? "rules" : "constants");
  }
  set_functions(L, {{"add_cotangent", protect<add_cotangent>},
                    {"called_op", protect<called_op>},
                    {"close_tape", protect<close_tape>},
                    {"contribute", protect<contribute>},
                    {"depends", protect<depends_on_variables>},
                    {"detach", protect<detach>},
                    {"end_pass", protect<end_pass>},
                    {"follows", protect<follows>},
                    {"gradient", protect<gradient>},
                    {"has_tape", protect<has_tape>},
                    {"is_recorded", protect<is_recorded>},
                    {"needs", protect<needs>},
                    {"next_rule", protect<next_rule>},
                    {"note_rule", protect<note_rule>},
                    {"open_tape", protect<open_tape>},
                    {"pause", protect<pause>},
                    {"refuse_derivative", protect<refuse>},
                    {"resume", protect<resume>},
                    {"reverse", protect<reverse>},
                    {"variable", protect<variable>}});
}

}  // namespace gpulua
