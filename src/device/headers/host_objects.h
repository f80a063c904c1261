// Owners, locks, threads and clocks for host functions, which are left out: declarations alone, as in <vector>.
#ifndef GPULUA_HOST_OBJECTS_H
#define GPULUA_HOST_OBJECTS_H
#include "gpulua/functional"
#include "gpulua/host_mark.h"
#include "gpulua/tuple"
#include "gpulua/utility"
namespace std {
template <class _Tp>
class default_delete;
#define GPULUA_POINTER(name)                                                   \
  template <class _Tp, class... _More>                                         \
  class name {                                                                 \
   public:                                                                     \
    using element_type = remove_extent_t<_Tp>;                                 \
    GPULUA_HOST_EMPTY(name)                                                    \
    GPULUA_HOST name(nullptr_t);                                               \
    template <class... _Types>                                                 \
    GPULUA_HOST explicit name(element_type* object, _Types&&... deleter);      \
    template <class _Other, class... _Others>                                  \
    GPULUA_HOST name(const name<_Other, _Others...>& other);                   \
    GPULUA_HOST element_type* get() const noexcept;                            \
    GPULUA_HOST element_type& operator*() const noexcept;                      \
    GPULUA_HOST element_type* operator->() const noexcept;                     \
    GPULUA_HOST element_type& operator[](size_t i) const;                      \
    GPULUA_HOST explicit operator bool() const noexcept;                       \
    GPULUA_HOST void reset(element_type* object = nullptr) noexcept;           \
    GPULUA_HOST element_type* release() noexcept;                              \
    GPULUA_HOST long use_count() const noexcept;                               \
    GPULUA_HOST bool operator==(nullptr_t) const noexcept;                     \
    GPULUA_HOST bool operator!=(nullptr_t) const noexcept;                     \
  };
GPULUA_POINTER(shared_ptr)
GPULUA_POINTER(unique_ptr)
GPULUA_POINTER(weak_ptr)
#undef GPULUA_POINTER
template <class _Tp>
class enable_shared_from_this {
 public:
  GPULUA_HOST_EMPTY(enable_shared_from_this)
  GPULUA_HOST shared_ptr<_Tp> shared_from_this();
  GPULUA_HOST weak_ptr<_Tp> weak_from_this() noexcept;
};
template <class _Tp, class... _Types>
GPULUA_HOST shared_ptr<_Tp> make_shared(_Types&&... values);
template <class _Tp, class... _Types>
GPULUA_HOST unique_ptr<_Tp> make_unique(_Types&&... values);

struct nullopt_t {};
constexpr nullopt_t nullopt{};
template <class _Tp>
class optional {
 public:
  GPULUA_HOST_EMPTY(optional)
  GPULUA_HOST optional(nullopt_t);
  GPULUA_HOST optional(const _Tp& value);
  GPULUA_HOST bool has_value() const noexcept;
  GPULUA_HOST explicit operator bool() const noexcept;
  GPULUA_HOST _Tp& value();
  GPULUA_HOST const _Tp& value() const;
  GPULUA_HOST _Tp value_or(const _Tp& other) const;
  GPULUA_HOST _Tp& operator*();
  GPULUA_HOST const _Tp& operator*() const;
  GPULUA_HOST _Tp* operator->();
  GPULUA_HOST void reset() noexcept;
};

enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
template <class _Tp>
class atomic {
 public:
  GPULUA_HOST_EMPTY(atomic)
  GPULUA_HOST atomic(_Tp value);
  GPULUA_HOST _Tp load(memory_order order = memory_order_seq_cst) const noexcept;
  GPULUA_HOST void store(_Tp value, memory_order order = memory_order_seq_cst) noexcept;
  GPULUA_HOST _Tp exchange(_Tp value, memory_order order = memory_order_seq_cst) noexcept;
  GPULUA_HOST _Tp fetch_add(_Tp value, memory_order order = memory_order_seq_cst) noexcept;
  GPULUA_HOST _Tp fetch_sub(_Tp value, memory_order order = memory_order_seq_cst) noexcept;
  GPULUA_HOST _Tp operator++() noexcept;
  GPULUA_HOST _Tp operator++(int) noexcept;
  GPULUA_HOST _Tp operator=(_Tp value) noexcept;
  GPULUA_HOST operator _Tp() const noexcept;
};

using atomic_bool = atomic<bool>;
using atomic_char = atomic<char>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_size_t = atomic<size_t>;
class atomic_flag {
 public:
  GPULUA_HOST_EMPTY(atomic_flag)
  GPULUA_HOST bool test_and_set() noexcept;
  GPULUA_HOST void clear() noexcept;
};

class mutex {
 public:
  GPULUA_HOST_EMPTY(mutex)
  GPULUA_HOST void lock();
  GPULUA_HOST bool try_lock();
  GPULUA_HOST void unlock();
};
using recursive_mutex = mutex;
#define GPULUA_LOCK(name)                               \
  template <class _Mutex>                               \
  class name {                                          \
   public:                                              \
    GPULUA_HOST explicit name(_Mutex& mutex);           \
    GPULUA_HOST ~name();                                \
    GPULUA_HOST void lock();                            \
    GPULUA_HOST void unlock();                          \
  };
GPULUA_LOCK(lock_guard)
GPULUA_LOCK(scoped_lock)
GPULUA_LOCK(unique_lock)
#undef GPULUA_LOCK

class condition_variable {
 public:
  GPULUA_HOST_EMPTY(condition_variable)
  template <class _Lock, class... _Types>
  GPULUA_HOST void wait(_Lock& lock, _Types&&... condition);
  GPULUA_HOST void notify_one() noexcept;
  GPULUA_HOST void notify_all() noexcept;
};

class thread {
 public:
  GPULUA_HOST_EMPTY(thread)
  template <class _Function, class... _Types>
  GPULUA_HOST explicit thread(_Function&& function, _Types&&... arguments);
  GPULUA_HOST void join();
  GPULUA_HOST void detach();
  GPULUA_HOST bool joinable() const noexcept;
};

namespace chrono {
template <class _Rep, class _Period = void>
class duration {
 public:
  using rep = _Rep;
  using period = _Period;
  GPULUA_HOST_EMPTY(duration)
  template <class _Other>
  GPULUA_HOST duration(const _Other& other);
  GPULUA_HOST _Rep count() const;
};
using nanoseconds = duration<long long>;
using microseconds = duration<long long>;
using milliseconds = duration<long long>;
using seconds = duration<long long>;
using minutes = duration<long long>;
using hours = duration<long long>;
template <class _Clock, class _Duration = nanoseconds>
class time_point {
 public:
  GPULUA_HOST_EMPTY(time_point)
  GPULUA_HOST _Duration time_since_epoch() const;
  GPULUA_HOST _Duration operator-(const time_point& other) const;
};
class system_clock {
 public:
  using duration = nanoseconds;
  using time_point = chrono::time_point<system_clock>;
  GPULUA_HOST static time_point now();
};
using steady_clock = system_clock;
using high_resolution_clock = system_clock;
template <class _To, class _From>
GPULUA_HOST _To duration_cast(const _From& from);
}  // namespace chrono
}  // namespace std
#endif
