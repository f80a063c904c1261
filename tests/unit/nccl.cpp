// NCCL's communicator of one rank, where there is a GPU and NCCL. Elsewhere there is nothing to test.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/device/plugin.h"
#include "src/device/shared/cache.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

class Gpu {
 public:
  Gpu() : cache_({}, config_.cache_limit) {
    const auto plugin = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libgpulua-cuda.so";
    void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto* entry = static_cast<const DevicePluginEntry*>(dlsym(library, "gpulua_device_plugin"));
    plugin_.reset(entry->create());
    std::string why;
    if (plugin_->list(why).empty()) return;
    device_ = plugin_->open(0, {config_, cache_, interrupted_, while_waiting_});
    library_ = device_->collectives(why);
    if (library_ == nullptr) WARN("no NCCL: " << why);
    stream_ = device_->create_stream();
  }

  CollectiveLibrary* library() { return library_; }
  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }

  /// Device memory with these bytes. It goes with the process.
  void* memory(const std::vector<char>& bytes) {
    void* const memory = device_->allocate(bytes.size(), *stream_);
    device_->upload(memory, bytes.data(), bytes.size(), *stream_);
    return memory;
  }
  void* room(std::size_t bytes) { return memory(std::vector<char>(bytes, 0x55)); }
  std::vector<char> read(const void* memory, std::size_t bytes) {
    std::vector<char> result(bytes);
    device_->download(result.data(), memory, bytes, *stream_);
    return result;
  }

 private:
  Config config_ = Config::from_environment();
  KernelCache cache_;
  std::atomic<bool> interrupted_{false};
  std::function<void()> while_waiting_;
  std::unique_ptr<DevicePlugin> plugin_;
  std::unique_ptr<Device> device_;
  StreamRef stream_;
  CollectiveLibrary* library_ = nullptr;
};

/// The values 1 to 7 in each byte: numbers of any dtype, none of them a NaN.
std::vector<char> some_bytes(std::size_t count) {
  std::vector<char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i % 7 + 1);
  return bytes;
}

}  // namespace

TEST_CASE("NCCL's calls for one rank give its own elements", "[nccl]") {
  Gpu gpu;
  if (gpu.library() == nullptr) return;
  CHECK(gpu.device().hardware_id().size() == 32);
  CHECK(gpu.library()->name().starts_with("NCCL 2."));
  const auto rank = gpu.library()->join(gpu.library()->make_id(), 0, 1, [] {});
  Stream& stream = gpu.stream();
  for (const DTypeInfo& row : dtype_table()) {
    INFO(row.name);
    CHECK(rank->reduces(row.dtype) == (row.dtype != DType::int16 && row.dtype != DType::uint16));
    if (!rank->reduces(row.dtype)) continue;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
      const auto bytes = some_bytes(std::max<std::size_t>(1, count * row.size));
      const Reduction reduction = row.kind == DTypeKind::boolean ? Reduction::max : Reduction::sum;
      void* const in = gpu.memory(bytes);
      void* const out = gpu.room(bytes.size());
      rank->all_reduce("test", in, out, count, row.dtype, reduction, stream);
      CHECK((gpu.read(out, bytes.size()) == bytes || count == 0));
      void* const part = gpu.room(bytes.size());
      rank->reduce_scatter("test", in, part, count, row.dtype, reduction, stream);
      CHECK((gpu.read(part, bytes.size()) == bytes || count == 0));
    }
  }
  const auto bytes = some_bytes(1001);
  void* const in = gpu.memory(bytes);
  void* const all = gpu.room(1001);
  rank->all_gather("test", in, all, 1001, stream);
  CHECK(gpu.read(all, 1001) == bytes);
  rank->broadcast("test", in, 1001, 0, stream);
  CHECK(gpu.read(in, 1001) == bytes);

  void* const first = gpu.room(1001);
  void* const second = gpu.room(500);
  const Outgoing sent[] = {{0, in, 1001}, {0, all, 500}};
  const Incoming received[] = {{0, first, 1001}, {0, second, 500}};
  rank->transfer("test", sent, received, stream);
  CHECK(gpu.read(first, 1001) == bytes);
  CHECK(gpu.read(second, 500) == std::vector<char>(bytes.begin(), bytes.begin() + 500));
  CHECK_THROWS_AS(rank->transfer("test", std::span(sent), std::span(received).first(1), stream), Error);

  gpu.device().synchronize(stream);
  CHECK(rank->done());
  CHECK(rank->failure().empty());
}

TEST_CASE("NCCL's communicators of one device work in the order of their calls", "[nccl]") {
  Gpu gpu;
  if (gpu.library() == nullptr) return;
  const auto a = gpu.library()->join(gpu.library()->make_id(), 0, 1, [] {});
  const auto b = gpu.library()->join(gpu.library()->make_id(), 0, 1, [] {});
  const StreamRef other = gpu.device().create_stream();
  constexpr std::size_t count = std::size_t{1} << 24;
  void* const x = gpu.memory(some_bytes(count));
  void* const y = gpu.room(count);
  void* const z = gpu.room(count);
  gpu.device().synchronize(gpu.stream());
  for (int i = 0; i < 20; ++i) {
    a->all_reduce("test", x, y, count, DType::uint8, Reduction::sum, gpu.stream());
    b->all_reduce("test", y, z, count, DType::uint8, Reduction::sum, *other);  // after the copy to y
    a->all_reduce("test", z, x, count, DType::uint8, Reduction::sum, gpu.stream());
  }
  CHECK(gpu.read(x, count) == some_bytes(count));
  gpu.device().synchronize(*other);
  CHECK(gpu.read(z, count) == some_bytes(count));
}

TEST_CASE("a communicator of NCCL's that was aborted refuses calls", "[nccl]") {
  Gpu gpu;
  if (gpu.library() == nullptr) return;
  const auto rank = gpu.library()->join(gpu.library()->make_id(), 0, 1, [] {});
  void* const memory = gpu.memory(some_bytes(64));
  rank->all_reduce("test", memory, memory, 16, DType::float32, Reduction::sum, gpu.stream());
  rank->abort();
  CHECK(rank->done());
  CHECK(rank->failure().empty());
  CHECK_THROWS_WITH(rank->all_reduce("test", memory, memory, 16, DType::float32, Reduction::sum, gpu.stream()),
                    Catch::Matchers::ContainsSubstring("[test] expected ranks that work"));
  const auto next = gpu.library()->join(gpu.library()->make_id(), 0, 1, [] {});
  next->all_reduce("test", memory, memory, 16, DType::float32, Reduction::sum, gpu.stream());
  CHECK(gpu.read(memory, 64) == some_bytes(64));
}
