// Does not compile: gpulua.hpp says what to write in place of it.
#include <gpulua/gpulua.hpp>

void refused(gpulua::State& state);

void refused(gpulua::State& state) {
#if defined(REFUSED_bind)
  state.call<double>("f", [](double x) { return x; });
#elif defined(REFUSED_value)
  state.get<int>("n");
#else
  const std::vector<double> v(3);
  state.call<double>("f", v);
#endif
}
