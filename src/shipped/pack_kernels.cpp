// gpulua_pack_kernels FOLDER ARCHITECTURE FILE
//
// Compiles the texts in FOLDER and below it, those of gpulua_note_kernels, for an architecture such as sm_90, and packs
// them into FILE (src/device/cuda/compiler/kernel_pack.h). Compiled texts come from the kernel cache. Needs NVRTC, but neither a
// GPU nor a driver.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>

#include "src/base/config.h"
#include "src/base/error.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/cuda/compiler/kernel_pack.h"
#include "src/device/shared/generated_text.h"

namespace gpulua::cuda {
namespace {

namespace fs = std::filesystem;

void pack(const fs::path& folder, const std::string& architecture, const fs::path& file) {
  const Config config = Config::from_environment();
  KernelCache cache(config.cache_directory, config.cache_limit);
  Compiler compiler(config, architecture, std::numeric_limits<int>::max());
  std::map<std::string, CompiledModule> modules;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cu") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const KernelSource source = own_source({std::istreambuf_iterator<char>(stream), {}});
    modules.emplace(compiler.pack_digest(source), *compiler.get(source, cache));
  }
  const std::string bytes = KernelPack::make(modules, compiler.nvrtc().version());
  std::ofstream stream(file, std::ios::binary);
  if (!(stream << bytes) || !stream.flush()) throw Error("[pack] cannot write {}", file.string());
  std::printf("%s: %zu kernels, %.1f MB\n", file.filename().c_str(), modules.size(), bytes.size() / 1e6);
}

}  // namespace
}  // namespace gpulua::cuda

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("gpulua_pack_kernels FOLDER ARCHITECTURE FILE\n", stderr);
    return 2;
  }
  gpulua::cuda::pack(argv[1], argv[2], argv[3]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gpulua_pack_kernels: %s\n", error.what());
  return 1;
}
