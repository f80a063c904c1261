
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "src/device/cuda/compiler/include_scan.h"
#include "tests/catch.h"

using namespace gpulua;
using namespace gpulua::cuda;
namespace fs = std::filesystem;

namespace {

/// A directory of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gpulua-include-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

KernelSource source_of(const std::string& text, const fs::path& dir) {
  KernelSource source;
  source.text = text;
  source.include_dirs = {dir.string()};
  return source;
}

}  // namespace

TEST_CASE("included files are followed", "[cuda][include]") {
  const Folder folder;
  const fs::path b = folder.write("user/sub/b.h", "#include \"../c.h\"\n");
  const fs::path c = folder.write("user/c.h", "#  include <a.h>\n");
  const fs::path a = folder.write("user/a.h", "#include \"sub/b.h\" // round again\n");
  const auto files = find_included_files(source_of("#inc\\\nlude <a.h>\nint include;\n", folder.path() / "user"), {});
  REQUIRE(files);
  CHECK(*files == std::vector<fs::path>{a, c, b});
}

TEST_CASE("included files are found after any text", "[cuda][include]") {
  const Folder folder;
  const fs::path a = folder.write("a.h", "");
  folder.write("b.h", "");
  for (const char* text : {"%:include <a.h>\n", "#/**/include <a.h>\n", "int n = 1'000;\n#include <a.h>\n",
                           "const char* s = R\"(\n#include <b.h>\n)\";\n#include <a.h>\n"}) {
    const auto files = find_included_files(source_of(text, folder.path()), {});
    REQUIRE(files);
    CHECK(*files == std::vector<fs::path>{a});
  }
}

TEST_CASE("headers given as texts are followed, the toolkit's are not", "[cuda][include]") {
  const Folder folder;
  const fs::path toolkit = folder.path() / "toolkit";
  folder.write("toolkit/cuda_fp16.h", "#include <more.h>");
  const fs::path a = folder.write("user/a.h", "");
  KernelSource source = source_of("#include <cuda_fp16.h>\n#include \"mine.h\"\n", folder.path() / "user");
  source.headers = {{"mine.h", "#include \"a.h\"\n#include \"absent.h\"\n"}};
  const auto files = find_included_files(source, std::vector<fs::path>{toolkit});
  REQUIRE(files);
  CHECK(*files == std::vector<fs::path>{a});

  SECTION("a user's file that hides one of the toolkit's") {
    folder.write("user/cuda_fp16.h", "");
    CHECK_FALSE(find_included_files(source, std::vector<fs::path>{toolkit}));
  }
}

TEST_CASE("what the text does not tell is not cached", "[cuda][include]") {
  const Folder folder;
  const auto cacheable = [&](const std::string& text) {
    return find_included_files(source_of(text, folder.path()), {}).has_value();
  };
  CHECK(cacheable("#include <a.h>\n"));
  CHECK(cacheable("// include nothing\n"));
  CHECK_FALSE(cacheable("#define H <a.h>\n#include H\n"));
  CHECK_FALSE(cacheable("#if __has_include(<a.h>)\n#endif\n"));
  CHECK_FALSE(cacheable("?\?=include <a.h>\n"));
  CHECK_FALSE(cacheable("#include /**/ <a.h>\n"));

  KernelSource source = source_of("", folder.path());
  source.options = {"--pre-include=a.h"};
  CHECK_FALSE(find_included_files(source, {}));
  source.options = {"--use_fast_math", "-I" + folder.path().string(), "--include-path=" + folder.path().string()};
  CHECK(find_included_files(source, {}));
}
