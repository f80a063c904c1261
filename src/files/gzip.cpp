#include "src/files/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

/// The functions of zlib that gpulua uses.
struct ZlibLibrary {
  ZlibLibrary() {
    const OptionalLibrary library("load", "files of gzip need zlib", {"libz.so.1"}, "apt-get install zlib1g");
    library.find(init, "inflateInit2_");
    library.find(inflate, "inflate");
    library.find(reset, "inflateReset");
    library.find(end, "inflateEnd");
  }
  decltype(&::inflateInit2_) init;
  decltype(&::inflate) inflate;
  decltype(&::inflateReset) reset;
  decltype(&::inflateEnd) end;
};

/// A stream that is being decompressed.
class Inflater {
 public:
  explicit Inflater(const std::string& file) : file_(file) {
    constexpr int gzip_window = 15 + 16;  // zlib's code of gzip's format
    if (zlib_.init(&stream_, gzip_window, ZLIB_VERSION, sizeof stream_) != Z_OK) fail("zlib cannot begin");
  }
  ~Inflater() { zlib_.end(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string read(std::span<const char> bytes) {
    std::string text(std::max<std::size_t>(4 * bytes.size(), 1024), '\0');
    std::size_t done = 0;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    for (std::size_t left = bytes.size(); left > 0;) {
      if (done == text.size()) text.resize(2 * text.size());
      const uInt in = part(left), out = part(text.size() - done);
      stream_.avail_in = in;
      stream_.avail_out = out;
      stream_.next_out = reinterpret_cast<Bytef*>(text.data() + done);
      const int result = zlib_.inflate(&stream_, Z_NO_FLUSH);
      left -= in - stream_.avail_in;
      done += out - stream_.avail_out;
      if (result == Z_STREAM_END) {
        // Another part may follow, or zeros that fill a block.
        const bool is_last = std::all_of(stream_.next_in, stream_.next_in + left, [](Bytef b) { return b == 0; });
        if (is_last || zlib_.reset(&stream_) != Z_OK) {
          text.resize(done);
          return text;
        }
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        fail(stream_.msg != nullptr ? stream_.msg : "zlib cannot read it");
      }
    }
    fail("it ends too early");
  }

 private:
  static uInt part(std::size_t size) {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("[load] {}: the compressed file is damaged: {}", file_, why);
  }

  ZlibLibrary zlib_;
  const std::string& file_;
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::span<const char> bytes) {
  return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::string gunzip(std::span<const char> bytes, const std::string& file) {
  return Inflater(file).read(bytes);
}

}  // namespace gpulua
