// Does not compile: gpulua.hpp says what to write in place of it.
#include <chrono>
#include <complex>
#include <deque>
#include <functional>
#include <gpulua/gpulua.hpp>
#include <iostream>
#include <map>
#include <optional>
#include <set>

struct Board {
  double read() const;
  double level;
};

enum class Mode { slow, fast };
double read_board(const Board& board);

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
#elif defined(REFUSED_out)
  state.bind<void(double, double&)>("f", [](double x, double& y) { y = x; });
#elif defined(REFUSED_out_called)
  double y = 0;
  state.get<void(double, double&)>("f")(1, y);
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
#elif defined(REFUSED_rows)
  state.copy(std::vector<std::vector<float>>(3));
#elif defined(REFUSED_structs)
  std::vector<Board> boards(3);
  state.borrow(boards);
#elif defined(REFUSED_apart)
  std::deque<float> apart(3);
  state.borrow(apart);
#elif defined(REFUSED_braces)
  state.borrow({1.0f, 2.0f});
#elif defined(REFUSED_device)
  state.borrow(v.data(), "cpu", {3});
#elif defined(REFUSED_owner)
  state.borrow(v.data(), std::make_shared<int>(1), 3);
#elif defined(REFUSED_address)
  kernel.over(3)(v.data(), 3);
#elif defined(REFUSED_character)
  state.set("separator", ',');
#elif defined(REFUSED_character_out)
  state.value<char>("separator");
#elif defined(REFUSED_held)
  state.zeros<float>(3).data<float>();
#elif defined(REFUSED_late)
  state.get<double(double)>("f")(std::chrono::milliseconds(100), 2.0);
#elif defined(REFUSED_safe_script)
  state.safe_script("x = 1");
#elif defined(REFUSED_script_file)
  state.script_file("x.lua");
#elif defined(REFUSED_libraries)
  state.open_libraries();
#elif defined(REFUSED_product)
  x * 2.0;
#elif defined(REFUSED_sum)
  1.0 + x;
#elif defined(REFUSED_stream)
  std::cout << x;
#elif defined(REFUSED_loop)
  for (const float y : x) v[0] += y;
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
#elif defined(REFUSED_dropped)
  kernel.over(3);
#elif defined(REFUSED_unchecked)
  gpulua_run(state.handle(), "x = 1", 5, "x.lua");
#elif defined(REFUSED_method_sum)
  x.sum();
#elif defined(REFUSED_method_mean)
  x.mean(1);
#elif defined(REFUSED_method_max)
  x.max();
#elif defined(REFUSED_method_min)
  x.min();
#elif defined(REFUSED_method_item)
  x.item();
#elif defined(REFUSED_method_reshape)
  x.reshape(3, 1);
#elif defined(REFUSED_method_astype)
  x.astype("float32");
#elif defined(REFUSED_method_transpose)
  x.T();
#elif defined(REFUSED_two_sizes)
  kernel.over(1000, 256);
#elif defined(REFUSED_bare_sizes)
  kernel.with(4, 256);
#elif defined(REFUSED_constant_member)
  const std::vector<Board> boards(3);
  state.borrow(boards, &Board::level);
#elif defined(REFUSED_temporary_member)
  state.borrow(std::vector<Board>(3), &Board::level);
#elif defined(REFUSED_function_member)
  std::vector<Board> boards(3);
  state.borrow(boards, &Board::read);
#elif defined(REFUSED_pointer_member)
  std::vector<Board> boards(3);
  state.borrow(boards.data(), &Board::level);
#elif defined(REFUSED_empty_function)
  gpulua::Function<double(double)> f;
#elif defined(REFUSED_named_function)
  gpulua::Function<double(double)> f("price");
#elif defined(REFUSED_function_type)
  gpulua::Function<double> f;
#elif defined(REFUSED_empty_kernel)
  gpulua::Kernel other;
#elif defined(REFUSED_empty_launch)
  gpulua::Launch other;
#elif defined(REFUSED_empty_object)
  gpulua::Object other;
#elif defined(REFUSED_empty_span)
  gpulua::Span<float> other;
#elif defined(REFUSED_array_of)
  gpulua::Array other(v);
#elif defined(REFUSED_sum_taken)
  const double y = x.sum();
#elif defined(REFUSED_part_taken)
  const double y = x[0];
#elif defined(REFUSED_part_set)
  x[0] = 2.0f;
#elif defined(REFUSED_run_typed)
  const double y = state.run<double>("return 6 * 7");
#elif defined(REFUSED_load_value)
  const double y = state.load<double>("return 6 * 7")();
#elif defined(REFUSED_load_untyped)
  const double y = state.load("return 6 * 7")();
#elif defined(REFUSED_get_untyped)
  const double y = state.get("n");
#elif defined(REFUSED_value_untyped)
  const double y = state.value("n");
#elif defined(REFUSED_untyped_taken)
  const double y = state.call("f", 2.5);
#elif defined(REFUSED_load_dropped)
  state.load<void()>("x = 1");
#elif defined(REFUSED_vector_called)
  state.get<double(const gpulua::Array&)>("f")(v);
#elif defined(REFUSED_vector_within)
  state.get<double(gpulua::Array)>("f").within(std::chrono::milliseconds(100), v);
#elif defined(REFUSED_address_called)
  state.get<double(const gpulua::Array&, int)>("f")(v.data(), 3);
#elif defined(REFUSED_count_called)
  const double y = state.get<double(const gpulua::Array&, double)>("f")(x);
#elif defined(REFUSED_count_within)
  state.get<double()>("f").within(std::chrono::milliseconds(100), 2.0);
#elif defined(REFUSED_text_called)
  state.get<double(double)>("f")(std::string("2.5"));
#elif defined(REFUSED_literal_called)
  state.get<double(const gpulua::Array&)>("f")("x");
#elif defined(REFUSED_pair_called)
  state.get<double(double)>("f")(std::pair<int, int>(1, 2));
#elif defined(REFUSED_number_called)
  state.get<double(const std::string&)>("f")(2.5);
#elif defined(REFUSED_part_streamed)
  std::cout << x[0] << "\n";
#elif defined(REFUSED_sum_scaled)
  const double y = 2 * x.sum() + 1;
#elif defined(REFUSED_sum_compared)
  if (x.sum() > 3.0) state.sync();
#elif defined(REFUSED_vector_untyped)
  const std::vector<float> y = x.to_vector();
#elif defined(REFUSED_span_untyped)
  for (const float y : x.span()) v[0] += y;
#elif defined(REFUSED_zeros_untyped)
  gpulua::Array zeros = state.zeros({3, 4});
#elif defined(REFUSED_equal)
  gpulua::Array y = x;
  if (x == y) state.sync();
#elif defined(REFUSED_unequal)
  gpulua::Array y = x;
  if (x != y) state.sync();
#elif defined(REFUSED_equal_number)
  if (x == 1.0) state.sync();
#elif defined(REFUSED_number_equal)
  if (1.0 == x) state.sync();
#elif defined(REFUSED_less)
  gpulua::Array y = x;
  if (x < y) state.sync();
#elif defined(REFUSED_number_less)
  if (1 <= x) state.sync();
#elif defined(REFUSED_less_reduced)
  if (x < x.sum()) state.sync();
#elif defined(REFUSED_add_to)
  gpulua::Array y = x;
  y += 1.0f;
#elif defined(REFUSED_subtract_from)
  gpulua::Array y = x;
  y -= x;
#elif defined(REFUSED_multiply_by)
  gpulua::Array y = x;
  y *= 2;
#elif defined(REFUSED_divide_by)
  gpulua::Array y = x;
  y /= x;
#elif defined(REFUSED_negative)
  -x;
#elif defined(REFUSED_modulo)
  x % 2;
#elif defined(REFUSED_not)
  !x;
#elif defined(REFUSED_and)
  gpulua::Array y = x;
  x&& y;
#elif defined(REFUSED_or)
  gpulua::Array y = x;
  x | y;
#elif defined(REFUSED_if)
  if (x) state.sync();
#elif defined(REFUSED_usertype)
  state.new_usertype<Board>("Board", "level", &Board::level);
#elif defined(REFUSED_enum)
  state.new_enum("mode", "fast", 1);
#elif defined(REFUSED_require)
  state.require("port", nullptr);
#elif defined(REFUSED_create_table)
  state.create_table("port");
#elif defined(REFUSED_create_named_table)
  auto port = state.create_named_table("port");
#elif defined(REFUSED_globals)
  const double y = state.globals()["gain"];
#elif defined(REFUSED_do_file)
  state.safe_script_file("x.lua");
#elif defined(REFUSED_collect_garbage)
  state.collect_garbage();
#elif defined(REFUSED_lua_state)
  state.lua_state();
#elif defined(REFUSED_shape_called)
  gpulua::Array y = state.call<gpulua::Array>("gpu.reshape", x, {2, 3});
#elif defined(REFUSED_shape_first)
  gpulua::Array y = state.call<gpulua::Array>("gpu.zeros", {2, 3});
#elif defined(REFUSED_braces_called)
  gpulua::Array y = state.get<gpulua::Array(const gpulua::Array&)>("gpu.sqrt")({2.0, 3.0});
#elif defined(REFUSED_braces_void)
  state.call<void>("f", {1.5, 2.5});
#elif defined(REFUSED_braces_third)
  state.call<void>("f", x, 2.0, {1, 2});
#elif defined(REFUSED_braces_set)
  state.set("shape", {2, 3});
#elif defined(REFUSED_enum_value)
  state.set("mode", Mode::fast);
#elif defined(REFUSED_enum_argument)
  state.call<void>("f", Mode::fast);
#elif defined(REFUSED_enum_called)
  state.get<void(int)>("f")(Mode::fast);
#elif defined(REFUSED_enum_result)
  state.value<Mode>("mode");
#elif defined(REFUSED_vector_value)
  state.set("x", v);
#elif defined(REFUSED_texts_value)
  state.set("names", std::vector<std::string>());
#elif defined(REFUSED_set_value)
  state.set("names", std::set<std::string>());
#elif defined(REFUSED_struct_value)
  state.set("board", Board());
#elif defined(REFUSED_optional_value)
  state.set("gain", std::optional<double>());
#elif defined(REFUSED_optional_result)
  state.value<std::optional<double>>("gain");
#elif defined(REFUSED_pointer_value)
  state.set("x", v.data());
#elif defined(REFUSED_smart_value)
  state.set("x", std::make_shared<double>(1));
#elif defined(REFUSED_complex_value)
  state.set("z", std::complex<double>(1, 2));
#elif defined(REFUSED_time_value)
  state.set("time", std::chrono::seconds(1));
#elif defined(REFUSED_function_value)
  state.set("f", &read_board);
#elif defined(REFUSED_function_result)
  state.value<std::function<double()>>("f");
#elif defined(REFUSED_launch_value)
  state.set("launch", kernel.over(3));
#elif defined(REFUSED_kernel_value)
  state.set("kernel", kernel);
#elif defined(REFUSED_map_result)
  state.value<std::map<std::string, double>>("settings");
#elif defined(REFUSED_view_result)
  state.value<std::string_view>("name");
#elif defined(REFUSED_state)
  gpulua::State other = state;
#endif
}
