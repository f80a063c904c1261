#include "src/files/npy_header.h"

#include <charconv>
#include <limits>
#include <optional>

#include "src/base/error.h"

namespace gpulua {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// NumPy's code of a dtype without the byte order ("f4"); empty for a dtype that NumPy does not have.
std::string type_code(const DTypeInfo& row) {
  if (row.dtype == DType::bfloat16) return "";
  constexpr std::string_view letters = "biufc";  // in the order of DTypeKind
  return letters[static_cast<std::size_t>(row.kind)] + std::to_string(row.size);
}

/// NumPy's names of units, with how many of ours they are.
struct TimeUnit {
  std::string_view name;
  DateUnit unit;
  std::int64_t step;
};
constexpr TimeUnit time_units[] = {{"D", DateUnit::days, 1},          {"s", DateUnit::seconds, 1},
                                   {"ms", DateUnit::milliseconds, 1}, {"us", DateUnit::microseconds, 1},
                                   {"ns", DateUnit::nanoseconds, 1},  {"W", DateUnit::days, 7},
                                   {"h", DateUnit::seconds, 3600},    {"m", DateUnit::seconds, 60}};

/// The code of a type of times, "M8[ns]" or "m8[25s]". False for others.
bool read_times(std::string_view code, NpyHeader& header) {
  if (code.size() < 5 || !(code.starts_with("M8[") || code.starts_with("m8[")) || !code.ends_with(']')) return false;
  const bool is_duration = code[0] == 'm';
  code = code.substr(3, code.size() - 4);
  std::int64_t count = 1;
  if (code[0] >= '1' && code[0] <= '9') {
    const auto [end, failure] = std::from_chars(code.data(), code.data() + code.size(), count);
    if (failure != std::errc() || count > std::numeric_limits<std::int32_t>::max()) return false;
    code.remove_prefix(static_cast<std::size_t>(end - code.data()));
  }
  for (const TimeUnit& row : time_units) {
    if (row.name != code) continue;
    header.dtype = DType::int64;
    header.dates = DateKind{row.unit, is_duration};
    header.step = count * row.step;
    return true;
  }
  return false;
}

std::string time_code(const DateKind& dates) {
  for (const TimeUnit& row : time_units)
    if (row.unit == dates.unit) return (dates.is_duration ? "m8[" : "M8[") + std::string(row.name) + ']';
  return "";
}

/// Parser for the header's text, a Python dictionary with three known keys.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void read(NpyHeader& header) {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = read_string();
      expect(':');
      bool* seen = key == "descr"           ? &has_type
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      if (!seen || *seen) fail("a key other than descr, fortran_order and shape");
      *seen = true;
      if (seen == &has_type) read_type(header);
      if (seen == &has_order) header.fortran_order = read_boolean();
      if (seen == &has_shape) header.shape = read_shape();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("trailing characters after the dictionary");
    if (!has_type || !has_order || !has_shape) fail("no descr, fortran_order or shape");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("[load] {}: the header is damaged: {}", file_, what);
  }
  [[noreturn]] void fail_type(const std::string& type) const {
    std::string names;
    for (const DTypeInfo& row : dtype_table())
      if (!type_code(row).empty()) names += (names.empty() ? "" : ", ") + std::string(row.name);
    throw Error("[load] {}: expected elements of {}, got {}", file_, names, type);
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("no ") + c + " at byte " + std::to_string(at_));
  }
  bool accept(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view read_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a string without end");
    const std::string_view string = text_.substr(at_, end - at_);
    at_ = end + 1;
    return string;
  }

  bool read_boolean() {
    if (accept("True")) return true;
    if (!accept("False")) fail("fortran_order is neither True nor False");
    return false;
  }

  Dims read_shape() {
    Dims shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (failure != std::errc() || extent < 0) fail("a size that is not an integer from 0 to 2^63-1");
      shape.push_back(extent);
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // Python 2's suffix of long integers
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  void read_type(NpyHeader& header) {
    skip_space();
    if (text_.substr(at_, 1) == "[") fail_type("a structured type; load its fields one by one in NumPy");
    const std::string_view type = read_string();
    const bool has_order = !type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
    const std::string_view code = type.substr(has_order ? 1 : 0);
    if (read_times(code, header)) {
      header.big_endian = type[0] == '>';
      return;
    }
    for (const DTypeInfo& row : dtype_table()) {
      if (code.empty() || type_code(row) != code) continue;
      header.dtype = row.dtype;
      header.big_endian = type[0] == '>';
      return;
    }
    const char letter = code.empty() ? ' ' : code[0];
    const char* kind = letter == 'O' ? " (Python objects; x.astype(\"float64\") makes numbers of numbers)"
                       : letter == 'U' || letter == 'S'
                           ? " (strings; numpy.savetxt(\"x.csv\", x, fmt=\"%s\") writes a table of text)"
                       : letter == 'V' ? " (a type that NumPy does not know)"
                       : letter == 'M' || letter == 'm'
                           ? " (times of another unit; x.astype(\"datetime64[s]\") has a unit that is read)"
                           : "";
    fail_type('"' + std::string(type.substr(0, 40)) + '"' + kind);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_npy(std::span<const char> bytes) {
  return std::string_view(bytes.data(), bytes.size()).substr(0, magic.size()) == magic;
}

NpyHeader parse_npy_header(std::span<const char> head, std::size_t size, const std::string& file) {
  const std::string_view all(head.data(), head.size());
  const auto fail = [&](const std::string& what) { throw Error("[load] {}: {}", file, what); };
  if (!is_npy(head)) fail("expected a .npy file, got other data");
  if (all.size() < magic.size() + 2) fail("the header is damaged: the file ends in it");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(all[at])); };
  const std::size_t major = byte(magic.size()), minor = byte(magic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    fail("expected version 1.0, 2.0 or 3.0 of the format, got " + std::to_string(major) + "." + std::to_string(minor));

  const std::size_t length_at = magic.size() + 2, text_at = length_at + (major == 1 ? 2 : 4);
  std::size_t length = 0;
  for (std::size_t at = text_at; all.size() >= text_at && at-- > length_at;) length = length << 8 | byte(at);
  if (size < text_at || size - text_at < length) fail("the header is damaged: the file ends in it");
  if (all.size() < text_at + length)
    fail("the header is damaged: it says that it is of " + std::to_string(length) + " bytes");

  NpyHeader header;
  header.size = text_at + length;
  HeaderText(all.substr(text_at, length), file).read(header);

  if (header.dates && header.shape.size() != 1)
    fail("expected a vector of times, got them of shape " + to_string(header.shape) + "; save x.ravel()");
  std::size_t count = 0;
  try {
    count = static_cast<std::size_t>(checked_size(header.shape));
  } catch (const Error& error) {
    fail(error.what());
  }
  const std::size_t there = size - header.size;
  if (count > there / size_of(header.dtype))
    fail("expected " + std::string(name(header.dtype)) + " of shape " + to_string(header.shape) + ", got " +
         std::to_string(there) + " bytes: the file is cut off or damaged");
  return header;
}

std::string npy_header(DType dtype, const Dims& shape, const std::optional<DateKind>& dates) {
  const std::string code = dates ? time_code(*dates) : type_code(info(dtype));
  if (code.empty())
    throw Error("[save] expected a dtype that NumPy has, got {}; x:astype \"float32\" keeps its values", name(dtype));
  std::string text =
      "{'descr': '" + std::string(size_of(dtype) == 1 ? "|" : "<") + code + "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  text += shape.size() == 1 ? ",), }" : "), }";
  // Like NumPy, reserves space for a first extent of 21 digits and aligns the elements to 64 bytes.
  if (!shape.empty()) text.append(21 - std::to_string(shape[0]).size(), ' ');
  const std::size_t before = magic.size() + 4, alignment = 64;
  text.append(alignment - (before + text.size() + 1) % alignment, ' ');
  text += '\n';

  std::string header(magic);
  header += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace gpulua
