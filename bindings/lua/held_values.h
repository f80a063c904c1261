#pragma once

// The C++ values that userdata of a Lua state stand for.

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "src/base/free_blocks.h"

namespace gpulua {

/// A value that a userdata points to.
class HeldValueBase
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// Destroys the value.
  virtual void drop() noexcept = 0;

 protected:
  ~HeldValueBase() = default;
};

class HeldValues;
template <class T>
class HeldValue final : public HeldValueBase {
 public:
  HeldValue(HeldValues& of, T given) : value(std::move(given)), of_(of) {}
  void drop() noexcept override;

  T value;

 private:
  HeldValues& of_;
};

/// The values that exist. A userdata's __gc destroys its value. LuaJIT drops a userdata without it where __gc finds no
/// room on Lua's stack, as in a recursion without an end; such a value lives until the state closes.
class HeldValues {
 public:
  HeldValues() = default;
  ~HeldValues() { clear(); }
  HeldValues(const HeldValues&) = delete;
  HeldValues& operator=(const HeldValues&) = delete;

  template <class T>
  HeldValue<T>& add(T value) {
    using Held = HeldValue<T>;
    static_assert(std::is_nothrow_move_constructible_v<T>);
    auto* held =
        new (is_small<Held> ? small_.allocate(small) : ::operator new(sizeof(Held))) Held(*this, std::move(value));
    values_.push_back(*held);
    return *held;
  }

  void clear() {
    values_.clear_and_dispose([](HeldValueBase* value) { value->drop(); });
  }

 private:
  template <class T>
  friend class HeldValue;

  // The size of an array's handle, and how many of them are kept.
  static constexpr std::size_t small = sizeof(HeldValueBase) + 2 * sizeof(void*), most_small = 4096;
  template <class Held>
  static constexpr bool is_small = sizeof(Held) <= small;

  FreeBlocks small_{most_small};
  boost::intrusive::list<HeldValueBase, boost::intrusive::constant_time_size<false>> values_;
};

template <class T>
void HeldValue<T>::drop() noexcept {
  HeldValues& of = of_;
  this->~HeldValue();
  if constexpr (HeldValues::is_small<HeldValue>)
    of.small_.release(this);
  else
    ::operator delete(this);
}

}  // namespace gpulua
