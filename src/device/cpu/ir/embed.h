#pragma once

/// Files that the build makes, in the shared object: `symbol` up to `symbol_end`, in words, with a zero behind. The
/// assembler finds them by its include path.
#define GPULUA_EMBED(symbol, file)                 \
  __asm__(".section .rodata\n.balign 16\n" #symbol \
          ":\n"                                    \
          ".incbin \"" file "\"\n" #symbol         \
          "_end:\n"                                \
          ".byte 0\n.previous\n");                 \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[], symbol##_end[];
