#include "src/device/cuda/cuda_shared_memory.h"

#include <csignal>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "src/base/error.h"
#include "tests/catch.h"

using namespace gpulua;
using namespace gpulua::cuda;

namespace {

/// What the driver that stands in for a GPU's was asked for.
struct Calls {
  int allocated = 0, freed = 0, opened = 0, closed = 0;
  bool is_full = false;
} calls;

/// A driver whose addresses are numbers: nothing reads or writes there.
const Driver& make_driver() {
  static Driver driver = [] {
    Driver d{};
    d.primary_context_retain = [](CUcontext* context, CUdevice) {
      static int object;
      *context = reinterpret_cast<CUcontext>(&object);
      return CUDA_SUCCESS;
    };
    d.primary_context_release = [](CUdevice) { return CUDA_SUCCESS; };
    d.primary_context_get_state = [](CUdevice, unsigned*, int* is_alive) {
      *is_alive = 1;
      return CUDA_SUCCESS;
    };
    d.context_get_current = [](CUcontext* context) {
      *context = nullptr;
      return CUDA_SUCCESS;
    };
    d.context_set_current = [](CUcontext) { return CUDA_SUCCESS; };
    d.memory_allocate = [](CUdeviceptr* memory, std::size_t bytes) {
      if (calls.is_full) return CUDA_ERROR_OUT_OF_MEMORY;
      if (bytes % (std::size_t{2} << 20) != 0) return CUDA_ERROR_INVALID_VALUE;
      *memory = static_cast<CUdeviceptr>(++calls.allocated) << 32U;
      return CUDA_SUCCESS;
    };
    d.memory_free = [](CUdeviceptr) {
      ++calls.freed;
      return CUDA_SUCCESS;
    };
    d.ipc_get_memory_handle = [](CUipcMemHandle* handle, CUdeviceptr memory) {
      std::memcpy(handle, &memory, sizeof memory);
      return CUDA_SUCCESS;
    };
    d.ipc_open_memory = [](CUdeviceptr* memory, CUipcMemHandle handle, unsigned) {
      std::memcpy(memory, &handle, sizeof *memory);
      ++calls.opened;
      return CUDA_SUCCESS;
    };
    d.ipc_close_memory = [](CUdeviceptr) {
      ++calls.closed;
      return CUDA_SUCCESS;
    };
    return d;
  }();
  return driver;
}

/// Another process, which does one step after each word of this one, and says after each whether it went as expected.
class OtherProcess {
 public:
  template <class... Steps>
  explicit OtherProcess(int descriptor, Steps... steps) {
    REQUIRE(pipe(words_) == 0);
    REQUIRE(pipe(answers_) == 0);
    process_ = fork();
    if (process_ != 0) return;
    close(descriptor);  // as a program does that is started
    (answer(steps), ...);
    pause();
  }
  ~OtherProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    for (const int end : {words_[0], words_[1], answers_[0], answers_[1]}) close(end);
  }

  bool step() {
    char answer = 0;
    return write(words_[1], "s", 1) == 1 && read(answers_[0], &answer, 1) == 1 && answer == 'y';
  }

 private:
  template <class Step>
  void answer(Step& step) {
    char word = 0;
    if (read(words_[0], &word, 1) != 1) _exit(1);
    bool good = false;
    try {
      good = step();
    } catch (...) {  // the answer tells
    }
    if (write(answers_[1], good ? "y" : "n", 1) != 1) _exit(1);
  }

  pid_t process_ = 0;
  int words_[2]{}, answers_[2]{};
};

bool is_refused(CudaSharedMemory& memory, const SharedPlace& place, std::size_t bytes, const std::string& why) {
  try {
    memory.open(place, bytes, false);
    return false;
  } catch (const Error& error) {
    return std::string(error.what()).find(why) != std::string::npos;
  }
}

}  // namespace

TEST_CASE("a shared block is freed when no process has it open", "[cuda]") {
  calls = {};
  CudaSharedMemory memory(std::make_shared<cuda::Context>(make_driver(), 0, nullptr));
  std::shared_ptr<SharedBlock> block = memory.allocate(1000);
  const SharedPlace place = block->place();
  std::shared_ptr<SharedBlock> theirs;
  OtherProcess other(
      static_cast<int>(place.descriptor),
      [&] {
        theirs = memory.open(place, 1000, false);
        return calls.opened == 1 && theirs->address() == block->address() && theirs->place() == place;
      },
      [&] { return is_refused(memory, place, 999, "expected a handle of 999 bytes of memory, got one of 1000"); },
      [&] { return is_refused(memory, place, 1000, "has freed"); },
      [&] {
        theirs.reset();
        return calls.closed == 1;
      },
      [&] { return is_refused(memory, place, 1000, "has freed"); });
  REQUIRE(other.step());
  REQUIRE(other.step());
  block.reset();
  REQUIRE(calls.freed == 0);
  REQUIRE(other.step());
  memory.free_unused();
  REQUIRE(calls.freed == 0);
  REQUIRE(other.step());
  memory.free_unused();
  REQUIRE(calls.freed == 1);
  REQUIRE(other.step());
}

TEST_CASE("a process that is killed has no shared block open any more", "[cuda]") {
  calls = {};
  CudaSharedMemory memory(std::make_shared<cuda::Context>(make_driver(), 0, nullptr));
  std::shared_ptr<SharedBlock> block = memory.allocate(3 << 20);
  const SharedPlace place = block->place();
  std::shared_ptr<SharedBlock> theirs;
  {
    OtherProcess other(static_cast<int>(place.descriptor), [&] {
      theirs = memory.open(place, 3 << 20, true);
      return true;
    });
    REQUIRE(other.step());
    block.reset();
    REQUIRE(calls.freed == 0);
  }
  block = memory.allocate(1);
  REQUIRE(calls.freed == 1);
  block.reset();
  REQUIRE(calls.freed == 2);
  calls.is_full = true;
  REQUIRE(memory.allocate(1) == nullptr);
}
