#pragma once

// The arguments of a step's kernel: all that follows from the structure of its expressions, and where the addresses and
// numbers go that each evaluation has of its own.

#include <vector>

#include "src/eval/schedule.h"
#include "src/runtime/context.h"
#include "src/runtime/kernel_arguments.h"

namespace gpulua {

/// What is put into the arguments before a launch.
struct Patch {
  enum class Kind : std::uint8_t {
    number,          // of node `which`
    address,         // of the first element of node `which`
    gather_address,  // where operation `which`, a gather, reads
    gather_watch,    // the word and the line of operation `which`, a gather
    output,          // the address of the output `which`
    scatter_watch,   // the word and the line of the operation that writes the output `which`
    scratch,         // the memory that the blocks share
  };
  Kind kind;
  std::uint32_t which = 0;
  std::size_t at = 0;     // in the arguments
  std::size_t moved = 0;  // bytes from there, of scratch memory
};

struct StepArguments {
  Arguments arguments;
  std::vector<Patch> patches;
  LaunchConfig config;
  // Memory that the blocks share while the kernel runs; of it, what is 0 at first.
  std::size_t scratch_bytes = 0, zeroed_bytes = 0;
};

/// In the order that emit.h says. `variant` is the step's, and not empty.
StepArguments lay_out(const Step& step, const Variant& variant);

}  // namespace gpulua
