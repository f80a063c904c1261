#include "src/device/cpu/runtime/cpu_launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "src/base/default_arithmetic.h"
#include "src/base/error.h"
#include "src/device/cpu/abi/call_stack.h"
#include "src/device/cpu/abi/kernel_failure.h"
#include "src/device/cpu/runtime/fault.h"
#include "src/device/cpu/runtime/fault_text.h"
#include "src/device/cpu/runtime/kernel_stack.h"
#include "src/device/cpu/runtime/shared_loops.h"

namespace gpulua::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// What a thread needs that runs kernels.
struct KernelScope {
  FaultGuard fault;
  DefaultArithmetic arithmetic;
};

// Waking the other cores costs some microseconds: less work than this is done sooner on one.
constexpr std::chrono::nanoseconds worth_spreading{20'000};
// A chunk of blocks that takes less tells nothing of the others: it meets cold caches, and the clock takes a part of
// it.
constexpr std::chrono::nanoseconds enough_to_measure{2'000};
// Blocks run in chunks of up to about this long, between which a core looks for an interrupt.
constexpr std::chrono::nanoseconds chunk_time{50'000};
// So few rows of the grid for a core are not distributed evenly.
constexpr unsigned least_rows_of_core = 8;
// Blocks that wait for later ones keep their stacks, some pages a thread.
constexpr unsigned most_threads_aside = 65'536;

[[noreturn]] void fail(const char* message, const char* file, unsigned line, Index3 block, Index3 thread) {
  throw KernelFailure{place_text(file, line) + message + ", block " + to_text(block) + ", thread " + to_text(thread)};
}

constexpr Services services{.fail = &fail,
                            .barrier = &ResidentBlock::barrier,
                            .leave = &ResidentBlock::leave,
                            .grid_barrier = &ResidentBlock::grid_barrier,
                            .tile_barrier = &ResidentBlock::tile_barrier,
                            .yield = &ResidentBlock::yield,
                            .warp_barrier = &ResidentBlock::warp_barrier,
                            .shuffle = &ResidentBlock::shuffle,
                            .ballot = &ResidentBlock::ballot};

class Run {
 public:
  Run(const KernelRecord& record, const LaunchConfig& config, void** arguments, std::atomic<bool>& interrupted,
      BlockPool& pool)
      : record_(record),
        launch_{
            {config.grid.x, config.grid.y, config.grid.z}, {config.block.x, config.block.y, config.block.z}, &services},
        blocks_(std::uint64_t{config.grid.x} * config.grid.y * config.grid.z),
        dynamic_shared_bytes_(config.shared_bytes),
        arguments_(arguments),
        interrupted_(interrupted),
        pool_(pool) {}

  void all() {
    run_in_turn();
    finish(aside_);
  }

  /// All blocks stay until all are done. Each runs, on any core, until it waits for the others; so no number of threads
  /// is too small for the grid.
  void cooperatively() {
    if (record_.run_fiber == nullptr) return all();
    std::deque<BlockPool::Handle> blocks;
    const DefaultArithmetic arithmetic;  // fibers begin with that of whoever makes them
    for (std::uint64_t i = 0; i < blocks_; ++i) {
      blocks.push_back(pool_.take(record_.local_bytes));
      blocks.back()->start(fiber_launch(true), index_of(i));
    }
    finish(blocks);
  }

 private:
  /// The first blocks tell how long the others may take, and with it who runs them. A few light ones take less time
  /// than reading the clock, so chunks grow until their time means something.
  void run_in_turn() {
    if (blocks_ == 1) return chunk(0, 1);
    std::uint64_t done = 0;
    for (std::uint64_t size = 1; done < blocks_; size *= 2) {
      size = std::min(size, blocks_ - done);
      const Clock::time_point start = Clock::now();
      chunk(done, done + size);
      done += size;
      const auto time = std::max(Clock::now() - start, Clock::duration(1));
      // Divided rather than multiplied: there may be 2^63 blocks.
      if ((blocks_ - done) / size <= static_cast<std::uint64_t>(worth_spreading / time)) {
        if (done < blocks_) chunk(done, blocks_);
        return;
      }
      if (time < enough_to_measure) continue;
      const std::uint64_t unit = unit_of_chunks(done, time / size);
      const auto least = size * std::max<std::uint64_t>(1, static_cast<std::uint64_t>(chunk_time / 2 / time));
      share_ranges(done / unit, (blocks_ + unit - 1) / unit, std::uint64_t{1},
                   [this, done, unit, least](std::uint64_t begin, std::uint64_t end) {
                     in_chunks(std::max(begin * unit, done), std::min(end * unit, blocks_), std::max(least, unit),
                               unit);
                   });
      if (failure_) throw *failure_;
      return;
    }
  }

  /// Chunks of whole rows of the grid read memory along its lines. Other chunks, if rows are few or take long.
  std::uint64_t unit_of_chunks(std::uint64_t done, Clock::duration of_block) const {
    const std::uint64_t row = launch_.grid.x;
    const auto rows_of_core = (blocks_ - done) / row / static_cast<unsigned>(sharing_threads());
    const bool is_short = row <= static_cast<std::uint64_t>(chunk_time / 2 / std::max(of_block, Clock::duration(1)));
    return is_short && rows_of_core >= least_rows_of_core ? row : 1;
  }

  /// Blocks differ; so chunks grow until they are long enough. They end at multiples of `unit`, which is at most
  /// `size`. Chunks after one that failed are left out.
  void in_chunks(std::uint64_t first, std::uint64_t last, std::uint64_t size, std::uint64_t unit) {
    while (first < last && first < first_failed_.load(std::memory_order_relaxed)) {
      const std::uint64_t end = std::min(last, (first + size) / unit * unit);
      const Clock::time_point start = Clock::now();
      try {
        chunk(first, end);
      } catch (const KernelFailure& failure) {
        return keep_first(failure, first);
      }
      first = end;
      if (Clock::now() - start < chunk_time / 2) size *= 2;
    }
  }

  /// Of blocks that fail on several cores, the first in the grid's order is reported, so that a program fails in the
  /// same way each time.
  void keep_first(const KernelFailure& failure, std::uint64_t block) {
    std::lock_guard lock(failure_mutex_);
    if (block >= first_failed_.load(std::memory_order_relaxed)) return;
    first_failed_.store(block, std::memory_order_relaxed);
    failure_ = failure;
  }

  void chunk(std::uint64_t first, std::uint64_t last) {
    const KernelScope scope;
    if (record_.run_fiber != nullptr) return fiber_chunk(first, last);
    check_interrupt();
    thread_local SharedArena arena;
    char* shared = arena.reserve(record_.shared_bytes, dynamic_shared_bytes_);
    const auto run = [&] { record_.run(arguments_, &launch_, first, last, shared, shared + record_.shared_bytes); };
    // A switch to another stack and back takes as long as a small launch. Only kernels that can damage the stack pay
    // it.
    if (record_.local_bytes > call_stack_bytes)
      KernelStack::of_thread().run(record_.local_bytes, run);
    else if (const auto fault = call_kernel(run))
      throw describe(*fault);
    arena.check_end();
  }

  void fiber_chunk(std::uint64_t first, std::uint64_t last) {
    BlockPool::Handle block = pool_.take(record_.local_bytes);
    for (std::uint64_t i = first; i < last; ++i) {
      check_interrupt();
      block->start(fiber_launch(false), index_of(i));
      while (block->run() == ResidentBlock::Pause::spinning)
        if (step_aside(block)) {
          block = pool_.take(record_.local_bytes);
          break;
        }
    }
  }

  /// Lets a block that waits for others wait until they have run. Where too many wait, the one that has waited longest
  /// goes on in its place, and the answer is false: what a block waits for may stand aside, too.
  bool step_aside(BlockPool::Handle& block) {
    std::lock_guard lock(aside_mutex_);
    aside_.push_back(std::move(block));
    const std::uint64_t threads = std::uint64_t{launch_.block.x} * launch_.block.y * launch_.block.z;
    if (aside_.size() <= most_threads_aside / threads) return true;
    block = std::move(aside_.front());
    aside_.pop_front();
    return false;
  }

  /// Runs blocks that wait for each other to their ends.
  void finish(const std::deque<BlockPool::Handle>& blocks) {
    std::vector<ResidentBlock*> ready, waiting;
    for (const BlockPool::Handle& block : blocks) ready.push_back(block.get());
    while (!ready.empty()) run_phase(ready, waiting);
  }

  /// Runs those that are ready; then `ready` has those that can go on.
  void run_phase(std::vector<ResidentBlock*>& ready, std::vector<ResidentBlock*>& waiting) {
    std::vector<ResidentBlock::Pause> pauses(ready.size());
    share_each(ready.size(), [&](std::size_t i) {
      if (i >= first_failed_.load(std::memory_order_relaxed)) return;
      const KernelScope scope;
      try {
        pauses[i] = ready[i]->run();
      } catch (const KernelFailure& failure) {
        keep_first(failure, i);
      }
    });
    if (failure_) throw *failure_;
    std::vector<ResidentBlock*> next;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (pauses[i] == ResidentBlock::Pause::grid_barrier) waiting.push_back(ready[i]);
      if (pauses[i] == ResidentBlock::Pause::spinning) next.push_back(ready[i]);
    }
    if (next.empty()) {
      next.swap(waiting);
      for (ResidentBlock* block : next) block->pass_grid_barrier();
    }
    ready = std::move(next);
  }

  FiberLaunch fiber_launch(bool cooperative) const {
    return {&record_, &launch_, arguments_, dynamic_shared_bytes_, cooperative, &interrupted_};
  }

  Index3 index_of(std::uint64_t block) const {
    const std::uint64_t row = block / launch_.grid.x;
    return {static_cast<unsigned>(block % launch_.grid.x), static_cast<unsigned>(row % launch_.grid.y),
            static_cast<unsigned>(row / launch_.grid.y)};
  }

  void check_interrupt() const {
    if (interrupted_.load(std::memory_order_relaxed)) throw Error(ErrorKind::interrupted, "[launch] interrupted");
  }

  const KernelRecord& record_;
  Launch launch_;
  std::uint64_t blocks_;
  std::size_t dynamic_shared_bytes_;
  void** arguments_;
  std::atomic<bool>& interrupted_;
  BlockPool& pool_;
  std::mutex aside_mutex_;
  std::deque<BlockPool::Handle> aside_;  // the longest-waiting one first
  std::mutex failure_mutex_;
  std::atomic<std::uint64_t> first_failed_{std::numeric_limits<std::uint64_t>::max()};  // or the first of its chunk
  std::optional<KernelFailure> failure_;
};

/// The launch's pointers that are null, as a message adds them.
std::string null_arguments(const Signature& signature, void** arguments) {
  std::string text;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const void* address = arguments;
    if (parameter.kind == ParameterKind::pointer) std::memcpy(&address, arguments[i], sizeof address);
    if (address == nullptr) text += "; argument " + std::to_string(i + 1) + " (" + parameter.type + ") is null";
  }
  return text;
}

}  // namespace

void run_launch(const KernelEntry& kernel, const KernelRecord& record, const LaunchConfig& config, void** arguments,
                std::atomic<bool>& interrupted, BlockPool& pool, bool checked) {
  try {
    Run run(record, config, arguments, interrupted, pool);
    if (config.cooperative)
      run.cooperatively();
    else
      run.all();
  } catch (const KernelFailure& failure) {
    std::string message = "[launch] kernel '" + kernel.name + "': " + failure.message;
    if (failure.null_pointer) message += null_arguments(kernel.signature, arguments);
    if (failure.in_memory && !checked) message += "; gpulua --check, or gpu.check(true), names the line and the array";
    throw Error(ErrorKind::device, message);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory,
                "[launch] kernel '{}': out of memory for the shared memory and the stacks of its blocks", kernel.name);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) interrupted.store(false);
    throw;
  }
}

}  // namespace gpulua::cpu
