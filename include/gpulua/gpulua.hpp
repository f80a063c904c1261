#ifndef GPULUA_GPULUA_HPP
#define GPULUA_GPULUA_HPP

// gpulua.h for C++17: a header over the C interface, with no library of its own. Objects are moved, not copied. What
// fails throws gpulua::Error. docs/embedding.md has examples.
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

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "gpulua.h"
#include "values.hpp"

namespace gpulua {

/// A Lua function, called as a C++ function. R is void, bool, a number, std::string, Array, Function or a std::tuple of
/// these, for several results.
template <class R, class... A>
class Function<R(A...)> {
 public:
  /// Takes the handle over. `path`: what messages call it.
  explicit Function(gpulua_function* handle, std::string path = {}) : handle_(handle), path_(std::move(path)) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

  R operator()(A... arguments) const { return detail::call<R>(handle(), path_, 0, arguments...); }
  /// Ends with an Error of GPULUA_DEADLINE after that many milliseconds.
  R within(double milliseconds, A... arguments) const {
    return detail::call<R>(handle(), path_, milliseconds, arguments...);
  }

 private:
  std::unique_ptr<gpulua_function, detail::Release> handle_;
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

/// A state: scripts, devices, arrays. Objects made from it may outlive it; their use is an Error then. It ends when
/// nothing runs in it: its end in one of its own callbacks, or beside another thread's call, is std::terminate().
class State {
 public:
  State() : State(defaults()) {}
  /// With a default device: State("cpu").
  explicit State(const char* device) : State(on(device)) {}
  explicit State(const gpulua_options& options) {
    gpulua_state* state = nullptr;
    detail::check(gpulua_create(&options, &state));
    handle_.reset(state);
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
  gpulua_state* handle() const noexcept { return handle_.get(); }

  void run(std::string_view text, const std::string& name = "script") {
    detail::check(gpulua_run(handle(), text.data(), text.size(), name.c_str()));
  }
  /// Runs the script of a file.
  void run_file(const std::string& path) { run(read(path), path); }
  /// The function at the path: get<double(const Array&, double)>("model.step").
  template <class Signature>
  Function<Signature> get(const std::string& path) const {
    static_assert(
        std::is_function_v<Signature>,
        "get<double(double)>(path) gives a function; state.value<int>(path) reads a number, a text or an array");
    gpulua_function* function = nullptr;
    detail::check(gpulua_get(handle(), path.c_str(), &function));
    return Function<Signature>(function, path);
  }
  /// The script as a function: its arguments are `...`, its first result is the function's.
  template <class Signature>
  Function<Signature> load(std::string_view text, const std::string& name = "script") const {
    static_assert(std::is_function_v<Signature>, "load<double(double)>(text) gives a function");
    gpulua_function* function = nullptr;
    detail::check(gpulua_load(handle(), text.data(), text.size(), name.c_str(), &function));
    return Function<Signature>(function);
  }
  /// The same for the script of a file.
  template <class Signature>
  Function<Signature> load_file(const std::string& path) const {
    return load<Signature>(read(path), path);
  }
  /// Calls the function at the path once: call<Array>("gpu.sqrt", x). get() is for functions that are called often.
  template <class R, class... A>
  R call(const std::string& path, const A&... arguments) const {
    return detail::call<R>(get<void()>(path).handle(), path, 0, arguments...);
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
    detail::check(gpulua_get_value(handle(), path.c_str(), &value));
    return detail::take<T>(value, {"value", path});
  }
  template <class T>
  void set(const std::string& path, const T& value) {
    const gpulua_value converted = detail::to_value(value);
    detail::check(gpulua_set(handle(), path.c_str(), &converted));
  }
  /// Makes a C++ function a Lua function: bind<double(double)>("port.read", [](double x) { return 2 * x; }). Makes the
  /// table `port` where it is not there. What the function throws becomes the script's error, and the cause() of the
  /// call's. It may call scripts. The state keeps it.
  template <class Signature, class F>
  void bind(const std::string& path, F function) {
    auto bound = std::make_unique<Bound<Signature, F>>(path, std::move(function));
    detail::check(gpulua_register(handle(), path.c_str(), &Bound<Signature, F>::run, bound.get()));
    handle_.get_deleter().bound.push_back(std::move(bound));
  }

  /// An array over the program's memory on a device, the state's by default: no copy, row-major. A std::vector's memory
  /// is that of the device "cpu". Nothing tells the library when the memory ends: it outlives the state, or the array
  /// and all that a script has made of it; with an owner it does by itself.
  template <class T>
  Array borrow(T* data, const std::vector<std::int64_t>& shape, const char* device = nullptr) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_device(handle(), device, data, detail::dtype_of<T>(), static_cast<int>(shape.size()),
                                      shape.data(), nullptr, nullptr, nullptr, &array));
    return Array(array);
  }
  /// The same, and the owner of the memory lives until the last work that uses it is done.
  template <class T>
  Array borrow(T* data, const std::vector<std::int64_t>& shape, std::shared_ptr<const void> owner,
               const char* device = nullptr) const {
    auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
    const auto release = [](void* user) { delete static_cast<std::shared_ptr<const void>*>(user); };
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_device(handle(), device, data, detail::dtype_of<T>(), static_cast<int>(shape.size()),
                                      shape.data(), nullptr, release, kept.get(), &array));
    kept.release();
    return Array(array);
  }
  /// The elements of a std::vector, std::array or their like, which outlive the array as the memory above: no
  /// temporary.
  template <class Elements>
  Array borrow(Elements& elements) const {
    return borrow(elements.data(), {static_cast<std::int64_t>(elements.size())});
  }
  template <class Elements>
  Array borrow(const Elements&& elements) const = delete;
  /// The same for host memory on the state's device: a GPU reaches it where it is pinned or registered.
  template <class T>
  Array borrow_host(T* data, const std::vector<std::int64_t>& shape) const {
    return host(data, shape, 0);
  }
  /// An array with a copy of the elements on the state's device: those of a std::vector, std::array, std::span or their
  /// like.
  template <class Elements>
  Array copy(const Elements& elements) const {
    return copy(elements.data(), {static_cast<std::int64_t>(elements.size())});
  }
  template <class T>
  Array copy(const T* data, const std::vector<std::int64_t>& shape) const {
    return host(const_cast<T*>(data), shape, 1);
  }
  template <class T>
  Array zeros(const std::vector<std::int64_t>& shape) const {
    gpulua_array* array = nullptr;
    detail::check(
        gpulua_array_zeros(handle(), detail::dtype_of<T>(), static_cast<int>(shape.size()), shape.data(), &array));
    return Array(array);
  }

  void sync() { detail::check(gpulua_sync(handle())); }
  void collect(double milliseconds = 0) { detail::check(gpulua_collect(handle(), milliseconds)); }
  void set_stream(void* cu_stream) { detail::check(gpulua_set_stream(handle(), cu_stream)); }
  void wait_stream(void* cu_stream) { detail::check(gpulua_wait_stream(handle(), cu_stream)); }
  /// Any thread.
  void interrupt() noexcept { gpulua_interrupt(handle()); }

 private:
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Error(GPULUA_ARGUMENT, "[run_file] expected a script that can be read, got '" + path + "'");
    return text;
  }

  template <class T>
  Array host(T* data, const std::vector<std::int64_t>& shape, int copy) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_host(handle(), data, detail::dtype_of<T>(), static_cast<int>(shape.size()), shape.data(),
                                    nullptr, nullptr, nullptr, copy, &array));
    return Array(array);
  }

  struct AnyBound {
    virtual ~AnyBound() = default;
  };
  template <class Signature, class F>
  struct Bound;
  template <class R, class... A, class F>
  struct Bound<R(A...), F> final : AnyBound {
    Bound(std::string path_, F function_) : path(std::move(path_)), function(std::move(function_)) {}

    static gpulua_status run(gpulua_state* state, void* user, const gpulua_value* in, std::size_t in_count,
                             gpulua_value* out, std::size_t* out_count) {
      const detail::Thrown before = std::exchange(detail::thrown, {});
      const auto fail = [&](const char* text) {
        static thread_local std::uintptr_t thrown_so_far = 0;
        detail::thrown = {std::current_exception(), ++thrown_so_far};
        return gpulua_fail_with(state, text, reinterpret_cast<void*>(detail::thrown.number));
      };
      try {
        auto& bound = *static_cast<Bound*>(user);
        if (in_count != sizeof...(A))
          throw Error(GPULUA_ARGUMENT, "[" + bound.path + "] expected " + std::to_string(sizeof...(A)) +
                                           (sizeof...(A) == 1 ? " argument, got " : " arguments, got ") +
                                           std::to_string(in_count));
        *out_count = std::is_void_v<R> ? 0 : 1;
        bound.call(in, out, std::index_sequence_for<A...>());
        detail::thrown = before;  // which a call in the function has taken for its own
        return GPULUA_OK;
      } catch (const std::exception& error) {
        return fail(error.what());
      } catch (...) {
        return fail("an exception that is no std::exception");
      }
    }

    template <std::size_t... I>
    void call([[maybe_unused]] const gpulua_value* in, [[maybe_unused]] gpulua_value* out, std::index_sequence<I...>) {
      // The arguments' handles are lent for the call; an Array or Function takes one of its own.
      const auto read = [&](std::size_t i, auto* type) {
        detail::retain(in[i]);
        return detail::take<std::remove_pointer_t<decltype(type)>>(in[i], {path, {}, i + 1});
      };
      if constexpr (std::is_void_v<R>) {
        function(read(I, static_cast<std::decay_t<A>*>(nullptr))...);
      } else {
        R result = function(read(I, static_cast<std::decay_t<A>*>(nullptr))...);
        if constexpr (std::is_same_v<R, std::string>) {
          text = std::move(result);  // lives until the next call
          *out = detail::to_value(text);
        } else {
          *out = detail::to_value(result);
          detail::retain(*out);
        }
      }
    }

    std::string path;
    F function;
    std::string text;
  };

  /// Ends the state, whose scripts may call the bound functions until then.
  struct End {
    void operator()(gpulua_state* state) const noexcept {
      if (gpulua_destroy(state) != GPULUA_BUSY) return;
      std::fprintf(stderr, "[State] expected the end of a state in which nothing runs, got %s; end it after the call\n",
                   gpulua_error(nullptr));
      std::terminate();
    }
    std::vector<std::unique_ptr<AnyBound>> bound;
  };
  std::unique_ptr<gpulua_state, End> handle_;
};

}  // namespace gpulua

#endif
