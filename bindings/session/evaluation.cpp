// Explicit evaluation of pending arrays: x:eval(), gpu.eval(a, b), gpu.explain(x).

#include <boost/container/small_vector.hpp>

#include "bindings/arrays/lua_array.h"
#include "bindings/kernels/lua_kernel.h"
#include "bindings/session/session_parts.h"
#include "src/array/evaluator.h"

namespace gpulua {

namespace {

using Nodes = boost::container::small_vector<Node*, 8>;

Nodes check_arrays(lua_State* L, const char* op) {
  Nodes nodes;
  for (int index = 1; index <= lua_gettop(L); ++index) {
    if (lua_istable(L, index)) fail(op, "the arrays as arguments, (x, y) or unpack(t)", L, index);
    nodes.push_back(check<Array>(L, index, op).get());
  }
  if (nodes.empty()) fail(op, "arrays", L, 1);
  return nodes;
}

/// gpu.eval(x, ...)
/// gpu.eval(a, b, ...), x:eval(): computes the arrays together, in as few kernels as possible, and returns them.
int eval(lua_State* L) {
  const Nodes nodes = check_arrays(L, "eval");
  evaluate({nodes.data(), nodes.size()});
  return lua_gettop(L);
}

/// gpu.explain(x, ...)
/// gpu.explain(x, ...): the plan and the kernels that would compute the arrays, as text. gpu.explain(kernel): the
/// engine that runs it.
int lua_explain(lua_State* L) {
  const KernelRef* kernel = test<KernelRef>(L, 1);
  if (kernel != nullptr && lua_gettop(L) > 1) fail("explain", "one kernel, or arrays", L, 2);
  std::string text;
  if (kernel != nullptr) {
    text = "kernel " + (*kernel)->signature() + "\nengine " + engine_of(**kernel) + "\n";
    if (const std::string& limits = (*kernel)->kernel->entry().limits; !limits.empty())
      text += "limits " + limits + "\n";
  } else {
    const Nodes nodes = check_arrays(L, "explain");
    text = nodes.front()->device().evaluator().explain({nodes.data(), nodes.size()});
  }
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

}  // namespace

void evaluate_arrays(lua_State* L, int first) {
  Nodes nodes;
  for (int index = first; index <= lua_gettop(L); ++index)
    if (const Array* array = test<Array>(L, index)) nodes.push_back(array->get());
  evaluate({nodes.data(), nodes.size()});
}

void open_evaluation(lua_State* L) {
  set_functions(L, {{"eval", protect<eval>}, {"explain", protect<lua_explain>}});
}

void open_evaluation_methods(lua_State* L) {
  set_functions(L, {{"eval", protect<eval>}, {"explain", protect<lua_explain>}});
}

}  // namespace gpulua
