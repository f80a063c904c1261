#ifndef GPULUA_METHODS_HPP
#define GPULUA_METHODS_HPP

// What arrays of gpulua.hpp, which includes this, have in scripts alone.

#include "errors.hpp"

namespace gpulua::detail {

/// The methods of arrays that people try first. A call of one does not compile, and says what does.
struct MethodsOfScripts {
  template <class... A>
  Refused sum(const A&...) const {
    static_assert(never<A...>,
                  "state.call<gpulua::Array>(\"gpu.sum\", x) is an array with the sum; "
                  "state.call<double>(\"gpu.item\", sum) reads it");
    return {};
  }
  template <class... A>
  Refused mean(const A&...) const {
    static_assert(never<A...>,
                  "state.call<gpulua::Array>(\"gpu.mean\", x) is an array with the mean; "
                  "state.call<double>(\"gpu.item\", mean) reads it");
    return {};
  }
  template <class... A>
  Refused max(const A&...) const {
    static_assert(never<A...>,
                  "state.call<gpulua::Array>(\"gpu.max\", x) is an array with the greatest element, which "
                  "state.call<double>(\"gpu.item\", greatest) reads");
    return {};
  }
  template <class... A>
  Refused min(const A&...) const {
    static_assert(never<A...>,
                  "state.call<gpulua::Array>(\"gpu.min\", x) is an array with the least element, which "
                  "state.call<double>(\"gpu.item\", least) reads");
    return {};
  }
  template <class... A>
  Refused item(const A&...) const {
    static_assert(never<A...>, "state.call<double>(\"gpu.item\", x) is the number of an array of one element");
    return {};
  }
  template <class... A>
  Refused reshape(const A&...) const {
    static_assert(never<A...>, "state.call<gpulua::Array>(\"gpu.reshape\", x, 3, 4) is the array in another shape");
    return {};
  }
  template <class... A>
  Refused astype(const A&...) const {
    static_assert(never<A...>, "state.call<gpulua::Array>(\"gpu.astype\", x, \"float32\") converts the elements");
    return {};
  }
  void T() const = delete;                  // state.call<gpulua::Array>("gpu.transpose", x) is the transposed matrix
  explicit operator bool() const = delete;  // x.handle() != nullptr tells whether there is an array
};

}  // namespace gpulua::detail

#endif
