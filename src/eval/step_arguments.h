#pragma once

// The arguments of a step's kernel. Most follow from the structure of the expressions and are laid out once. The
// addresses and numbers differ from evaluation to evaluation; patches say where they go.

#include <vector>

#include "src/eval/schedule.h"
#include "src/runtime/kernel_arguments.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// A value that is put into the arguments before each launch.
struct Patch {
  enum class Kind : std::uint8_t {
    number,          // of node `which`
    divisor,         // the number of node `which`, as a Divisor
    address,         // of the first element of node `which`
    gather_address,  // where operation `which`, a gather, reads
    gather_watch,    // the word and the line of operation `which`, a gather
    output,          // the address of the output `which`
    scatter_watch,   // the word and the line of the operation that writes the output `which`
    scratch,         // the memory that the blocks share
  };
  Kind kind;
  std::uint32_t which = 0;
  std::size_t at = 0;        // in the arguments
  std::size_t moved = 0;     // bytes from there, of scratch memory
  std::uint32_t source = 0;  // the number of the node from which a gather reads
};

struct StepArguments {
  Arguments arguments;
  std::vector<Patch> patches;
  LaunchConfig config;
  // Memory that the blocks share while the kernel runs; of it, what is 0 at first.
  std::size_t scratch_bytes = 0, zeroed_bytes = 0;
};

/// One argument for each of parameters_of(schedule.spec). The schedule is the step's and has something to compute.
StepArguments lay_out(const Step& step, const Schedule& schedule, const NodeNumbers& nodes);

}  // namespace gpulua
