#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "tests/catch.h"
#include "tests/unit/temporary_directory.h"

using namespace gpulua;
namespace fs = std::filesystem;

namespace {

fs::path touch(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "x";
  return file;
}

}  // namespace

TEST_CASE("a CUDA library is found place by place", "[dynamic_library]") {
  const TemporaryDirectory root;
  constexpr std::array<std::string_view, 2> names{"libgpulua-none.so.13", "libgpulua-none.so.12"};
  Config config;
  config.library_path = {root.path() / "absent", root.path() / "loader"};
  config.cuda_home = root.path() / "toolkit";
  config.python_prefixes = {root.path() / "venv"};
  CHECK(find_cuda_library(config, names) == std::nullopt);

  const fs::path wheel = touch(root.path() / "venv/lib/python3.11/site-packages/nvidia/none/lib/libgpulua-none.so.13");
  CHECK(find_cuda_library(config, names) == wheel);
  const fs::path old = touch(root.path() / "toolkit/lib64/libgpulua-none.so.12");
  CHECK(find_cuda_library(config, names) == old);
  const fs::path preferred = touch(root.path() / "toolkit/lib64/libgpulua-none.so.13");
  CHECK(find_cuda_library(config, names) == preferred);
  const fs::path loader = touch(root.path() / "loader/libgpulua-none.so.12");
  CHECK(find_cuda_library(config, names) == loader);
}

TEST_CASE("a file's identity changes with the file", "[dynamic_library]") {
  const TemporaryDirectory root;
  const fs::path file = root.path() / "file";
  const std::string absent = file_identity(file);
  touch(file);
  const std::string present = file_identity(file);
  CHECK(present != absent);
  CHECK(file_identity(file) == present);
  fs::create_symlink(file, root.path() / "link");
  CHECK(file_identity(root.path() / "link") == present);
  std::ofstream(file) << "longer";
  CHECK(file_identity(file) != present);
}

TEST_CASE("a library that is not there says why", "[dynamic_library]") {
  std::string why;
  const DynamicLibrary none = DynamicLibrary::open("libgpulua-none.so", why);
  CHECK_FALSE(none);
  CHECK(why.find("libgpulua-none.so") != std::string::npos);
  CHECK(none.symbol("malloc") == nullptr);

  const DynamicLibrary libc = DynamicLibrary::open("libc.so.6", why);
  REQUIRE(libc);
  CHECK(libc.symbol("malloc") != nullptr);
  CHECK(libc.symbol("gpulua_none") == nullptr);
}

TEST_CASE("a library that some functions need says what to install", "[dynamic_library]") {
  const auto message = [](const std::vector<std::string>& files, const std::string& symbol) {
    try {
      const OptionalLibrary library("op", "pictures need libgood", files, "apt-get install good");
      void (*function)() = nullptr;
      library.find(function, symbol);
      return library.file() + (function ? " has it" : "");
    } catch (const Error& error) {
      return std::string(error.kind() == ErrorKind::unavailable ? error.what() : "");
    }
  };
  const std::string none = message({"libgpulua-none.so.1", "libgpulua-none.so.2"}, "malloc");
  CHECK(none.starts_with("[op] pictures need libgood (libgpulua-none.so.1: "));
  CHECK(none.ends_with("; nor is there libgpulua-none.so.2); install it with: apt-get install good"));
  CHECK(message({"libgpulua-none.so.1", "libc.so.6"}, "malloc") == "libc.so.6 has it");
  CHECK(message({"libc.so.6"}, "gpulua_none") ==
        "[op] libc.so.6 has no gpulua_none; install one that does with: apt-get install good");
}
