// The classes of C++'s exceptions, for host functions, which are left out: their virtual functions have bodies, since a
// class that is derived from them has a table of those.
#ifndef GPULUA_HOST_ERRORS_H
#define GPULUA_HOST_ERRORS_H
#include "gpulua/host_mark.h"
#include "gpulua/string"
namespace std {
class exception {
 public:
  GPULUA_HOST_EMPTY(exception)
  virtual ~exception() {}
  virtual const char* what() const noexcept { return ""; }
};
#define GPULUA_ERROR(name, base)               \
  class name : public base {                   \
   public:                                     \
    GPULUA_HOST_EMPTY(name)                    \
    GPULUA_HOST explicit name(const char*);    \
    GPULUA_HOST explicit name(const string&);  \
  };
GPULUA_ERROR(logic_error, exception)
GPULUA_ERROR(domain_error, logic_error)
GPULUA_ERROR(invalid_argument, logic_error)
GPULUA_ERROR(length_error, logic_error)
GPULUA_ERROR(out_of_range, logic_error)
GPULUA_ERROR(runtime_error, exception)
GPULUA_ERROR(overflow_error, runtime_error)
GPULUA_ERROR(range_error, runtime_error)
#undef GPULUA_ERROR
class bad_alloc : public exception {};
}  // namespace std
#endif
