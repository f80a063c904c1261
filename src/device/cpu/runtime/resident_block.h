#pragma once

// A block whose threads wait for each other. Each thread, or each warp, runs as a fiber; the fibers take turns on the
// thread of the processor that runs the block.

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/runtime/fault.h"
#include "src/device/cpu/runtime/fiber.h"
#include "src/device/cpu/runtime/shared_arena.h"
#include "src/device/cpu/runtime/warp.h"

namespace gpulua::cpu {

/// The launch, the same for all of its blocks.
struct FiberLaunch {
  const KernelRecord* record;  // has a run_fiber
  const Launch* launch;
  void** arguments;
  std::size_t dynamic_shared_bytes;
  bool cooperative;
  std::atomic<bool>* interrupted;
};

/// Runs one block after another; its fibers and their stacks stay from one to the next.
class ResidentBlock final : private KernelFrames {
 public:
  /// Why run() returned.
  enum class Pause {
    done,          // all threads have exited
    grid_barrier,  // all that have not wait for the grid
    spinning,      // they wait for something that another block may do
  };

  explicit ResidentBlock(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}
  ResidentBlock(const ResidentBlock&) = delete;
  ResidentBlock& operator=(const ResidentBlock&) = delete;

  std::size_t stack_bytes() const { return stack_bytes_; }

  /// Gets a block ready to run; the one before is done or was cancelled. Throws std::bad_alloc.
  void start(const FiberLaunch& launch, Index3 block);
  /// Runs the fibers until the block is done or cannot go on by itself. Throws KernelFailure for a failure in the
  /// kernel and for threads that wait for each other for ever, and Error when the launch is interrupted; the block is
  /// cancelled then.
  Pause run();
  /// Lets the fibers go on that wait for the grid. Precondition: each block of the grid waits for it or is done.
  void pass_grid_barrier();
  /// Abandons the fibers where they are. A kernel's frames have no destructors to run, and may be overwritten.
  void cancel() noexcept;

  // ---- the services: called by a fiber ----
  static unsigned barrier(ThreadContext* context, unsigned threads, unsigned predicates, const char* file,
                          unsigned line);
  static void leave(ThreadContext* context, unsigned threads);
  static void grid_barrier(ThreadContext* context, unsigned threads, const char* file, unsigned line);
  static void tile_barrier(ThreadContext* context, unsigned threads, unsigned size, const char* file, unsigned line);
  static void yield(ThreadContext* context);
  static void warp_barrier(ThreadContext* context, unsigned mask);
  static unsigned shuffle(ThreadContext* context, unsigned mask, unsigned value, unsigned source_lane);
  static unsigned ballot(ThreadContext* context, unsigned mask, unsigned predicate);

 private:
  /// Runs one thread of the block, or one warp.
  struct ThreadFiber : Fiber {
    ThreadFiber(ResidentBlock& block, std::size_t stack_bytes);
    ThreadContext context{};
    ResidentBlock& block;
    unsigned threads = 0;  // that have not exited
    unsigned barrier_result = 0;
    bool running = false;   // has started and not ended
    bool spins = false;     // has yielded since it started, or since its last barrier
    bool unusable = false;  // was given up
    const void* frame = nullptr;

    void give_up() {
      running = false;
      unusable = true;
      abandon();
    }
  };

  /// A meeting of all threads that have not exited.
  struct Barrier {
    unsigned arrived = 0, predicates = 0;
    const char* file = "";
    unsigned line = 0;
    std::vector<ThreadFiber*> waiting;

    void arrive(unsigned threads, unsigned true_predicates, const char* from_file, unsigned from_line);
    void reset();
  };

  /// A meeting of the threads of a tile that have not exited.
  struct TileBarrier {
    unsigned first, size;  // threads of the block
    unsigned missing = 0;  // threads that the waiting ones wait for
    const char* file = "";
    unsigned line = 0;
    std::vector<ThreadFiber*> waiting{};

    bool has(unsigned thread) const { return thread - first < size; }
  };

  static unsigned warp_operation(ThreadContext* context, const Warp::Call& call);
  void run_fiber(ThreadFiber& fiber) noexcept;
  /// Ends the running fiber: switches to the next one for good.
  void end_fiber(ThreadFiber& fiber);
  const void* first() const override { return round_[turn_ - 1]->frame; }
  void suspend(ThreadFiber& fiber);
  void exit_threads(ThreadFiber& fiber, unsigned threads);
  void run_round();
  /// Switches from the running fiber to the next of the round.
  void next_turn(Fiber& from);
  /// The fiber that has come to a barrier, which counts as progress.
  static ThreadFiber& at_barrier(ThreadContext* context);
  void release_barrier();
  void release_tile(TileBarrier& tile);
  TileBarrier& find_tile(unsigned first, unsigned size);
  /// How many of the tile's threads have not exited.
  unsigned count_alive(const TileBarrier& tile) const;
  /// Puts the given lanes of the running fiber's warp into the next round, without that fiber itself.
  void make_ready(const ThreadFiber& running, unsigned lanes);
  /// Called when a round starts, and by the fiber that completes a barrier or a warp operation: it goes on in the same
  /// round.
  void check_interrupt() const;
  [[noreturn]] void throw_deadlock() const;

  const std::size_t stack_bytes_;
  SharedArena shared_;
  std::vector<std::unique_ptr<ThreadFiber>> fibers_;
  std::vector<Warp> warps_;  // where each thread has a fiber
  Barrier barrier_, grid_barrier_;
  std::vector<TileBarrier> tile_barriers_;  // that the block has used

  FiberLaunch launch_{};
  Index3 index_{};
  unsigned fiber_count_ = 0, fibers_left_ = 0;
  unsigned alive_ = 0;  // threads that have not exited
  // Fibers take their turns in rounds: a fiber that becomes ready in one round has a turn in the next.
  std::vector<ThreadFiber*> round_, next_round_;
  std::size_t turn_ = 0;  // in the round
  Fiber thread_;
  bool progress_ = false;  // a fiber of this round has done something else than spin
  std::exception_ptr failure_;
};

}  // namespace gpulua::cpu
