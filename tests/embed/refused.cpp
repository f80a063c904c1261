// Does not compile: gpulua.hpp says what to write in place of it.
#include <chrono>
#include <gpulua/gpulua.hpp>
#include <map>

struct Board {
  double read() const;
};

void refused(gpulua::State& state, const gpulua::Kernel& kernel, const gpulua::Array& x);

void refused(gpulua::State& state, const gpulua::Kernel& kernel, const gpulua::Array& x) {
  std::vector<double> v(3);
  const std::vector<double> fixed(3);
  std::vector<bool> bits(3);
#if defined(REFUSED_argument)
  state.call<double>("f", [](double y) { return y; });
#elif defined(REFUSED_value)
  state.get<int>("n");
#elif defined(REFUSED_copy)
  state.call<double>("f", v);
#elif defined(REFUSED_deadline)
  state.call<void>("f", std::chrono::milliseconds(5));
#elif defined(REFUSED_time)
  state.get<double(double)>("f").within(2.5, 100);
#elif defined(REFUSED_pause)
  state.collect(5);
#elif defined(REFUSED_script)
  state.script("x = 1");
#elif defined(REFUSED_untyped)
  state.call("f", 2.5);
#elif defined(REFUSED_output)
  const double y = state.run("return 6 * 7");
#elif defined(REFUSED_member)
  state.bind<double()>("read", &Board::read);
#elif defined(REFUSED_parameters)
  state.bind<double(double)>("f", [](const gpulua::Array&) { return 1.0; });
#elif defined(REFUSED_part)
  x[0];
#elif defined(REFUSED_map)
  state.set("settings", std::map<std::string, double>());
#elif defined(REFUSED_launch)
  kernel(x);
#elif defined(REFUSED_constant)
  state.borrow(fixed);
#elif defined(REFUSED_temporary)
  state.borrow(std::vector<double>(3));
#elif defined(REFUSED_bits)
  state.borrow(bits);
#elif defined(REFUSED_signature)
  state.bind("f", [](double y) { return y; });
#elif defined(REFUSED_result)
  state.call<std::vector<double>>("f");
#elif defined(REFUSED_element)
  x.data();
#elif defined(REFUSED_index)
  state["gain"] = 3.0;
#elif defined(REFUSED_function)
  state.set_function("f", [](double y) { return y; });
#elif defined(REFUSED_state)
  gpulua::State other = state;
#endif
}
