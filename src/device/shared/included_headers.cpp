#include "src/device/shared/included_headers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/cxx_tokens.h"

namespace gpulua {
namespace {

namespace fs = std::filesystem;

/// Where an include of that name in a file of `folder` leads; nothing for headers that are elsewhere.
std::optional<fs::path> find_header(std::string_view name, const fs::path& folder, const KernelSource& source) {
  if (fs::path(name).is_absolute()) return std::nullopt;
  std::vector<fs::path> folders(source.include_dirs.begin(), source.include_dirs.end());
  if (!folder.empty()) folders.insert(folders.begin(), folder);
  for (const fs::path& each : folders) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(each / name, error);
    if (!error && fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

std::vector<std::string_view> included_names(std::string_view text) {
  std::vector<std::string_view> names;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::directive) continue;
    if (const std::string_view name = CxxDirective(token).included(); !name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

void read_included_headers(KernelSource& source) {
  constexpr std::size_t most = 500;
  struct Found {
    fs::path path;
    std::string text;
  };
  std::map<std::string, Found, std::less<>> found;
  std::vector<std::string> ambiguous;
  std::vector<std::pair<std::string, fs::path>> texts{{source.text, {}}};  // to read, and their folders
  for (const auto& [name, text] : source.headers) texts.emplace_back(text, fs::path());
  while (!texts.empty() && found.size() < most) {
    const auto [text, folder] = std::move(texts.back());
    texts.pop_back();
    for (const std::string_view name : included_names(text)) {
      if (std::ranges::any_of(source.headers, [&](const auto& header) { return header.first == name; })) continue;
      const std::optional<fs::path> path = find_header(name, folder, source);
      if (!path) continue;
      const auto present = found.find(name);
      if (present != found.end()) {
        if (present->second.path != *path) ambiguous.emplace_back(name);
        continue;
      }
      std::ifstream file(*path, std::ios::binary);
      std::string content{std::istreambuf_iterator<char>(file), {}};
      texts.emplace_back(content, path->parent_path());
      found.emplace(name, Found{*path, std::move(content)});
    }
  }
  for (auto& [name, header] : found)
    if (std::ranges::find(ambiguous, name) == ambiguous.end())
      source.headers.emplace_back(name, std::move(header.text));
}

}  // namespace gpulua
