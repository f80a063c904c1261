#include "src/device/cuda/cuda_shared_memory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/shared/shared_file.h"

namespace gpulua::cuda {
namespace {

/// The driver shares whole pieces of this size. A block that had a part of one would share what else is in it.
constexpr std::size_t shared_piece = std::size_t{2} << 20;

/// What a block's file has. It is empty once the process that has allocated the block has given it up.
struct Ticket {
  CUipcMemHandle handle{};
  std::uint64_t bytes = 0;
};

}  // namespace

/// Blocks of this process that nobody here uses any more. They outlive the device where other processes have them open:
/// then the end of this process frees them.
class FreedBlocks {
 public:
  explicit FreedBlocks(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  void add(CUdeviceptr memory, SharedFile file) noexcept {
    // Nobody opens the block from now on. Who has locked the file already has read it.
    if (ftruncate(file.descriptor(), 0) != 0) return;  // the block stays until the process ends
    try {
      blocks_.emplace_back(memory, std::move(file));
    } catch (...) {  // no memory for the list: the block stays until the process ends
    }
    free_unused();
  }

  void free_unused() noexcept {
    if (context_->lost()) return;
    std::erase_if(blocks_, [this](Block& block) {
      if (!block.file.lock_alone()) return false;
      context_->retire([memory = block.memory](const Driver& driver) { driver.memory_free(memory); });
      return true;
    });
  }

 private:
  struct Block {
    Block(CUdeviceptr memory_, SharedFile file_) : memory(memory_), file(std::move(file_)) {}
    CUdeviceptr memory;
    SharedFile file;
  };

  std::shared_ptr<Context> context_;
  std::vector<Block> blocks_;
};

namespace {

class OwnBlock final : public SharedBlock {
 public:
  OwnBlock(CUdeviceptr memory, SharedFile file, std::shared_ptr<FreedBlocks> freed)
      : file_(std::move(file)), freed_(std::move(freed)) {
    address_ = reinterpret_cast<void*>(memory);
    place_ = file_.place();
  }
  ~OwnBlock() override { freed_->add(reinterpret_cast<CUdeviceptr>(address_), std::move(file_)); }

 private:
  SharedFile file_;
  std::shared_ptr<FreedBlocks> freed_;
};

class OpenedBlock final : public SharedBlock {
 public:
  OpenedBlock(CUdeviceptr memory, SharedFile file, std::shared_ptr<Context> context)
      : file_(std::make_shared<SharedFile>(std::move(file))), context_(std::move(context)) {
    address_ = reinterpret_cast<void*>(memory);
    place_ = file_->place();
  }
  ~OpenedBlock() override {
    if (context_->lost()) return;
    // Closing waits for the device, and the file stays locked until then.
    context_->retire([memory = reinterpret_cast<CUdeviceptr>(address_), file = std::move(file_)](const Driver& driver) {
      driver.ipc_close_memory(memory);
    });
  }

 private:
  std::shared_ptr<SharedFile> file_;
  std::shared_ptr<Context> context_;
};

}  // namespace

CudaSharedMemory::CudaSharedMemory(std::shared_ptr<Context> context)
    : context_(std::move(context)), freed_(std::make_shared<FreedBlocks>(context_)) {}

void CudaSharedMemory::free_unused() noexcept {
  freed_->free_unused();
}

std::shared_ptr<SharedBlock> CudaSharedMemory::allocate(std::size_t bytes) {
  free_unused();
  std::optional<SharedFile> file = SharedFile::make(sizeof(Ticket));
  if (!file) return nullptr;
  const ContextGuard guard(*context_);
  const Driver& driver = context_->driver();
  const std::size_t whole = (bytes + shared_piece - 1) / shared_piece * shared_piece;
  CUdeviceptr memory = 0;
  const CUresult result = driver.memory_allocate(&memory, whole);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  context_->check(result, "ipc_handle");
  Ticket ticket;
  ticket.bytes = bytes;
  if (const CUresult shared = driver.ipc_get_memory_handle(&ticket.handle, memory); shared != CUDA_SUCCESS) {
    driver.memory_free(memory);
    context_->fail(shared, "ipc_handle", "the driver shares no memory of this device between processes");
  }
  if (pwrite(file->descriptor(), &ticket, sizeof ticket, 0) != sizeof ticket) {
    driver.memory_free(memory);
    throw Error(ErrorKind::memory, "[ipc_handle] cannot write a file in memory: {}", std::strerror(errno));
  }
  return std::make_shared<OwnBlock>(memory, *std::move(file), freed_);
}

std::shared_ptr<SharedBlock> CudaSharedMemory::open(const SharedPlace& place, std::size_t bytes, bool) {
  SharedFile file = SharedFile::open(place, /*read_only=*/true);
  Ticket ticket;
  if (!file.lock_together() || pread(file.descriptor(), &ticket, sizeof ticket, 0) != sizeof ticket)
    refuse_freed(place);
  if (ticket.bytes != bytes)
    throw Error("[from_ipc] expected a handle of {} bytes of memory, got one of {}", bytes, ticket.bytes);
  const ContextGuard guard(*context_);
  CUdeviceptr memory = 0;
  const CUresult result =
      context_->driver().ipc_open_memory(&memory, ticket.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (result != CUDA_SUCCESS)
    context_->fail(result, "from_ipc",
                   "the driver does not open the memory of process " + std::to_string(place.process));
  return std::make_shared<OpenedBlock>(memory, std::move(file), context_);
}

}  // namespace gpulua::cuda
