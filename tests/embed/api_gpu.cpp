// The C interface beside a host program's own work on a GPU: its contexts, its streams, its memory. For a machine with
// one.

#include <atomic>
#include <vector>

#include "src/exchange/dlpack.h"
#include "tests/embed/api.h"
#include "tests/embed/host_gpu.h"

namespace {

constexpr std::int64_t count = 1024;
constexpr std::size_t bytes = count * sizeof(float);

gpulua_options with_stream(const HostGpu& gpu, HostGpu::Stream stream) {
  gpulua_options options = options_with(0);
  options.cu_context = gpu.context();
  options.cu_stream = stream;
  return options;
}

/// Makes the array the global `name` of scripts. The state keeps it.
void give(const ApiState& state, const char* name, gpulua_array* array) {
  gpulua_value value{};
  value.kind = GPULUA_ARRAY;
  value.as.array = array;
  REQUIRE(gpulua_set(state.get(), name, &value) == GPULUA_OK);
  gpulua_array_release(array);
}

/// The program's memory as an array that scripts know as the global `name`.
void lend(const ApiState& state, const char* name, HostGpu::Memory memory, void (*release)(void*) = nullptr,
          void* user = nullptr) {
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_device(state.get(), nullptr, reinterpret_cast<void*>(memory), "float32", 1, &count, nullptr,
                              release, user, &array) == GPULUA_OK);
  give(state, name, array);
}

gpulua_array* array_at(const ApiState& state, const char* name) {
  gpulua_value value{};
  REQUIRE(gpulua_get_value(state.get(), name, &value) == GPULUA_OK);
  REQUIRE(value.kind == GPULUA_ARRAY);
  return value.as.array;
}

bool all_are(const std::vector<float>& elements, float wanted) {
  for (const float element : elements)
    if (element != wanted) return false;
  return true;
}

/// True when all numbers of the program's memory, read on the stream, are `wanted`.
bool holds(HostGpu& gpu, HostGpu::Memory memory, HostGpu::Stream stream, float wanted) {
  return all_are(gpu.read(memory, count, stream), wanted);
}

/// x and y are the program's memory, with zeros in them; double() makes y twice x. Its kernel is compiled.
struct Doubling {
  HostGpu& gpu;
  HostGpu::Memory x, y;
  gpulua_function* twice = nullptr;

  Doubling(HostGpu& gpu_, ApiState& state, HostGpu::Stream stream)
      : gpu(gpu_), x(gpu.allocate(bytes)), y(gpu.allocate(bytes)) {
    lend(state, "x", x);
    lend(state, "y", y);
    REQUIRE(state.run("function double() y:copy_(x * 2) end") == GPULUA_OK);
    twice = state.function("double");
    run();
    REQUIRE(gpulua_sync(state.get()) == GPULUA_OK);
    gpu.fill(x, 0, count, stream);
    gpu.fill(y, 0, count, stream);
    gpu.work(stream);  // allocates its block
    gpu.wait(stream);
  }
  /// Queues work that takes a while on the stream, and after it that x is full of `value`.
  void fill_late(float value, HostGpu::Stream stream) const {
    gpu.work(stream);
    gpu.fill(x, value, count, stream);
  }
  void run() const { REQUIRE(gpulua_call(twice, nullptr, 0, nullptr, nullptr, 0) == GPULUA_OK); }
};

}  // namespace

TEST_CASE("the program's stream orders its work and the script's, and no side waits", "[gpu]") {
  HostGpu gpu;
  const auto own = gpu.new_stream();
  // The legacy default stream is the state's where the options name none.
  for (const HostGpu::Stream stream : {own, HostGpu::Stream(nullptr)}) {
    ApiState state(with_stream(gpu, stream));
    const Doubling doubling(gpu, state, stream);
    doubling.fill_late(3, stream);
    doubling.run();
    gpu.fill(doubling.x, 7, count, stream);
    CHECK_FALSE(gpu.is_done(stream));
    CHECK(holds(gpu, doubling.y, stream, 6));
    CHECK(holds(gpu, doubling.x, stream, 7));
  }
}

TEST_CASE("the test of the order sees work on a stream that does not wait", "[gpu]") {
  HostGpu gpu;
  const auto programs = gpu.new_stream(), other = gpu.new_stream();
  ApiState state(with_stream(gpu, other));
  const Doubling doubling(gpu, state, programs);
  gpu.fill(doubling.y, 9, count, programs);
  gpu.wait(programs);
  doubling.fill_late(3, programs);
  doubling.run();
  CHECK(holds(gpu, doubling.y, programs, 0));
}

TEST_CASE("work on the program's other streams is waited for, and waits", "[gpu]") {
  HostGpu gpu;
  const auto programs = gpu.new_stream(), ours = gpu.new_stream();
  ApiState state(with_stream(gpu, ours));
  const Doubling doubling(gpu, state, programs);
  doubling.fill_late(3, programs);
  REQUIRE(gpulua_wait_stream(state.get(), programs) == GPULUA_OK);
  doubling.run();
  CHECK_FALSE(gpu.is_done(ours));
  // The state's work is late; what the program reads on its stream waits for it.
  doubling.fill_late(5, ours);
  doubling.run();
  gpulua_array* y = array_at(state, "y");
  void* pointer = nullptr;
  REQUIRE(gpulua_array_evaluate(y, programs, &pointer) == GPULUA_OK);
  CHECK(pointer == reinterpret_cast<void*>(doubling.y));
  CHECK_FALSE(gpu.is_done(ours));
  CHECK(holds(gpu, doubling.y, programs, 10));
  gpulua_array_release(y);
}

TEST_CASE("the state changes to another stream, after its work so far", "[gpu]") {
  HostGpu gpu;
  const auto first = gpu.new_stream(), second = gpu.new_stream();
  ApiState state(with_stream(gpu, first));
  const Doubling doubling(gpu, state, first);
  doubling.fill_late(3, first);
  REQUIRE(gpulua_set_stream(state.get(), second) == GPULUA_OK);
  doubling.run();
  CHECK_FALSE(gpu.is_done(second));
  CHECK(holds(gpu, doubling.y, second, 6));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(gpulua_set_stream(state.get(), i % 2 == 0 ? first : second) == GPULUA_OK);
    REQUIRE(state.run("z = gpu.ones(64, 64) z = z:dot(z) + (z or 0)") == GPULUA_OK);
  }
  REQUIRE(state.run("sum = z:sum():item()") == GPULUA_OK);
  CHECK(state.number("sum") == 64 * 64 * 65);
}

TEST_CASE("the program's memory is given back when the work on it is done", "[gpu]") {
  HostGpu gpu;
  const auto stream = gpu.new_stream();
  std::atomic<int> released{0};
  const auto release = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  ApiState state(with_stream(gpu, stream));
  const Doubling doubling(gpu, state, stream);
  const HostGpu::Memory lent = gpu.allocate(bytes);
  lend(state, "lent", lent, release, &released);
  gpu.work(stream);
  REQUIRE(state.run("lent:fill_(2) lent = nil") == GPULUA_OK);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  const int early = released;
  CHECK((early == 0 || gpu.is_done(stream)));
  gpu.wait(stream);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  REQUIRE(state.run("gpu.ones(10):eval()") == GPULUA_OK);
  CHECK(released == 1);
  CHECK(holds(gpu, lent, stream, 2));
}

TEST_CASE("a deadline ends a wait for the GPU, whose work goes on", "[gpu]") {
  HostGpu gpu;
  const auto stream = gpu.new_stream();
  ApiState state(with_stream(gpu, stream));
  const Doubling doubling(gpu, state, stream);
  REQUIRE(state.run("function total() double() return y:sum():item() end") == GPULUA_OK);
  gpulua_function* total = state.function("total");
  REQUIRE(gpulua_call(total, nullptr, 0, nullptr, nullptr, 0) == GPULUA_OK);
  for (int i = 0; i < 2; ++i) doubling.fill_late(3, stream);
  CHECK(gpulua_call(total, nullptr, 0, nullptr, nullptr, 20) == GPULUA_DEADLINE);
  CHECK_FALSE(gpu.is_done(stream));
  CHECK(state.error().find("cuda:0 still has work queued, which runs to its end") != std::string::npos);
  gpulua_value out{};
  size_t results = 1;
  REQUIRE(gpulua_call(total, nullptr, 0, &out, &results, 0) == GPULUA_OK);
  CHECK(out.as.number == 6 * count);
}

TEST_CASE("whatever is called, the program's context is current afterwards", "[gpu]") {
  HostGpu gpu(HostGpu::Of::own);
  const auto stream = gpu.new_stream();
  // The program works in the primary context, in none, or in the one that it has given to the state.
  for (const HostGpu::Context programs : {gpu.primary(), HostGpu::Context(nullptr), gpu.context()}) {
    const HostGpu::Memory x = gpu.allocate(bytes);
    gpu.make_current(programs);
    const auto kept = [&](const char* call, int status) {
      INFO(call);
      CHECK(status == GPULUA_OK);
      CHECK(gpu.current() == programs);
    };
    gpulua_options options = with_stream(gpu, stream);
    gpulua_state* state = nullptr;
    kept("create", gpulua_create(&options, &state));
    const std::string script =
        "function work(x) x:fill_(2) y = x:dot(x):eval() z = (gpu.sort(x) + gpu.randn(1024)):eval() return "
        "x:sum():item() end "
        "e = gpu.linalg.inv(gpu.eye(3)):eval()";
    kept("run", gpulua_run(state, script.data(), script.size(), "script"));
    gpulua_value in{}, out{};
    in.kind = GPULUA_ARRAY;
    kept("array_device", gpulua_array_device(state, nullptr, reinterpret_cast<void*>(x), "float32", 1, &count, nullptr,
                                             nullptr, nullptr, &in.as.array));
    gpulua_function* work = nullptr;
    kept("get", gpulua_get(state, "work", &work));
    size_t results = 1;
    kept("call", gpulua_call(work, &in, 1, &out, &results, 0));
    CHECK(out.as.number == 2 * count);
    void* pointer = nullptr;
    kept("array_evaluate", gpulua_array_evaluate(in.as.array, nullptr, &pointer));
    std::vector<float> elements(count);
    kept("array_copy_to", gpulua_array_copy_to(in.as.array, elements.data(), bytes));
    CHECK(all_are(elements, 2));
    kept("array_copy_from", gpulua_array_copy_from(in.as.array, elements.data(), bytes));
    DLManagedTensorVersioned* tensor = nullptr;
    kept("array_to_dlpack", gpulua_array_to_dlpack(in.as.array, nullptr, &tensor));
    gpulua_array* again = nullptr;
    kept("array_from_dlpack", gpulua_array_from_dlpack(state, tensor, GPULUA_NO_STREAM, &again));
    kept("array_release", gpulua_array_release(again));
    gpulua_array* zeros = nullptr;
    kept("array_zeros", gpulua_array_zeros(state, "float64", 1, &count, &zeros));
    gpulua_array* copied = nullptr;
    kept("array_host",
         gpulua_array_host(state, elements.data(), "float32", 1, &count, nullptr, nullptr, nullptr, 1, &copied));
    kept("wait_stream", gpulua_wait_stream(state, nullptr));
    kept("set_stream", gpulua_set_stream(state, nullptr));
    size_t used = 0, peak = 0;
    kept("memory", gpulua_memory(state, &used, &peak));
    CHECK(used >= bytes);
    kept("interrupt", gpulua_interrupt(state));
    kept("sync", gpulua_sync(state));
    kept("collect", gpulua_collect(state, 0));
    CHECK(gpulua_run(state, "error(1)", 8, "script") == GPULUA_RUNTIME);
    kept("a failed run", GPULUA_OK);
    kept("destroy", gpulua_destroy(state));
    gpu.make_current(gpu.context());
  }
  // It is neither released nor destroyed.
  const HostGpu::Memory after = gpu.allocate(bytes);
  gpu.fill(after, 4, count, stream);
  CHECK(holds(gpu, after, stream, 4));
}

TEST_CASE("a state of its own context leaves the program's current, also at its end", "[gpu]") {
  for (const auto which : {HostGpu::Of::primary, HostGpu::Of::own}) {
    HostGpu gpu(which);
    gpulua_options options = options_with(0);
    options.device = "cuda:0";
    for (int i = 0; i < 2; ++i) {
      ApiState state(options);
      REQUIRE(state.run("x = gpu.ones(1000) s = (x + 1):sum():item()") == GPULUA_OK);
      CHECK(gpu.current() == gpu.context());
    }
    CHECK(gpu.current() == gpu.context());
    const HostGpu::Memory memory = gpu.allocate(bytes);
    gpu.fill(memory, 4, count, nullptr);
    CHECK(holds(gpu, memory, nullptr, 4));
  }
}

TEST_CASE("pinned memory is an array without a copy, other host memory none", "[gpu]") {
  HostGpu gpu;
  ApiState state(with_stream(gpu, gpu.new_stream()));
  auto* const pinned = static_cast<float*>(gpu.allocate_pinned(bytes));
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_host(state.get(), pinned, "float32", 1, &count, nullptr, nullptr, nullptr, 0, &array) ==
          GPULUA_OK);
  give(state, "x", array);
  REQUIRE(state.run("x:fill_(5) gpu.sync()") == GPULUA_OK);
  CHECK(pinned[count - 1] == 5);
  REQUIRE(state.run("x = nil") == GPULUA_OK);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  gpu.free_pinned(pinned);
  std::vector<float> pageable(count);
  CHECK(gpulua_array_host(state.get(), pageable.data(), "float32", 1, &count, nullptr, nullptr, nullptr, 0, &array) ==
        GPULUA_ARGUMENT);
  CHECK(state.error().find("[array_host] expected memory that cuda:0 can reach") == 0);
}

TEST_CASE("DLPack on a GPU: the address stays, both ways", "[gpu]") {
  using gpulua::dlpack::Managed;
  HostGpu gpu;
  const auto stream = gpu.new_stream(), consumers = gpu.new_stream();
  ApiState state(with_stream(gpu, stream)), other(with_stream(gpu, consumers));
  const Doubling doubling(gpu, state, stream);
  doubling.fill_late(3, stream);
  doubling.run();
  gpulua_array* y = array_at(state, "y");
  DLManagedTensorVersioned* tensor = nullptr;
  REQUIRE(gpulua_array_to_dlpack(y, consumers, &tensor) == GPULUA_OK);
  gpulua_array_release(y);
  const auto& managed = *reinterpret_cast<Managed*>(tensor);
  CHECK(managed.tensor.device.type == gpulua::dlpack::cuda);
  CHECK(managed.tensor.device.id == 0);
  CHECK(managed.tensor.data == reinterpret_cast<void*>(doubling.y));
  // The consumer's stream waits for the producer's.
  gpulua_array* taken = nullptr;
  REQUIRE(gpulua_array_from_dlpack(other.get(), tensor, consumers, &taken) == GPULUA_OK);
  void* pointer = nullptr;
  REQUIRE(gpulua_array_evaluate(taken, GPULUA_NO_STREAM, &pointer) == GPULUA_OK);
  CHECK(pointer == reinterpret_cast<void*>(doubling.y));
  give(other, "y", taken);
  REQUIRE(other.run("sum = y:sum():item()") == GPULUA_OK);
  CHECK(other.number("sum") == 6 * count);
}

TEST_CASE("states that used the device leave none of its memory", "[gpu]") {
  HostGpu gpu;
  const auto stream = gpu.new_stream();
  const auto once = [&] {
    ApiState state(with_stream(gpu, stream));
    REQUIRE(state.run("x = gpu.randn(2^20) y = (x * x):sum():item() s = gpu.stream()") == GPULUA_OK);
    gpu.work(stream);  // gpulua_destroy waits for what is on its streams
  };
  for (int i = 0; i < 3; ++i) once();
  const std::size_t before = gpu.free_bytes();
  for (int i = 0; i < 50; ++i) once();
  // Fifty arrays are 200 MB; the driver keeps some MB in its own steps.
  CHECK(gpu.free_bytes() + (std::size_t{16} << 20) > before);
}
