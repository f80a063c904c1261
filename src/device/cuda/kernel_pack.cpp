#include "src/device/cuda/kernel_pack.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gpulua::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int major_unit = 1000;  // 13000 is CUDA 13.0
constexpr int compression_level = 19;

/// Fills `result`; false where the file ends before.
bool read(std::ifstream& file, void* result, std::size_t bytes) {
  return static_cast<bool>(file.read(static_cast<char*>(result), static_cast<std::streamsize>(bytes)));
}

std::string_view text_of(const auto& array) {
  return {reinterpret_cast<const char*>(array.data()), array.size() * sizeof(array[0])};
}

}  // namespace

// A file is a Header, its rows, and the modules. The magic's number counts changes of this layout.
struct KernelPack::Header {
  std::array<char, 16> magic{'g', 'p', 'u', 'l', 'u', 'a', ' ', 'k', 'e', 'r', 'n', 'e', 'l', 's', ' ', '1'};
  std::uint64_t cuda_major = 0;  // of the oldest drivers that load the modules
  std::uint64_t rows = 0;
  Digest checksum{};  // of the rows
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
  if (const auto size = fs::file_size(file_, error); error || header.rows > size / sizeof(Row)) return;
  std::vector<Row> rows(header.rows);
  if (!read(stream, rows.data(), text_of(rows).size()) || digest_of(hash_of(text_of(rows))) != header.checksum) return;
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
  ZSTD_decompress(module.data(), module.size(), compressed.data(), compressed.size());
  if (digest_of(hash_of(module)) != row->checksum) return std::nullopt;
  return deserialize(module);
} catch (const std::exception&) {
  return std::nullopt;
}

std::string KernelPack::make(const std::map<std::string, CompiledModule>& modules, int nvrtc_version) {
  std::vector<Row> rows;
  std::string compressed;
  const std::uint64_t first = sizeof(Header) + modules.size() * sizeof(Row);
  for (const auto& [digest, module] : modules) {
    CompiledModule kept = module;
    kept.ptx.clear();  // nobody asks for the library's own
    const std::string text = serialize(kept);
    std::string frame(ZSTD_compressBound(text.size()), '\0');
    const std::size_t bytes = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), compression_level);
    if (ZSTD_isError(bytes) != 0U) throw std::runtime_error(ZSTD_getErrorName(bytes));
    rows.push_back({digest_of(digest), digest_of(hash_of(text)), text.size(), first + compressed.size(), bytes});
    compressed.append(frame, 0, bytes);
  }
  Header header;
  header.cuda_major = static_cast<std::uint64_t>(nvrtc_version / major_unit);
  header.rows = rows.size();
  header.checksum = digest_of(hash_of(text_of(rows)));
  return std::string(reinterpret_cast<const char*>(&header), sizeof header).append(text_of(rows)) + compressed;
}

std::string pack_name(std::string_view architecture) {
  return "libgpulua-cuda." + std::string(architecture) + ".kernels";
}

}  // namespace gpulua::cuda
