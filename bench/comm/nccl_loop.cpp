// bench_nccl RANKS [LARGEST BYTES]: a loop over ncclAllReduce of float32 in as many processes, a GPU each, as a C++
// program has it. Prints a line for each size: its bytes and the microseconds of a call. all_reduce.lua has the same
// sizes and runs. NCCL's interface is declared here, as there may be no header of it; the library is found as the
// loader finds it.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "bench/launch/driver.h"

namespace {

struct Id {
  char bytes[128];
};
using Communicator = void*;
constexpr int type_float = 7, sum = 0;
constexpr int most_ranks = 64;

/// What the processes have in common.
struct Meeting {
  Id id;
  std::atomic<int> arrivals;
  double microseconds[most_ranks];
};

/// Returns when all processes have called it as often.
void meet(Meeting& meeting, int size) {
  const int turn = meeting.arrivals.fetch_add(1) / size;
  while (meeting.arrivals.load() < (turn + 1) * size) std::this_thread::yield();
}

template <class Function>
Function nccl(const char* name) {
  static void* const library = dlopen("libnccl.so.2", RTLD_NOW);
  void* const address = library != nullptr ? dlsym(library, name) : nullptr;
  if (address == nullptr) {
    std::fprintf(stderr, "libnccl.so.2 has no %s, or was not found: set LD_LIBRARY_PATH\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(address);
}

void check_nccl(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s failed: NCCL error %d\n", what, result);
  std::exit(1);
}

void run(Meeting& meeting, int rank, int size, std::size_t largest) {
  bench::start_device(rank);
  if (rank == 0) check_nccl(nccl<int (*)(Id*)>("ncclGetUniqueId")(&meeting.id), "ncclGetUniqueId");
  meet(meeting, size);
  Communicator communicator = nullptr;
  check_nccl(nccl<int (*)(Communicator*, int, Id, int)>("ncclCommInitRank")(&communicator, size, meeting.id, rank),
             "ncclCommInitRank");
  const auto all_reduce =
      nccl<int (*)(const void*, void*, std::size_t, int, int, Communicator, CUstream)>("ncclAllReduce");
  CUstream stream = nullptr;
  bench::check(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const auto synchronize = DRIVER(cuStreamSynchronize);
  CUdeviceptr x = 0, y = 0;
  bench::check(bench::symbol<CUresult (*)(CUdeviceptr*, std::size_t)>("cuMemAlloc_v2")(&x, largest), "cuMemAlloc");
  bench::check(bench::symbol<CUresult (*)(CUdeviceptr*, std::size_t)>("cuMemAlloc_v2")(&y, largest), "cuMemAlloc");
  for (std::size_t bytes = 8; bytes <= largest; bytes *= 2) {
    const auto call = [&] {
      check_nccl(all_reduce(reinterpret_cast<const void*>(x), reinterpret_cast<void*>(y), bytes / sizeof(float),
                            type_float, sum, communicator, stream),
                 "ncclAllReduce");
    };
    const auto runs = static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 33) / bytes, 20, 500));
    for (int i = 0; i < 5; ++i) call();
    bench::check(synchronize(stream), "cuStreamSynchronize");
    meet(meeting, size);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) call();
    bench::check(synchronize(stream), "cuStreamSynchronize");
    meeting.microseconds[rank] = bench::microseconds_since(start) / runs;
    meet(meeting, size);
    if (rank == 0)
      std::printf("%zu %.2f\n", bytes, *std::max_element(meeting.microseconds, meeting.microseconds + size));
    meet(meeting, size);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 1;
  const std::size_t largest = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : std::size_t{1} << 30;
  if (size < 1 || size > most_ranks) {
    std::fprintf(stderr, "expected 1 to %d ranks, got %d\n", most_ranks, size);
    return 1;
  }
  void* const memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& meeting = *new (memory) Meeting{};
  // Before CUDA starts: it does not survive a fork.
  for (int rank = 1; rank < size; ++rank)
    if (fork() == 0) {
      run(meeting, rank, size, largest);
      _exit(0);
    }
  run(meeting, 0, size, largest);
  int failures = 0, status = 0;
  while (wait(&status) > 0) failures += status != 0;
  return failures > 0;
}
