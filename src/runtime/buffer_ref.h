#pragma once

// What holds a buffer.

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace gpulua {

class Buffer;

/// The buffer counts its handles by a plain number, because a context works on one thread at a time.
using BufferRef = boost::intrusive_ptr<Buffer>;

}  // namespace gpulua
