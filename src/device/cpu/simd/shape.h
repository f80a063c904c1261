#pragma once

// What the lanes of a warp have of a value: all the same, a progression from lane to lane, or each its own.

#include <llvm/IR/Instructions.h>

#include "src/device/cpu/simd/structure.h"

namespace gpulua::cpu::simd {

inline constexpr unsigned warp_size = 32;

struct Shape {
  enum Kind { unknown, progression, varying };
  Kind kind = unknown;
  /// What is added from lane to lane, modulo the type's size; 0 for a uniform value. Bytes for a pointer.
  std::int64_t stride = 0;
  /// The value in lane 0 is a multiple of 2^zeros. Integers only.
  unsigned zeros = 0;

  static Shape uniform(unsigned zeros = 0) { return {progression, 0, zeros}; }
  static Shape affine(std::int64_t stride, unsigned zeros = 0) { return {progression, stride, zeros}; }
  static Shape each() { return {varying, 0, 0}; }

  bool is_uniform() const { return kind == progression && stride == 0; }
  bool is_varying() const { return kind == varying; }
  /// True iff the lanes count on from a multiple of the warp's size, so that neither extending nor masking parts them.
  bool counts_lanes() const { return kind == progression && stride == 1 && zeros >= 5; }
  bool operator==(const Shape&) const = default;
};

/// The shapes of all values of a function, together with the structure that follows from them.
class Shapes {
 public:
  /// `whole_rows`: warps lie within rows of the block, whose length is a multiple of the warp's size.
  Shapes(const llvm::Function& function, Structure& structure, bool whole_rows);

  Shape operator()(const llvm::Value* value) const;
  /// True iff sign (or zero) extending the value is the same as extending its lane 0 and counting on from there; the
  /// operands of additions that cannot wrap are then extended by themselves.
  bool extends_by_lane(const llvm::Value* value, bool is_signed) const;

 private:
  Shape of_instruction(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_binary(const llvm::BinaryOperator& binary) const;
  Shape of_cast(const llvm::CastInst& cast) const;
  Shape of_address(const llvm::GetElementPtrInst& address) const;
  Shape of_call(const llvm::CallInst& call) const;

  const Structure& structure_;
  const llvm::DataLayout& layout_;
  bool whole_rows_;
  std::map<const llvm::Value*, Shape> shapes_;
};

}  // namespace gpulua::cpu::simd
