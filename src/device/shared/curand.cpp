#include "src/device/shared/curand.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/base/near_name.h"

namespace gpulua {
namespace {

// cuRAND's C interface, declared here so that a machine without the toolkit builds this file. The names of the values
// are NVIDIA's; its ABI has been the same since libcurand.so.10.
using Status = int;
using Handle = struct curandGenerator*;

struct StatusName {
  Status status;
  const char* name;
};
constexpr StatusName status_names[] = {
    {100, "CURAND_STATUS_VERSION_MISMATCH"},
    {101, "CURAND_STATUS_NOT_INITIALIZED"},
    {102, "CURAND_STATUS_ALLOCATION_FAILED"},
    {103, "CURAND_STATUS_TYPE_ERROR"},
    {104, "CURAND_STATUS_OUT_OF_RANGE"},
    {105, "CURAND_STATUS_LENGTH_NOT_MULTIPLE"},
    {106, "CURAND_STATUS_DOUBLE_PRECISION_REQUIRED"},
    {201, "CURAND_STATUS_LAUNCH_FAILURE"},
    {202, "CURAND_STATUS_PREEXISTING_FAILURE"},
    {203, "CURAND_STATUS_INITIALIZATION_FAILED"},
    {204, "CURAND_STATUS_ARCH_MISMATCH"},
    {999, "CURAND_STATUS_INTERNAL_ERROR"},
};
constexpr Status success = 0, allocation_failed = 102;

constexpr std::size_t kilobytes = 1024, megabytes = 1024 * kilobytes;

struct Algorithm {
  std::string_view name;
  int type;           // curandRngType
  std::size_t bytes;  // of a generator's state on an H200 or on the host, the larger one, as measured with CUDA 13
};
constexpr Algorithm algorithms[] = {
    {"xorwow", 101, 256 * kilobytes}, {"mrg32k3a", 121, 4 * megabytes},      {"mtgp32", 141, 6 * megabytes},
    {"mt19937", 142, 64 * megabytes}, {"philox4_32_10", 161, 4 * megabytes},
};
// Their tables of directions are shared.
constexpr std::size_t bytes_of_sequence = 4 * kilobytes;

constexpr int type_of_first_sequence = 201;  // those of the others follow

struct Curand {
  Status (*create)(Handle*, int type);
  Status (*create_host)(Handle*, int type);
  Status (*destroy)(Handle);
  Status (*set_seed)(Handle, unsigned long long);
  Status (*set_dimensions)(Handle, unsigned int);
  Status (*set_offset)(Handle, unsigned long long);
  Status (*set_stream)(Handle, void*);
  Status (*uniform)(Handle, float*, std::size_t);
  Status (*uniform_double)(Handle, double*, std::size_t);
  Status (*normal)(Handle, float*, std::size_t, float, float);
  Status (*normal_double)(Handle, double*, std::size_t, double, double);
  Status (*lognormal)(Handle, float*, std::size_t, float, float);
  Status (*lognormal_double)(Handle, double*, std::size_t, double, double);
  Status (*poisson)(Handle, unsigned int*, std::size_t, double);
};

void check(Status status, const char* call) {
  if (status == success) return;
  std::string name = "status " + std::to_string(status);
  for (const StatusName& row : status_names)
    if (row.status == status) name = row.name;
  throw Error(status == allocation_failed ? ErrorKind::memory : ErrorKind::device,
              "[random] expected {} to succeed, got {}", call, name);
}

Curand load(const Config& config) {
  constexpr std::array<std::string_view, 1> names{"libcurand.so.10"};
  const auto file = find_cuda_library(config, names);
  // A loader's configuration may have places that only the loader knows.
  const OptionalLibrary library("random", "cuRAND's generators need libcurand",
                                {file ? file->string() : std::string(names.front())},
                                "NVIDIA's CUDA toolkit, and set CUDA_HOME to it, or: pip install nvidia-curand");
  Curand curand{};
  library.find(curand.create, "curandCreateGenerator");
  library.find(curand.create_host, "curandCreateGeneratorHost");
  library.find(curand.destroy, "curandDestroyGenerator");
  library.find(curand.set_seed, "curandSetPseudoRandomGeneratorSeed");
  library.find(curand.set_dimensions, "curandSetQuasiRandomGeneratorDimensions");
  library.find(curand.set_offset, "curandSetGeneratorOffset");
  library.find(curand.set_stream, "curandSetStream");
  library.find(curand.uniform, "curandGenerateUniform");
  library.find(curand.uniform_double, "curandGenerateUniformDouble");
  library.find(curand.normal, "curandGenerateNormal");
  library.find(curand.normal_double, "curandGenerateNormalDouble");
  library.find(curand.lognormal, "curandGenerateLogNormal");
  library.find(curand.lognormal_double, "curandGenerateLogNormalDouble");
  library.find(curand.poisson, "curandGeneratePoisson");
  return curand;
}

/// What all generators of one Rng share. Without a device they are cuRAND's host generators.
struct Shared {
  Curand curand;
  std::optional<CurandDevice> device;

  void run(const std::function<void()>& work) const {
    if (device)
      device->in_context(work);
    else
      work();
  }
};

class CurandGenerator : public RngGenerator {
 public:
  /// `set_up(handle)` completes the generator, by a call whose name is `call`.
  template <class SetUp>
  CurandGenerator(std::shared_ptr<const Shared> shared, int type, bool is_sequence, std::size_t bytes,
                  const SetUp& set_up, const char* call)
      : shared_(std::move(shared)), is_sequence_(is_sequence), bytes_(bytes) {
    const Curand& curand = shared_->curand;
    shared_->run([&] {
      check((shared_->device ? curand.create : curand.create_host)(&handle_, type), "curandCreateGenerator");
      if (const Status status = set_up(handle_); status != success) {
        curand.destroy(handle_);
        check(status, call);
      }
    });
  }

  ~CurandGenerator() override {
    try {
      shared_->run([this] { shared_->curand.destroy(handle_); });
    } catch (const std::exception&) {
      // The context is gone, and the generator with it.
    }
  }

  void uniform(DType dtype, void* out, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    const bool wide = is_double(dtype);
    on_stream(stream, [&] {
      if (wide)
        check(shared_->curand.uniform_double(handle_, static_cast<double*>(out), count), "curandGenerateUniformDouble");
      else
        check(shared_->curand.uniform(handle_, static_cast<float*>(out), count), "curandGenerateUniform");
    });
  }

  void normal(DType dtype, void* out, std::size_t count, double mean, double stddev, Stream& stream) override {
    const Curand& curand = shared_->curand;
    in_pairs(dtype, out, count, mean, stddev, stream, curand.normal, curand.normal_double, "curandGenerateNormal");
  }

  void lognormal(DType dtype, void* out, std::size_t count, double mean, double stddev, Stream& stream) override {
    const Curand& curand = shared_->curand;
    in_pairs(dtype, out, count, mean, stddev, stream, curand.lognormal, curand.lognormal_double,
             "curandGenerateLogNormal");
  }

  void poisson(void* out, std::size_t count, double mean, Stream& stream) override {
    if (count == 0) return;
    on_stream(stream, [&] {
      check(shared_->curand.poisson(handle_, static_cast<unsigned int*>(out), count, mean), "curandGeneratePoisson");
    });
  }

  void seek(std::uint64_t point) override {
    shared_->run([&] { check(shared_->curand.set_offset(handle_, point), "curandSetGeneratorOffset"); });
  }

  std::size_t bytes() const override { return bytes_; }

 private:
  static bool is_double(DType dtype) {
    if (dtype != DType::float32 && dtype != DType::float64)
      throw Error("[random] expected float32 or float64, got {}", name(dtype));
    return dtype == DType::float64;
  }

  template <typename Work>
  void on_stream(Stream& stream, const Work& work) {
    shared_->run([&] {
      if (shared_->device) check(shared_->curand.set_stream(handle_, stream.native_handle()), "curandSetStream");
      work();
    });
  }

  /// Pseudo-random generators make normal values in pairs and refuse an odd count: the last value is half of a pair
  /// that is made aside. Sequences do not.
  void in_pairs(DType dtype, void* out, std::size_t count, double mean, double stddev, Stream& stream,
                Status (*narrow)(Handle, float*, std::size_t, float, float),
                Status (*wide)(Handle, double*, std::size_t, double, double), const char* call) {
    const bool is_wide = is_double(dtype);
    const std::size_t size = size_of(dtype);
    const auto make = [&](void* where, std::size_t even_count) {
      on_stream(stream, [&] {
        check(is_wide ? wide(handle_, static_cast<double*>(where), even_count, mean, stddev)
                      : narrow(handle_, static_cast<float*>(where), even_count, static_cast<float>(mean),
                               static_cast<float>(stddev)),
              call);
      });
    };
    const std::size_t pairs = is_sequence_ ? count : count / 2 * 2;
    if (pairs > 0) make(out, pairs);
    if (pairs == count) return;
    char* last = static_cast<char*>(out) + pairs * size;
    if (shared_->device)
      make_last_on_device(last, size, stream, make);
    else
      make_last_on_host(last, size, make);
  }

  template <typename Make>
  void make_last_on_device(void* last, std::size_t size, Stream& stream, const Make& make) {
    Device& device = shared_->device->device;
    const auto free = [&](void* memory) { device.free(memory, stream); };
    const std::unique_ptr<void, decltype(free)> pair(device.allocate(2 * size, stream), free);
    if (pair == nullptr)
      throw Error(ErrorKind::memory, "[random] expected room for two numbers on the device, got none");
    make(pair.get(), 2);
    device.copy(last, pair.get(), size, stream);
  }

  template <typename Make>
  static void make_last_on_host(void* last, std::size_t size, const Make& make) {
    alignas(double) std::array<char, 2 * sizeof(double)> pair;
    make(pair.data(), 2);
    std::copy_n(pair.data(), size, static_cast<char*>(last));
  }

  std::shared_ptr<const Shared> shared_;
  bool is_sequence_;
  std::size_t bytes_;
  Handle handle_ = nullptr;
};

class CurandRng : public Rng {
 public:
  explicit CurandRng(Shared shared) : shared_(std::make_shared<const Shared>(std::move(shared))) {}

  std::unique_ptr<RngGenerator> create(std::string_view algorithm, std::uint64_t seed) override {
    std::string known;
    NearName near(algorithm);
    near.offer("philox");
    for (const Algorithm& row : algorithms) {
      if (row.name == algorithm)
        return std::make_unique<CurandGenerator>(
            shared_, row.type, false, row.bytes, [&](Handle handle) { return shared_->curand.set_seed(handle, seed); },
            "curandSetPseudoRandomGeneratorSeed");
      known.append(row.name).append(", ");
      near.offer(row.name);
    }
    for (const std::string_view sequence : sequences) {
      known.append(sequence).append(", ");
      near.offer(sequence);
    }
    throw Error("[random] expected one of philox, {}got \"{}\"{}", known, algorithm, near.question());
  }

  std::unique_ptr<RngGenerator> create_sequence(std::string_view sequence, std::uint32_t dimensions) override {
    const auto row = std::find(std::begin(sequences), std::end(sequences), sequence);
    const int type = type_of_first_sequence + static_cast<int>(row - std::begin(sequences));
    return std::make_unique<CurandGenerator>(
        shared_, type, true, bytes_of_sequence,
        [&](Handle handle) { return shared_->curand.set_dimensions(handle, dimensions); },
        "curandSetQuasiRandomGeneratorDimensions");
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::unique_ptr<Rng> open_device_curand(const Config& config, CurandDevice device) {
  return std::make_unique<CurandRng>(Shared{load(config), std::move(device)});
}

std::unique_ptr<Rng> open_host_curand(const Config& config) {
  return std::make_unique<CurandRng>(Shared{load(config), std::nullopt});
}

}  // namespace gpulua
