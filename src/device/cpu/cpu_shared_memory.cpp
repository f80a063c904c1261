#include "src/device/cpu/cpu_shared_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "src/base/error.h"
#include "src/device/cpu/runtime/end_pattern.h"
#include "src/device/cpu/runtime/guarded_mapping.h"
#include "src/device/shared/shared_file.h"

namespace gpulua::cpu {
namespace {

/// Of the file for a block: the pattern follows its end. 0: there is no such size.
std::size_t file_bytes(std::size_t bytes) {
  const std::size_t page = page_bytes(), whole = bytes + most_pattern_bytes + page - 1;
  return whole < bytes ? 0 : whole / page * page;
}

/// A block in a file, between guard pages.
class MappedBlock final : public SharedBlock {
 public:
  /// address() is null when there is no room.
  MappedBlock(const SharedFile& file, std::size_t bytes, bool read_only)
      : mapping_(file.bytes(), alignment_of(file.bytes())), bytes_(bytes) {
    place_ = file.place();
    if (mapping_.data() == nullptr) return;
    const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void* const memory = mmap(mapping_.data(), file.bytes(), access, MAP_SHARED | MAP_FIXED, file.descriptor(), 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, file.bytes(), MADV_HUGEPAGE);  // a wish: a kernel without them says no
    address_ = memory;
  }

  /// The block is this process's own: others open the file, and writes beside the block are found.
  void own(SharedFile file) {
    write_pattern(end(), most_pattern_bytes);
    file_ = std::move(file);
  }

  Overwrite find_overwrite() noexcept override {
    if (!file_ || has_pattern(end(), most_pattern_bytes)) return Overwrite::none;
    write_pattern(end(), most_pattern_bytes);
    return Overwrite::past_end;
  }

 private:
  static std::size_t alignment_of(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    return bytes >= huge_page ? huge_page : page_bytes();
  }
  char* end() const { return static_cast<char*>(address_) + bytes_; }

  GuardedMapping mapping_;
  std::size_t bytes_;
  std::optional<SharedFile> file_;  // of a block of this process
};

}  // namespace

std::shared_ptr<SharedBlock> CpuSharedMemory::allocate(std::size_t bytes) {
  const std::size_t size = file_bytes(bytes);
  std::optional<SharedFile> file = size == 0 ? std::nullopt : SharedFile::make(size);
  if (!file) return nullptr;
  file->seal_size();
  auto block = std::make_shared<MappedBlock>(*file, bytes, false);
  if (block->address() == nullptr) return nullptr;
  block->own(*std::move(file));
  return block;
}

std::shared_ptr<SharedBlock> CpuSharedMemory::open(const SharedPlace& place, std::size_t bytes, bool read_only) {
  const SharedFile file = SharedFile::open(place, read_only);
  if (file.bytes() != file_bytes(bytes) || !file.has_sealed_size())
    throw Error("[from_ipc] expected a handle of {} bytes of memory, got one of {}", bytes, file.bytes());
  auto block = std::make_shared<MappedBlock>(file, bytes, read_only);
  if (block->address() == nullptr)
    throw Error(ErrorKind::memory, "[from_ipc] the system maps no {} bytes: {}", bytes, std::strerror(errno));
  return block;
}

}  // namespace gpulua::cpu
