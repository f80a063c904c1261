// gpulua.hpp in its own right, in the newest standard of the compiler's: nothing is included before it.
#include <gpulua/gpulua.hpp>

int header_in_cpp(gpulua::State& state);

int header_in_cpp(gpulua::State& state) {
  state.bind<int(int)>("next", [](int x) { return x + 1; });
  return state.load<int(int, bool, const std::string&, const char*)>("return next(...)")(1, true, "a", "b");
}
