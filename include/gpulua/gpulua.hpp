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
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "bound.hpp"
#include "gpulua.h"
#include "values.hpp"

namespace gpulua {

/// A Lua function, called as a C++ function. R is void, bool, a number, std::string, Array, Function, Object or a
/// std::tuple of these, for several results.
template <class R, class... A>
class Function<R(A...)> {
 public:
  /// Takes the handle over. `path`: what messages call it.
  explicit Function(gpulua_function* handle, std::string path = {}) : handle_(handle), path_(std::move(path)) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

  R operator()(A... arguments) const { return detail::call<R>(handle(), path_, 0, arguments...); }
  /// Ends with an Error of GPULUA_DEADLINE after that time, a std::chrono::duration.
  template <class Time>
  R within(const Time& time, A... arguments) const {
    const double milliseconds = detail::milliseconds(time);
    if (!(milliseconds > 0))
      throw Error(GPULUA_DEADLINE, "[call] expected a deadline of more than 0 ms, got " + std::to_string(milliseconds) +
                                       ": it has passed");
    return detail::call<R>(handle(), path_, milliseconds, arguments...);
  }

 private:
  detail::Handle<gpulua_function> handle_;
  std::string path_;
};

/// A kernel with its grid and blocks. Its arguments are checked against its signature: arrays and numbers.
class Launch {
 public:
  explicit Launch(Function<void()> function) : function_(std::move(function)) {}
  template <class... A>
  void operator()(const A&... arguments) const {
    detail::call<void>(function_.handle(), {}, 0, arguments...);
  }

 private:
  Function<void()> function_;
};

struct Size {
  std::int64_t x = 1, y = 1, z = 1;
};

/// A kernel of CUDA C++.
class Kernel {
 public:
  template <class... A>
  void operator()(const A&...) const {
    static_assert(detail::never<A...>,
                  "a launch has a size: kernel.over(count)(arguments...), or kernel.with(grid, block)(arguments...)");
  }
  /// At least one thread for each of `count` items.
  Launch over(std::int64_t count) const { return launch(count); }
  Launch with(Size grid, Size block) const { return launch(grid.x, grid.y, grid.z, block.x, block.y, block.z); }
  /// For a kernel with an extern __shared__ array; 0: that array is empty.
  Launch with(Size grid, Size block, std::int64_t shared_bytes) const {
    return launch(grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes);
  }

 private:
  friend class State;
  template <class... A>
  Launch launch(A... numbers) const {
    return Launch(detail::call<Function<void()>>(launches_.handle(), {}, 0, numbers...));
  }
  explicit Kernel(Function<void()> launches) : launches_(std::move(launches)) {}

  Function<void()> launches_;  // gives the launch function of a count, or of a grid
};

/// What run() gives.
struct NoValue {
  template <class T>
  operator T() const {
    static_assert(detail::never<T>,
                  "run() gives no value: state.load<double()>(text)() is the script's, state.value<double>(path) that "
                  "of a global");
  }
};

/// The result of a call() that names none.
struct NoResult {};

/// A state: scripts, devices, arrays. Objects made from it may outlive it; their use is an Error then. It ends when
/// nothing runs in it: its end in one of its own callbacks, or beside another thread's call, is std::terminate().
class State {
 public:
  State() : State(defaults()) {}
  /// With a default device: State("cpu").
  explicit State(const char* device) : State(on(device)) {}
  explicit State(const gpulua_options& options) {
    gpulua_options given = options;
    auto callbacks = std::make_unique<detail::Callbacks>(given);
    detail::check(gpulua_create(&given, &callbacks->state));
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

  NoValue run(std::string_view text, const std::string& name = "script") {
    detail::check(gpulua_run(open(), text.data(), text.size(), name.c_str()));
    return {};
  }
  /// Runs the script of a file.
  NoValue run_file(const std::string& path) { return run(read("run_file", path), path); }
  /// The function at the path: get<double(const Array&, double)>("model.step").
  template <class Signature>
  Function<Signature> get(const std::string& path) const {
    static_assert(
        std::is_function_v<Signature>,
        "get<double(double)>(path) gives a function; state.value<int>(path) reads a number, a text or an array");
    gpulua_function* function = nullptr;
    detail::check(gpulua_get(open(), path.c_str(), &function));
    return Function<Signature>(function, path);
  }
  /// The script as a function: its arguments are `...`, its first result is the function's.
  template <class Signature>
  Function<Signature> load(std::string_view text, const std::string& name = "script") const {
    static_assert(std::is_function_v<Signature>, "load<double(double)>(text) gives a function");
    gpulua_function* function = nullptr;
    detail::check(gpulua_load(open(), text.data(), text.size(), name.c_str(), &function));
    return Function<Signature>(function);
  }
  /// The same for the script of a file.
  template <class Signature>
  Function<Signature> load_file(const std::string& path) const {
    return load<Signature>(read("load_file", path), path);
  }
  /// Calls the function at the path once: call<Array>("gpu.sqrt", x). get() is for functions that are called often.
  template <class R = NoResult, class... A>
  R call(const std::string& path, const A&... arguments) const {
    static_assert(!std::is_same_v<R, NoResult>,
                  "call() is told the result's type: state.call<double>(path, arguments...), or call<void>(...)");
    if constexpr (!std::is_same_v<R, NoResult>)
      return detail::call<R>(get<void()>(path).handle(), path, 0, arguments...);
    else
      return {};
  }
  /// A kernel from source, by its name there.
  Kernel kernel(std::string_view source, const std::string& name) const {
    constexpr std::string_view make = R"(local source, name = ...
      local kernel = require "gpu".kernel(source, name)
      return function(count, gy, gz, bx, by, bz, shared)
        local launch = gy and kernel {grid = {count, gy, gz}, block = {bx, by, bz}, shared = shared} or kernel:over(count)
        return function(...) launch(...) end
      end)";
    // Of that name are the library's own files, which messages give no lines of.
    return Kernel(load<Function<void()>(std::string_view, const std::string&)>(make, "=[gpulua]")(source, name));
  }

  template <class T>
  T value(const std::string& path) const {
    gpulua_value value{};
    detail::check(gpulua_get_value(open(), path.c_str(), &value));
    const std::string advice = value.kind == GPULUA_NIL ? advice_about_nil(path) : "";
    return detail::take<T>(value, {"value", path, 0, false, advice});
  }
  /// Makes the tables on the way where they are not there.
  template <class T>
  void set(const std::string& path, const T& value) {
    const gpulua_value converted = detail::to_value(value, "set");
    detail::check(gpulua_set(open(), path.c_str(), &converted));
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
    static_assert(fits || !std::is_function_v<Signature> || std::is_member_pointer_v<F>,
                  "the function differs from the signature that bind<result(parameters)> names: it takes these "
                  "parameters, by value or const&, and gives that result");
    if constexpr (fits && !std::is_member_pointer_v<F>) {
      using Bound = detail::Bound<Signature, F>;
      auto bound = std::make_unique<Bound>(path, std::move(function));
      detail::check(gpulua_register(open(), path.c_str(), &Bound::run, bound.get()));
      handle_.get_deleter().bound.push_back(std::move(bound));
    }
  }
  // The names by which other libraries do it.
  template <class... A>
  void script(const A&...) {
    static_assert(detail::never<A...>, "state.run(text) runs a script, state.load<double()>(text)() gives its result");
  }
  template <class... A>
  void set_function(const A&...) {
    static_assert(detail::never<A...>, "state.bind<double(int)>(path, function) makes a C++ function one of Lua's");
  }
  template <class Path>
  void operator[](const Path&) const {
    static_assert(detail::never<Path>, "state.set(path, value) sets a value, state.value<double>(path) reads it");
  }

  /// An array over the program's memory on a device, the state's by default: no copy, row-major. A std::vector's memory
  /// is that of the device "cpu". Nothing tells the library when the memory ends: it outlives the state, or the array
  /// and all that a script has made of it; with an owner it does by itself.
  template <class T>
  Array borrow(T* data, const Shape& shape, const char* device = nullptr) const {
    return lend(data, shape, device, nullptr, nullptr);
  }
  /// The same, and the owner of the memory lives until the last work that uses it is done.
  template <class T>
  Array borrow(T* data, const Shape& shape, std::shared_ptr<const void> owner, const char* device = nullptr) const {
    auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
    const auto release = [](void* user) { delete static_cast<std::shared_ptr<const void>*>(user); };
    Array array = lend(data, shape, device, release, kept.get());
    kept.release();
    return array;
  }
  /// The elements of a std::vector, std::array or their like, which outlive the array as the memory above: no
  /// temporary.
  template <class Elements>
  Array borrow(Elements& elements) const {
    return borrow(elements, std::size(elements));
  }
  /// The same in a shape of as many elements. `more`: the owner, the device.
  template <class Elements, class... More, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(Elements& elements, const Shape& shape, More&&... more) const {
    constexpr bool is_bits = std::is_same_v<std::remove_cv_t<Elements>, std::vector<bool>>;
    static_assert(!is_bits, "std::vector<bool> has no elements in memory: borrow a std::vector<std::uint8_t>");
    shape.check_count("borrow", std::size(elements));
    if constexpr (!is_bits) return borrow(std::data(elements), shape, std::forward<More>(more)...);
  }
  template <class Elements, class... More, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(const Elements&&, const More&...) const {
    static_assert(detail::never<Elements>,
                  "the memory of a temporary ends with its statement: give borrow() a variable, or state.copy(v)");
    return Array();
  }
  /// The same for host memory on the state's device: a GPU reaches it where it is pinned or registered.
  template <class T>
  Array borrow_host(T* data, const Shape& shape) const {
    return host(data, shape, 0);
  }
  template <class Elements, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow_host(Elements& elements, const Shape& shape) const {
    shape.check_count("borrow_host", std::size(elements));
    return borrow_host(std::data(elements), shape);
  }
  /// An array with a copy of the elements on the state's device: those of a std::vector, std::array, std::span or their
  /// like.
  template <class Elements>
  Array copy(const Elements& elements) const {
    return copy(std::data(elements), std::size(elements));
  }
  /// The same in a shape of as many elements.
  template <class Elements, class = decltype(std::size(std::declval<const Elements&>()))>
  Array copy(const Elements& elements, const Shape& shape) const {
    shape.check_count("copy", std::size(elements));
    return copy(std::data(elements), shape);
  }
  template <class T>
  Array copy(const T* data, const Shape& shape) const {
    return host(const_cast<T*>(data), shape, 1);
  }
  template <class T>
  Array zeros(const Shape& shape) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_zeros(open(), detail::dtype_of<T>(), shape.ndim(), shape.data(), &array));
    return Array(array);
  }

  void sync() { detail::check(gpulua_sync(open())); }
  /// Collects all of Lua's garbage, and the arrays in it.
  void collect() { detail::check(gpulua_collect(open(), 0)); }
  /// For about that time, a std::chrono::duration: a part of a cycle.
  template <class Time>
  void collect(const Time& time) {
    const double milliseconds = detail::milliseconds(time);
    if (milliseconds > 0) detail::check(gpulua_collect(open(), milliseconds));
  }
  void set_stream(void* cu_stream) { detail::check(gpulua_set_stream(open(), cu_stream)); }
  void wait_stream(void* cu_stream) { detail::check(gpulua_wait_stream(open(), cu_stream)); }
  /// Any thread.
  void interrupt() noexcept { gpulua_interrupt(handle()); }

 private:
  gpulua_state* open() const { return detail::checked(handle(), "state", "a state"); }

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
    throw Error(GPULUA_ARGUMENT, "[" + std::string(op) + "] expected a script that can be read, got '" + in + path +
                                     "': " + std::generic_category().message(reason));
  }

  /// The name that was probably meant by a path that leads to nil.
  std::string advice_about_nil(const std::string& path) const {
    gpulua_function* function = nullptr;
    if (gpulua_get(open(), path.c_str(), &function) == GPULUA_OK) return gpulua_function_release(function), "";
    const std::string_view text = gpulua_error(nullptr), mark = "got nil";
    const std::size_t at = text.find(mark);
    return at == text.npos ? "" : std::string(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  }

  template <class T>
  Array lend(T* data, const Shape& shape, const char* device, void (*release)(void*), void* user) const {
    static_assert(!std::is_const_v<T>, "scripts write to borrowed memory, and this is const: state.copy(v) copies it");
    gpulua_array* array = nullptr;
    if constexpr (!std::is_const_v<T>)
      detail::check(gpulua_array_device(open(), device, data, detail::dtype_of<T>(), shape.ndim(), shape.data(),
                                        nullptr, release, user, &array));
    return Array(array);
  }

  template <class T>
  Array host(T* data, const Shape& shape, int copy) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_host(open(), data, detail::dtype_of<T>(), shape.ndim(), shape.data(), nullptr, nullptr,
                                    nullptr, copy, &array));
    return Array(array);
  }

  /// Ends the state, whose scripts may call the bound functions until then.
  struct End {
    void operator()(gpulua_state* state) const noexcept {
      if (gpulua_destroy(state) != GPULUA_BUSY) return;
      std::fprintf(stderr, "[State] expected the end of a state in which nothing runs, got %s; end it after the call\n",
                   gpulua_error(nullptr));
      std::terminate();
    }
    std::vector<std::unique_ptr<detail::AnyBound>> bound;
  };
  std::unique_ptr<gpulua_state, End> handle_;
};

}  // namespace gpulua

#endif
