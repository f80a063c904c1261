#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/device/shared/cache.h"
#include "src/expressions/transfer.h"
#include "tests/catch.h"
#include "tests/unit/temporary_directory.h"

using namespace gpulua;
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t no_limit = std::uintmax_t{1} << 40;

std::string digest_of(std::string_view text) {
  return CacheKey().add(text).digest();
}

CompiledModule make_module(const std::string& image) {
  CompiledModule module;
  module.image = image;
  module.kernels.push_back({"saxpy", "_Z5saxpy", parse_signature("float, float const*, float*")});
  return module;
}

constexpr const char* total_name = "gpulua-total";

/// As image_in, with the warnings that the cache gives.
std::string image_in(const fs::path& directory, const std::string& digest, std::vector<std::string>& warnings) {
  KernelCache cache(directory, no_limit, [&](const std::string& message) { warnings.push_back(message); });
  return cache.get(digest, [] { return make_module("compiled"); })->image;
}

/// The image a fresh cache, as of another process, has for the key; "compiled" when it had to compile.
std::string image_in(const fs::path& directory, const std::string& digest) {
  KernelCache cache(directory, no_limit);
  return cache.get(digest, [] { return make_module("compiled"); })->image;
}

void fill(const fs::path& directory, const std::string& digest, const std::string& image,
          std::uintmax_t limit = no_limit) {
  KernelCache(directory, limit).get(digest, [&] { return make_module(image); });
}

fs::path file_of(const fs::path& directory, const std::string& digest) {
  return directory / digest.substr(0, 2) / digest;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::size_t count_files(const fs::path& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    count += entry.is_regular_file() && entry.path().filename() != total_name;
  return count;
}

}  // namespace

TEST_CASE("what was compiled is found in memory and on disk", "[cache]") {
  const TemporaryDirectory directory;
  const std::string digest = digest_of("a");
  KernelCache cache(directory.path() / "not" / "yet", no_limit);
  int compiled = 0;
  const auto compile = [&] {
    ++compiled;
    return make_module("image");
  };
  const auto first = cache.get(digest, compile);
  CHECK(cache.get(digest, compile) == first);
  CHECK(compiled == 1);

  KernelCache next(directory.path() / "not" / "yet", no_limit);
  const auto loaded = next.get(digest, compile);
  CHECK(compiled == 1);
  CHECK(serialize(*loaded) == serialize(*first));
  next.get(digest_of("b"), compile);
  CHECK(compiled == 2);
  CHECK(count_files(directory.path()) == 2);
  CHECK((fs::status(directory.path() / "not").permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
        fs::perms::none);
}

TEST_CASE("a failed compilation is not kept", "[cache]") {
  const TemporaryDirectory directory;
  KernelCache cache(directory.path(), no_limit);
  const std::string digest = digest_of("a");
  CHECK_THROWS_AS(cache.get(digest, []() -> CompiledModule { throw Error(ErrorKind::compile, "no"); }), Error);
  CHECK(count_files(directory.path()) == 0);
  CHECK(cache.get(digest, [] { return make_module("image"); })->image == "image");
}

TEST_CASE("a damaged file is compiled again and replaced", "[cache]") {
  const TemporaryDirectory directory;
  const std::string digest = digest_of("a");
  fill(directory.path(), digest, "image");
  const fs::path file = file_of(directory.path(), digest);
  const std::string good = read(file);
  REQUIRE(image_in(directory.path(), digest) == "image");

  SECTION("a byte") {
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1);
      write(file, bad);
      REQUIRE(image_in(directory.path(), digest) == "compiled");
    }
  }
  SECTION("truncated") {
    for (std::size_t size = 0; size < good.size(); ++size) {
      write(file, good.substr(0, size));
      REQUIRE(image_in(directory.path(), digest) == "compiled");
    }
  }
  SECTION("longer") {
    write(file, good + '\0');
    CHECK(image_in(directory.path(), digest) == "compiled");
  }
  SECTION("another key's") {
    const std::string other = digest_of("b");
    fill(directory.path(), other, "other");
    fs::copy_file(file_of(directory.path(), other), file, fs::copy_options::overwrite_existing);
    CHECK(image_in(directory.path(), digest) == "compiled");
  }
  CHECK(KernelCache(directory.path(), no_limit).get(digest, [] { return make_module("again"); })->image == "compiled");
}

TEST_CASE("what others may write to is not used, which is said once", "[cache]") {
  const TemporaryDirectory directory;
  const std::string digest = digest_of("a"), other = digest_of("b");
  const fs::path root = directory.path() / "cache", file = file_of(root, digest);
  fill(root, digest, "image");
  fill(root, other, "image");
  REQUIRE(image_in(root, digest) == "image");

  std::vector<std::string> warnings;
  for (const fs::path& open : {root, file.parent_path(), file}) {
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      const fs::perms before = fs::status(open).permissions();
      fs::permissions(open, others, fs::perm_options::add);
      warnings.clear();
      KernelCache cache(root, no_limit, [&](const std::string& message) { warnings.push_back(message); });
      CHECK(cache.get(digest, [] { return make_module("compiled"); })->image == "compiled");
      cache.get(other, [] { return make_module("compiled"); });
      REQUIRE(warnings.size() == 1);
      CHECK(warnings[0] == "the kernel cache does not use " + open.string() +
                               ", whose code would run as yours: it can be written to by others than you; "
                               "'chmod -R go-w' on it changes that");
      if (fs::exists(open)) fs::permissions(open, before);
      fill(root, digest, "image");
      fs::remove(file);
      fill(root, digest, "image");
    }
  }
  if (::geteuid() != 0) return;  // only root gives files away
  for (const fs::path& foreign : {root, file.parent_path(), file}) {
    REQUIRE(::chown(foreign.c_str(), 12345, 12345) == 0);
    warnings.clear();
    CHECK(image_in(root, digest, warnings) == "compiled");
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find(foreign.string() +
                           ", whose code would run as yours: it belongs to user 12345, not to user 0") !=
          std::string::npos);
    REQUIRE(::chown(foreign.c_str(), 0, 0) == 0);
    fs::remove(file);
    fill(root, digest, "image");
  }
}

TEST_CASE("an entry is its key's own", "[cache]") {
  const TemporaryDirectory directory;
  const std::string digest = digest_of("a"), other = digest_of("b");
  fill(directory.path(), digest, "image");
  fill(directory.path(), other, "other");
  const fs::path file = file_of(directory.path(), digest);
  SECTION("though its name stands over another one's code") {
    std::string forged = read(file_of(directory.path(), other));
    const std::size_t at = forged.find(other);
    REQUIRE(at != std::string::npos);
    write(file, forged.replace(at, other.size(), digest));
  }
  SECTION("and of its own length") {
    fs::resize_file(file, std::uintmax_t{1} << 41);
  }
  SECTION("and a file") {
    fs::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  }
  CHECK(image_in(directory.path(), digest) == "compiled");
  CHECK(image_in(directory.path(), other) == "other");
}

TEST_CASE("links below the directory are not followed", "[cache]") {
  const TemporaryDirectory directory;
  const std::string digest = digest_of("a"), prefix = digest.substr(0, 2);
  const fs::path root = directory.path() / "cache", outside = directory.path() / "outside";
  fill(root, digest, "image");
  SECTION("of folders") {
    fs::rename(root / prefix, outside);
    fs::create_directory_symlink(outside, root / prefix);
    CHECK(image_in(root, digest) == "compiled");
    fill(root, digest, std::string(10'000, 'x'), 10'000);
    CHECK(count_files(outside) == 1);
  }
  SECTION("of entries") {
    fs::rename(file_of(root, digest), outside);
    fs::create_symlink(outside, file_of(root, digest));
    CHECK(image_in(root, digest) == "compiled");
    CHECK(fs::is_regular_file(fs::symlink_status(file_of(root, digest))));
  }
  SECTION("but the directory itself may be one") {
    fs::rename(root, outside);
    fs::create_directory_symlink(outside, root);
    CHECK(image_in(root, digest) == "image");
  }
}

TEST_CASE("only files of the cache's own naming are removed", "[cache]") {
  const TemporaryDirectory directory;
  const std::string zeros(30, '0'), large(100'000, 'x');
  const fs::path ab = directory.path() / "ab", outside = directory.path() / "outside";
  fs::create_directories(ab);
  fs::create_directories(outside);
  fs::create_directory_symlink(outside, directory.path() / "cd");
  const std::vector<fs::path> others{ab / ("ab" + zeros + zeros),  ab / ("ab" + zeros + ".backup.tar"),
                                     ab / ("ab" + zeros + ".abc"), ab / ("AB" + zeros),
                                     ab / ("cd" + zeros),          directory.path() / ("ab" + zeros),
                                     outside / ("cd" + zeros)};
  for (const fs::path& file : others) write(file, large);
  fs::create_symlink(others[0], ab / ("ab" + zeros));
  const fs::path abandoned = ab / ("ab" + zeros + ".x1y2z3"), old = ab / ("ab" + std::string(30, '1'));
  write(abandoned, large);
  write(old, large);
  for (const fs::path& file : {abandoned, old})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(10));
  fill(directory.path(), digest_of("a"), "image", 20'000);
  CHECK_FALSE(fs::exists(abandoned));
  CHECK_FALSE(fs::exists(old));
  for (const fs::path& file : others) CHECK(fs::exists(file));
  CHECK(fs::is_symlink(fs::symlink_status(ab / ("ab" + zeros))));
  CHECK(image_in(directory.path(), digest_of("a")) == "image");
}

TEST_CASE("a store takes the total as it was counted before", "[cache]") {
  const TemporaryDirectory directory;
  const std::string image(10'000, 'x');
  constexpr std::uintmax_t limit = 52'000;
  const auto store = [&](int i) { fill(directory.path(), digest_of(std::to_string(i)), image, limit); };
  for (int i = 0; i < 4; ++i) store(i);
  const fs::path total = directory.path() / total_name;
  const std::string counted = read(total);
  store(4);
  CHECK(count_files(directory.path()) == 5);
  write(total, counted);  // as if the last one had not been stored: nothing looks
  store(5);
  CHECK(count_files(directory.path()) == 6);
  SECTION("until it passes the limit") {
    store(6);
    CHECK(count_files(directory.path()) == 4);
  }
  SECTION("unless it is not there") {
    fs::remove(total);
    store(6);
    CHECK(count_files(directory.path()) == 4);
  }
  SECTION("or damaged") {
    write(total, std::string(100, '\xff'));
    store(6);
    CHECK(count_files(directory.path()) == 4);
  }
  CHECK(read(total).size() == counted.size());
}

TEST_CASE("a directory that cannot be written costs only speed", "[cache]") {
  const TemporaryDirectory directory;
  write(directory.path() / "file", "");
  for (const fs::path& path : {fs::path(), directory.path() / "file" / "below", fs::path("/proc/nothing/here")}) {
    KernelCache cache(path, no_limit);
    const auto module = cache.get(digest_of("a"), [] { return make_module("image"); });
    CHECK(module->image == "image");
    CHECK(cache.get(digest_of("a"), [] { return make_module("other"); }) == module);
  }
  CHECK(count_files(directory.path()) == 1);
}

TEST_CASE("the least recently used entries go first", "[cache]") {
  const TemporaryDirectory directory;
  const std::string image(10'000, 'x');
  std::vector<std::string> digests;
  for (int i = 0; i < 5; ++i) {
    digests.push_back(digest_of("entry " + std::to_string(i)));
    fill(directory.path(), digests.back(), image);
    fs::last_write_time(file_of(directory.path(), digests.back()),
                        fs::file_time_type::clock::now() - std::chrono::hours(10 - i));
  }
  // Not ours, whatever its age and size: a user may point the cache at a folder of his own.
  write(directory.path() / "thesis.txt", std::string(100'000, 't'));
  write(directory.path() / digests[0].substr(0, 2) / "notes", std::string(100'000, 't'));

  REQUIRE(image_in(directory.path(), digests[0]) == image);  // a use
  fill(directory.path(), digest_of("sixth"), image, 52'000);

  CHECK(fs::exists(file_of(directory.path(), digests[0])));
  CHECK_FALSE(fs::exists(file_of(directory.path(), digests[1])));
  CHECK_FALSE(fs::exists(file_of(directory.path(), digests[2])));
  CHECK(fs::exists(file_of(directory.path(), digests[3])));
  CHECK(fs::exists(file_of(directory.path(), digests[4])));
  CHECK(fs::exists(file_of(directory.path(), digest_of("sixth"))));
  CHECK(fs::exists(directory.path() / "thesis.txt"));
  CHECK(fs::exists(directory.path() / digests[0].substr(0, 2) / "notes"));
}

TEST_CASE("an entry larger than the limit is not stored", "[cache]") {
  const TemporaryDirectory directory;
  fill(directory.path(), digest_of("a"), "small", 1000);
  fill(directory.path(), digest_of("b"), std::string(2000, 'x'), 1000);
  CHECK(count_files(directory.path()) == 1);
  CHECK(image_in(directory.path(), digest_of("a")) == "small");
}

TEST_CASE("processes share one directory", "[cache]") {
  const TemporaryDirectory directory;
  const auto run = [&] {
    for (int round = 0; round < 20; ++round) {
      KernelCache cache(directory.path(), no_limit);
      for (int i = 0; i < 20; ++i) {
        const std::string image(static_cast<std::size_t>(1000 * i), 'x');
        if (cache.get(digest_of(std::to_string(i)), [&] { return make_module(image); })->image != image) return 1;
        if (round % 3 == 0) fs::remove(file_of(directory.path(), digest_of(std::to_string(i))));
      }
    }
    return 0;
  };
  std::array<pid_t, 3> children;
  for (pid_t& child : children) {
    child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(run());
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(count_files(directory.path()) == 20);
}

TEST_CASE("threads that ask for one key get one module", "[cache]") {
  const TemporaryDirectory directory;
  KernelCache cache(directory.path(), no_limit);
  std::array<std::shared_ptr<const CompiledModule>, 8> modules;
  std::vector<std::thread> threads;
  for (auto& module : modules)
    threads.emplace_back([&] { module = cache.get(digest_of("a"), [] { return make_module("image"); }); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& module : modules) CHECK(module == modules[0]);
}
