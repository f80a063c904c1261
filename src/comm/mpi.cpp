#include "src/comm/mpi.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

// One set of prototypes serves all MPI libraries: each handle is an intptr_t. Where a handle is an int (MPICH), the
// function reads the low half of its register, or of the memory that a pointer leads to. The libraries differ in their
// constants alone: the table `abis`.

namespace gpulua {

namespace {

using Handle = std::intptr_t;
using Clock = std::chrono::steady_clock;

// The elements that MPI reduces itself, in the order of Constants::types.
constexpr std::array reduced_dtypes = {DType::float32, DType::float64, DType::int32, DType::int64, DType::uint64};

struct Constants {
  Handle world, byte;
  std::array<Handle, reduced_dtypes.size()> types;
  std::array<Handle, 4> operations;  // in the order of Reduction
  void* in_place;
  void* ignored_status;
  int thread_serialized;
};

void* const minus_one = reinterpret_cast<void*>(-1);
void* const one = reinterpret_cast<void*>(1);

/// MPICH and Intel MPI: mpi.h of MPICH 3 to 5.
const Constants mpich{0x44000000,
                      0x4c00010d,
                      {0x4c00040a, 0x4c00080b, 0x4c000439, 0x4c00083a, 0x4c00083e},
                      {0x58000003, 0x58000004, 0x58000001, 0x58000002},
                      minus_one,
                      one,
                      2};
/// The ABI of MPI 5, section 20.
const Constants mpi_5{0x101, 0x247, {0x210, 0x214, 0x250, 0x258, 0x259}, {0x21, 0x24, 0x23, 0x22}, one, nullptr, 2048};

/// Open MPI: handles are addresses of its variables.
Constants open_mpi(const OptionalLibrary& library) {
  const auto address = [&](const char* name) {
    void* variable = nullptr;
    library.find(variable, std::string("ompi_mpi_") + name);
    return reinterpret_cast<Handle>(variable);
  };
  return {address("comm_world"),
          address("byte"),
          {address("float"), address("double"), address("int32_t"), address("int64_t"), address("uint64_t")},
          {address("op_sum"), address("op_prod"), address("op_max"), address("op_min")},
          one,
          nullptr,
          2};
}

/// The functions of an MPI library that are used here.
struct Mpi {
  Constants constants;

  int (*initialized)(int*);
  int (*init)(int*, char***, int, int*);
  int (*finalize)();
  int (*abort)(Handle, int);
  int (*comm_rank)(Handle, int*);
  int (*comm_size)(Handle, int*);
  int (*isend)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*irecv)(void*, int, Handle, int, int, Handle, Handle*);
  int (*test)(Handle*, int*, void*);
  int (*iallreduce)(const void*, void*, int, Handle, Handle, Handle, Handle*);
  int (*ibcast)(void*, int, Handle, int, Handle, Handle*);
  int (*iallgather)(const void*, int, Handle, void*, int, Handle, Handle, Handle*);
};

/// The names of the libraries to try, in order.
std::vector<std::string> library_names(const Job& job) {
  if (!job.mpi_library.empty()) return {job.mpi_library};
  const char* open_mpi_size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (open_mpi_size != nullptr) return {"libmpi.so.40", "libmpi.so"};
  return {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"};
}

Mpi open_mpi_library(const Job& job) {
  const OptionalLibrary library("comm", "ranks need the MPI library of their launcher", library_names(job),
                                "apt-get install openmpi-bin, or mpich, as the launcher is; GPULUA_MPI is the "
                                "library's path if it has another one");
  Mpi mpi{};
  if (library.has("ompi_mpi_comm_world"))
    mpi.constants = open_mpi(library);
  else if (library.has("MPI_Abi_get_version") && library.file().find("mpi_abi") != std::string::npos)
    mpi.constants = mpi_5;
  else
    mpi.constants = mpich;
  library.find(mpi.initialized, "MPI_Initialized");
  library.find(mpi.init, "MPI_Init_thread");
  library.find(mpi.finalize, "MPI_Finalize");
  library.find(mpi.abort, "MPI_Abort");
  library.find(mpi.comm_rank, "MPI_Comm_rank");
  library.find(mpi.comm_size, "MPI_Comm_size");
  library.find(mpi.isend, "MPI_Isend");
  library.find(mpi.irecv, "MPI_Irecv");
  library.find(mpi.test, "MPI_Test");
  library.find(mpi.iallreduce, "MPI_Iallreduce");
  library.find(mpi.ibcast, "MPI_Ibcast");
  library.find(mpi.iallgather, "MPI_Iallgather");
  return mpi;
}

/// Counts are ints: longer messages go in pieces.
constexpr std::size_t longest_piece = std::size_t{1} << 30;

/// The tag of a call's messages, so that another call's are not taken for them.
int tag_of(std::string_view op, std::size_t bytes) {
  if (op == "recv_") op = "send";
  constexpr std::size_t tags = 32749;  // a prime below the 32767 that each library allows
  return static_cast<int>((std::hash<std::string_view>{}(op) ^ bytes) % tags);
}

/// A launcher that ends all ranks first gets time to pass on what this one has printed: MPICH's drops the rest.
constexpr std::chrono::milliseconds time_for_output{200};

class MpiTransport final : public Transport {
 public:
  MpiTransport(const Job& job, Mpi mpi, bool ends, std::function<void()> while_waiting)
      : Transport(job.rank, job.size),
        mpi_(std::move(mpi)),
        ends_(ends),
        while_waiting_(std::move(while_waiting)),
        timeout_(job.timeout) {}

  ~MpiTransport() override {
    if (ends_) mpi_.finalize();
  }

  const char* name() const override { return "MPI"; }

  void fail(const std::string&) noexcept override {
    std::fflush(nullptr);
    std::this_thread::sleep_for(time_for_output);
    mpi_.abort(mpi_.constants.world, 1);
  }

  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    copy_own(op, rank(), outgoing, incoming, std::memcpy);
    std::vector<Request> requests;
    for (const Incoming& message : incoming)
      for_pieces(message.bytes, [&](std::size_t first, int bytes) {
        if (message.from == rank()) return;
        Request& request = requests.emplace_back(Request{message.from});
        mpi_.irecv(static_cast<char*>(message.memory) + first, bytes, mpi_.constants.byte, message.from,
                   tag_of(op, message.bytes), mpi_.constants.world, &request.handle);
      });
    for (const Outgoing& message : outgoing)
      for_pieces(message.bytes, [&](std::size_t first, int bytes) {
        if (message.to == rank()) return;
        Request& request = requests.emplace_back(Request{message.to});
        mpi_.isend(static_cast<const char*>(message.memory) + first, bytes, mpi_.constants.byte, message.to,
                   tag_of(op, message.bytes), mpi_.constants.world, &request.handle);
      });
    wait(op, requests);
  }

  void all_reduce(const char* op, void* data, std::size_t count, DType dtype, Reduction reduction) override {
    const auto found = std::ranges::find(reduced_dtypes, dtype);
    if (found == reduced_dtypes.end() || count == 0) return Transport::all_reduce(op, data, count, dtype, reduction);
    compare(op, count * 256 + static_cast<std::size_t>(dtype) * 16 + static_cast<std::size_t>(reduction));
    const Handle type = mpi_.constants.types[static_cast<std::size_t>(found - reduced_dtypes.begin())];
    for_pieces(count, [&](std::size_t first, int piece) {
      run(op, [&](Handle* request) {
        mpi_.iallreduce(mpi_.constants.in_place, static_cast<char*>(data) + first * size_of(dtype), piece, type,
                        mpi_.constants.operations[static_cast<std::size_t>(reduction)], mpi_.constants.world, request);
      });
    });
  }

  void broadcast(const char* op, void* data, std::size_t bytes, int root) override {
    compare(op, bytes * 256 + static_cast<std::size_t>(root));
    for_pieces(bytes, [&](std::size_t first, int piece) {
      run(op, [&](Handle* request) {
        mpi_.ibcast(static_cast<char*>(data) + first, piece, mpi_.constants.byte, root, mpi_.constants.world, request);
      });
    });
  }

  void all_gather(const char* op, const void* part, void* all, std::size_t bytes) override {
    if (bytes > longest_piece) return Transport::all_gather(op, part, all, bytes);
    compare(op, bytes);
    const int count = static_cast<int>(bytes);
    run(op, [&](Handle* request) {
      mpi_.iallgather(part, count, mpi_.constants.byte, all, count, mpi_.constants.byte, mpi_.constants.world, request);
    });
  }

 private:
  struct Request {
    int peer;  // -1: all ranks
    Handle handle = 0;
    int done = 0;
  };

  template <class Function>
  static void for_pieces(std::size_t count, const Function& function) {
    std::size_t first = 0;
    do {
      const std::size_t piece = std::min(count - first, longest_piece);
      function(first, static_cast<int>(piece));
      first += piece;
    } while (first < count);
  }

  /// Compares a collective with those of the other ranks. MPI itself moves wrong elements where they differ.
  void compare(std::string_view op, std::size_t what) {
    const auto own = static_cast<std::int64_t>((std::hash<std::string_view>{}(op) ^ what) >> 1U);
    const auto type = std::ranges::find(reduced_dtypes, DType::int64) - reduced_dtypes.begin();
    std::array<std::int64_t, 2> greatest{own, -own};
    run(op.data(), [&](Handle* request) {
      mpi_.iallreduce(mpi_.constants.in_place, greatest.data(), 2, mpi_.constants.types[static_cast<std::size_t>(type)],
                      mpi_.constants.operations[static_cast<std::size_t>(Reduction::max)], mpi_.constants.world,
                      request);
    });
    if (greatest[0] == own && greatest[1] == -own) return;
    throw Error(
        "[{}] expected the same call on all ranks, got others on some; gpu.debug(true) names the calls and their lines",
        op);
  }

  template <class Start>
  void run(const char* op, const Start& start) {
    std::vector<Request> requests{Request{-1}};
    start(&requests[0].handle);
    wait(op, requests);
  }

  /// Waits as MPI_Waitall does, but for Ctrl-C and the time.
  void wait(const char* op, std::vector<Request>& requests) {
    constexpr int quick_tests = 200;
    const auto start = Clock::now();
    auto next_look = start + std::chrono::milliseconds(100);
    for (int tests = 0;; ++tests) {
      bool done = true;
      for (Request& request : requests) {
        if (request.done == 0) mpi_.test(&request.handle, &request.done, mpi_.constants.ignored_status);
        done = done && request.done != 0;
      }
      if (done) return;
      // Other ranks may share the core.
      if (tests < quick_tests)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (Clock::now() < next_look) continue;
      next_look = Clock::now() + std::chrono::milliseconds(100);
      while_waiting_();
      if (Clock::now() - start > std::chrono::duration<double>(timeout_)) throw_late(op, requests);
    }
  }

  [[noreturn]] void throw_late(const char* op, const std::vector<Request>& requests) const {
    std::string names;
    for (const Request& request : requests)
      if (request.done == 0 && request.peer >= 0)
        names += (names.empty() ? "rank " : ", ") + std::to_string(request.peer);
    throw Error(ErrorKind::device,
                "[{}] timed out after {} s waiting for {} to make the same call; GPULUA_COMM_TIMEOUT sets the time, "
                "and gpu.debug(true) names the lines",
                op, static_cast<long>(timeout_), names.empty() ? "another rank" : names);
  }

  Mpi mpi_;
  bool ends_;  // this object has initialised MPI
  std::function<void()> while_waiting_;
  double timeout_;
};

}  // namespace

std::shared_ptr<Transport> connect_mpi(const Job& job, std::function<void()> while_waiting) {
  Mpi mpi = open_mpi_library(job);
  int is_open = 0;
  mpi.initialized(&is_open);
  if (!is_open) {
    int provided = 0;
    mpi.init(nullptr, nullptr, mpi.constants.thread_serialized, &provided);
  }
  Job of_mpi = job;
  mpi.comm_rank(mpi.constants.world, &of_mpi.rank);
  mpi.comm_size(mpi.constants.world, &of_mpi.size);
  if (of_mpi.rank != job.rank || of_mpi.size != job.size)
    throw Error(
        "[comm] expected rank {} of {}, as the launcher says, got rank {} of {} from the MPI library, which is another "
        "one; GPULUA_MPI sets the library's path",
        job.rank, job.size, of_mpi.rank, of_mpi.size);
  return std::make_shared<MpiTransport>(of_mpi, std::move(mpi), is_open == 0, std::move(while_waiting));
}

void abort_unconnected(const Job& job) noexcept {
  if (job.launcher < 0 || job.size == 1) return;
  std::fflush(nullptr);
  std::this_thread::sleep_for(time_for_output);
  constexpr std::string_view command = "cmd=abort exitcode=1\n";
  if (::write(job.launcher, command.data(), command.size()) < 0) return;  // it is gone
}

}  // namespace gpulua
