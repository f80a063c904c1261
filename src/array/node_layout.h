#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "src/array/layout.h"

namespace gpulua {

/// A layout that any number of nodes have. Most results have their operands' layout, so they need none of their own.
struct SharedLayout : boost::intrusive_ref_counter<SharedLayout, boost::thread_unsafe_counter> {
  /// Throws Error for a layout that no array may have.
  explicit SharedLayout(Layout layout_);

  const Layout layout;
  const bool contiguous;    // layout.contiguous()
  const bool is_row_major;  // it is row_major(layout.shape)
};
using LayoutRef = boost::intrusive_ptr<const SharedLayout>;

inline LayoutRef share(Layout layout) {
  return new SharedLayout(std::move(layout));
}

}  // namespace gpulua
