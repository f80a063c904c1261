
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "src/base/error.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/cuda/compiler/kernel_pack.h"
#include "src/device/shared/generated_text.h"
#include "tests/catch.h"
#include "tests/unit/cuda_nvrtc.h"
#include "tests/unit/temporary_directory.h"

using namespace gpulua;
using namespace gpulua::cuda;
namespace fs = std::filesystem;

namespace {

constexpr int driver = 13000;

CompiledModule make_module(const std::string& image) {
  CompiledModule module;
  module.image = image;
  module.ptx = "text";
  module.kernels.push_back({"saxpy", "_Z5saxpy", parse_signature("float, float const*, float*")});
  return module;
}

/// A digest of 32 times that digit.
std::string digest(char digit) {
  return std::string(32, digit);
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
fs::path write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

/// A pack of three modules.
struct Packed {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "pack";
  std::map<std::string, std::string> images{
      {digest('a'), std::string(5000, 'x')}, {digest('0'), "zero"}, {digest('5'), std::string("\0five", 5)}};

  Packed() {
    std::map<std::string, CompiledModule> modules;
    for (const auto& [name, image] : images) modules.emplace(name, make_module(image));
    write(file, KernelPack::make(modules, 12090));
  }

  /// How many of the modules are found; those that are have to be right.
  std::size_t found() const {
    const KernelPack pack(file, driver);
    std::size_t count = 0;
    for (const auto& [name, image] : images) {
      const std::optional<CompiledModule> module = pack.find(name);
      if (!module) continue;
      ++count;
      CHECK(module->image == image);
      CHECK(module->ptx.empty());
      CHECK(to_string("saxpy", module->kernels.at(0).signature) == "saxpy(float, const float*, float*)");
    }
    return count;
  }
};

/// Compiles for real: which NVRTC was loaded tells whether something was.
struct Shipped {
  Config config = Config::from_environment();
  TemporaryDirectory directory;
  KernelSource source = own_source("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }");
  fs::path file = directory.path() / pack_name("sm_90");
  std::string image;

  /// The module's image; whether NVRTC was loaded for it.
  std::pair<std::string, bool> get(const KernelSource& wanted, const char* architecture = "sm_90",
                                   int driver_version = driver) {
    KernelCache cache("", 0);
    Compiler compiler(config, architecture, driver_version, file);
    const auto module = compiler.get(wanted, cache);
    return {module->image, compiler.nvrtc_version() != 0};
  }

  bool make() {
    return with_nvrtc([this] {
      KernelCache cache("", 0);
      Compiler compiler(config, "sm_90", driver);
      const auto module = compiler.get(source, cache);
      image = module->image;
      write(file, KernelPack::make({{compiler.pack_digest(source), *module}}, compiler.nvrtc().version()));
    });
  }
};

}  // namespace

TEST_CASE_METHOD(Packed, "modules of a pack", "[cuda]") {
  CHECK(found() == 3);
  const KernelPack pack(file, driver);
  CHECK_FALSE(pack.find(digest('4')));
  CHECK_FALSE(pack.find(digest('f')));
  CHECK_FALSE(pack.find(""));
  CHECK_FALSE(KernelPack("", driver).find(digest('a')));
  CHECK_FALSE(KernelPack(directory.path(), driver).find(digest('a')));
  CHECK(KernelPack(file, 12000).find(digest('a')));
  CHECK_FALSE(KernelPack(file, 11080).find(digest('a')));
}

TEST_CASE_METHOD(Packed, "damaged packs have fewer modules and no wrong ones", "[cuda]") {
  const std::string bytes = read(file);
  constexpr std::size_t first_frame = 72 + 3 * 88;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write(file, damaged);
    INFO("the byte at " << at << " of " << bytes.size());
    // What the rows do not bear out is no pack. In a frame some bits mean nothing.
    if (at < first_frame)
      CHECK(found() == 0);
    else
      CHECK(found() >= 2);
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    write(file, bytes.substr(0, length));
    CHECK(found() < 3);
  }
  // A file that has taken the place of the one whose rows were read.
  write(file, bytes);
  const KernelPack pack(file, driver);
  write(file, KernelPack::make({{digest('0'), make_module(std::string(5000, 'y'))}}, 12090));
  for (const auto& [name, image] : images) CHECK_FALSE(pack.find(name));
}

TEST_CASE("many modules are stored by what they have in common", "[cuda]") {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "pack";
  std::map<std::string, CompiledModule> modules;
  std::string common;
  for (int i = 0; i < 400; ++i) common += hash_of(std::to_string(i));
  std::size_t bytes = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string own = hash_of("own " + std::to_string(i));
    const CompiledModule module = make_module(common.substr(16 * i, 8000) + own);
    bytes += module.image.size();
    modules.emplace(own, module);
  }
  std::string packed = KernelPack::make(modules, driver);
  CHECK(packed.size() < bytes / 8);
  const auto count_right = [&] {
    const KernelPack pack(write(file, packed), driver);
    return std::ranges::count_if(modules, [&](const auto& module) {
      const std::optional<CompiledModule> found = pack.find(module.first);
      if (found) CHECK(found->image == module.second.image);
      return found.has_value();
    });
  };
  CHECK(count_right() == 300);
  packed[72 + 5000] = static_cast<char>(packed[72 + 5000] ^ 1);  // in the dictionary
  CHECK(count_right() < 300);
}

TEST_CASE_METHOD(Shipped, "what is shipped is not compiled", "[cuda][nvrtc]") {
  if (!make()) return;
  CHECK(get(source) == std::pair(image, false));

  CHECK(get(source, "sm_80").second);
  CHECK(get(source, "sm_90", 12080).second);
  CHECK(get(own_source(source.text + "\n")).second);
  KernelSource of_script = source;
  of_script.own = false;
  CHECK(get(of_script).second);

  write(file, read(file).substr(0, 200));
  CHECK(get(source) == std::pair(image, true));
}

TEST_CASE_METHOD(Shipped, "the digest of what is shipped depends on no toolkit", "[cuda][nvrtc]") {
  if (!make()) return;
  config.cuda_home = config.default_cuda_home = directory.path();
  config.library_path.clear();
  config.python_prefixes.clear();
  CHECK(get(source) == std::pair(image, false));
}
