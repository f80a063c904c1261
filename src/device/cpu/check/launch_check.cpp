#include "src/device/cpu/check/launch_check.h"

#include <sys/mman.h>

#include <cstring>

#include "src/device/cpu/check/finding_text.h"
#include "src/device/finding.h"

namespace gpulua::cpu {
namespace {

constexpr std::uintptr_t page_bytes = 4096;

std::string named(const CheckedObject& object) {
  return *object.name != '\0' ? std::string(" ") + object.name : "";
}

}  // namespace

const CheckHooks LaunchCheck::hooks = {
    [](void* launch, ThreadContext* context, const char* base, const char* address, unsigned long bytes,
       unsigned long value, const CheckedSite* site) {
      if (bytes != 0) static_cast<LaunchCheck*>(launch)->check({*context, base, address, bytes, value, *site});
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      const std::string wrong = self.block_of(*context).note_barrier(context->linear, *site, context->block_size);
      if (!wrong.empty()) self.report(*context, *site, wrong);
    },
    [](void* launch, ThreadContext* context, const CheckedSite*) {
      static_cast<LaunchCheck*>(launch)->block_of(*context).note_warp_barrier(context->linear);
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      const std::string wrong = self.block_of(*context).note_end(context->linear, context->block_size);
      if (!wrong.empty()) self.report(*context, *site, wrong);
    },
};

LaunchCheck::LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes,
                         CheckedMemory& memory)
    : kernel_(std::move(kernel)),
      static_shared_bytes_(static_shared_bytes),
      shared_bytes_(static_shared_bytes + config.shared_bytes),
      cooperative_(config.cooperative),
      memory_(memory) {}

void LaunchCheck::report(const ThreadContext& context, const CheckedSite& site, const std::string& what,
                         const void* array) const {
  const std::string line = site.line != 0 ? line_text(site) + ": " : "";
  throw Finding("[launch] kernel '" + kernel_ + "': " + line + what, array,
                "block " + to_text(context.block) + ", thread " + to_text(context.thread));
}

BlockCheck& LaunchCheck::block_of(const ThreadContext& context) {
  const Index3& index = context.block;
  const unsigned long number =
      cooperative_ ? index.x + context.grid_size.x * (index.y + 1ul * context.grid_size.y * index.z) : 0;
  auto [found, fresh] = blocks_.try_emplace(number);
  Block& block = found->second;
  if (fresh || block.index.x != index.x || block.index.y != index.y || block.index.z != index.z) {
    const Index3& size = context.block_size;
    block.check.begin(size.x * size.y * size.z, shared_bytes_);
    block.index = index;
  }
  return block.check;
}

void LaunchCheck::check(const Access& access) {
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

void LaunchCheck::check_bounds(const Access& access, const Target& target) const {
  const auto& [context, base, address, bytes, value, site] = access;
  const auto element = [&] {
    return ": " + element_text(*site.object, address - target.named_from,
                               static_cast<std::size_t>(target.first + target.bytes - target.named_from));
  };
  if (address < target.first || bytes > target.bytes ||
      static_cast<std::size_t>(address - target.first) > target.bytes - bytes)
    report(context, site, access_text("out-of-bounds", site, bytes) + element(), target.array);
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place % site.align != 0)
    report(context, site,
           access_text("misaligned", site, bytes) + " at an address that is no multiple of " +
               std::to_string(site.align) + element(),
           target.array);
}

void LaunchCheck::check_shared(const Access& access, const Target& target) {
  check_bounds(access, target);
  const auto& [context, base, address, bytes, value, site] = access;
  const auto complain = [&](const std::string& what, const std::string& why) {
    report(context, site, what + ": " + element_text(*site.object, address - target.named_from,
                                                     static_cast<std::size_t>(target.first + target.bytes -
                                                                              target.named_from)) + why);
  };
  BlockCheck& block = block_of(context);
  const auto first = static_cast<std::size_t>(address - context.shared);
  const bool same = (site.kind & access::value) && std::memcmp(address, &value, bytes) == 0;
  const std::size_t written = block.count_written(first, bytes);
  const std::string race = block.note_access(context.linear, first, bytes, site, same, context.block_size);
  if (!race.empty()) complain(access_text("race:", site, bytes), ", which " + race);
  if ((site.kind & access::read) && written < bytes && !((site.kind & access::copy) && written > 0))
    complain(access_text("uninitialised", site, bytes), ", which no thread of the block has written");
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
  const char* named_from = from_base ? base : allocation.first;
  const auto element = [&] {
    return ": " + element_text(*site.object, address - named_from,
                               static_cast<std::size_t>(allocation.end() - named_from));
  };
  if (!allocation.live)
    report(context, site, access_text("after the array was freed,", site, bytes) + element() + ", which was freed");
  check_bounds(access, {allocation.first, allocation.bytes, named_from, allocation.first});
  if (site.kind & access::read) {
    const std::size_t written = memory_.count_written(allocation, address, bytes);
    if (written < bytes && !((site.kind & access::copy) && written > 0))
      report(context, site, access_text("uninitialised", site, bytes) + element() + ", which nothing has written",
             allocation.first);
  }
  if (site.kind & access::write) memory_.mark_written(allocation, address, bytes);
}

void LaunchCheck::check_unknown(const Access& access) {
  const auto& [context, base, address, bytes, value, site] = access;
  const std::string name = named(*site.object);
  if (reinterpret_cast<std::uintptr_t>(base) < page_bytes || reinterpret_cast<std::uintptr_t>(address) < page_bytes)
    report(context, site, access_text("null pointer:", site, bytes) + (name.empty() ? "" : " through" + name));
  // Memory of the host program and the thread's own stack may be used; their bounds are not known here.
  if (is_mapped(address)) return;
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(address));
  report(context, site,
         access_text("wild", site, bytes) + (name.empty() ? "" : " through" + name) + " at address " + text +
             ", where there is no memory");
}

bool LaunchCheck::in_shared(const ThreadContext& context, const char* address) const {
  return address >= context.shared && address < context.shared + shared_bytes_;
}

bool LaunchCheck::is_mapped(const char* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  char* page = reinterpret_cast<char*>(place - place % page_bytes);
  if (mapped_.contains(page)) return true;
  unsigned char resident = 0;
  if (mincore(page, page_bytes, &resident) != 0) return false;
  mapped_.insert(page);
  return true;
}

}  // namespace gpulua::cpu
