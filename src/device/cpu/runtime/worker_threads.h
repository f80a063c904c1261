#pragma once

namespace gpulua::cpu {

/// A use of oneTBB's worker threads, which all devices of the process share. They end with the last use, and come again
/// with the next one. They stay where the host program itself works with oneTBB at that moment, in a child process that
/// was forked meanwhile, which has none, and when the process ends.
class WorkerThreads {
 public:
  WorkerThreads();
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
};

/// The threads that share a loop here, this one included. 1 in a child of fork() whose parent had worker threads: one
/// of them may have held a lock of oneTBB, which nobody releases in the child. 1 during a `LoopsInTurn` of this thread.
int sharing_threads();

/// While it lives, the loops of the thread that made it run on it alone.
class LoopsInTurn {
 public:
  LoopsInTurn();
  ~LoopsInTurn();
  LoopsInTurn(const LoopsInTurn&) = delete;
  LoopsInTurn& operator=(const LoopsInTurn&) = delete;

 private:
  const bool before_;
};

}  // namespace gpulua::cpu
