#include "src/embed/handle.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace gpulua::embed {
namespace {

/// Kind and generation are one word, so that a look-up reads both at once; the kind is `none` while the slot is free.
struct Slot {
  std::atomic<std::uint64_t> key{0};
  std::atomic<void*> object{nullptr};
  std::atomic<std::uint32_t> pins{0};
  std::atomic<std::uint64_t> ended{0};  // of the handles that were closed, from the last one on: whether by an end
};

// A handle: 24 bits of place, 32 of generation from bit 24 on, 4 of kind from bit 56 on. A key is a handle without its
// place.
constexpr int generation_shift = 24, kind_shift = 56;
constexpr std::uint64_t place_mask = (std::uint64_t{1} << generation_shift) - 1;
constexpr std::uint64_t one_generation = std::uint64_t{1} << generation_shift;
constexpr std::uint64_t generation_mask = ((std::uint64_t{1} << 32) - 1) << generation_shift;
constexpr std::uint64_t kind_mask = ~(generation_mask | place_mask);

constexpr std::size_t slots_of_chunk = 1024, most_chunks = (place_mask + 1) / slots_of_chunk;

/// The table. Chunks are made as they are needed and stay, so that look-ups need no lock.
struct Table {
  std::atomic<Slot*> chunks[most_chunks]{};
  std::mutex changes;
  std::size_t slots = 0;            // in use, or used before
  std::vector<std::uint64_t> free;  // places
};

/// Never destroyed: the host's last threads may still hand in handles when the process ends.
Table& table() {
  static Table* const only = new Table;
  return *only;
}

/// The generation of places that were never used. It differs between two copies of the library in one process, as their
/// tables do: a handle of the other one is none of ours.
std::uint64_t first_generation() {
  constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;  // spreads the address's digits
  return reinterpret_cast<std::uintptr_t>(&table()) * multiplier >> (64 - kind_shift) & generation_mask;
}

std::uint64_t bits_of(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

HandleKind kind_of(std::uint64_t bits) {
  return static_cast<HandleKind>(bits >> kind_shift);
}

Slot* slot_of(std::uint64_t bits) {
  const std::uint64_t place = bits & place_mask;
  Slot* const chunk = table().chunks[place / slots_of_chunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk[place % slots_of_chunk];
}

}  // namespace

void* open_handle(HandleKind kind, void* object) {
  Table& all = table();
  const std::lock_guard lock(all.changes);
  if (all.free.empty()) {
    const std::size_t place = all.slots;
    if (place > place_mask) throw std::bad_alloc();
    if (place % slots_of_chunk == 0) {
      all.free.reserve(place + slots_of_chunk);  // so that close_handle() needs no memory
      Slot* const chunk = new Slot[slots_of_chunk];
      for (std::size_t i = 0; i < slots_of_chunk; ++i)
        chunk[i].key.store(first_generation(), std::memory_order_relaxed);
      all.chunks[place / slots_of_chunk].store(chunk, std::memory_order_release);
    }
    all.free.push_back(place);
    ++all.slots;
  }
  const std::uint64_t place = all.free.back();
  all.free.pop_back();
  Slot& slot = *slot_of(place);
  const std::uint64_t generation = slot.key.load(std::memory_order_relaxed) & generation_mask;
  const std::uint64_t key = generation | std::uint64_t{static_cast<unsigned char>(kind)} << kind_shift;
  slot.object.store(object, std::memory_order_relaxed);
  slot.key.store(key, std::memory_order_seq_cst);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(key | place));
}

void close_handle(const void* handle, Closing why) noexcept {
  const std::uint64_t bits = bits_of(handle);
  Slot& slot = *slot_of(bits);
  std::uint64_t key = bits & ~place_mask;
  const std::uint64_t next = (bits + one_generation) & generation_mask;
  if (!slot.key.compare_exchange_strong(key, next, std::memory_order_seq_cst)) return;
  const std::uint64_t before = slot.ended.load(std::memory_order_relaxed);
  slot.ended.store(before << 1 | static_cast<std::uint64_t>(why == Closing::end), std::memory_order_relaxed);
  while (slot.pins.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  Table& all = table();
  const std::lock_guard lock(all.changes);
  all.free.push_back(bits & place_mask);
}

void* find_object(const void* handle, HandleKind kind) noexcept {
  const std::uint64_t bits = bits_of(handle);
  if (kind_of(bits) != kind) return nullptr;
  Slot* const slot = slot_of(bits);
  if (slot == nullptr || slot->key.load(std::memory_order_acquire) != (bits & ~place_mask)) return nullptr;
  return slot->object.load(std::memory_order_relaxed);
}

const char* describe_handle(const void* handle) noexcept {
  if (handle == nullptr) return "NULL";
  const std::uint64_t bits = bits_of(handle);
  const HandleKind kind = kind_of(bits);
  Slot* const slot = slot_of(bits);
  if (kind == HandleKind::none || kind > HandleKind::array || slot == nullptr) return "an address that is not a handle";
  static constexpr const char* open[] = {"", "a gpulua_state", "a gpulua_function", "a gpulua_array"};
  static constexpr const char* released[] = {
      "", "a gpulua_state that was destroyed",
      "a gpulua_function that was released: a handle is good until its last release; in C++ gpulua::Object(handle) and "
      "gpulua::Function<...>(handle) take the handle over, and `b = a` makes b a second owner",
      "a gpulua_array that was released: a handle is good until its last release; in C++ gpulua::Array(handle) takes "
      "the "
      "handle over, and `gpulua::Array b = a` is a second owner"};
  static constexpr const char* ended[] = {
      "", "a gpulua_state that was destroyed",
      "a gpulua_function whose state was destroyed: a handle is good while its state is open",
      "a gpulua_array whose state was destroyed: a program copies the elements that it still needs before that, by "
      "gpulua_array_copy_to, in C++ x.to_vector"};
  // Of a slot that was used again more often than it has notes.
  static constexpr const char* closed[] = {
      "", "a gpulua_state that was destroyed",
      "a gpulua_function that was released, or whose state was destroyed: a handle is good until its last release, and "
      "while its state is open; in C++ gpulua::Object(handle) and gpulua::Function<...>(handle) take the handle over, "
      "and "
      "`b = a` makes b a second owner",
      "a gpulua_array that was released, or whose state was destroyed: a handle is good until its last release, and "
      "while its state is open; in C++ gpulua::Array(handle) takes the handle over, and `gpulua::Array b = a` is a "
      "second "
      "owner"};
  const std::uint64_t key = slot->key.load(std::memory_order_acquire);
  const auto of_kind = static_cast<std::size_t>(kind);
  if (key == (bits & ~place_mask)) return open[of_kind];
  const std::uint64_t uses = ((key - (bits & ~place_mask)) & generation_mask) >> generation_shift, notes = 64;
  if (uses == 0 || uses > notes) return closed[of_kind];
  return (slot->ended.load(std::memory_order_relaxed) >> (uses - 1) & 1) != 0 ? ended[of_kind] : released[of_kind];
}

Pin::Pin(const void* handle, HandleKind kind) noexcept : slot_(nullptr), object_(nullptr) {
  const std::uint64_t bits = bits_of(handle);
  if (kind_of(bits) != kind) return;
  Slot* const slot = slot_of(bits);
  if (slot == nullptr) return;
  slot->pins.fetch_add(1, std::memory_order_seq_cst);
  slot_ = slot;
  if (slot->key.load(std::memory_order_seq_cst) == (bits & ~place_mask))
    object_ = slot->object.load(std::memory_order_relaxed);
}

Pin::~Pin() {
  if (slot_ != nullptr) static_cast<Slot*>(slot_)->pins.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace gpulua::embed
