#include "src/device/shared/cache.h"

#include <utility>
#include <vector>

#include "src/base/error.h"

namespace gpulua {

CacheKey& CacheKey::add(std::string_view field) {
  add(field.size());
  bytes_.append(field);
  return *this;
}

CacheKey& CacheKey::add(std::uint64_t field) {
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(field >> shift));
  return *this;
}

CacheKey& CacheKey::add(const KernelSource& source) {
  const auto add_texts = [this](const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
  };
  const auto add_pairs = [this](const std::vector<std::pair<std::string, std::string>>& pairs) {
    add(pairs.size());
    for (const auto& [name, text] : pairs) add(name).add(text);
  };
  add(source.text).add(source.file).add(static_cast<std::uint64_t>(source.line));
  add_texts(source.options);
  add_pairs(source.defines);
  add_pairs(source.headers);
  add_texts(source.include_dirs);
  add_texts(source.names);
  add((source.whole_warps ? 1 : 0) + (source.lua_function ? 2 : 0) + (source.own ? 4 : 0));
  add(source.image).add(source.parts.size());
  for (const KernelSource& part : source.parts) add(part);
  return *this;
}

std::string CacheKey::digest() const {
  return hash_of(bytes_);
}

KernelCache::KernelCache(std::filesystem::path directory, std::uintmax_t limit,
                         std::function<void(const std::string&)> warn)
    : directory_(std::move(directory), limit, std::move(warn)) {}

std::shared_ptr<const CompiledModule> KernelCache::get(const std::string& digest,
                                                       const std::function<CompiledModule()>& compile) {
  {
    const std::lock_guard lock(mutex_);
    if (auto found = memory_.find(digest); found != memory_.end()) return found->second;
  }
  // Unlocked: other keys need not wait for a compiler. Two threads may compile the same key; the first result stays.
  std::shared_ptr<const CompiledModule> module = load(digest);
  if (module == nullptr) {
    module = compile_now(compile);
    store(digest, *module);
  }
  const std::lock_guard lock(mutex_);
  return memory_.emplace(digest, std::move(module)).first->second;
}

std::shared_ptr<const CompiledModule> KernelCache::compile_now(const std::function<CompiledModule()>& compile) {
  const auto begin = std::chrono::steady_clock::now();
  auto module = std::make_shared<const CompiledModule>(compile());
  const auto end = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  last_ = {compilations_ + 1, begin, end};
  compilations_ = last_.number;
  return module;
}

KernelCache::Compilation KernelCache::last_compilation() {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::shared_ptr<const CompiledModule> KernelCache::load(const std::string& digest) noexcept try {
  const std::optional<std::string> payload = directory_.read(digest);
  return payload ? std::make_shared<const CompiledModule>(deserialize(*payload)) : nullptr;
} catch (const std::exception&) {
  return nullptr;  // a wrong entry: it is compiled again
}

void KernelCache::store(const std::string& digest, const CompiledModule& module) noexcept try {
  directory_.write(digest, serialize(module));
} catch (const std::exception&) {
  // Not kept: the next process compiles again.
}

}  // namespace gpulua
