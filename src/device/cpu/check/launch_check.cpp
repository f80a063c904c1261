#include "src/device/cpu/check/launch_check.h"

#include <sys/mman.h>

#include <cstring>

#include "src/device/cpu/check/diagnostic_text.h"

namespace gpulua::cpu {
namespace {

constexpr std::uintptr_t low_page_bytes = 4096;

// With less than this left a function of ours may not find room on the stack: the kernel recurses without end.
constexpr std::ptrdiff_t least_stack = 64 * 1024;

}  // namespace

const CheckHooks LaunchCheck::hooks = {
    [](void* launch, ThreadContext* context, const char* base, const char* address, unsigned long bytes,
       unsigned long value, const CheckedSite* site) {
      if (bytes != 0) static_cast<LaunchCheck*>(launch)->check({*context, base, address, bytes, value, *site});
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      const std::string wrong = self.block_of(*context).note_barrier(context->linear, *site, context->block_size);
      if (!wrong.empty()) self.report(self.diagnose(*context, *site, wrong));
    },
    [](void* launch, ThreadContext* context, const CheckedSite*) {
      static_cast<LaunchCheck*>(launch)->block_of(*context).note_warp_barrier(context->linear);
    },
    [](void* launch, ThreadContext* context, const CheckedSite*, unsigned size) {
      static_cast<LaunchCheck*>(launch)->block_of(*context).note_tile_barrier(context->linear, size);
    },
    [](void* launch, ThreadContext* context) { static_cast<LaunchCheck*>(launch)->end_thread(*context); },
};

LaunchCheck::LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes,
                         CheckedMemory& memory)
    : kernel_(std::move(kernel)),
      static_shared_bytes_(static_shared_bytes),
      shared_bytes_(static_shared_bytes + config.shared_bytes),
      memory_(memory) {}

Diagnostic LaunchCheck::diagnose(const ThreadContext& context, const CheckedSite& site, const std::string& what,
                                 const std::string& rest, const void* array) const {
  const std::string line = site.line != 0 ? line_text(site) + ": " : "";
  return Diagnostic("[launch] kernel '" + kernel_ + "': " + line + what, array,
                    rest + ", block " + to_text(context.block) + ", thread " + to_text(context.thread));
}

void LaunchCheck::report(const Diagnostic& found) const {
  // What is found after a read of nothing may come of it.
  throw early_read_ ? *early_read_ : found;
}

void LaunchCheck::finish() {
  if (early_read_) throw *early_read_;
}

BlockCheck& LaunchCheck::block_of(const ThreadContext& context) {
  const Index3 &index = context.block, &size = context.block_size;
  const unsigned long number =
      index.x + std::uint64_t{context.grid_size.x} * (index.y + std::uint64_t{context.grid_size.y} * index.z);
  if (current_ != nullptr && number == current_number_) return *current_;
  auto found = blocks_.find(number);
  if (found == blocks_.end()) {
    std::unique_ptr<BlockCheck> block = idle_ ? std::move(idle_) : std::make_unique<BlockCheck>();
    block->begin(size.x * size.y * size.z, shared_bytes_);
    found = blocks_.emplace(number, std::move(block)).first;
  }
  current_ = found->second.get();
  current_number_ = number;
  return *current_;
}

void LaunchCheck::end_thread(const ThreadContext& context) {
  BlockCheck& block = block_of(context);
  const std::string wrong = block.note_end(context.linear, context.block_size);
  if (!wrong.empty()) report(diagnose(context, *block.last_barrier(), wrong));
  if (!block.done()) return;
  finish();
  auto found = blocks_.find(current_number_);
  idle_ = std::move(found->second);
  blocks_.erase(found);
  current_ = nullptr;
}

void LaunchCheck::check(const Access& access) {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (!stack_.contains(here)) stack_ = FiberStack::around(here);
  if (stack_.low != nullptr && here - stack_.low < least_stack)
    report(diagnose(access.context, access.site, "stack overflow: functions call each other too deeply"));
  const CheckedObject& object = *access.site.object;
  switch (object.space) {
    case Space::shared:
      return check_shared(access, {access.base, object.bytes, access.base});
    case Space::dynamic_shared:
      return check_shared(access, {access.base, shared_bytes_ - static_shared_bytes_, access.base});
    case Space::local:
    case Space::global:
      if (object.bytes != 0) return check_bounds(access, {access.base, object.bytes, access.base});
      break;
    default:
      break;
  }
  if (in_shared(access.context, access.base) || in_shared(access.context, access.address))
    return check_shared(access, {access.context.shared, shared_bytes_, access.base});
  if (const Allocation* allocation = find_array(access)) return check_array(access, *allocation);
  check_unknown(access);
}

std::string LaunchCheck::text(const char* what, const Access& access, const Target& target) {
  return access_text(what, access.site, access.bytes) + ": " +
         element_text(*access.site.object, access.address - target.named_from,
                      static_cast<std::size_t>(target.first + target.bytes - target.named_from));
}

void LaunchCheck::check_bounds(const Access& access, const Target& target) const {
  const auto& [context, base, address, bytes, value, site] = access;
  if (address < target.first || bytes > target.bytes ||
      static_cast<std::size_t>(address - target.first) > target.bytes - bytes)
    report(diagnose(context, site, text("out-of-bounds", access, target), "", target.array));
  if (reinterpret_cast<std::uintptr_t>(address) % site.align != 0)
    report(diagnose(context, site, text("misaligned", access, target),
                    ", at an address that is no multiple of " + std::to_string(site.align), target.array));
}

bool LaunchCheck::reads_unwritten(const Access& access, std::size_t written) {
  if (!(access.site.kind & access::read) || written == access.bytes) return false;
  // A struct that is copied may have padding.
  return !(access.site.kind & access::copy) || written == 0;
}

void LaunchCheck::check_shared(const Access& access, const Target& target) {
  check_bounds(access, target);
  const auto& [context, base, address, bytes, value, site] = access;
  BlockCheck& block = block_of(context);
  const auto first = static_cast<std::size_t>(address - context.shared);
  const bool same = (site.kind & access::value) && std::memcmp(address, &value, bytes) == 0;
  const std::size_t written = block.count_written(first, bytes);
  const std::string race = block.note_access(context.linear, first, bytes, site, same, context.block_size);
  if (!race.empty()) throw diagnose(context, site, text("race:", access, target), ", which " + race);
  if (!early_read_ && reads_unwritten(access, written))
    early_read_.emplace(
        diagnose(context, site, text("uninitialised", access, target), ", which no thread of the block has written"));
}

const CheckedMemory::Allocation* LaunchCheck::find_array(const Access& access) {
  if (last_ != nullptr && last_->contains(access.base)) return last_;
  const Allocation* from = memory_.find(access.base);
  if (from == nullptr || !from->contains(access.base)) {
    const Allocation* at = memory_.find(access.address);
    if (from == nullptr || (at != nullptr && at->contains(access.address))) from = at;
  }
  if (from != nullptr) last_ = from;
  return from;
}

void LaunchCheck::check_array(const Access& access, const Allocation& allocation) {
  const auto& [context, base, address, bytes, value, site] = access;
  // A parameter is what its array's name stands for, a pointer on its way through an array is not.
  const bool from_base = site.object->space == Space::parameter && base >= allocation.first && base <= allocation.end();
  const Target target{allocation.first, allocation.bytes, from_base ? base : allocation.first,
                      allocation.live ? allocation.first : nullptr};
  if (!allocation.live) report(diagnose(context, site, text("late", access, target), ", of an array that was freed"));
  check_bounds(access, target);
  if (reads_unwritten(access, memory_.count_written(allocation, address, bytes)))
    report(diagnose(context, site, text("uninitialised", access, target), ", which nothing has written", target.array));
  if (site.kind & access::write) memory_.mark_written(allocation, address, bytes);
}

void LaunchCheck::check_unknown(const Access& access) {
  const auto& [context, base, address, bytes, value, site] = access;
  const std::string name = *site.object->name != '\0' ? " through " + std::string(site.object->name) : "";
  if (reinterpret_cast<std::uintptr_t>(base) < low_page_bytes ||
      reinterpret_cast<std::uintptr_t>(address) < low_page_bytes)
    report(diagnose(context, site, access_text("null pointer:", site, bytes) + name));
  // Memory of the host program and the thread's own stack may be used; their bounds are not known here.
  if (is_mapped(address)) return;
  char place[32];
  std::snprintf(place, sizeof place, "%p", static_cast<const void*>(address));
  report(diagnose(context, site, access_text("wild", site, bytes) + name,
                  std::string(" at address ") + place + ", where there is no memory"));
}

bool LaunchCheck::in_shared(const ThreadContext& context, const char* address) const {
  return address >= context.shared && address < context.shared + shared_bytes_;
}

bool LaunchCheck::is_mapped(const char* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  char* page = reinterpret_cast<char*>(place - place % low_page_bytes);
  if (mapped_.contains(page)) return true;
  unsigned char resident = 0;
  if (mincore(page, low_page_bytes, &resident) != 0) return false;
  mapped_.insert(page);
  return true;
}

}  // namespace gpulua::cpu
