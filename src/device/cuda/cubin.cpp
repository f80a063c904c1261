#include "src/device/cuda/cubin.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace gpulua::cuda {
namespace {

/// Bounds-checked reads from an ELF file: the bytes may come from anywhere.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {}

  /// The `index`-th T of a table at `offset`.
  template <class T>
  std::optional<T> read(std::uint64_t offset, std::uint64_t index = 0) const {
    if (offset > bytes_.size() || index >= (bytes_.size() - offset) / sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset + index * sizeof(T), sizeof value);
    return value;
  }

  /// The NUL-terminated text at `at` of the string table that `section` is.
  std::string_view text(const Elf64_Shdr& section, std::uint64_t at) const {
    if (section.sh_offset > bytes_.size() || at >= bytes_.size() - section.sh_offset) return {};
    const std::string_view rest = bytes_.substr(section.sh_offset + at);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::vector<PtxGlobal> read_cubin_globals(std::string_view cubin) {
  const Elf elf(cubin);
  const auto header = elf.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  const auto section = [&](std::uint64_t index) {
    return index < header->e_shnum ? elf.read<Elf64_Shdr>(header->e_shoff, index) : std::nullopt;
  };
  const auto section_names = section(header->e_shstrndx);
  if (!section_names) return {};

  std::vector<PtxGlobal> globals;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    const auto symbol_names = symbols && symbols->sh_type == SHT_SYMTAB ? section(symbols->sh_link) : std::nullopt;
    if (!symbol_names) continue;
    for (std::uint64_t k = 0; k < symbols->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = elf.read<Elf64_Sym>(symbols->sh_offset, k);
      if (!symbol) break;
      const auto home = section(symbol->st_shndx);
      if (!home || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) continue;
      // Constant bank 3 is the variables'; the others hold parameters and literals.
      const std::string_view home_name = elf.text(*section_names, home->sh_name);
      const bool constant = home_name == ".nv.constant3";
      if (!constant && !home_name.starts_with(".nv.global")) continue;
      globals.push_back({constant ? PtxSpace::constant : PtxSpace::global,
                         std::string(elf.text(*symbol_names, symbol->st_name)), symbol->st_size});
    }
  }
  return globals;
}

}  // namespace gpulua::cuda
