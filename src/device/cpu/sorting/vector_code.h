#pragma once

// Loops of host code in the processor's vectors.

namespace gpulua::cpu {

#ifdef __x86_64__

/// Calls work(), which is compiled into this function with all that it calls.
template <class Work>
[[gnu::target("avx2,bmi,bmi2,lzcnt,popcnt"), gnu::flatten]] void run_with_avx2(const Work& work) {
  work();
}

/// Calls work(): its code is compiled for AVX2 too, and runs so where the processor has it. The loops in it are plain
/// ones that the compiler makes vector code of.
template <class Work>
void in_vectors(const Work& work) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (has_avx2)
    run_with_avx2(work);
  else
    work();
}

#else

template <class Work>
void in_vectors(const Work& work) {
  work();
}

#endif

}  // namespace gpulua::cpu
