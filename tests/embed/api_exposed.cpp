// Memory whose address the host program has: what it writes there after a call is not for the expressions of that call;
// and errors that the device finds are raised where elements are handed out. All on the cpu device.

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "src/exchange/dlpack.h"
#include "tests/embed/api.h"

using namespace gpulua::dlpack;

namespace {

std::vector<float> elements_of(gpulua_array* array) {
  std::vector<float> elements(static_cast<std::size_t>(gpulua_array_size(array)));
  REQUIRE(gpulua_array_copy_to(array, elements.data(), elements.size() * sizeof(float)) == GPULUA_OK);
  return elements;
}

/// An array over the vector's memory.
gpulua_array* lend(ApiState& state, std::vector<float>& memory) {
  const auto size = static_cast<std::int64_t>(memory.size());
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_host(state.get(), memory.data(), "float32", 1, &size, nullptr, nullptr, nullptr, 0, &array) ==
          GPULUA_OK);
  return array;
}

gpulua_array* call(ApiState& state, const char* name, gpulua_array* argument) {
  const gpulua_value in = array_value(argument);
  gpulua_value out{};
  std::size_t count = 1;
  REQUIRE(gpulua_call(state.function(name), &in, 1, &out, &count, 0) == GPULUA_OK);
  REQUIRE(out.kind == GPULUA_ARRAY);
  return out.as.array;
}

gpulua_array* global(ApiState& state, const char* path) {
  gpulua_value value{};
  REQUIRE(gpulua_get_value(state.get(), path, &value) == GPULUA_OK);
  REQUIRE(value.kind == GPULUA_ARRAY);
  return value.as.array;
}

}  // namespace

TEST_CASE("what the host writes after a call is not for the call's expressions", "[cpu]") {
  ApiState state(on_cpu());
  REQUIRE(
      state.run(
          "function double(x) kept = (x + 1) * 2; head = x['1:2'] - 1; pairs_of = x:take(gpu.array({3, 1}, 'int32'));\n"
          "  return 2 * x end") == GPULUA_OK);
  for (const std::size_t size : {std::size_t{3}, std::size_t{1} << 20}) {
    std::vector<float> memory(size, 5);
    gpulua_array* const x = lend(state, memory);
    gpulua_array* const result = call(state, "double", x);
    memory.assign(size, 100);
    CHECK(elements_of(result) == std::vector<float>(size, 10));
    CHECK(elements_of(global(state, "kept")) == std::vector<float>(size, 12));
    CHECK(elements_of(global(state, "head")) == std::vector<float>(2, 4));
    CHECK(elements_of(global(state, "pairs_of")) == std::vector<float>(2, 5));
    // The memory is the array's still.
    CHECK(elements_of(call(state, "double", x)) == std::vector<float>(size, 200));
    gpulua_array_release(x);
  }
}

TEST_CASE("a buffer that the host uses again and again", "[cpu]") {
  ApiState state(on_cpu());
  REQUIRE(state.run("function next(x) local y = x + 1; return y * y end") == GPULUA_OK);
  std::vector<float> memory(4);
  std::vector<gpulua_array*> results;
  for (const float value : {0.0F, 1.0F, 2.0F}) {
    memory.assign(4, value);
    gpulua_array* const x = lend(state, memory);
    results.push_back(call(state, "next", x));
    gpulua_array_release(x);
  }
  CHECK(elements_of(results[0]) == std::vector<float>(4, 1));
  CHECK(elements_of(results[1]) == std::vector<float>(4, 4));
  CHECK(elements_of(results[2]) == std::vector<float>(4, 9));
}

TEST_CASE("what the host writes in a callback, or where an array of the state's lies", "[cpu]") {
  ApiState state(on_cpu());
  std::vector<float> memory(3, 1);
  gpulua_array* const x = lend(state, memory);
  const gpulua_value value = array_value(x);
  REQUIRE(gpulua_set(state.get(), "x", &value) == GPULUA_OK);
  const auto write = [](gpulua_state*, void* user, const gpulua_value*, std::size_t, gpulua_value*,
                        std::size_t* count) {
    static_cast<std::vector<float>*>(user)->assign(3, 100);
    *count = 0;
    return GPULUA_OK;
  };
  REQUIRE(gpulua_register(state.get(), "write", write, &memory) == GPULUA_OK);
  REQUIRE(state.run("local y = x + 1; write(); before, after = y:sum():item(), x:sum():item()") == GPULUA_OK);
  CHECK(state.number("before") == 6);
  CHECK(state.number("after") == 300);

  REQUIRE(state.run("a = gpu.ones(3) + 1") == GPULUA_OK);
  void* pointer = nullptr;
  REQUIRE(gpulua_array_evaluate(global(state, "a"), GPULUA_NO_STREAM, &pointer) == GPULUA_OK);
  REQUIRE(state.run("b = a * 2") == GPULUA_OK);
  static_cast<float*>(pointer)[0] = 100;
  CHECK(elements_of(global(state, "b")) == std::vector<float>(3, 4));
  CHECK(elements_of(global(state, "a")) == std::vector<float>{100, 2, 2});
}

TEST_CASE("a failed script, and a path with a metamethod, leave no reader either", "[cpu]") {
  ApiState state(on_cpu());
  std::vector<float> memory(3, 1);
  const gpulua_value value = array_value(lend(state, memory));
  REQUIRE(gpulua_set(state.get(), "x", &value) == GPULUA_OK);
  CHECK(state.run("y = x + 1; error 'on purpose'") == GPULUA_RUNTIME);
  REQUIRE(state.run("lazy = setmetatable({}, {__index = function() return x * 3 end})") == GPULUA_OK);
  gpulua_array* const read = global(state, "lazy.x");
  memory.assign(3, 100);
  CHECK(elements_of(global(state, "y")) == std::vector<float>(3, 2));
  CHECK(elements_of(read) == std::vector<float>(3, 3));
}

TEST_CASE("elements are handed out with the errors that the device found in them", "[cpu]") {
  const std::pair<const char*, const char*> scripts[] = {
      {"a = gpu.arange(3, 'float32'):take(gpu.array({9}, 'int32'))", "9 in an index array is out of range"},
      {"a = gpu.linalg.inv(gpu.ones(2, 2))", "is singular"},
      {"a = gpu.zeros(3); a[gpu.array({9}, 'int32')] = 1", "9 in an index array is out of range"},
  };
  for (const auto& [script, message] : scripts) {
    for (const int way : {0, 1, 2, 3}) {
      ApiState state(on_cpu());
      REQUIRE(state.run(script) == GPULUA_OK);
      gpulua_array* const array = global(state, "a");
      float elements[4];
      void* pointer = nullptr;
      DLManagedTensorVersioned* tensor = nullptr;
      DLManagedTensor* legacy = nullptr;
      const gpulua_status status = way == 0   ? gpulua_array_copy_to(array, elements, gpulua_array_nbytes(array))
                                   : way == 1 ? gpulua_array_evaluate(array, GPULUA_NO_STREAM, &pointer)
                                   : way == 2 ? gpulua_array_to_dlpack(array, GPULUA_NO_STREAM, &tensor)
                                              : gpulua_array_to_dlpack_legacy(array, GPULUA_NO_STREAM, &legacy);
      CHECK(status != GPULUA_OK);
      CHECK(state.error().find(message) != std::string::npos);
      CHECK((pointer == nullptr && tensor == nullptr && legacy == nullptr));
    }
  }
}

TEST_CASE("memory that lies at no addresses is refused", "[cpu]") {
  std::deque<Managed> tensors;  // they outlive the state, which gives them back
  ApiState state(on_cpu());
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max(), least = -largest - 1;
  std::vector<double> memory(16, 1);
  struct Case {
    std::int64_t shape[2], strides[2];  // in elements
    std::uint64_t byte_offset;
    bool good;
  };
  const Case cases[] = {
      {{2, 2}, {least, 1}, 0, false},
      {{2, 2}, {largest, 1}, 0, false},
      {{3, 2}, {largest / 2, 1}, 0, false},
      {{2, 2}, {largest / 8, 1}, 0, false},
      {{2, 2}, {least / 8, 1}, 0, false},
      {{largest, 1}, {1, 1}, 0, false},
      {{largest, largest}, {0, 0}, 0, false},
      {{-1, 2}, {1, 1}, 0, false},
      {{2, 2}, {2, 1}, ~std::uint64_t{7}, false},
      {{1, 2}, {largest, 1}, 0, true},
      {{1, 2}, {least, 1}, 0, true},
      {{0, 2}, {largest, least}, 0, true},
      {{2, 2}, {2, 1}, 8, true},
  };
  for (const Case& one : cases) {
    Managed& managed = tensors.emplace_back();
    Case given = one;
    managed.version = {1, 0};
    managed.tensor = {memory.data(), {cpu, 0}, 2, {floating, 64, 1}, given.shape, given.strides, given.byte_offset};
    gpulua_array* array = nullptr;
    const gpulua_status status = gpulua_array_from_dlpack(
        state.get(), reinterpret_cast<DLManagedTensorVersioned*>(&managed), GPULUA_NO_STREAM, &array);
    INFO(one.shape[0] << " " << one.shape[1] << ", " << one.strides[0] << " " << one.strides[1]);
    CHECK((status == GPULUA_OK) == one.good);
    if (status != GPULUA_OK) {
      CHECK(status == GPULUA_ARGUMENT);
      CHECK(state.error().find("expected") != std::string::npos);
      continue;
    }
    std::vector<double> elements(static_cast<std::size_t>(gpulua_array_size(array)));
    CHECK(gpulua_array_copy_to(array, elements.data(), elements.size() * sizeof(double)) == GPULUA_OK);
    CHECK(elements == std::vector<double>(elements.size(), 1));
    gpulua_array_release(array);
  }
}
