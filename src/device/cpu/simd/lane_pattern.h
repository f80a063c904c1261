#pragma once

// How a value varies over the lanes of a warp.

#include <llvm/IR/InstrTypes.h>

#include <cstdint>

namespace gpulua::cpu::simd {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned half_warp = 16;

/// The lanes of the functions that this thread widens: a warp's 32, unless a LaneCount lives.
unsigned lane_count();
/// A bit for each of them.
std::uint32_t all_lanes();

/// May change it while it lives, for kernels that do not depend on what a warp is.
class LaneCount {
 public:
  LaneCount();
  ~LaneCount();
  void set(unsigned lanes);
  LaneCount(const LaneCount&) = delete;
  LaneCount& operator=(const LaneCount&) = delete;

 private:
  const unsigned before_;
};

struct LanePattern {
  enum class Kind {
    unknown,      // not analysed yet
    affine,       // base + stride * (lane % 16) + half_stride * (lane / 16)
    half_affine,  // base of the lane's half + stride * (lane % 16)
    varying,      // no relation between lanes
  };
  Kind kind = Kind::unknown;
  /// Modulo the type's size; in bytes for a pointer. Both are 0 for a uniform value.
  std::int64_t stride = 0, half_stride = 0;
  /// The bases are multiples of 2^zeros. Integers only.
  unsigned zeros = 0;

  static LanePattern uniform(unsigned zeros = 0) { return {Kind::affine, 0, 0, zeros}; }
  /// The same stride between all neighbours.
  static LanePattern affine(std::int64_t stride, unsigned zeros = 0) {
    const auto half_stride = half_warp * static_cast<std::uint64_t>(stride);
    return {Kind::affine, stride, static_cast<std::int64_t>(half_stride), zeros};
  }
  /// One value in each half.
  static LanePattern half_uniform(unsigned zeros = 0) { return {Kind::half_affine, 0, 0, zeros}; }
  static LanePattern varying() { return {Kind::varying, 0, 0, 0}; }

  bool is_known() const { return kind != Kind::unknown; }
  bool is_affine() const { return kind == Kind::affine; }
  bool is_half_affine() const { return kind == Kind::half_affine; }
  bool is_varying() const { return kind == Kind::varying; }
  bool is_uniform() const { return is_affine() && stride == 0 && half_stride == 0; }
  bool is_uniform_per_half() const { return (is_affine() || is_half_affine()) && stride == 0; }
  /// True iff `step` lies between each lane and the next one.
  bool is_consecutive(std::int64_t step) const {
    return is_affine() && stride == step &&
           static_cast<std::uint64_t>(half_stride) == half_warp * static_cast<std::uint64_t>(step);
  }
  /// The lane's value minus the base: the base of its half in a half-affine pattern.
  std::int64_t offset(unsigned lane) const {
    const auto within = static_cast<std::uint64_t>(stride) * (lane % half_warp);
    const auto between = static_cast<std::uint64_t>(half_stride) * (lane / half_warp);
    return static_cast<std::int64_t>(is_half_affine() ? within : within + between);
  }
  /// True iff the offsets fit into the zeros of the bases and into `bits` bits. The sum of base and offset then has no
  /// carry, so extending and masking keep the pattern.
  bool offsets_fit_below(unsigned bits) const;
  /// An affine pattern as a half-affine one.
  LanePattern per_half() const;
  bool operator==(const LanePattern&) const = default;
};

/// The pattern that describes values of both.
LanePattern meet(LanePattern a, LanePattern b);

LanePattern operator+(LanePattern a, LanePattern b);
LanePattern operator*(LanePattern a, std::int64_t factor);

// Results of integer operations, from the patterns of their operands. Varying where nothing is known.

/// A sum or a product; varying for other operations.
LanePattern sum_or_product(const llvm::BinaryOperator& binary, LanePattern a, LanePattern b);
/// Any operation. Both patterns are known.
LanePattern binary_result(const llvm::BinaryOperator& binary, LanePattern a, LanePattern b);

/// Trailing zero bits of an integer constant; 0 for other constants.
unsigned trailing_zeros(const llvm::Constant& constant);

}  // namespace gpulua::cpu::simd
