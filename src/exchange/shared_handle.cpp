#include "src/exchange/shared_handle.h"

#include <charconv>
#include <vector>

#include "src/base/error.h"
#include "src/base/sha256.h"

namespace gpulua {
namespace {

constexpr std::string_view head = "gpulua-array:", format = "1";
constexpr std::size_t digits_of_digest = 16;

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const std::int64_t extent : dims) text += (text.empty() ? "" : ",") + std::to_string(extent);
  return text;
}

[[noreturn]] void refuse_damaged() {
  throw Error("[from_ipc] expected a text of x:ipc_handle(), whole and as it was, got one that was changed");
}

/// The fields of a handle, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  std::string_view text() {
    if (at_end_) refuse_damaged();
    const std::size_t end = rest_.find('/');
    const std::string_view field = rest_.substr(0, end);
    at_end_ = end == rest_.npos;
    rest_.remove_prefix(at_end_ ? rest_.size() : end + 1);
    return field;
  }
  template <class T>
  T number() {
    return parse<T>(text());
  }
  Dims dims() {
    std::string_view list = text();
    Dims dims;
    while (!list.empty()) {
      const std::size_t end = list.find(',');
      dims.push_back(parse<std::int64_t>(list.substr(0, end)));
      list.remove_prefix(end == list.npos ? list.size() : end + 1);
    }
    return dims;
  }
  void check_end() const {
    if (!at_end_) refuse_damaged();
  }

 private:
  template <class T>
  static T parse(std::string_view digits) {
    T number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc{} || last != end) refuse_damaged();
    return number;
  }

  std::string_view rest_;
  bool at_end_ = false;
};

/// Throws Error for elements outside of the block.
void check_layout(const SharedHandle& handle) {
  const Layout& layout = handle.layout;
  if (layout.strides.size() != layout.ndim()) refuse_damaged();
  if (checked_size(layout.shape, "from_ipc") == 0) return;
  const auto elements = static_cast<std::int64_t>(handle.bytes / size_of(handle.dtype));
  std::int64_t first = layout.offset, last = layout.offset;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    std::int64_t reach = 0;
    std::int64_t& side = layout.strides[axis] < 0 ? first : last;
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis], &reach) ||
        __builtin_add_overflow(side, reach, &side))
      refuse_damaged();
  }
  if (first < 0 || last >= elements) refuse_damaged();
}

}  // namespace

std::string to_text(const SharedHandle& handle) {
  std::string text = std::string(head) + std::string(format);
  const auto add = [&text](std::string_view field) { (text += '/') += field; };
  add(handle.device);
  add(handle.hardware);
  add(name(handle.dtype));
  add(dims_text(handle.layout.shape));
  add(dims_text(handle.layout.strides));
  add(std::to_string(handle.layout.offset));
  add(std::to_string(handle.bytes));
  add(handle.process.machine);
  add(std::to_string(handle.process.space));
  add(std::to_string(handle.process.number));
  add(std::to_string(handle.process.start));
  add(std::to_string(handle.place.descriptor));
  add(std::to_string(handle.place.file));
  add("");
  return text + sha256(text).substr(0, digits_of_digest);
}

SharedHandle parse_shared_handle(std::string_view text) {
  // As a line of a file or a pipe has it.
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (!text.starts_with(head)) {
    constexpr std::size_t most_shown = 40;
    const bool is_shown = text.find_first_of("\n\r") == text.npos;
    throw Error("[from_ipc] expected a text of x:ipc_handle(), got \"{}\"{}",
                is_shown ? text.substr(0, most_shown) : "", !is_shown || text.size() > most_shown ? "..." : "");
  }
  if (text.size() < head.size() + digits_of_digest) refuse_damaged();
  const std::string_view said = text.substr(0, text.size() - digits_of_digest);
  if (sha256(said).substr(0, digits_of_digest) != text.substr(said.size())) refuse_damaged();
  Fields fields(said.substr(head.size()));
  if (const std::string_view theirs = fields.text(); theirs != format)
    throw Error(ErrorKind::unavailable,
                "[from_ipc] expected a handle of format {}, got one of format {}: both processes need gpulua of one "
                "version",
                format, theirs);
  SharedHandle handle;
  handle.device = fields.text();
  handle.hardware = fields.text();
  handle.dtype = parse_dtype(fields.text());
  handle.layout.shape = fields.dims();
  handle.layout.strides = fields.dims();
  handle.layout.offset = fields.number<std::int64_t>();
  handle.bytes = fields.number<std::size_t>();
  handle.process.machine = fields.text();
  handle.process.space = fields.number<std::uint64_t>();
  handle.process.number = fields.number<std::int64_t>();
  handle.process.start = fields.number<std::uint64_t>();
  handle.place = {handle.process.number, fields.number<std::int64_t>(), fields.number<std::uint64_t>()};
  fields.text();
  fields.check_end();
  check_layout(handle);
  return handle;
}

}  // namespace gpulua
