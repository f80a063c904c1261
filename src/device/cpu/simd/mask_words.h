#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Makes masks that are words of bits, or made of such masks, from words of 64 lanes, once the bits are computed. LLVM
/// 19 does not end for AVX-512 where it meets `a | b` of two words that are masks themselves, whether words or masks are
/// or'ed: one rule of its instruction selection moves the `or` from the masks to the words, another moves it back (its
/// issue 123333, mended in LLVM 20). No rule moves an operation over the first lanes of 64, and a mask is made by one
/// instruction as before.
void take_masks_from_wide_words(llvm::Function& function);

}  // namespace gpulua::cpu::simd
