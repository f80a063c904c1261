// Arrays through the C interface: the host's memory, reading and writing, DLPack. All on the device of GPULUA_DEVICE;
// host memory is borrowed on the cpu device alone.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "src/exchange/dlpack.h"
#include "tests/embed/api.h"

using namespace gpulua::dlpack;

namespace {

void count_release(void* user) {
  ++*static_cast<std::atomic<int>*>(user);
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a script works in the host's memory, and gives it back", "[cpu]") {
  ApiState state(on_cpu());
  std::atomic<int> released{0};
  // Not aligned to a vector: the second element of a block.
  std::vector<float> block(1001);
  float* const x = block.data() + 1;
  std::iota(x, x + 1000, 0.0F);
  const std::int64_t shape[] = {10, 100};
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_device(state.get(), nullptr, x, "float32", 2, shape, nullptr, &count_release, &released,
                              &array) == GPULUA_OK);
  CHECK(std::string(gpulua_array_dtype(array)) == "float32");
  CHECK(std::string(gpulua_array_device_name(array)) == "cpu");
  CHECK(gpulua_array_ndim(array) == 2);
  CHECK(gpulua_array_shape(array)[1] == 100);
  CHECK(gpulua_array_strides(array)[0] == 400);
  CHECK(gpulua_array_size(array) == 1000);
  CHECK(gpulua_array_nbytes(array) == 4000);

  REQUIRE(state.run("function update(x) x:copy_(x * 2 + 1); total = x:sum():item(); return x(3) end") == GPULUA_OK);
  const gpulua_value in = array_value(array);
  gpulua_value out{};
  std::size_t count = 1;
  REQUIRE(gpulua_call(state.function("update"), &in, 1, &out, &count, 0) == GPULUA_OK);
  CHECK(state.number("total") == 2 * 499500.0 + 1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(x[i] == 2.0F * static_cast<float>(i) + 1);
  CHECK(block[0] == 0);
  // The third row is the same memory.
  REQUIRE(out.kind == GPULUA_ARRAY);
  void* pointer = nullptr;
  REQUIRE(gpulua_array_evaluate(out.as.array, GPULUA_NO_STREAM, &pointer) == GPULUA_OK);
  CHECK(pointer == x + 200);

  CHECK(gpulua_array_release(out.as.array) == GPULUA_OK);
  CHECK(gpulua_array_release(array) == GPULUA_OK);
  CHECK(gpulua_array_release(array) == GPULUA_ARGUMENT);
  CHECK(released == 0);  // within a later call
  CHECK(gpulua_collect(state.get(), 0) == GPULUA_OK);
  CHECK(gpulua_sync(state.get()) == GPULUA_OK);
  CHECK(released == 1);
}

TEST_CASE("destroy gives all memory back, and closes the handles", "[cpu]") {
  std::atomic<int> released{0};
  std::vector<double> x(64);
  gpulua_array* array = nullptr;
  {
    ApiState state(on_cpu());
    const std::int64_t shape = 64;
    REQUIRE(gpulua_array_host(state.get(), x.data(), "float64", 1, &shape, nullptr, &count_release, &released, 0,
                              &array) == GPULUA_OK);
    const gpulua_value value = array_value(array);
    REQUIRE(gpulua_set(state.get(), "x", &value) == GPULUA_OK);
    REQUIRE(state.run("x:fill_(3); y = x + 1") == GPULUA_OK);
  }
  CHECK(released == 1);
  CHECK(x[63] == 3);
  CHECK(gpulua_array_release(array) == GPULUA_ARGUMENT);
  CHECK(gpulua_array_shape(array) == nullptr);
  CHECK(gpulua_array_ndim(array) == -1);
  CHECK(has(gpulua_error(nullptr), "a gpulua_array whose state was destroyed: a program copies"));
}

TEST_CASE("memory that scripts may only read", "[cpu]") {
  ApiState state(on_cpu());
  std::atomic<int> released{0};
  std::vector<double> x{1, 2, 3};
  const std::int64_t shape = 3;
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_host(state.get(), x.data(), "float64", 1, &shape, nullptr, &count_release, &released,
                            GPULUA_READ_ONLY, &array) == GPULUA_OK);
  CHECK(released == 0);
  const gpulua_value value = array_value(array);
  REQUIRE(gpulua_set(state.get(), "x", &value) == GPULUA_OK);
  CHECK(state.run("s = x:sum():item(); x[2] = 9") == GPULUA_RUNTIME);
  CHECK(has(state.error(), "lends for reading only: x:copy() makes one"));
  CHECK(state.number("s") == 6);
  CHECK(gpulua_array_copy_from(array, x.data(), sizeof(double) * 3) == GPULUA_ARGUMENT);
  x[0] = 5;
  CHECK(state.run("s = x:copy():fill_(2):sum():item() + x[1]; x = nil") == GPULUA_OK);
  CHECK(state.number("s") == 11);
  CHECK(x == std::vector<double>{5, 2, 3});
  REQUIRE(gpulua_array_release(array) == GPULUA_OK);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  CHECK(released == 1);
}

TEST_CASE("strides: every other element backwards, and a copy of it", "[cpu]") {
  ApiState state(on_cpu());
  std::vector<std::int32_t> x(10);
  std::iota(x.begin(), x.end(), 0);
  const std::int64_t shape = 5, strides = -8;
  for (const int copy : {0, 1}) {
    gpulua_array* array = nullptr;
    REQUIRE(gpulua_array_host(state.get(), &x[9], "int32", 1, &shape, &strides, nullptr, nullptr, copy, &array) ==
            GPULUA_OK);
    std::int32_t got[5];
    REQUIRE(gpulua_array_copy_to(array, got, sizeof got) == GPULUA_OK);
    CHECK(std::vector<std::int32_t>(got, got + 5) == std::vector<std::int32_t>{9, 7, 5, 3, 1});
    const std::int32_t set[5] = {-1, -2, -3, -4, -5};
    REQUIRE(gpulua_array_copy_from(array, set, sizeof set) == GPULUA_OK);
    CHECK(x[5] == (copy == 0 ? -3 : 5));
    if (copy == 0) std::iota(x.begin(), x.end(), 0);
    CHECK(gpulua_array_copy_to(array, got, 4) == GPULUA_ARGUMENT);
    CHECK(has(state.error(), "[array_copy_to] expected 20 bytes, as int32[5] has, got 4"));
    CHECK(gpulua_array_release(array) == GPULUA_OK);
  }
}

TEST_CASE("arrays that cannot be", "[cpu]") {
  ApiState state(on_cpu());
  std::vector<float> x(8);
  std::atomic<int> released{0};
  const std::int64_t shape = 4, odd = 6;
  gpulua_array* array = nullptr;
  const auto make = [&](void* pointer, const char* dtype, int ndim, const std::int64_t* sizes,
                        const std::int64_t* strides) {
    const gpulua_status status = gpulua_array_device(state.get(), "cpu", pointer, dtype, ndim, sizes, strides,
                                                     &count_release, &released, &array);
    CHECK(array == nullptr);
    return status;
  };
  CHECK(make(x.data(), "float", 1, &shape, nullptr) == GPULUA_ARGUMENT);
  CHECK(make(nullptr, "float32", 1, &shape, nullptr) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "[array_device] expected an address of elements, got NULL for shape (4,)"));
  CHECK(make(reinterpret_cast<char*>(x.data()) + 2, "float32", 1, &shape, nullptr) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "expected an address that is a multiple of 4"));
  CHECK(make(x.data(), "float32", 1, &shape, &odd) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "expected strides in multiples of 4 bytes"));
  CHECK(make(x.data(), "float32", 65, &shape, nullptr) == GPULUA_ARGUMENT);
  CHECK(make(x.data(), "float32", 1, nullptr, nullptr) == GPULUA_ARGUMENT);
  CHECK(gpulua_array_device(state.get(), "tpu", x.data(), "float32", 1, &shape, nullptr, nullptr, nullptr, &array) ==
        GPULUA_UNAVAILABLE);
  CHECK(gpulua_array_evaluate(nullptr, nullptr, nullptr) == GPULUA_ARGUMENT);
  CHECK(gpulua_set_stream(state.get(), nullptr) == GPULUA_ARGUMENT);
  CHECK(released == 0);  // the memory stays the program's
}

TEST_CASE("functions of gpu from C, and memory") {
  ApiState state;
  const std::int64_t shape = 1000;
  gpulua_array* zeros = nullptr;
  REQUIRE(gpulua_array_zeros(state.get(), "float32", 1, &shape, &zeros) == GPULUA_OK);
  const gpulua_value in[] = {array_value(zeros), number_value(2)};
  gpulua_value out{};
  std::size_t count = 1;
  REQUIRE(gpulua_call(state.function("gpu.add"), in, 2, &out, &count, 0) == GPULUA_OK);
  std::vector<float> got(1000);
  REQUIRE(gpulua_array_copy_to(out.as.array, got.data(), 4000) == GPULUA_OK);
  CHECK(got[999] == 2);
  std::size_t used = 0, peak = 0;
  REQUIRE(gpulua_memory(state.get(), &used, &peak) == GPULUA_OK);
  CHECK(used >= 8000);
  CHECK(peak >= used);
}

TEST_CASE("arrays are released from many threads while the state works", "[cpu]") {
  ApiState state(on_cpu());
  std::vector<float> x(16);
  std::atomic<int> released{0};
  const std::int64_t shape = 16;
  std::vector<gpulua_array*> arrays(400);
  for (gpulua_array*& array : arrays)
    REQUIRE(gpulua_array_device(state.get(), nullptr, x.data(), "float32", 1, &shape, nullptr, &count_release,
                                &released, &array) == GPULUA_OK);
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < 4; ++part)
    threads.emplace_back([&, part] {
      for (std::size_t i = part; i < arrays.size(); i += 4) {
        gpulua_array_retain(arrays[i]);
        gpulua_array_release(arrays[i]);
        gpulua_array_release(arrays[i]);
      }
    });
  for (int i = 0; i < 200; ++i) REQUIRE(state.run("local y = 0 for i = 1, 100 do y = y + i end") == GPULUA_OK);
  for (std::thread& thread : threads) thread.join();
  REQUIRE(gpulua_sync(state.get()) == GPULUA_OK);
  CHECK(released == 400);
}

TEST_CASE("DLPack out: the tensor keeps its elements, also without the state", "[cpu]") {
  Managed* tensor = nullptr;
  {
    ApiState state(on_cpu());
    REQUIRE(state.run("x = gpu.arange(6, 'float32'):reshape(2, 3).T; b = gpu.array({true, false}); e = gpu.zeros(0)") ==
            GPULUA_OK);
    gpulua_value value;
    REQUIRE(gpulua_get_value(state.get(), "x", &value) == GPULUA_OK);
    REQUIRE(gpulua_array_to_dlpack(value.as.array, nullptr, reinterpret_cast<DLManagedTensorVersioned**>(&tensor)) ==
            GPULUA_OK);
    gpulua_array_release(value.as.array);

    LegacyManaged* legacy = nullptr;
    REQUIRE(gpulua_get_value(state.get(), "b", &value) == GPULUA_OK);
    REQUIRE(gpulua_array_to_dlpack_legacy(value.as.array, nullptr, reinterpret_cast<DLManagedTensor**>(&legacy)) ==
            GPULUA_OK);
    CHECK(legacy->tensor.dtype.code == boolean);
    CHECK(legacy->tensor.dtype.bits == 8);
    legacy->deleter(legacy);
    gpulua_array_release(value.as.array);

    Managed* none = nullptr;
    REQUIRE(gpulua_get_value(state.get(), "e", &value) == GPULUA_OK);
    REQUIRE(gpulua_array_to_dlpack(value.as.array, nullptr, reinterpret_cast<DLManagedTensorVersioned**>(&none)) ==
            GPULUA_OK);
    CHECK(none->tensor.data == nullptr);
    CHECK(none->tensor.strides != nullptr);
    none->deleter(none);
  }
  CHECK(tensor->version.major == 1);
  CHECK(tensor->tensor.device.type == cpu);
  CHECK(tensor->tensor.ndim == 2);
  CHECK(tensor->tensor.shape[0] == 3);
  CHECK(tensor->tensor.strides[0] == 1);
  CHECK(tensor->tensor.strides[1] == 3);
  CHECK(tensor->tensor.dtype.bits == 32);
  const auto* elements = static_cast<const float*>(tensor->tensor.data);
  CHECK(elements[5] == 5);
  std::thread([&] { tensor->deleter(tensor); }).join();
}

namespace {

/// A tensor of the host's, with a deleter that counts.
struct HostTensor {
  Managed managed{};
  std::int64_t shape[2] = {2, 2}, strides[2] = {1, 2};
  double elements[5] = {0, 1, 2, 3, 4};
  int deleted = 0;

  HostTensor() {
    managed.version = {1, 3};
    managed.context = this;
    managed.deleter = [](Managed* self) { ++static_cast<HostTensor*>(self->context)->deleted; };
    managed.tensor = {elements, {cpu, 0}, 2, {floating, 64, 1}, shape, strides, 8};
  }
  DLManagedTensorVersioned* named() { return reinterpret_cast<DLManagedTensorVersioned*>(&managed); }
};

}  // namespace

TEST_CASE("DLPack in: strides, offset, read-only, and what is refused", "[cpu]") {
  ApiState state(on_cpu());
  HostTensor host;
  gpulua_array* array = nullptr;
  REQUIRE(gpulua_array_from_dlpack(state.get(), host.named(), GPULUA_NO_STREAM, &array) == GPULUA_OK);
  double got[4];
  REQUIRE(gpulua_array_copy_to(array, got, sizeof got) == GPULUA_OK);
  CHECK(std::vector<double>(got, got + 4) == std::vector<double>{1, 3, 2, 4});
  const gpulua_value value = array_value(array);
  REQUIRE(gpulua_set(state.get(), "x", &value) == GPULUA_OK);
  REQUIRE(state.run("x[{1, 2}] = 7; x = nil") == GPULUA_OK);
  CHECK(host.elements[3] == 7);
  CHECK(host.deleted == 0);
  gpulua_array_release(array);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  CHECK(host.deleted == 1);

  HostTensor read_only;
  read_only.managed.flags = flag_read_only;
  read_only.managed.tensor.strides = nullptr;
  REQUIRE(gpulua_array_from_dlpack(state.get(), read_only.named(), GPULUA_NO_STREAM, &array) == GPULUA_OK);
  const gpulua_value kept = array_value(array);
  REQUIRE(gpulua_set(state.get(), "x", &kept) == GPULUA_OK);
  CHECK(state.run("s = x:sum():item(); x:fill_(1)") == GPULUA_RUNTIME);
  CHECK(has(state.error(), "lends for reading only"));
  CHECK(state.number("s") == 10);
  CHECK(state.run("y = x:copy():fill_(1); x[1] = 2") == GPULUA_RUNTIME);
  CHECK(read_only.elements[1] == 1);

  HostTensor newer;
  newer.managed.version.major = 2;
  CHECK(gpulua_array_from_dlpack(state.get(), newer.named(), GPULUA_NO_STREAM, &array) == GPULUA_UNAVAILABLE);
  CHECK(newer.deleted == 1);
  HostTensor lanes;
  lanes.managed.tensor.dtype.lanes = 4;
  CHECK(gpulua_array_from_dlpack(state.get(), lanes.named(), GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(lanes.deleted == 1);
  HostTensor elsewhere;
  elsewhere.managed.tensor.device.type = 10;
  CHECK(gpulua_array_from_dlpack(state.get(), elsewhere.named(), GPULUA_NO_STREAM, &array) == GPULUA_UNAVAILABLE);
  HostTensor stray;
  CHECK(gpulua_array_from_dlpack(nullptr, stray.named(), GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(stray.deleted == 1);
  CHECK(gpulua_array_from_dlpack(state.get(), nullptr, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
}

TEST_CASE("DLPack in: a struct of the other form is told, and none of its members called", "[cpu]") {
  ApiState state(on_cpu());
  static int deleted = 0;
  double elements[2] = {1, 2};
  std::int64_t shape[1] = {2};
  LegacyManaged old{
      {elements, {cpu, 0}, 1, {floating, 64, 1}, shape, nullptr, 0}, nullptr, [](LegacyManaged*) { ++deleted; }};
  auto* const as_new = reinterpret_cast<DLManagedTensorVersioned*>(&old);
  gpulua_array* array = nullptr;
  CHECK(gpulua_array_from_dlpack(state.get(), as_new, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "expected a DLManagedTensorVersioned of version 1, got one of version "));
  CHECK(has(state.error(), "looks like a DLManagedTensor, which gpulua_array_from_dlpack_legacy takes"));
  CHECK(gpulua_array_from_dlpack(nullptr, as_new, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(gpulua_array_from_dlpack(state.get(), as_new, GPULUA_NO_STREAM, nullptr) == GPULUA_ARGUMENT);
  old.tensor.data = nullptr;  // of no elements: its version would be 0
  shape[0] = 0;
  CHECK(gpulua_array_from_dlpack(state.get(), as_new, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "got one of version 0: this looks like"));
  CHECK(deleted == 0);
  REQUIRE(gpulua_array_from_dlpack_legacy(state.get(), reinterpret_cast<DLManagedTensor*>(&old), GPULUA_NO_STREAM,
                                          &array) == GPULUA_OK);
  gpulua_array_release(array);
  REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
  CHECK(deleted == 1);

  HostTensor host;
  auto* const as_old = reinterpret_cast<DLManagedTensor*>(&host.managed);
  CHECK(gpulua_array_from_dlpack_legacy(state.get(), as_old, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(has(state.error(),
            "got what looks like a DLManagedTensorVersioned of version 1, which gpulua_array_from_dlpack"));
  CHECK(gpulua_array_from_dlpack_legacy(nullptr, as_old, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  host.managed.context = nullptr;
  CHECK(gpulua_array_from_dlpack_legacy(state.get(), as_old, GPULUA_NO_STREAM, &array) == GPULUA_ARGUMENT);
  CHECK(host.deleted == 0);
}

TEST_CASE("a tensor of an array of the state is that array's memory again", "[cpu]") {
  ApiState state(on_cpu());
  REQUIRE(state.run("x = gpu.zeros(4); y = gpu.from_dlpack(x:dlpack()); z = x + 1; y:fill_(5); a, b = x[1], z[1]") ==
          GPULUA_OK);
  CHECK(state.number("a") == 5);
  CHECK(state.number("b") == 1);
}
