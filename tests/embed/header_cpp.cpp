// gpulua.hpp in its own right, in the newest standard of the compiler's: nothing is included before it.
#include <gpulua/gpulua.hpp>
#include <span>

int header_in_cpp(gpulua::State& state);

int header_in_cpp(gpulua::State& state) {
  const gpulua::Array zeros = state.zeros<float>({3});
  zeros.data<float>(GPULUA_NO_STREAM);
  const gpulua::Span<float> elements = zeros.span<float>();
  state.copy(std::span<float>(elements));
  state.bind<int(int)>("next", [](int x) { return x + 1; });
  return state.load<int(int, bool, const std::string&, const char*)>("return next(...)")(1, true, "a", "b");
}
