// The host has no memory, at whatever allocation of a call: an error, and the state goes on.

#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "src/exchange/dlpack.h"
#include "tests/embed/api.h"

namespace {

// How many allocations of this thread succeed; below 0: all.
thread_local long left = -1;
thread_local bool has_failed = false;

}  // namespace

// The library's, too: it takes the program's.
void* operator new(std::size_t size) {
  if (left >= 0 && left-- == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return left >= 0 && left-- == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

TEST_CASE("each function survives that any of its allocations fails", "[cpu]") {
  gpulua_options options = options_with(0);
  options.device = "cpu";
  ApiState state(options);
  gpulua_state* const s = state.get();
  REQUIRE(state.run("x = gpu.ones(10, 10) * 3; t = {}; function f(a, b) return a + 1, 'text', b end") == GPULUA_OK);

  std::vector<float> host(100, 2);
  const std::int64_t shape[] = {10, 10}, turned[] = {4, 40};
  gpulua_array *lent = nullptr, *array = nullptr;
  REQUIRE(gpulua_array_host(s, host.data(), "float32", 2, shape, turned, nullptr, nullptr, 0, &lent) == GPULUA_OK);
  gpulua_value value{};
  value.kind = GPULUA_ARRAY;
  value.as.array = lent;
  REQUIRE(gpulua_set(s, "lent", &value) == GPULUA_OK);
  gpulua_function* const f = state.function("f");
  gpulua_function* loaded = nullptr;
  const gpulua_value in[] = {value, text_value("b")};
  std::vector<gpulua_value> out(3);
  const std::string script = "local y = (lent + 1) * 2; kept = y; return y";

  int deleted = 0, made = 0;
  DLManagedTensorVersioned* tensor = nullptr;
  gpulua::dlpack::Managed given{};
  std::int64_t shape_given[] = {10, 10};
  const auto take = [&] {
    ++made;
    given.version = {1, 0};
    given.context = &deleted;
    given.deleter = [](gpulua::dlpack::Managed* self) { ++*static_cast<int*>(self->context); };
    given.tensor = {host.data(), {gpulua::dlpack::cpu, 0}, 2, {gpulua::dlpack::floating, 32, 1}, shape_given, nullptr, 0};
    return gpulua_array_from_dlpack(s, reinterpret_cast<DLManagedTensorVersioned*>(&given), GPULUA_NO_STREAM, &array);
  };
  const auto release = [&](gpulua_status status) {
    if (status == GPULUA_OK) gpulua_array_release(array);
    return status;
  };
  const std::pair<const char*, std::function<gpulua_status()>> calls[] = {
      {"run", [&] { return gpulua_run(s, script.data(), script.size(), "s"); }},
      {"load", [&] { return gpulua_load(s, script.data(), script.size(), "s", &loaded); }},
      {"get", [&] { return gpulua_get(s, "f", &loaded); }},
      {"get_value", [&] { return gpulua_get_value(s, "x", &value); }},
      {"set", [&] { return gpulua_set(s, "t.lent", &in[0]); }},
      {"call",
       [&] {
         std::size_t count = out.size();
         return gpulua_call(f, in, 2, out.data(), &count, 0);
       }},
      {"register",
       [&] {
         return gpulua_register(
             s, "t.f",
             [](gpulua_state*, void*, const gpulua_value*, std::size_t, gpulua_value*, std::size_t* count) {
               *count = 0;
               return GPULUA_OK;
             },
             nullptr);
       }},
      {"array_host, a copy",
       [&] {
         return release(gpulua_array_host(s, host.data(), "float32", 2, shape, nullptr, nullptr, nullptr, 1, &array));
       }},
      {"array_host, a copy of a transpose",
       [&] {
         return release(gpulua_array_host(s, host.data(), "float32", 2, shape, turned, nullptr, nullptr, 1, &array));
       }},
      {"array_host, lent",
       [&] {
         return release(gpulua_array_host(s, host.data(), "float32", 2, shape, turned, nullptr, nullptr, 0, &array));
       }},
      {"array_zeros", [&] { return release(gpulua_array_zeros(s, "float64", 2, shape, &array)); }},
      {"array_copy_to", [&] { return gpulua_array_copy_to(lent, host.data(), 400); }},
      {"array_copy_from", [&] { return gpulua_array_copy_from(lent, host.data(), 400); }},
      {"array_evaluate",
       [&] {
         void* pointer = nullptr;
         return gpulua_array_evaluate(lent, GPULUA_NO_STREAM, &pointer);
       }},
      {"DLPack there and back",
       [&] {
         const gpulua_status status = gpulua_array_to_dlpack(lent, GPULUA_NO_STREAM, &tensor);
         return status != GPULUA_OK ? status : release(gpulua_array_from_dlpack(s, tensor, GPULUA_NO_STREAM, &array));
       }},
      {"array_from_dlpack", [&] { return release(take()); }},
      {"collect", [&] { return gpulua_collect(s, 0); }},
      {"sync", [&] { return gpulua_sync(s); }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    REQUIRE(call() == GPULUA_OK);  // compiles what it needs
    gpulua_collect(s, 0);
    constexpr long most = 2000;
    long point = 0;
    for (bool fails = true; fails; ++point) {
      REQUIRE(point < most);
      left = point;
      has_failed = false;
      const gpulua_status status = call();
      left = -1;
      fails = has_failed;
      if (!fails) REQUIRE(status == GPULUA_OK);
      REQUIRE(state.run("assert((x + 1):sum():item() == 400)") == GPULUA_OK);
    }
  }
  gpulua_collect(s, 0);
  gpulua_sync(s);
  CHECK(deleted == made);
}
