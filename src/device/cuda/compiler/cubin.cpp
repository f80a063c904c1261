#include "src/device/cuda/compiler/cubin.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "src/base/error.h"

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

  /// True when these bytes are all in the file.
  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
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

/// What a fatbin starts with; `size` bytes follow the header.
struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;
};

bool is_whole_elf(const Elf& elf) {
  const auto header = elf.read<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (!elf.holds(header->e_phoff, std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr))) return false;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = elf.read<Elf64_Shdr>(header->e_shoff, i);
    if (!section) return false;
    if (section->sh_type != SHT_NOBITS && !elf.holds(section->sh_offset, section->sh_size)) return false;
  }
  return true;
}

/// Calls `visit` with each symbol of an ELF file, its name, and the name of the section that it is in.
template <class Visit>
void visit_symbols(std::string_view bytes, Visit visit) {
  const Elf elf(bytes);
  const auto header = elf.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return;
  const auto section = [&](std::uint64_t index) {
    return index < header->e_shnum ? elf.read<Elf64_Shdr>(header->e_shoff, index) : std::nullopt;
  };
  const auto section_names = section(header->e_shstrndx);
  if (!section_names) return;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    const auto symbol_names = symbols && symbols->sh_type == SHT_SYMTAB ? section(symbols->sh_link) : std::nullopt;
    if (!symbol_names) continue;
    for (std::uint64_t k = 0; k < symbols->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = elf.read<Elf64_Sym>(symbols->sh_offset, k);
      if (!symbol) break;
      const auto home = section(symbol->st_shndx);
      visit(*symbol, elf.text(*symbol_names, symbol->st_name),
            home ? elf.text(*section_names, home->sh_name) : std::string_view());
    }
  }
}

}  // namespace

void check_binary(std::string_view image) {
  const Elf file(image);
  bool whole = false;
  if (image.starts_with(std::string_view(ELFMAG, SELFMAG)))
    whole = is_whole_elf(file);
  else if (const auto fatbin = file.read<FatbinHeader>(0))
    whole = file.holds(fatbin->header_size, fatbin->size);
  if (!whole)
    throw Error("[module] expected a whole cubin or fatbin, got the first {} bytes of one, or a damaged one",
                image.size());
}

bool is_linked_cubin(std::string_view image) {
  const auto header = Elf(image).read<Elf64_Ehdr>(0);
  return header && image.starts_with(std::string_view(ELFMAG, SELFMAG)) && header->e_type == ET_EXEC;
}

std::vector<PtxGlobal> read_cubin_globals(std::string_view cubin) {
  std::vector<PtxGlobal> globals;
  visit_symbols(cubin, [&](const Elf64_Sym& symbol, std::string_view name, std::string_view home) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) return;
    // Constant bank 3 is the variables'; the others hold parameters and literals.
    const bool constant = home == ".nv.constant3";
    if (!constant && !home.starts_with(".nv.global")) return;
    globals.push_back({constant ? PtxSpace::constant : PtxSpace::global, std::string(name), symbol.st_size});
  });
  return globals;
}

std::vector<LinkSymbol> read_cubin_symbols(std::string_view cubin) {
  std::vector<LinkSymbol> symbols;
  visit_symbols(cubin, [&](const Elf64_Sym& symbol, std::string_view name, std::string_view) {
    const unsigned binding = ELF64_ST_BIND(symbol.st_info), type = ELF64_ST_TYPE(symbol.st_info);
    if (name.empty() || name.starts_with('.') || (binding != STB_GLOBAL && binding != STB_WEAK)) return;
    symbols.push_back({.name = std::string(name),
                       .is_defined = symbol.st_shndx != SHN_UNDEF,
                       .is_shared = binding == STB_WEAK,
                       .bytes = type == STT_FUNC ? 0 : symbol.st_size});
  });
  return symbols;
}

}  // namespace gpulua::cuda
