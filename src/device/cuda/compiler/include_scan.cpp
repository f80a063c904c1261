#include "src/device/cuda/compiler/include_scan.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "src/base/cxx_tokens.h"

namespace gpulua::cuda {
namespace {

namespace fs = std::filesystem;

/// Lines that end in a backslash joined with the next, as a compiler joins them.
std::string splice_lines(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1, 1) == "\n")
      ++i;
    else if (text[i] == '\\' && text.substr(i + 1, 2) == "\r\n")
      i += 2;
    else
      result.push_back(text[i]);
  }
  return result;
}

/// The names in the #include lines of a text; none when some inclusion cannot be read off it.
std::optional<std::vector<std::string>> included_names(std::string_view original) {
  const std::string text = splice_lines(original);
  if (text.find("__has_include") != text.npos || text.find("?\?=") != text.npos) return std::nullopt;
  std::vector<std::string> names;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::directive) continue;
    const CxxDirective directive(token);
    if (directive.name == "include_next" || directive.name == "import" || directive.name == "embed")
      return std::nullopt;
    if (directive.name != "include") continue;
    if (directive.included().empty()) return std::nullopt;
    names.emplace_back(directive.included());
  }
  return names;
}

/// The directories of the source's own: of its fields and its options. None when an option reads files in another way.
std::optional<std::vector<fs::path>> own_directories(const KernelSource& source) {
  std::vector<fs::path> directories(source.include_dirs.begin(), source.include_dirs.end());
  for (const std::string_view option : source.options) {
    if (option.starts_with("-I") && option.size() > 2)
      directories.emplace_back(option.substr(2));
    else if (constexpr std::string_view path = "--include-path="; option.starts_with(path))
      directories.emplace_back(option.substr(path.size()));
    else if (option == "-I" || option.find("include") != option.npos || option.find("pch") != option.npos)
      return std::nullopt;
  }
  return directories;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Scan {
 public:
  Scan(const KernelSource& source, std::vector<fs::path> own, std::span<const fs::path> toolkit)
      : source_(source), own_(std::move(own)), toolkit_(toolkit) {}

  /// False when the text holds something that cannot be followed.
  bool follow(std::string_view text, const fs::path& directory) {
    const auto names = included_names(text);
    return names && std::ranges::all_of(*names, [&](const std::string& name) { return include(name, directory); });
  }

  std::vector<fs::path> files() const { return {files_.begin(), files_.end()}; }

 private:
  bool include(const std::string& name, const fs::path& directory) {
    for (const auto& [header, text] : source_.headers)
      if (header == name && texts_.insert(name).second && !follow(text, {})) return false;

    // operator/ gives an absolute `name` as it is.
    std::vector<fs::path> candidates = {directory / name, fs::path(source_.file).parent_path() / name};
    for (const fs::path& own : own_) candidates.push_back(own / name);
    for (const fs::path& candidate : candidates) {
      const fs::path file = candidate.lexically_normal();
      if (is_file(file) && files_.insert(file).second && !follow(read_text(file), file.parent_path())) return false;
    }
    const bool of_toolkit = std::ranges::any_of(toolkit_, [&](const fs::path& path) { return is_file(path / name); });
    return !of_toolkit || !hides_toolkit();
  }

  // The toolkit's headers are not followed: as long as none of the source's directories has anything by a name of the
  // toolkit's, they include each other.
  bool hides_toolkit() const {
    for (const fs::path& own : own_) {
      std::error_code error;
      for (fs::directory_iterator entry(own, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        for (const fs::path& directory : toolkit_)
          if (fs::exists(directory / entry->path().filename(), ignored)) return true;
      }
    }
    return false;
  }

  const KernelSource& source_;
  std::vector<fs::path> own_;
  std::span<const fs::path> toolkit_;
  std::set<std::string> texts_;
  std::set<fs::path> files_;
};

}  // namespace

std::optional<std::vector<fs::path>> find_included_files(const KernelSource& source,
                                                         std::span<const fs::path> toolkit_dirs) {
  auto own = own_directories(source);
  if (!own) return std::nullopt;
  Scan scan(source, std::move(*own), toolkit_dirs);
  if (!scan.follow(source.text, fs::path(source.file).parent_path())) return std::nullopt;
  return scan.files();
}

bool has_own_header(const KernelSource& source, std::string_view name) {
  const auto own = own_directories(source);
  return std::ranges::any_of(source.headers, [&](const auto& header) { return header.first == name; }) ||
         (own && std::ranges::any_of(*own, [&](const fs::path& directory) { return is_file(directory / name); }));
}

}  // namespace gpulua::cuda
