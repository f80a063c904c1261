#pragma once

// The text of inline assembly, taken apart. It is what clang leaves in LLVM's IR: an argument is $0, a brace $( or $).

#include <cstdint>
#include <string>
#include <vector>

namespace gpulua::cpu {

/// The alignment of arrays in shared memory that the assembly declares, whatever it asks for.
inline constexpr std::uint64_t ptx_shared_alignment = 128;

struct PtxOperand {
  enum class Kind {
    name,      // a register, or a special one, which begins with %
    argument,  // the C++ expression of that number
    integer,
    real,     // a number of `width` bits, which `integer` has
    vector,   // {a, b}: `parts`
    address,  // [a + 4]: `parts` has the base, `integer` what is added
    nothing,  // _
  };
  Kind kind = Kind::nothing;
  std::string name;
  std::uint64_t integer = 0;  // also an argument's number, and how many elements a shared array has
  unsigned width = 0;
  bool negated = false;  // !p
  std::vector<PtxOperand> parts;
};

struct PtxInstruction {
  std::vector<std::string> words;  // {"ld", "global", "f32"}; "{" and "}" alone open and close a scope of names
  std::vector<PtxOperand> operands;
  std::vector<PtxOperand> second;  // the p of `d|p`
  std::string predicate;           // of `@p`
  bool negated = false;            // `@!p`
  std::string text;                // for messages
};

/// Throws an Error of kind `compile` that quotes what is not understood.
std::vector<PtxInstruction> read_ptx(const std::string& assembly);

}  // namespace gpulua::cpu
