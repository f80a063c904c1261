#include "src/device/shared/included_headers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/cxx_tokens.h"

namespace gpulua {
namespace {

namespace fs = std::filesystem;

/// Where an include leads in a file of `folder`; nothing for headers that are elsewhere.
std::optional<fs::path> find_header(const CxxDirective& include, const fs::path& folder, const KernelSource& source) {
  const std::string_view name = include.included();
  if (fs::path(name).is_absolute()) return std::nullopt;
  std::vector<fs::path> folders(source.include_dirs.begin(), source.include_dirs.end());
  if (!folder.empty() && include.rest.starts_with('"')) folders.insert(folders.begin(), folder);
  for (const fs::path& each : folders) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(each / name, error);
    if (!error && fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

/// The files that are read, each under one name: the first that an include gives it, or where another file has that
/// name, one with a number. Includes by other names are rewritten, so that each file is one for `#pragma once`.
class IncludedFiles {
 public:
  explicit IncludedFiles(KernelSource& source) : source_(source), own_(source.headers.size()) {}

  void read() {
    source_.text = with_own_names(source_.text, {});
    for (std::size_t i = 0; i < own_; ++i) source_.headers[i].second = with_own_names(source_.headers[i].second, {});
    while (!pending_.empty()) {
      const fs::path path = std::move(pending_.back());
      pending_.pop_back();
      std::ifstream file(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      std::string named = with_own_names(text, path.parent_path());
      source_.headers.emplace_back(names_.at(path), std::move(named));
    }
  }

 private:
  static constexpr std::size_t most = 2000;

  bool is_own(std::string_view name) const {
    return std::any_of(source_.headers.begin(), source_.headers.begin() + static_cast<std::ptrdiff_t>(own_),
                       [&](const auto& header) { return header.first == name; });
  }

  std::string with_own_names(std::string_view text, const fs::path& folder) {
    std::string result;
    std::size_t done = 0;
    CxxTokens tokens(text);
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
      if (token.kind != CxxToken::Kind::directive) continue;
      const CxxDirective directive(token);
      const std::string_view name = directive.included();
      if (name.empty() || is_own(name)) continue;
      const std::optional<fs::path> path = find_header(directive, folder, source_);
      if (!path) continue;
      const std::string own = name_of(*path, name);
      if (own == name || own.empty()) continue;
      const auto first = static_cast<std::size_t>(directive.rest.data() - text.data());
      result.append(text.substr(done, first - done)).append('"' + own + '"');
      done = static_cast<std::size_t>(name.data() - text.data()) + name.size() + 1;
    }
    return result.append(text.substr(done));
  }

  /// Empty where too many files are read.
  std::string name_of(const fs::path& path, std::string_view written) {
    if (const auto known = names_.find(path); known != names_.end()) return known->second;
    if (names_.size() == most) return {};
    fs::path plain;  // as compilers find it in memory, without "../"
    for (const fs::path& part : fs::path(written).lexically_normal())
      if (part != "..") plain /= part;
    std::string name = plain.string();
    for (int number = 2; is_own(name) || !taken_.insert(name).second; ++number)
      name = std::to_string(number) + "/" + plain.string();
    pending_.push_back(path);
    return names_[path] = name;
  }

  KernelSource& source_;
  std::size_t own_;  // how many of the source's headers were there before
  std::map<fs::path, std::string> names_;
  std::set<std::string> taken_;
  std::vector<fs::path> pending_;
};

}  // namespace

void read_included_headers(KernelSource& source) {
  IncludedFiles(source).read();
}

}  // namespace gpulua
