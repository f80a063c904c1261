#include "src/device/cpu/check/launch_check.h"

#include <algorithm>
#include <cstring>

#include "src/base/error.h"
#include "src/device/cpu/check/diagnostic_text.h"

namespace gpulua::cpu {
namespace {

constexpr std::uintptr_t low_page_bytes = 4096;

// With less than this left a function of ours may not find room on the stack: the kernel recurses without end.
constexpr std::ptrdiff_t least_stack = 64 * 1024;
// What arrays of computed sizes may take where the kernel runs on the thread's own stack.
constexpr std::size_t most_growth = 64 * 1024;

}  // namespace

const CheckHooks LaunchCheck::hooks = {
    [](void* launch, ThreadContext* context, const char* base, const char* address, unsigned long bytes,
       unsigned long value, const CheckedSite* site) {
      if (bytes != 0) static_cast<LaunchCheck*>(launch)->check({*context, base, address, bytes, value, *site});
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      const std::string wrong = self.block_of(*context).check.note_barrier(context->linear, *site, context->block_size);
      if (!wrong.empty()) self.report(self.diagnose(*context, *site, wrong));
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      hooks.barrier(launch, context, site);
      static_cast<LaunchCheck*>(launch)->block_of(*context).check.note_grid_barrier(context->linear);
    },
    [](void* launch, ThreadContext* context, const CheckedSite*) {
      static_cast<LaunchCheck*>(launch)->block_of(*context).check.note_warp_barrier(context->linear);
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site, unsigned mask, unsigned source) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      const std::string wrong =
          self.block_of(*context).check.note_shuffle(context->linear, mask, source, *site, context->block_size);
      if (!wrong.empty()) self.report(self.diagnose(*context, *site, wrong));
    },
    [](void* launch, ThreadContext* context, const CheckedSite*, unsigned size) {
      static_cast<LaunchCheck*>(launch)->block_of(*context).check.note_tile_barrier(context->linear, size);
    },
    [](void* launch, ThreadContext* context) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      self.races_.note_fence(self.block_of(*context).check, context->linear);
    },
    [](void* launch, ThreadContext* context, const void* function, const CheckedSite* site) {
      return static_cast<LaunchCheck*>(launch)->check_call(*context, function, *site);
    },
    [](void* launch, ThreadContext* context, const char* text, const CheckedSite* site) {
      static_cast<LaunchCheck*>(launch)->check_text(*context, text, *site);
    },
    &LaunchCheck::print,
    [](void* launch, ThreadContext* context) { static_cast<LaunchCheck*>(launch)->end_thread(*context); },
    [](void*, ThreadContext*) { throw Error(ErrorKind::interrupted, "[launch] interrupted"); },
    [](void* launch, ThreadContext* context, const CheckedSite* site, unsigned long bytes) {
      static_cast<LaunchCheck*>(launch)->check_stack(*context, *site, bytes);
    },
    [](void* launch, ThreadContext* context, const CheckedSite* site) {
      auto& self = *static_cast<LaunchCheck*>(launch);
      self.report(self.diagnose(*context, *site,
                                "__builtin_trap() was called, or a place was reached that the source says cannot be"));
    },
};

LaunchCheck::LaunchCheck(std::string kernel, const LaunchConfig& config, std::size_t static_shared_bytes,
                         CheckedMemory& arrays, CheckedMemory& heap, Races& races,
                         std::function<LaunchMemory()> find_memory)
    : kernel_(std::move(kernel)),
      static_shared_bytes_(static_shared_bytes),
      shared_bytes_(static_shared_bytes + config.shared_bytes),
      arrays_(arrays),
      heap_(heap),
      find_memory_(std::move(find_memory)),
      races_(races) {
  races_.begin();
}

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

LaunchCheck::Block& LaunchCheck::block_of(const ThreadContext& context) {
  const Index3 &index = context.block, &size = context.block_size;
  if (current_ != nullptr && index.x == current_index_.x && index.y == current_index_.y && index.z == current_index_.z)
    return *current_;
  const unsigned long number =
      index.x + std::uint64_t{context.grid_size.x} * (index.y + std::uint64_t{context.grid_size.y} * index.z);
  auto found = blocks_.find(number);
  if (found == blocks_.end()) {
    std::unique_ptr<Block> block = idle_ ? std::move(idle_) : std::make_unique<Block>(Block{{}, {shared_bytes_, 4}});
    block->check.begin(static_cast<std::uint32_t>(begun_.size()), size.x * size.y * size.z, shared_bytes_);
    begun_.push_back(index);
    found = blocks_.emplace(number, std::move(block)).first;
  }
  current_ = found->second.get();
  current_number_ = number;
  current_index_ = index;
  return *current_;
}

void LaunchCheck::end_thread(const ThreadContext& context) {
  BlockCheck& block = block_of(context).check;
  if (const CheckedSite* shuffle = block.missed_shuffle(context.linear))
    report(diagnose(context, *shuffle, "shuffle from a lane that takes no part: this thread has ended without it"));
  const std::string wrong = block.note_end(context.linear, context.block_size);
  if (!wrong.empty()) report(diagnose(context, *block.last_barrier(), wrong));
  if (!block.done()) return;
  finish();
  auto found = blocks_.find(current_number_);
  idle_ = std::move(found->second);
  blocks_.erase(found);
  current_ = nullptr;
}

void LaunchCheck::check_stack(const ThreadContext& context, const CheckedSite& site, std::size_t bytes) {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (has_fibers_ && !stack_.contains(here)) {
    stack_ = FiberStack::around(here);
    has_fibers_ = stack_.low != nullptr;
  }
  const std::size_t left = has_fibers_
                               ? static_cast<std::size_t>(std::max(here - stack_.low - least_stack, std::ptrdiff_t{0}))
                               : most_growth;
  if (bytes > left || left == 0)
    report(diagnose(context, site,
                    bytes > most_growth ? "stack overflow: the local variables are too large"
                                        : "stack overflow: functions call each other too deeply"));
}

void LaunchCheck::check(const Access& access) {
  check_stack(access.context, access.site, 0);
  if (access.site.kind & access::read && access.site.kind & (access::atomic | access::is_volatile))
    races_.note_acquire(block_of(access.context).check);
  const CheckedObject& object = *access.site.object;
  switch (object.space) {
    case Space::shared:
      return check_shared(access, {access.base, object.bytes, access.base});
    case Space::dynamic_shared:
      return check_shared(access, {access.base, shared_bytes_ - static_shared_bytes_, access.base});
    case Space::local:
      if (object.bytes != 0) return check_bounds(access, {access.base, object.bytes, access.base});
      break;
    case Space::global:
    case Space::constant:
      if (object.bytes != 0) return check_variable(access, access.base, object.bytes, object.space == Space::constant);
      break;
    default:
      break;
  }
  if (heap_.forgotten() != forgotten_) {
    known_ = {};
    forgotten_ = heap_.forgotten();
  }
  Known& known = known_[reinterpret_cast<std::uintptr_t>(&access.site) / sizeof(CheckedSite) % known_.size()];
  if (known.site == &access.site && known.allocation->contains(access.base)) return check_array(access, known);
  if (in_shared(access.context, access.base) || in_shared(access.context, access.address))
    return check_shared(access, {access.context.shared, shared_bytes_, access.base});
  if (const Allocation* allocation = find_allocation(access)) {
    known = {&access.site, allocation, nullptr};
    return check_array(access, known);
  }
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
  if ((reinterpret_cast<std::uintptr_t>(address) & (site.align - 1)) != 0)
    report(diagnose(context, site, text("misaligned", access, target),
                    ", at an address that is not a multiple of " + std::to_string(site.align), target.array));
}

bool LaunchCheck::reads_unwritten(const Access& access, std::size_t written) {
  if (written == access.bytes) return false;
  // A struct that is copied may have padding.
  return !(access.site.kind & access::copy) || written == 0;
}

void LaunchCheck::check_shared(const Access& access, const Target& target) {
  check_bounds(access, target);
  const auto& [context, base, address, bytes, value, site] = access;
  BlockCheck& block = block_of(context).check;
  const auto first = static_cast<std::size_t>(address - context.shared);
  const std::size_t written = block.count_written(first, bytes);
  check_race(access, target, block_of(context).shared, /*in_shared=*/true);
  if (site.kind & access::write) block.mark_written(first, bytes);
  if (!early_read_ && (site.kind & access::read) && reads_unwritten(access, written))
    early_read_.emplace(
        diagnose(context, site, text("uninitialised", access, target), ", which no thread of the block has written"));
}

const CheckedMemory::Allocation* LaunchCheck::find_allocation(const Access& access) const {
  const Allocation* near = nullptr;
  for (const CheckedMemory* memory : {&arrays_, &heap_})
    for (const char* place : {access.base, access.address}) {
      const Allocation* found = memory->find(place);
      if (found != nullptr && found->contains(place)) return found;
      if (near == nullptr) near = found;
    }
  return near;
}

void LaunchCheck::check_array(const Access& access, Known& known) {
  const auto& [context, base, address, bytes, value, site] = access;
  const Allocation& allocation = *known.allocation;
  // A parameter is what its array's name stands for, a pointer on its way through an array is not.
  const bool from_base = site.object->space == Space::parameter && base >= allocation.first && base <= allocation.end();
  const Target target{allocation.first, allocation.bytes, from_base ? base : allocation.first,
                      allocation.live ? allocation.first : nullptr};
  if (!allocation.live)
    report(diagnose(
        context, site, text("late", access, target),
        arrays_.find(allocation.first) == &allocation ? ", of an array that was freed" : ", of memory that was freed"));
  check_bounds(access, target);
  if ((site.kind & access::read) && reads_unwritten(access, CheckedMemory::count_written(allocation, address, bytes)))
    report(diagnose(context, site, text("uninitialised", access, target), ", which nothing has written", target.array));
  if (known.shadow == nullptr)
    known.shadow = &races_.shadow(allocation.first, allocation.bytes, site.object->element_bytes);
  check_race(access, target, *known.shadow);
  if (site.kind & access::write) arrays_.mark_written(allocation, address, bytes);
}

void LaunchCheck::check_variable(const Access& access, const char* first, std::size_t bytes, bool is_constant) {
  const Target target{first, bytes, first};
  check_bounds(access, target);
  if (!is_constant) return check_race(access, target, races_.shadow(first, bytes, access.site.object->element_bytes));
  if (access.site.kind & access::write)
    report(diagnose(access.context, access.site, text("forbidden", access, target), ", which is constant"));
}

void LaunchCheck::check_race(const Access& access, const Target& target, Races::Shadow& shadow, bool in_shared) {
  const auto& [context, base, address, bytes, value, site] = access;
  BlockCheck& block = block_of(context).check;
  const char* first = in_shared ? context.shared : target.first;
  const auto earlier = races_.note(shadow, {block, context.linear, site, static_cast<std::size_t>(address - first),
                                            bytes, address, value, in_shared});
  if (!earlier) return;
  std::string who = "thread " + to_text(thread_index(earlier->thread, context.block_size));
  const bool reads_and_writes = ((site.kind ^ earlier->site->kind) & access::write) != 0;
  const bool is_one_place = place_text(site) == place_text(*earlier->site);
  std::string order =
      is_one_place ? " with no barrier in between" : " with no barrier, __syncthreads() or gpu.barrier(), in between";
  if (earlier->block != block.ordinal()) {
    who += " of block " + to_text(begun_[earlier->block]);
    order = " and nothing orders the two";
  }
  if (reads_and_writes && is_one_place)
    order += "; an atomic function, atomicAdd or gpu.atomic.add, changes an element in one step";
  const Diagnostic race = diagnose(context, site, text("race:", access, target),
                                   ", which " + who + (earlier->site->kind & access::write ? " wrote" : " read") +
                                       place_text(*earlier->site) + order,
                                   target.array);
  if (in_shared) throw race;  // explains an early read
  report(race);
}

void LaunchCheck::check_unknown(const Access& access) {
  const auto& [context, base, address, bytes, value, site] = access;
  const std::string name = *site.object->name != '\0' ? " through " + std::string(site.object->name) : "";
  if (reinterpret_cast<std::uintptr_t>(base) < low_page_bytes ||
      reinterpret_cast<std::uintptr_t>(address) < low_page_bytes)
    report(diagnose(context, site, access_text("null pointer:", site, bytes) + name));
  if (const GlobalPlace* variable = memory().find_variable(address))
    return check_variable(access, static_cast<const char*>(*variable->place), variable->bytes, variable->is_constant);
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  const LaunchMemory::Place where = memory().place(context, here, address, bytes, site.kind & access::write);
  const char* why = "";
  switch (where) {
    case LaunchMemory::Place::open:
      return;
    case LaunchMemory::Place::constant:
      why = ", which is constant";
      break;
    case LaunchMemory::Place::thread:
      why = ", which is another thread's local variable";
      break;
    case LaunchMemory::Place::foreign:
      why = ", which is none of the kernel's memory";
      break;
    case LaunchMemory::Place::nothing:
      why = ", where there is no memory";
      break;
  }
  if (where == LaunchMemory::Place::foreign || where == LaunchMemory::Place::nothing)
    if (const std::span<const char> lent = memory().find_lent(base, address); !lent.empty()) {
      const char *const first = lent.data(), *const end = first + lent.size();
      const bool from_base = site.object->space == Space::parameter && base >= first && base <= end;
      check_bounds(access, {first, lent.size(), from_base ? base : first, first});
    }
  char place[32];
  std::snprintf(place, sizeof place, "%p", static_cast<const void*>(address));
  report(diagnose(context, site, access_text("wild", site, bytes) + name, std::string(" at address ") + place + why));
}

LaunchMemory& LaunchCheck::memory() {
  if (!memory_) memory_.emplace(find_memory_());
  return *memory_;
}

const void* LaunchCheck::check_call(const ThreadContext& context, const void* function, const CheckedSite& site) {
  if (const void* known = memory().find_function(function)) return known;
  char address[32];
  std::snprintf(address, sizeof address, "%p", function);
  report(diagnose(context, site,
                  function == nullptr
                      ? std::string("call through a null pointer")
                      : std::string("call of address ") + address + ", where the kernel's source has no function"));
}

bool LaunchCheck::in_shared(const ThreadContext& context, const char* address) const {
  return address >= context.shared && address < context.shared + shared_bytes_;
}

}  // namespace gpulua::cpu
