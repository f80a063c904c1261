#pragma once

// The C++ values that userdata of a Lua state stand for.

#include <boost/intrusive/list.hpp>
#include <utility>

namespace gpulua {

/// A value that a userdata points to.
struct HeldValueBase : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  virtual ~HeldValueBase() = default;
};
template <class T>
struct HeldValue : HeldValueBase {
  explicit HeldValue(T given) : value(std::move(given)) {}
  T value;
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
    auto* held = new HeldValue<T>(std::move(value));
    values_.push_back(*held);
    return *held;
  }

  void clear() {
    values_.clear_and_dispose([](HeldValueBase* value) { delete value; });
  }

 private:
  boost::intrusive::list<HeldValueBase, boost::intrusive::constant_time_size<false>> values_;
};

}  // namespace gpulua
