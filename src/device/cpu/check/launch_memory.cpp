#include "src/device/cpu/check/launch_memory.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {
namespace {

struct Segment {
  const char* first;
  std::size_t bytes;
  bool writable;
};

/// The segments of the library that contains the address.
std::vector<Segment> segments_around(const void* address) {
  struct Search {
    const char* wanted;
    std::vector<Segment> found;
  } search{static_cast<const char*>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& [wanted, found] = *static_cast<Search*>(data);
        found.clear();
        bool contains = false;
        for (const ElfW(Phdr) & header : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
          if (header.p_type != PT_LOAD) continue;
          const auto* first = reinterpret_cast<const char*>(library->dlpi_addr + header.p_vaddr);
          found.push_back({first, header.p_memsz, (header.p_flags & PF_W) != 0});
          contains = contains || (wanted >= first && wanted < first + header.p_memsz);
        }
        return contains ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace

bool is_mapped(const char* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(place - place % page_bytes()), page_bytes(), &resident) == 0;
}

LaunchMemory::LaunchMemory(const Signature& signature, void** arguments, const ModuleRecord& plain,
                           const ModuleChecks& checks, const std::function<bool(const void*)>& is_known,
                           std::span<const std::span<const char>> lent, const void* frame)
    : checks_(checks), lent_(lent), frame_(static_cast<const char*>(frame)) {
  for (const void* module : {static_cast<const void*>(&plain), static_cast<const void*>(&checks)})
    for (const Segment& segment : segments_around(module)) add(segment.first, segment.bytes, segment.writable);
  // The variables are the plain module's, and with them the functions that they point to.
  for (const FunctionPlace& function : std::span(checks.functions, checks.function_count)) {
    functions_.emplace(function.address, function.address);
    for (const FunctionRecord& other : std::span(plain.functions, plain.function_count))
      if (std::strcmp(other.symbol, function.symbol) == 0) functions_.emplace(other.address, function.address);
  }
  for (const std::span<const char> range : lent) add(range.data(), range.size(), true);
  const auto is_lent = [&](const char* address) {
    return std::ranges::any_of(lent, [&](std::span<const char> range) {
      return address >= range.data() && address <= range.data() + range.size();
    });
  };
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    add(arguments[i], parameter.size, true);
    if (parameter.kind == ParameterKind::scalar || parameter.kind == ParameterKind::vector) continue;
    for (std::size_t at = 0; at + sizeof(void*) <= parameter.size; at += sizeof(void*)) {
      const char* pointer;
      std::memcpy(&pointer, static_cast<const char*>(arguments[i]) + at, sizeof pointer);
      has_foreign_ = has_foreign_ || (!is_known(pointer) && !is_lent(pointer) && is_mapped(pointer));
    }
  }
}

void LaunchMemory::add(const void* first, std::size_t bytes, bool writable) {
  const auto* begin = static_cast<const char*>(first);
  ranges_.push_back({begin, begin + bytes, writable});
}

const GlobalPlace* LaunchMemory::find_variable(const char* address) const {
  for (const GlobalPlace& place : std::span(checks_.places, checks_.place_count)) {
    const auto* first = static_cast<const char*>(*place.place);
    if (address >= first && address < first + place.bytes) return &place;
  }
  return nullptr;
}

const void* LaunchMemory::find_function(const void* function) const {
  const auto found = functions_.find(function);
  return found == functions_.end() ? nullptr : found->second;
}

std::span<const char> LaunchMemory::find_lent(const char* base, const char* address) const {
  constexpr std::uintptr_t neighbourhood = 64;  // in bytes: a pointer that steps out of the memory starts there
  std::span<const char> near;
  for (const char* pointer : {base, address}) {
    const auto place = reinterpret_cast<std::uintptr_t>(pointer);
    std::uintptr_t least = neighbourhood;
    for (const std::span<const char> range : lent_) {
      const auto first = reinterpret_cast<std::uintptr_t>(range.data()), end = first + range.size();
      const std::uintptr_t distance = place < first ? first - place : place < end ? 0 : place - end + 1;
      if (distance >= least && !(distance == 0 && place == first)) continue;
      least = distance;
      near = range;
    }
    if (!near.empty()) break;
  }
  return near;
}

LaunchMemory::Place LaunchMemory::place(const ThreadContext& context, const char* here, const char* address,
                                        std::size_t bytes, bool writes) {
  const auto lies_in = [&](const auto& object) {
    const auto* first = reinterpret_cast<const char*>(&object);
    return address < first + sizeof object && address + bytes > first;
  };
  if (lies_in(context) || lies_in(*context.launch)) return writes ? Place::constant : Place::open;
  if (lies_in(checks_)) return Place::foreign;
  // The kernel runs on a stack of its own or on that of the thread.
  const FiberStack::Range around = FiberStack::around(here);
  const Range stack{here, around.low != nullptr ? around.end : frame_, true};
  if (stack.contains(address, bytes)) return Place::open;
  if (FiberStack::around(address).low != nullptr) return Place::thread;
  const auto range = std::ranges::find_if(ranges_, [&](const Range& any) { return any.contains(address, bytes); });
  if (range != ranges_.end()) return writes && !range->writable ? Place::constant : Place::open;
  if (!is_mapped(address) || !is_mapped(address + bytes - 1)) return Place::nothing;
  return has_foreign_ ? Place::open : Place::foreign;
}

}  // namespace gpulua::cpu
