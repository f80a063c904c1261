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

}  // namespace gpulua::cpu
