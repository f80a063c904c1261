#pragma once

// A block whose strands wait for each other: each is a fiber, and they take turns on whatever thread runs the block.

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

/// What the blocks of a launch have in common.
struct StrandLaunch {
  const KernelRecord* record;  // has a run_strand
  const Launch* launch;
  void** arguments;
  std::size_t dynamic_shared_bytes;
  bool cooperative;
  std::atomic<bool>* interrupted;
};

/// Runs one block after another; its fibers and their stacks stay from one to the next.
class ResidentBlock final : private KernelExit {
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
  void start(const StrandLaunch& launch, Index3 block);
  /// Runs the strands until the block is done or cannot go on by itself. Throws KernelFailure for a failure in the
  /// kernel and for threads that wait for each other for ever, and Error when the launch is interrupted; the block is
  /// cancelled then.
  Pause run();
  /// All blocks of the grid wait for it, or are done.
  void pass_grid_barrier();
  /// Gives the strands up where they are: nothing of a kernel's frames wants an end, and they may be written over.
  void cancel() noexcept;

  // ---- the services: called by a strand ----
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
  struct Strand {
    Strand(ResidentBlock& block, std::size_t stack_bytes);
    ThreadContext context{};
    ResidentBlock& block;
    unsigned threads = 0;  // that have not exited
    unsigned barrier_result = 0;
    bool running = false;   // has started and not ended
    bool spins = false;     // has yielded since it started, or since its last barrier
    bool unusable = false;  // was given up
    const void* frame = nullptr;
    Fiber fiber;

    void give_up() {
      running = false;
      unusable = true;
      fiber.abandon();
    }
  };

  /// A meeting of all threads that have not exited.
  struct Barrier {
    unsigned arrived = 0, predicates = 0;
    const char* file = "";
    unsigned line = 0;
    std::vector<Strand*> waiting;

    void arrive(unsigned threads, unsigned true_predicates, const char* from_file, unsigned from_line);
    void reset();
  };

  /// A meeting of the threads of a tile that have not exited.
  struct TileBarrier {
    unsigned first, size;  // threads of the block
    unsigned missing = 0;  // threads that the waiting ones wait for
    const char* file = "";
    unsigned line = 0;
    std::vector<Strand*> waiting{};

    bool has(unsigned thread) const { return thread - first < size; }
  };

  static unsigned warp_operation(ThreadContext* context, const Warp::Call& call);
  void run_strand(Strand& strand) noexcept;
  /// The strand, which runs, ends and goes away for good.
  void end_strand(Strand& strand);
  const void* frame() const override { return round_[turn_ - 1]->frame; }
  [[noreturn]] void leave(KernelFailure failure) override;
  void suspend(Strand& strand);
  void exit_threads(Strand& strand, unsigned threads);
  void run_round();
  /// Switches from the fiber, which runs, to the next of the round.
  void next_turn(Fiber& from);
  /// The strand that has come to a barrier, which counts as progress.
  static Strand& at_barrier(ThreadContext* context);
  void release_barrier();
  void release_tile(TileBarrier& tile);
  TileBarrier& find_tile(unsigned first, unsigned size);
  /// How many of the tile's threads have not exited.
  unsigned count_alive(const TileBarrier& tile) const;
  /// Lanes of the warp that the strand, which runs, is of.
  void make_ready(const Strand& running, unsigned lanes);
  void check_interrupt() const;
  [[noreturn]] void throw_deadlock() const;

  const std::size_t stack_bytes_;
  SharedArena shared_;
  std::vector<std::unique_ptr<Strand>> strands_;
  std::vector<Warp> warps_;  // of strands of one thread
  Barrier barrier_, grid_barrier_;
  std::vector<TileBarrier> tile_barriers_;  // that the block has used

  StrandLaunch launch_{};
  Index3 index_{};
  unsigned strand_count_ = 0, strands_left_ = 0;
  unsigned alive_ = 0;  // threads that have not exited
  // Strands take their turns in rounds: who becomes ready in one has a turn in the next.
  std::vector<Strand*> round_, next_round_;
  std::size_t turn_ = 0;  // in the round
  Fiber thread_;
  bool progress_ = false;  // a strand of this round has done something else than spin
  std::exception_ptr failure_;
};

}  // namespace gpulua::cpu
