#include "src/device/cpu/runtime/warp.h"

#include <bit>
#include <cstdio>

namespace gpulua::cpu {
namespace {

/// Takes the lowest lane out of the set.
unsigned take_lane(unsigned& lanes) {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  lanes &= lanes - 1;
  return lane;
}

const char* name_of(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::barrier:
      return "__syncwarp()";
    case WarpOperation::shuffle:
      return "a warp shuffle";
    case WarpOperation::ballot:
      return "a warp vote";
  }
  return "";
}

}  // namespace

unsigned Warp::arrive(unsigned lane, const Call& call) {
  calls_[lane] = call;
  waiting_ |= 1u << lane;
  return complete(lane);
}

unsigned Warp::exit(unsigned lane) {
  alive_ &= ~(1u << lane);
  unsigned released = 0;
  for (unsigned left = waiting_; left != 0;) released |= complete(take_lane(left));
  return released;
}

/// Those of the group that wait in this very operation.
unsigned Warp::group_there(const Call& call, unsigned group) const {
  unsigned there = 0;
  for (unsigned left = group & waiting_; left != 0;) {
    const unsigned lane = take_lane(left);
    if (calls_[lane].operation == call.operation && calls_[lane].mask == call.mask) there |= 1u << lane;
  }
  return there;
}

unsigned Warp::complete(unsigned lane) {
  const Call& call = calls_[lane];
  const unsigned group = call.mask & alive_;
  // The first condition is the second's, quickly.
  if ((waiting_ & group) != group || (waiting_ >> lane & 1) == 0 || group_there(call, group) != group) return 0;

  unsigned votes = 0;
  for (unsigned left = group; left != 0;) {
    const unsigned member = take_lane(left);
    if (calls_[member].value != 0) votes |= 1u << member;
  }
  for (unsigned left = group; left != 0;) {
    const unsigned member = take_lane(left);
    const unsigned source = calls_[member].source_lane & 31;
    if (call.operation == WarpOperation::shuffle)
      results_[member] = calls_[group >> source & 1 ? source : member].value;
    else
      results_[member] = votes;
  }
  waiting_ &= ~group;
  return group;
}

std::string Warp::describe() const {
  const Call& call = calls_[std::countr_zero(waiting_)];
  const unsigned group = call.mask & alive_;
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", call.mask);
  return std::string(name_of(call.operation)) + " with the mask " + mask + " was reached by " +
         std::to_string(std::popcount(group_there(call, group))) + " of its " + std::to_string(std::popcount(group)) +
         " threads";
}

}  // namespace gpulua::cpu
