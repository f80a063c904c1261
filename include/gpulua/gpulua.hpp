#ifndef GPULUA_GPULUA_HPP
#define GPULUA_GPULUA_HPP

// gpulua.h for C++17: a header over the C interface, with no library of its own. A State is moved, not copied; a copy
// of an Array, Function or Object is another handle of the same one. What fails throws gpulua::Error. docs/embedding.md
// has examples.
//
//   gpulua::State state;
//   state.run("function scale(x, k) return (x * k):sum():item() end");
//   auto scale = state.get<double(const gpulua::Array&, double)>("scale");
//   std::vector<float> data(1000, 1.0f);
//   double sum = scale(state.copy(data), 2.0);
//
// Array functions and kernels need no line of Lua:
//
//   gpulua::Array roots = state.call<gpulua::Array>("gpu.sqrt", state.copy(data));
//   auto axpy = state.kernel(source, "axpy").over(1000);
//   axpy(2.0f, x, y, 1000);

#if __cplusplus < 201703L
#error "gpulua.hpp is C++17: compile with -std=c++17 or newer; gpulua.h is for older standards, and for C"
#endif

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "bound.hpp"
#include "calls.hpp"
#include "gpulua.h"
#include "making.hpp"
#include "other_names.hpp"
#include "values.hpp"

namespace gpulua {

/// What run() gives.
struct NoValue {
  template <class T>
  operator T() const {
    static_assert(detail::never<T>,
                  "run() gives no value: state.load<double()>(text)() is the script's, state.value<double>(path) that "
                  "of a global");
    std::terminate();
  }
};

/// The result of a call() or value() that names none.
struct NoResult : detail::Refused {};

/// A state: scripts, devices, arrays. Objects made from it may outlive it; their use is an Error then. It ends when
/// nothing runs in it: its end in one of its own callbacks, or beside another thread's call, is std::terminate().
class State : public detail::MakesArrays<State>, public detail::OtherNames {
 public:
  State() : State(defaults()) {}
  /// With a default device: State("cpu").
  explicit State(const char* device) : State(on(device)) {}
  explicit State(const gpulua_options& options) : State(options, Lines()) {}
  /// What scripts print goes to `print`, a line at a time without its end, and warnings of the library go to `log`:
  /// functions of a std::string_view, which may capture. What `print` throws is the script's error. An empty one leaves
  /// what the options have: the standard output, and a function that writes to the standard error.
  using Lines = detail::Lines;
  State(const char* device, Lines print, Lines log = {}) : State(on(device), std::move(print), std::move(log)) {}
  State(const gpulua_options& options, Lines print, Lines log = {}) {
    gpulua_options given = options;
    auto callbacks = std::make_unique<detail::Callbacks>(given, std::move(print), std::move(log));
    detail::check(gpulua_create(&given, &callbacks->state), {"create", "State"});
    handle_.reset(callbacks->state);
    handle_.get_deleter().bound.push_back(std::move(callbacks));
  }
  static gpulua_options defaults() {
    gpulua_options options;
    gpulua_options_init(&options, sizeof options);
    return options;
  }
  static gpulua_options on(const char* device) {
    gpulua_options options = defaults();
    options.device = device;
    return options;
  }
  State(const State&) = delete;  // no copies: a parameter is a State&, and std::move(state) passes the state on
  State(State&&) = default;
  State& operator=(State&&) = default;
  /// Null of a state that was moved from.
  gpulua_state* handle() const noexcept { return handle_.get(); }

  NoValue run(std::string_view text, const std::string& name = "script") { return run_as("run", text, name); }
  /// Runs the script of a file.
  NoValue run_file(const std::string& path) { return run_as("run_file", read("run_file", path), path); }
  template <class R, class... A>
  detail::Refused run(const A&...) {
    static_assert(detail::never<R>, "run() gives no value: state.load<double()>(text)() is the script's");
    return {};
  }
  template <class R, class... A>
  detail::Refused run_file(const A&...) {
    static_assert(detail::never<R>, "run_file() gives no value: state.load_file<double()>(path)() is the script's");
    return {};
  }
  /// The function at the path: get<double(const Array&, double)>("model.step").
  template <class Signature = void>
  detail::FunctionOf<Signature> get(const std::string& path) const {
    static_assert(
        std::is_function_v<Signature>,
        "get<double(double)>(path) gives a function; state.value<int>(path) reads a number, a text or an array");
    if constexpr (std::is_function_v<Signature>)
      return Function<Signature>(find("get", path), path);
    else
      return {};
  }
  /// The script as a function, which a call runs: its arguments are `...`, its first result is the function's.
  template <class Signature = void>
  [[nodiscard]] detail::FunctionOf<Signature> load(std::string_view text, const std::string& name = "script") const {
    static_assert(std::is_function_v<Signature>, "load<double(double)>(text) gives a function");
    return load_as<Signature>("load", text, name);
  }
  /// The same for the script of a file.
  template <class Signature = void>
  [[nodiscard]] detail::FunctionOf<Signature> load_file(const std::string& path) const {
    static_assert(std::is_function_v<Signature>, "load_file<double(double)>(path) gives a function");
    return load_as<Signature>("load_file", read("load_file", path), path);
  }
  /// Calls the function at the path once: call<Array>("gpu.sqrt", x). get() is for functions that are called often.
  template <class R = NoResult, class... A>
  R call(const std::string& path, const A&... arguments) const {
    static_assert(!std::is_same_v<R, NoResult>,
                  "call() is told the result's type: state.call<double>(path, arguments...), or call<void>(...)");
    if constexpr (!std::is_same_v<R, NoResult>)
      return detail::call<R>(Function<void()>(find("call", path)).handle(), path, 0, arguments...);
    else
      return {};
  }
  template <class R = NoResult, class T, class... A>
  R call(const std::string&, std::initializer_list<T>, const A&...) const {
    return detail::refuse_braces<R, T>();
  }
  template <class R = NoResult, class First, class T, class... A>
  R call(const std::string&, const First&, std::initializer_list<T>, const A&...) const {
    return detail::refuse_braces<R, T>();
  }
  template <class R = NoResult, class First, class Second, class T, class... A>
  R call(const std::string&, const First&, const Second&, std::initializer_list<T>, const A&...) const {
    return detail::refuse_braces<R, T>();
  }
  /// A kernel from source, by its name there.
  Kernel kernel(std::string_view source, const std::string& name) const {
    constexpr std::string_view endings[] = {".cu", ".cuh", ".cpp", ".hpp", ".h"};
    for (const std::string_view ending : endings)
      if (source.size() > ending.size() && source.substr(source.size() - ending.size()) == ending &&
          source.find('{') == source.npos)
        throw Error(GPULUA_ARGUMENT, "[kernel] expected CUDA C++ source, got the name of a file, \"" +
                                         std::string(source) + "\"; state.kernel_file(path, name) reads it");
    return kernel_of(source, name, nullptr);
  }

  /// The same from a file.
  Kernel kernel_file(const std::string& path, const std::string& name) const {
    return kernel_of(read("kernel_file", path), name, path.c_str());
  }

  template <class T = NoResult>
  T value(const std::string& path) const {
    constexpr bool has_type = !std::is_same_v<T, NoResult>;
    static_assert(has_type, "value() is told the value's type: state.value<double>(path)");
    gpulua_value value{};
    detail::check(gpulua_get_value(open("value"), path.c_str(), &value), {"get_value", "value"});
    const std::string advice = value.kind == GPULUA_NIL ? advice_about_nil(path) : "";
    if constexpr (has_type)
      return detail::take<T>(value, {"value", path, 0, false, advice});
    else
      return {};
  }
  /// Makes the tables on the way where they are not there.
  template <class T>
  void set(const std::string& path, const T& value) {
    const gpulua_value converted = detail::to_value(value, "set", detail::Target{0, path});
    detail::check(gpulua_set(open("set"), path.c_str(), &converted));
  }
  template <class T>
  void set(const std::string&, std::initializer_list<T>) {
    static_assert(detail::never<T>,
                  "a list of numbers for scripts is an array: state.set(path, state.copy({1, 2, 3})); a value of a "
                  "table has its path: state.set(\"sizes[1]\", 2)");
  }
  /// Makes a C++ function a Lua function: bind<double(double)>("port.read", [](double x) { return 2 * x; }). Makes the
  /// table `port` where it is not there. What the function throws becomes the script's error, and the cause() of the
  /// call's. It may call scripts. The state keeps it.
  template <class Signature = void, class F>
  void bind(const std::string& path, F function) {
    static_assert(std::is_function_v<Signature>,
                  "bind() is told the function's type: state.bind<double(int)>(\"port.read\", function)");
    static_assert(
        !std::is_member_pointer_v<F>,
        "a lambda calls a member: state.bind<double(int)>(\"port.read\", [&](int n) { return board.read(n); })");
    constexpr bool fits = detail::fits<Signature, F>;
    constexpr bool has_out = detail::has_out_parameter<Signature>;
    static_assert(!has_out,
                  "the parameters of bind<result(parameters)> are values or const&: results are returned, "
                  "std::tuple<double, double> for several");
    static_assert(fits || has_out || !std::is_function_v<Signature> || std::is_member_pointer_v<F>,
                  "the function differs from the signature that bind<result(parameters)> names: it takes these "
                  "parameters, by value or const&, and gives that result");
    if constexpr (fits && !std::is_member_pointer_v<F>) {
      using Bound = detail::Bound<Signature, F>;
      if constexpr (std::is_constructible_v<F, std::nullptr_t>)
        if (function == nullptr)
          throw Error(GPULUA_ARGUMENT, "[bind] expected a function for '" + path + "', got an empty one");
      auto bound = std::make_unique<Bound>(path, std::move(function));
      detail::check(gpulua_register(open("bind"), path.c_str(), &Bound::run, bound.get()), {"register", "bind"});
      handle_.get_deleter().bound.push_back(std::move(bound));
    }
  }

  void sync() { detail::check(gpulua_sync(open("sync"))); }
  /// Collects all of Lua's garbage, and the arrays in it.
  void collect() { detail::check(gpulua_collect(open("collect"), 0)); }
  /// For about that time, a std::chrono::duration: a part of a cycle.
  template <class Time>
  void collect(const Time& time) {
    const double milliseconds = detail::milliseconds(time);
    if (milliseconds > 0) detail::check(gpulua_collect(open("collect"), milliseconds));
  }
  void set_stream(void* cu_stream) { detail::check(gpulua_set_stream(open("set_stream"), cu_stream)); }
  void wait_stream(void* cu_stream) { detail::check(gpulua_wait_stream(open("wait_stream"), cu_stream)); }
  /// Stops the running call with an Error of GPULUA_INTERRUPTED; any thread, and a signal handler. A loop of Lua that
  /// LuaJIT has compiled goes on, unless the state has the flag GPULUA_INTERRUPTIBLE or GPULUA_SANDBOX, or has had a
  /// call with a deadline.
  void interrupt() noexcept { gpulua_interrupt(handle()); }

 private:
  gpulua_state* open(const char* op) const { return detail::checked(handle(), op, "a state"); }

  gpulua_function* find(const char* op, const std::string& path) const {
    gpulua_function* function = nullptr;
    detail::check(gpulua_get(open(op), path.c_str(), &function), {"get", op});
    return function;
  }
  NoValue run_as(const char* op, std::string_view text, const std::string& name) {
    detail::check(gpulua_run(open(op), text.data(), text.size(), name.c_str()), {"run", op});
    return {};
  }
  template <class Signature>
  detail::FunctionOf<Signature> load_as(const char* op, std::string_view text, const std::string& name) const {
    gpulua_function* function = nullptr;
    detail::check(gpulua_load(open(op), text.data(), text.size(), name.c_str(), &function), {"load", op});
    if constexpr (std::is_function_v<Signature>)
      return Function<Signature>(function);
    else
      return {};
  }

  static std::string read(const char* op, const std::string& path) {
    std::string text;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    char part[4096];
    std::size_t size = 0;
    while (file && (size = std::fread(part, 1, sizeof part, file.get())) > 0) text.append(part, size);
    if (file && std::ferror(file.get()) == 0) return text;
    const int reason = errno;
    char folder[4096];
    const bool is_relative = path.empty() || path.front() != '/';
    const std::string in = is_relative && ::getcwd(folder, sizeof folder) != nullptr ? std::string(folder) + '/' : "";
    throw Error(GPULUA_ARGUMENT, "[" + std::string(op) + "] expected a file that can be read, got '" + in + path +
                                     "': " + std::generic_category().message(reason));
  }

  /// `file`: what the compiler's messages call the source; may be null.
  Kernel kernel_of(std::string_view source, const std::string& name, const char* file) const {
    // A sandbox, which has no io, takes source without options.
    constexpr std::string_view make = R"(local source, name, file = ...
      local kernel = require "gpu".kernel(source, name, file and io and {name = file} or nil)
      return function(count, gy, gz, bx, by, bz, shared)
        local launch = gy and kernel {grid = {count, gy, gz}, block = {bx, by, bz}, shared = shared} or kernel:over(count)
        return launch
      end)";
    // Of that name are the library's own files, which messages give no lines of.
    return Kernel(load<Function<void()>(std::string_view, const std::string&, const char*)>(make, "=[gpulua]")(
        source, name, file));
  }

  /// The name that was probably meant by a path that leads to nil.
  std::string advice_about_nil(const std::string& path) const {
    gpulua_function* function = nullptr;
    if (gpulua_get(handle(), path.c_str(), &function) == GPULUA_OK) return gpulua_function_release(function), "";
    const std::string_view text = gpulua_error(nullptr), mark = "got nil";
    const std::size_t at = text.find(mark);
    return at == text.npos ? "" : std::string(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  }

  /// Ends the state, whose scripts may call the bound functions until then.
  struct End {
    void operator()(gpulua_state* state) const noexcept {
      if (gpulua_destroy(state) != GPULUA_BUSY) return;
      std::fprintf(stderr, "[State] cannot end while it runs something, which ends the program: %s\n",
                   gpulua_error(nullptr));
      std::terminate();
    }
    std::vector<std::unique_ptr<detail::AnyBound>> bound;
  };
  std::unique_ptr<gpulua_state, End> handle_;
};

}  // namespace gpulua

#endif
