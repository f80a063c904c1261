// Every function of gpulua.h with every handle that is none: NULL, closed, of another kind, of another state, any
// address.

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include "tests/embed/api.h"

namespace {

enum class Kind { none, state, function, array };

gpulua_state* as_state(void* handle) {
  return static_cast<gpulua_state*>(handle);
}
gpulua_function* as_function(void* handle) {
  return static_cast<gpulua_function*>(handle);
}
gpulua_array* as_array(void* handle) {
  return static_cast<gpulua_array*>(handle);
}

gpulua_status callback(gpulua_state*, void*, const gpulua_value*, size_t, gpulua_value*, size_t*) {
  return GPULUA_OK;
}

constexpr int64_t shape = 2;
float elements[2] = {1, 2};
gpulua_value value{};
gpulua_function* function_out = nullptr;
gpulua_array* array_out = nullptr;
DLManagedTensorVersioned* tensor_out = nullptr;
DLManagedTensor* legacy_out = nullptr;
void* pointer_out = nullptr;
size_t size_out = 0;

struct Row {
  const char* name;
  Kind kind;  // of the handle that it takes
  /// Calls it with the handle and otherwise good arguments. Whether it has refused the handle as its documentation
  /// says.
  bool (*refuses)(void* handle);
  /// Calls it with NULL for all that it may not need. Whether it did what its documentation says; null: like refuses.
  bool (*takes_null)(void* handle);
};

bool is_refused(gpulua_status status) {
  return status == GPULUA_ARGUMENT;
}

// A function for each of two columns, as they are: h is the handle.
#define CALL(expression) [](void* h) -> bool { return static_cast<void>(h), expression; }

const Row rows[] = {
    {"gpulua_status_name", Kind::none, nullptr, CALL(std::strlen(gpulua_status_name(-1)) > 0)},
    {"gpulua_abi_version", Kind::none, nullptr, CALL(gpulua_abi_version() > 0)},
    {"gpulua_options_init", Kind::none, nullptr, CALL((gpulua_options_init(nullptr, 8), true))},
    {"gpulua_create", Kind::none, nullptr, CALL(is_refused(gpulua_create(nullptr, nullptr)))},
    {"luaopen_gpu", Kind::none, nullptr, nullptr},  // takes what Lua gives it; gpulua_own_lua_test calls it
    {"gpulua_to_array", Kind::none, nullptr, CALL(gpulua_to_array(nullptr, 1) == nullptr)},

    {"gpulua_destroy", Kind::state, CALL(h == nullptr || is_refused(gpulua_destroy(as_state(h)))), nullptr},
    // Any handle has a text: that of the thread's last failure.
    {"gpulua_error", Kind::state, CALL(gpulua_error(as_state(h)) != nullptr), nullptr},
    {"gpulua_allow_kernel", Kind::state,
     CALL(is_refused(gpulua_allow_kernel(as_state(h), std::string(64, 'a').c_str()))),
     CALL(is_refused(gpulua_allow_kernel(as_state(h), nullptr)))},
    {"gpulua_run", Kind::state, CALL(is_refused(gpulua_run(as_state(h), "x = 1", 5, "s"))),
     CALL(is_refused(gpulua_run(as_state(h), nullptr, 0, nullptr)))},
    {"gpulua_load", Kind::state, CALL(is_refused(gpulua_load(as_state(h), "x = 1", 5, "s", &function_out))),
     CALL(is_refused(gpulua_load(as_state(h), "x = 1", 5, "s", nullptr)))},
    {"gpulua_get", Kind::state, CALL(is_refused(gpulua_get(as_state(h), "print", &function_out))),
     CALL(is_refused(gpulua_get(as_state(h), nullptr, nullptr)))},
    {"gpulua_get_value", Kind::state, CALL(is_refused(gpulua_get_value(as_state(h), "print", &value))),
     CALL(is_refused(gpulua_get_value(as_state(h), "print", nullptr)))},
    {"gpulua_set", Kind::state, CALL(is_refused(gpulua_set(as_state(h), "x", &value))),
     CALL(is_refused(gpulua_set(as_state(h), "x", nullptr)))},
    {"gpulua_register", Kind::state, CALL(is_refused(gpulua_register(as_state(h), "f", &callback, nullptr))),
     CALL(is_refused(gpulua_register(as_state(h), "f", nullptr, nullptr)))},
    {"gpulua_fail", Kind::state, CALL(is_refused(gpulua_fail(as_state(h), "text"))),
     CALL(is_refused(gpulua_fail(as_state(h), nullptr)))},
    {"gpulua_fail_with", Kind::state, CALL(is_refused(gpulua_fail_with(as_state(h), "text", nullptr))),
     CALL(is_refused(gpulua_fail_with(as_state(h), nullptr, nullptr)))},
    {"gpulua_error_cause", Kind::none, nullptr, CALL(gpulua_error_cause() == nullptr)},
    {"gpulua_set_stream", Kind::state, CALL(is_refused(gpulua_set_stream(as_state(h), nullptr))), nullptr},
    {"gpulua_wait_stream", Kind::state, CALL(is_refused(gpulua_wait_stream(as_state(h), nullptr))), nullptr},
    {"gpulua_sync", Kind::state, CALL(is_refused(gpulua_sync(as_state(h)))), nullptr},
    {"gpulua_collect", Kind::state, CALL(is_refused(gpulua_collect(as_state(h), 0))), nullptr},
    {"gpulua_interrupt", Kind::state, CALL(is_refused(gpulua_interrupt(as_state(h)))), nullptr},
    {"gpulua_memory", Kind::state, CALL(is_refused(gpulua_memory(as_state(h), &size_out, &size_out))),
     CALL(gpulua_memory(as_state(h), nullptr, nullptr) == GPULUA_OK)},
    {"gpulua_array_device", Kind::state,
     CALL(is_refused(gpulua_array_device(as_state(h), nullptr, elements, "float32", 1, &shape, nullptr, nullptr,
                                         nullptr, &array_out))),
     CALL(is_refused(
         gpulua_array_device(as_state(h), nullptr, nullptr, nullptr, 1, nullptr, nullptr, nullptr, nullptr, nullptr)))},
    {"gpulua_array_host", Kind::state,
     CALL(is_refused(
         gpulua_array_host(as_state(h), elements, "float32", 1, &shape, nullptr, nullptr, nullptr, 1, &array_out))),
     CALL(is_refused(
         gpulua_array_host(as_state(h), nullptr, nullptr, 1, nullptr, nullptr, nullptr, nullptr, 1, nullptr)))},
    {"gpulua_array_zeros", Kind::state,
     CALL(is_refused(gpulua_array_zeros(as_state(h), "int8", 1, &shape, &array_out))),
     CALL(is_refused(gpulua_array_zeros(as_state(h), nullptr, 1, nullptr, nullptr)))},
    {"gpulua_array_from_dlpack", Kind::state,
     CALL(is_refused(gpulua_array_from_dlpack(as_state(h), nullptr, GPULUA_NO_STREAM, &array_out))),
     CALL(is_refused(gpulua_array_from_dlpack(as_state(h), nullptr, nullptr, nullptr)))},
    {"gpulua_array_from_dlpack_legacy", Kind::state,
     CALL(is_refused(gpulua_array_from_dlpack_legacy(as_state(h), nullptr, GPULUA_NO_STREAM, &array_out))),
     CALL(is_refused(gpulua_array_from_dlpack_legacy(as_state(h), nullptr, nullptr, nullptr)))},

    {"gpulua_call", Kind::function, CALL(is_refused(gpulua_call(as_function(h), nullptr, 0, nullptr, nullptr, 0))),
     CALL(is_refused(gpulua_call(as_function(h), nullptr, 3, nullptr, nullptr, 0)))},
    {"gpulua_function_retain", Kind::function, CALL(is_refused(gpulua_function_retain(as_function(h)))), nullptr},
    {"gpulua_function_release", Kind::function, CALL(is_refused(gpulua_function_release(as_function(h)))), nullptr},
    {"gpulua_function_description", Kind::function, CALL(gpulua_function_description(as_function(h)) == nullptr),
     nullptr},

    {"gpulua_array_retain", Kind::array, CALL(is_refused(gpulua_array_retain(as_array(h)))), nullptr},
    {"gpulua_array_release", Kind::array, CALL(is_refused(gpulua_array_release(as_array(h)))), nullptr},
    {"gpulua_array_dtype", Kind::array, CALL(gpulua_array_dtype(as_array(h)) == nullptr), nullptr},
    {"gpulua_array_device_name", Kind::array, CALL(gpulua_array_device_name(as_array(h)) == nullptr), nullptr},
    {"gpulua_array_ndim", Kind::array, CALL(gpulua_array_ndim(as_array(h)) == -1), nullptr},
    {"gpulua_array_shape", Kind::array, CALL(gpulua_array_shape(as_array(h)) == nullptr), nullptr},
    {"gpulua_array_strides", Kind::array, CALL(gpulua_array_strides(as_array(h)) == nullptr), nullptr},
    {"gpulua_array_size", Kind::array, CALL(gpulua_array_size(as_array(h)) == -1), nullptr},
    {"gpulua_array_nbytes", Kind::array, CALL(gpulua_array_nbytes(as_array(h)) == -1), nullptr},
    {"gpulua_array_evaluate", Kind::array,
     CALL(is_refused(gpulua_array_evaluate(as_array(h), GPULUA_NO_STREAM, &pointer_out))),
     CALL(gpulua_array_evaluate(as_array(h), nullptr, nullptr) == GPULUA_OK)},
    {"gpulua_array_copy_to", Kind::array, CALL(is_refused(gpulua_array_copy_to(as_array(h), elements, 8))),
     CALL(is_refused(gpulua_array_copy_to(as_array(h), nullptr, 8)))},
    {"gpulua_array_copy_from", Kind::array, CALL(is_refused(gpulua_array_copy_from(as_array(h), elements, 8))),
     CALL(is_refused(gpulua_array_copy_from(as_array(h), nullptr, 8)))},
    {"gpulua_array_to_dlpack", Kind::array, CALL(is_refused(gpulua_array_to_dlpack(as_array(h), nullptr, &tensor_out))),
     CALL(is_refused(gpulua_array_to_dlpack(as_array(h), nullptr, nullptr)))},
    {"gpulua_array_to_dlpack_legacy", Kind::array,
     CALL(is_refused(gpulua_array_to_dlpack_legacy(as_array(h), nullptr, &legacy_out))),
     CALL(is_refused(gpulua_array_to_dlpack_legacy(as_array(h), nullptr, nullptr)))},
    {"gpulua_push_array", Kind::array, CALL(gpulua_push_array(nullptr, as_array(h)) == 0), nullptr},
};

#undef CALL

/// A function and an array of the state.
struct Handles {
  explicit Handles(ApiState& state) {
    REQUIRE(state.run("function f() end") == GPULUA_OK);
    function = state.function("f");
    REQUIRE(gpulua_array_zeros(state.get(), "float32", 1, &shape, &array) == GPULUA_OK);
  }
  gpulua_function* function = nullptr;
  gpulua_array* array = nullptr;
};

}  // namespace

TEST_CASE("the table of functions has each that gpulua.h declares") {
  std::ifstream file(GPULUA_TESTS "/../../include/gpulua/gpulua.h");
  std::set<std::string> declared, tested;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find('(');
    if (line.rfind("GPULUA_API ", 0) != 0 || end == line.npos) continue;
    const std::size_t start = line.find_last_of(" *", end);
    declared.insert(line.substr(start + 1, end - start - 1));
  }
  for (const Row& row : rows) tested.insert(row.name);
  CHECK(declared.size() > 40);
  CHECK(declared == tested);
}

TEST_CASE("every function refuses handles that are none, and says what it expected") {
  ApiState state;
  const Handles good(state);
  // Closed by a release, and by the end of their state.
  std::vector<void*> closed;
  {
    ApiState ended;
    const Handles handles(ended), released(ended);
    gpulua_function_release(released.function);
    gpulua_array_release(released.array);
    closed = {ended.get(), handles.function, handles.array, released.function, released.array};
  }
  char local = 0;
  const std::vector<void*> strays = {nullptr,
                                     &local,
                                     reinterpret_cast<void*>(&gpulua_run),
                                     reinterpret_cast<void*>(1),
                                     reinterpret_cast<void*>(-1),
                                     reinterpret_cast<void*>(INTPTR_MIN)};
  for (const Row& row : rows) {
    if (row.kind == Kind::none) continue;
    std::vector<void*> handles = strays;
    handles.insert(handles.end(), closed.begin(), closed.end());
    if (row.kind != Kind::state) handles.push_back(state.get());
    if (row.kind != Kind::function) handles.push_back(good.function);
    if (row.kind != Kind::array) handles.push_back(good.array);
    for (void* const handle : handles) {
      INFO(row.name << " of " << handle);
      CHECK(row.refuses(handle));
    }
  }
  CHECK(gpulua_sync(as_state(good.array)) == GPULUA_ARGUMENT);
  CHECK(std::string(gpulua_error(nullptr)) == "[sync] expected a gpulua_state, got a gpulua_array");
  CHECK(gpulua_array_ndim(as_array(good.function)) == -1);
  CHECK(std::string(gpulua_error(nullptr)) == "[array_ndim] expected a gpulua_array, got a gpulua_function");
  // The good ones are still open.
  CHECK(gpulua_call(good.function, nullptr, 0, nullptr, nullptr, 0) == GPULUA_OK);
  CHECK(gpulua_array_size(good.array) == 2);
}

TEST_CASE("every function takes NULL for its other parameters") {
  ApiState state;
  const Handles good(state);
  for (const Row& row : rows) {
    if (row.takes_null == nullptr) continue;
    INFO(row.name);
    CHECK(row.takes_null(row.kind == Kind::state      ? static_cast<void*>(state.get())
                         : row.kind == Kind::function ? static_cast<void*>(good.function)
                                                      : static_cast<void*>(good.array)));
  }
  CHECK(state.run("x = 1") == GPULUA_OK);
}

TEST_CASE("handles of another state are no values of this one") {
  ApiState state, other;
  const Handles own(state), foreign(other);
  REQUIRE(state.run("function f(x) x = x end") == GPULUA_OK);
  gpulua_value given = array_value(foreign.array);
  CHECK(gpulua_set(state.get(), "x", &given) == GPULUA_ARGUMENT);
  CHECK(state.error().find("expected a gpulua_array of this state, got one of another state") != std::string::npos);
  CHECK(gpulua_call(own.function, &given, 1, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(state.error().find("[call] argument 1: expected a gpulua_array of this state") != std::string::npos);
  given.kind = GPULUA_FUNCTION;
  given.as.function = foreign.function;
  CHECK(gpulua_set(state.get(), "x", &given) == GPULUA_ARGUMENT);
  given.as.function = reinterpret_cast<gpulua_function*>(own.array);
  CHECK(gpulua_set(state.get(), "x", &given) == GPULUA_ARGUMENT);
  CHECK(state.error().find("expected a gpulua_function, got a gpulua_array") != std::string::npos);
  // A handle that is closed.
  REQUIRE(state.run("y = gpu.ones(1)") == GPULUA_OK);
  gpulua_value closed{};
  REQUIRE(gpulua_get_value(state.get(), "y", &closed) == GPULUA_OK);
  gpulua_array_release(closed.as.array);
  CHECK(gpulua_call(own.function, &closed, 1, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(gpulua_set(state.get(), "x", &closed) == GPULUA_ARGUMENT);
  // What a callback gives is looked at in the same way.
  const auto give = [](gpulua_state*, void* user, const gpulua_value*, size_t, gpulua_value* out, size_t* count) {
    out[0] = array_value(static_cast<gpulua_array*>(user));
    *count = 1;
    return GPULUA_OK;
  };
  gpulua_array_retain(foreign.array);
  REQUIRE(gpulua_register(state.get(), "give", give, foreign.array) == GPULUA_OK);
  CHECK(state.run("give()") == GPULUA_RUNTIME);
  CHECK(state.error().find("[callback] result 1: expected a gpulua_array of this state") != std::string::npos);
  CHECK(gpulua_array_size(foreign.array) == 2);
}
