#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Makes masks that are words of bits, or made of such masks, as the processor does it best.
///
/// With AVX-512, from words of 64 lanes, once the bits are computed. LLVM 19 does not end where it meets `a | b` of two
/// words that are masks themselves, whether words or masks are or'ed: one rule of its instruction selection moves the
/// `or` from the masks to the words, another moves it back (its issue 123333, mended in LLVM 20). No rule moves an
/// operation over the first lanes of 64, and a mask is made by one instruction as before.
///
/// Without, from comparisons of the lanes' numbers, or of the lanes' bits: LLVM would take the bits out one by one.
void lower_mask_words(llvm::Function& function);

}  // namespace gpulua::cpu::simd
