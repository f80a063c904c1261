#pragma once

// Tells AddressSanitizer which parts of a pool's memory are not allocated. Empty without the sanitizer.

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gpulua::cpu {

#ifdef __SANITIZE_ADDRESS__
inline void poison(const void* memory, std::size_t bytes) {
  __asan_poison_memory_region(memory, bytes);
}
inline void unpoison(const void* memory, std::size_t bytes) {
  __asan_unpoison_memory_region(memory, bytes);
}
#else
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
#endif

}  // namespace gpulua::cpu
