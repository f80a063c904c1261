#include "src/device/cpu/precompiled_prelude.h"

#include <array>

// The build's files, which the assembler finds by its include path. clang wants words aligned, and a zero at the end.
#define GPULUA_EMBED(symbol, file)                 \
  __asm__(".section .rodata\n.balign 16\n" #symbol \
          ":\n"                                    \
          ".incbin \"" file "\"\n" #symbol         \
          "_end:\n"                                \
          ".byte 0\n.previous\n");                 \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[], symbol##_end[];
#define GPULUA_EMBED_PRELUDE(name, standard)            \
  GPULUA_EMBED(gpulua_##name##_header, standard ".pch") \
  GPULUA_EMBED(gpulua_##name##_macros, standard ".macros")

GPULUA_EMBED_PRELUDE(cxx11, "c++11")
GPULUA_EMBED_PRELUDE(cxx14, "c++14")
GPULUA_EMBED_PRELUDE(cxx17, "c++17")
GPULUA_EMBED_PRELUDE(cxx20, "c++20")

namespace gpulua::cpu {
namespace {

struct Row {
  std::string_view standard;
  PrecompiledPrelude prelude;
};

// clang-format off
#define GPULUA_ROW(name, standard)                           \
  Row{standard,                                              \
      {{gpulua_##name##_header, gpulua_##name##_header_end}, \
       {gpulua_##name##_macros, gpulua_##name##_macros_end}}}
// clang-format on

const std::array rows{GPULUA_ROW(cxx11, "c++11"), GPULUA_ROW(cxx14, "c++14"), GPULUA_ROW(cxx17, "c++17"),
                      GPULUA_ROW(cxx20, "c++20")};

}  // namespace

const PrecompiledPrelude* precompiled_prelude(std::string_view standard, std::string_view clang_version) {
  for (const Row& row : rows)
    if (row.standard == standard && row.prelude.macros.starts_with(version_line(clang_version))) return &row.prelude;
  return nullptr;
}

}  // namespace gpulua::cpu
