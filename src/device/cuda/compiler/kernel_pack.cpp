#include "src/device/cuda/compiler/kernel_pack.h"

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gpulua::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int major_unit = 1000;  // 13000 is CUDA 13.0
constexpr int compression_level = 19;
constexpr std::size_t most_dictionary_bytes = 64 << 10;

/// Fills `result`; false where the file ends before.
bool read(std::ifstream& file, void* result, std::size_t bytes) {
  return static_cast<bool>(file.read(static_cast<char*>(result), static_cast<std::streamsize>(bytes)));
}

std::string_view text_of(const auto& array) {
  return {reinterpret_cast<const char*>(array.data()), array.size() * sizeof(array[0])};
}

/// What the texts have in common, which halves what each takes; empty where they are too few to tell.
std::string dictionary_of(const std::vector<std::string>& texts) {
  std::string all, dictionary(most_dictionary_bytes, '\0');
  std::vector<std::size_t> sizes;
  for (const std::string& text : texts) {
    all += text;
    sizes.push_back(text.size());
  }
  const std::size_t bytes = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(), sizes.data(),
                                                  static_cast<unsigned>(sizes.size()));
  dictionary.resize(ZDICT_isError(bytes) != 0U ? 0 : bytes);
  return dictionary;
}

std::string compress(ZSTD_CCtx& context, const std::string& text, const std::string& dictionary) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes = ZSTD_compress_usingDict(&context, frame.data(), frame.size(), text.data(), text.size(),
                                                    dictionary.data(), dictionary.size(), compression_level);
  if (ZSTD_isError(bytes) != 0U) throw std::runtime_error(ZSTD_getErrorName(bytes));
  frame.resize(bytes);
  return frame;
}

template <class Context>
using Handle = std::unique_ptr<Context, std::size_t (*)(Context*)>;

}  // namespace

// A file is a Header, the dictionary of the compression, the rows, and the modules. The magic's number counts changes
// of this layout.
struct KernelPack::Header {
  std::array<char, 16> magic{'g', 'p', 'u', 'l', 'u', 'a', ' ', 'k', 'e', 'r', 'n', 'e', 'l', 's', ' ', '1'};
  std::uint64_t cuda_major = 0;  // of the oldest drivers that load the modules
  std::uint64_t rows = 0;
  std::uint64_t dictionary = 0;  // bytes
  Digest checksum{};             // of the rows
};

KernelPack::Digest KernelPack::digest_of(std::string_view text) {
  Digest digest{};
  std::ranges::copy(text.substr(0, digest.size()), digest.begin());
  return digest;
}

KernelPack::KernelPack(fs::path file, int driver_version) : file_(std::move(file)) {
  std::ifstream stream(file_, std::ios::binary);
  Header header;
  if (!read(stream, &header, sizeof header) || header.magic != Header().magic ||
      header.cuda_major > static_cast<std::uint64_t>(driver_version / major_unit))
    return;
  std::error_code error;
  if (const auto size = fs::file_size(file_, error);
      error || header.rows > size / sizeof(Row) || header.dictionary > most_dictionary_bytes)
    return;
  std::vector<Row> rows(header.rows);
  dictionary_.resize(header.dictionary);
  if (!read(stream, dictionary_.data(), dictionary_.size()) || !read(stream, rows.data(), text_of(rows).size()) ||
      digest_of(hash_of(text_of(rows))) != header.checksum)
    return;
  rows_ = std::move(rows);
}

std::optional<CompiledModule> KernelPack::find(std::string_view digest) const try {
  const Digest wanted = digest_of(digest);
  const auto row = std::ranges::lower_bound(rows_, wanted, {}, &Row::digest);
  if (row == rows_.end() || row->digest != wanted) return std::nullopt;
  std::ifstream stream(file_, std::ios::binary);
  std::string compressed(row->bytes, '\0'), module(row->size, '\0');
  stream.seekg(static_cast<std::streamoff>(row->begin));
  if (!read(stream, compressed.data(), compressed.size())) return std::nullopt;
  const Handle<ZSTD_DCtx> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_decompress_usingDict(context.get(), module.data(), module.size(), compressed.data(), compressed.size(),
                            dictionary_.data(), dictionary_.size());
  if (digest_of(hash_of(module)) != row->checksum) return std::nullopt;
  return deserialize(module);
} catch (const std::exception&) {
  return std::nullopt;
}

std::string KernelPack::make(const std::map<std::string, CompiledModule>& modules, int nvrtc_version) {
  std::vector<std::string> texts;
  for (const auto& [digest, module] : modules) {
    CompiledModule kept = module;
    kept.ptx.clear();  // nobody asks for the library's own
    texts.push_back(serialize(kept));
  }
  const std::string dictionary = dictionary_of(texts);
  const Handle<ZSTD_CCtx> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  std::vector<Row> rows;
  std::string frames;
  const std::uint64_t first = sizeof(Header) + dictionary.size() + modules.size() * sizeof(Row);
  auto text = texts.begin();
  for (const auto& [digest, module] : modules) {
    const std::string frame = compress(*context, *text, dictionary);
    rows.push_back({digest_of(digest), digest_of(hash_of(*text)), text->size(), first + frames.size(), frame.size()});
    frames += frame;
    ++text;
  }
  Header header;
  header.cuda_major = static_cast<std::uint64_t>(nvrtc_version / major_unit);
  header.rows = rows.size();
  header.dictionary = dictionary.size();
  header.checksum = digest_of(hash_of(text_of(rows)));
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  return file.append(dictionary).append(text_of(rows)).append(frames);
}

std::string pack_name(std::string_view architecture) {
  return "libgpulua-cuda." + std::string(architecture) + ".kernels";
}

}  // namespace gpulua::cuda
