// Containers for host functions, which are left out: declarations alone, as in <vector>.
#ifndef GPULUA_HOST_CONTAINERS_H
#define GPULUA_HOST_CONTAINERS_H
#include "gpulua/functional"
#include "gpulua/host_mark.h"
#include "gpulua/initializer_list"
#include "gpulua/string"
#include "gpulua/tuple"
#include "gpulua/utility"
#include "gpulua/vector"
namespace std {
template <class _Value, class _Key>
class gpulua_container {
 public:
  using key_type = _Key;
  using value_type = _Value;
  using size_type = size_t;
  using reference = _Value&;
  using const_reference = const _Value&;
  using iterator = _Value*;
  using const_iterator = const _Value*;
  GPULUA_HOST_EMPTY(gpulua_container)
  GPULUA_HOST gpulua_container(initializer_list<_Value> values);
  template <class _Iterator>
  GPULUA_HOST gpulua_container(_Iterator first, _Iterator last);
  GPULUA_HOST size_t size() const noexcept;
  GPULUA_HOST bool empty() const noexcept;
  GPULUA_HOST void clear() noexcept;
  GPULUA_HOST iterator begin() noexcept;
  GPULUA_HOST iterator end() noexcept;
  GPULUA_HOST const_iterator begin() const noexcept;
  GPULUA_HOST const_iterator end() const noexcept;
  GPULUA_HOST iterator find(const _Key& key);
  GPULUA_HOST const_iterator find(const _Key& key) const;
  GPULUA_HOST size_t count(const _Key& key) const;
  GPULUA_HOST iterator erase(const_iterator at);
  GPULUA_HOST size_t erase(const _Key& key);
  GPULUA_HOST pair<iterator, bool> insert(const _Value& value);
  template <class... _Types>
  GPULUA_HOST pair<iterator, bool> emplace(_Types&&... values);
};
#define GPULUA_SET(name)                                               \
  template <class _Key, class... _More>                                \
  class name : public gpulua_container<_Key, _Key> {                   \
   public:                                                             \
    using gpulua_container<_Key, _Key>::gpulua_container;              \
    template <class _Less>                                             \
    GPULUA_HOST explicit name(const _Less& less);                      \
    GPULUA_HOST_EMPTY(name)                                            \
  };
GPULUA_SET(set)
GPULUA_SET(multiset)
GPULUA_SET(unordered_set)
GPULUA_SET(unordered_multiset)
#undef GPULUA_SET
#define GPULUA_MAP(name)                                                                  \
  template <class _Key, class _Tp, class... _More>                                        \
  class name : public gpulua_container<pair<const _Key, _Tp>, _Key> {                     \
   public:                                                                                \
    using mapped_type = _Tp;                                                              \
    using gpulua_container<pair<const _Key, _Tp>, _Key>::gpulua_container;                \
    GPULUA_HOST_EMPTY(name)                                                               \
    GPULUA_HOST _Tp& operator[](const _Key& key);                                         \
    GPULUA_HOST _Tp& at(const _Key& key);                                                 \
    GPULUA_HOST const _Tp& at(const _Key& key) const;                                     \
  };
GPULUA_MAP(map)
GPULUA_MAP(multimap)
GPULUA_MAP(unordered_map)
GPULUA_MAP(unordered_multimap)
#undef GPULUA_MAP
#define GPULUA_SEQUENCE(name)                                       \
  template <class _Tp, class... _More>                              \
  class name : public vector<_Tp> {                                 \
   public:                                                          \
    using vector<_Tp>::vector;                                      \
    GPULUA_HOST_EMPTY(name)                                         \
    GPULUA_HOST void push_front(const _Tp& value);                  \
    GPULUA_HOST void pop_front();                                   \
    GPULUA_HOST void push(const _Tp& value);                        \
    GPULUA_HOST void pop();                                         \
    GPULUA_HOST _Tp& top();                                         \
  };
GPULUA_SEQUENCE(deque)
GPULUA_SEQUENCE(forward_list)
GPULUA_SEQUENCE(list)
GPULUA_SEQUENCE(queue)
GPULUA_SEQUENCE(priority_queue)
GPULUA_SEQUENCE(stack)
#undef GPULUA_SEQUENCE
}  // namespace std
#endif
