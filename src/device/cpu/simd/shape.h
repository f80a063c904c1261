#pragma once

// What the lanes of a warp have of a value: all the same, a progression from lane to lane, one in each half of the
// warp, or each its own.

#include <llvm/IR/Instructions.h>

#include <functional>

#include "src/device/cpu/simd/structure.h"

namespace gpulua::cpu::simd {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned half_warp = 16;

/// Where the threads of a warp are in their block.
enum class WarpLayout {
  piece,      // in one row, from any thread on: for kernels that do not ask which threads are a warp
  row,        // in one row, from a multiple of 32 on
  half_rows,  // in two rows of 16, the first of an even number
  any,
};

struct Shape {
  enum Kind {
    unknown,
    progression,  // base + stride * (lane % 16) + step * (lane / 16)
    halves,       // the same, with a base of its own for each half
    varying,
  };
  Kind kind = unknown;
  /// Both modulo the type's size; bytes for a pointer. 0 and 0 for a uniform value.
  std::int64_t stride = 0, step = 0;
  /// The bases are multiples of 2^zeros. Integers only.
  unsigned zeros = 0;

  static Shape uniform(unsigned zeros = 0) { return {progression, 0, 0, zeros}; }
  static Shape affine(std::int64_t stride, unsigned zeros = 0) {
    return {progression, stride, static_cast<std::int64_t>(half_warp * static_cast<std::uint64_t>(stride)), zeros};
  }
  static Shape each() { return {varying, 0, 0, 0}; }

  bool is_uniform() const { return kind == progression && stride == 0 && step == 0; }
  bool is_varying() const { return kind == varying; }
  /// True iff each half has one value.
  bool is_uniform_in_halves() const { return (kind == progression || kind == halves) && stride == 0; }
  /// True iff the lanes count on by this much.
  bool is_row(std::int64_t bytes) const {
    return kind == progression && stride == bytes &&
           static_cast<std::uint64_t>(step) == half_warp * static_cast<std::uint64_t>(bytes);
  }
  /// What a lane has more than the base of a progression, or of its half.
  std::int64_t offset(unsigned lane) const {
    const auto within = static_cast<std::uint64_t>(stride) * (lane % half_warp);
    const auto between = static_cast<std::uint64_t>(step) * (lane / half_warp);
    return static_cast<std::int64_t>(kind == halves ? within : within + between);
  }
  /// True iff adding the offsets to the bases changes nothing above the bases' zeros, nor in bits from `bits` on: then
  /// neither extending nor masking parts the lanes.
  bool counts_below(unsigned bits) const;
  /// The same values as `halves`.
  Shape in_halves() const;
  bool operator==(const Shape&) const = default;
};

Shape operator+(Shape a, Shape b);
Shape operator*(Shape a, std::int64_t factor);
/// Of a sum or a product of integers, from the shapes of its operands; varying for other operations.
Shape sum_or_product(const llvm::BinaryOperator& binary, Shape a, Shape b);

/// The shapes of all values of a function, together with the structure that follows from them.
class Shapes {
 public:
  Shapes(const llvm::Function& function, Structure& structure, WarpLayout layout);

  Shape operator()(const llvm::Value* value) const;
  /// The shape of the sign or zero extended value; varying where that is not known.
  Shape extended(const llvm::Value* value, bool is_signed) const;
  /// True iff extending the base, or the bases of the halves, extends the value; else extended() means the sum of the
  /// extended operands.
  bool extends_at_base(const llvm::Value* value, bool is_signed) const;

 private:
  Shape of_instruction(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_binary(const llvm::BinaryOperator& binary) const;
  Shape of_cast(const llvm::CastInst& cast) const;
  Shape of_address(const llvm::GetElementPtrInst& address) const;
  Shape of_call(const llvm::CallInst& call) const;
  Shape of_operands(const llvm::User& operation) const;
  bool is_thread_number(const llvm::Value* value) const;
  bool is_context_field(const llvm::Value* value, std::size_t offset) const;

  const Structure& structure_;
  const llvm::DataLayout& data_;
  WarpLayout layout_;
  std::map<const llvm::Value*, Shape> shapes_;
};

}  // namespace gpulua::cpu::simd
