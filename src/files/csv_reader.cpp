#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "src/base/characters.h"
#include "src/base/error.h"
#include "src/base/near_name.h"
#include "src/base/utf8.h"
#include "src/files/csv.h"
#include "src/files/csv_column.h"
#include "src/files/csv_hint.h"
#include "src/files/date_text.h"

namespace gpulua {

namespace {

/// Goes through the fields of a file.
class CsvCursor {
 public:
  CsvCursor(std::span<const char> bytes, const CsvReading& options, const std::string& file)
      : first_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        at_(first_),
        separator_(options.separator),
        comments_(options.comments),
        file_(file) {
    for (const char stop : {separator_, '\n', '\r'}) may_stop_[static_cast<unsigned char>(stop)] = true;
  }

  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void go_to(const char* at) { at_ = at; }
  bool ends() const { return at_ == end_; }

  /// "[load] expected ..., got ... in line 3 of a.csv", about the line at the cursor.
  [[noreturn]] void fail(const std::string& expected, const std::string& got, const std::string& column = "",
                         const std::string& advice = "") const {
    throw Error("[load] expected {}, got {} in line {}{} of {}{}", expected, got, line_of(at_),
                column.empty() ? "" : ", column " + column, file_, advice);
  }

  std::int64_t line_of(const char* at) const { return 1 + std::count(first_, at, '\n'); }

  /// Whether a line or the file ends here.
  bool line_ends(const char* at) const {
    return at == end_ || *at == '\n' || (*at == '\r' && (at + 1 == end_ || at[1] == '\n'));
  }
  bool field_ends(const char* at) const { return at == end_ || *at == separator_ || line_ends(at); }
  bool line_ends() const { return line_ends(at_); }
  bool is_at_quote() const { return at_ != end_ && *at_ == '"'; }

  /// Moves past the line's end.
  void end_line() {
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ != end_ && *at_ == '\n') ++at_;
  }
  /// Moves past lines without fields: empty ones, those of spaces alone, and comments.
  void skip_empty_lines() {
    while (!ends()) {
      const char* at = at_;
      while (at != end_ && (*at == ' ' || *at == '\t') && *at != separator_) ++at;
      const bool is_comment = !comments_.empty() && std::string_view(at, end_).starts_with(comments_);
      if (!line_ends(at) && !is_comment) return;
      skip_line();
    }
  }
  void skip_line() {
    const void* const newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
  }
  void skip_mark() {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("\xEF\xBB\xBF")) at_ += 3;
  }

  /// Moves past the separator; false at the end of the line.
  bool next_field() {
    if (at_ == end_ || *at_ != separator_) return false;
    ++at_;
    return true;
  }

  /// Reads a field, and goes to its end. The text lives until the next call.
  std::string_view read_field() {
    if (is_at_quote()) return read_quoted();
    const char* const first = at_;
    while (at_ != end_ && !(may_stop_[static_cast<unsigned char>(*at_)] && field_ends(at_))) ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
  }

 private:
  std::string_view read_quoted() {
    const char* const opening = at_;
    const char* from = at_ + 1;
    unquoted_.clear();
    while (true) {
      const auto rest = static_cast<std::size_t>(end_ - from);
      const auto* const quote = rest == 0 ? nullptr : static_cast<const char*>(std::memchr(from, '"', rest));
      if (quote == nullptr) {
        at_ = opening;
        fail("a closing quote", "the end of the file after the opening quote");
      }
      at_ = quote + 1;
      const std::string_view part(from, static_cast<std::size_t>(quote - from));
      if (at_ == end_ || *at_ != '"') {
        if (!field_ends(at_)) {
          at_ = opening;
          fail("a separator after the closing quote", "other text");
        }
        if (unquoted_.empty()) return part;
        unquoted_ += part;
        return unquoted_;
      }
      unquoted_.append(from, at_);
      from = at_ + 1;
    }
  }

  const char *first_, *end_, *at_;
  char separator_;
  const std::string& comments_;
  const std::string& file_;
  std::string unquoted_;
  std::array<bool, 256> may_stop_{};  // by the character
};

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  return '"' + std::string(text.substr(0, most)) + (text.size() > most ? "...\"" : "\"");
}

class CsvReader {
 public:
  CsvReader(std::span<const char> bytes, const CsvReading& options, const std::string& file)
      : options_(options), file_(file), bytes_(bytes.size()), cursor_(bytes, options, file) {
    refuse_utf16(bytes, file);
    refuse_lone_returns("load", {bytes.data(), bytes.size()}, file);
    cursor_.skip_mark();
    for (std::int64_t i = 0; i < options.skip && !cursor_.ends(); ++i) cursor_.skip_line();
    cursor_.skip_empty_lines();
    first_line_ = cursor_.at();
    read_header();
    if (names_.size() == 1 && options.is_usual_separator)
      refuse_other_separator(first_line_, cursor_.end(), options.separator, file);
    choose_columns();
  }

  CsvTable read() {
    const char* const first_row = cursor_.at();
    CsvTable table;
    table.rows = read_rows([](const CsvColumn&) { return true; });
    // Columns that turned out to be text are read from the first row on.
    std::vector<const CsvColumn*> again;
    for (CsvColumn& column : columns_) {
      if (!column.begins_again()) continue;
      column.begin_again();
      again.push_back(&column);
    }
    if (!again.empty()) {
      cursor_.go_to(first_row);
      read_rows([&](const CsvColumn& column) { return std::ranges::find(again, &column) != again.end(); });
    }
    std::ranges::for_each(names_, [&](const std::string& name) { check_encoding(name); });
    for (CsvColumn& column : columns_) {
      if (const std::string fault = column.fault(); !fault.empty())
        throw Error("[load] expected {}, got both in column {} of {}", fault, column.name(), file_);
      table.columns.push_back(column.finish());
      if (const auto& texts = table.columns.back().texts)
        std::ranges::for_each(*texts, [&](const std::string& text) { check_encoding(text); });
    }
    return table;
  }

 private:
  /// Refuses a text of the file that is not in UTF-8, with the line of the first that is not.
  void check_encoding(std::string_view text) {
    if (utf8_length(text) == text.size()) return;
    cursor_.go_to(first_line_ + utf8_length({first_line_, static_cast<std::size_t>(cursor_.end() - first_line_)}));
    cursor_.fail("text in UTF-8", "other bytes", "", "; if it is Latin-1, iconv -f LATIN1 -t UTF-8 makes UTF-8 of it");
  }

  /// Calls `work` with each field of the line at the cursor, and whether it is in quotes.
  template <class Work>
  void for_each_field(const Work& work) {
    if (!cursor_.ends()) do {
        const bool has_quotes = cursor_.is_at_quote();
        work(cursor_.read_field(), has_quotes);
      } while (cursor_.next_field());
  }

  /// The fields of the line at the cursor, which stays there.
  std::vector<std::string> first_fields() {
    const char* const line = cursor_.at();
    std::vector<std::string> fields;
    for_each_field([&](std::string_view field, bool) { fields.emplace_back(field); });
    cursor_.go_to(line);
    return fields;
  }

  /// Whether the first two lines have no field without quotes: then the program puts numbers in quotes too.
  bool has_quotes_everywhere() {
    const char* const line = cursor_.at();
    bool everywhere = true;
    for (int i = 0; i < 2; ++i) {
      for_each_field([&](std::string_view, bool has_quotes) { everywhere = everywhere && has_quotes; });
      cursor_.end_line();
      cursor_.skip_empty_lines();
    }
    cursor_.go_to(line);
    return everywhere;
  }

  /// Whether the quotes around a field make text of it. A field alone in its line has them as well because an empty
  /// line would be no row, a number with the separator between groups of digits because it would be two.
  bool make_text(std::string_view field) const {
    const bool has_groups =
        options_.numbers.thousands == options_.separator && field.find(options_.separator) != field.npos;
    return !quotes_everywhere_ && !(names_.size() == 1 && field.empty()) && !has_groups;
  }

  bool has_text_in_first_line() {
    const char* const line = cursor_.at();
    bool has_text = false;
    for_each_field([&](std::string_view field, bool has_quotes) {
      const CsvKind kind = csv_value(field, options_.numbers).kind;
      if ((kind == CsvKind::text && !parse_date(without_spaces(field))) || kind == CsvKind::boolean ||
          (has_quotes && make_text(field)))
        has_text = true;
    });
    cursor_.go_to(line);
    return has_text;
  }

  void read_header() {
    quotes_everywhere_ = has_quotes_everywhere();
    names_ = first_fields();
    const bool is_header = options_.header.value_or(has_text_in_first_line());
    if (is_header && !names_.empty()) {
      for (std::size_t i = 0; i < names_.size(); ++i) cursor_.read_field(), cursor_.next_field();
      cursor_.end_line();
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      names_[i] = is_header ? std::string(without_spaces(names_[i])) : "";
      if (names_[i].empty()) names_[i] = "c" + std::to_string(i + 1);
    }
    if (options_.names.empty() || names_.empty()) return;
    if (options_.names.size() != names_.size())
      throw Error("[load] expected {} names, one for each column of {}, got {}", names_.size(), file_,
                  options_.names.size());
    names_ = options_.names;
  }

  std::size_t position_of(const std::variant<std::string, std::int64_t>& column) const {
    const auto width = static_cast<std::int64_t>(names_.size());
    if (const auto* const position = std::get_if<std::int64_t>(&column)) {
      const std::int64_t at = *position < 0 ? width + *position : *position - 1;
      if (*position == 0 || at < 0 || at >= width)
        throw Error("[load] expected a column from 1 to {} of {}, got {}", width, file_, *position);
      return static_cast<std::size_t>(at);
    }
    return position_of(std::get<std::string>(column));
  }
  std::size_t position_of(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end())
      throw Error("[load] expected a column of {}, which has {}, got \"{}\"{}", file_, list_of_names(), name,
                  did_you_mean(name, names_));
    return static_cast<std::size_t>(found - names_.begin());
  }
  std::string list_of_names() const {
    constexpr std::size_t shown = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(shown, names_.size()); ++i) list += (i > 0 ? ", " : "") + names_[i];
    return names_.empty() ? "none" : list + (names_.size() > shown ? ", ..." : "");
  }

  void choose_columns() {
    for (const auto& [name, type] : options_.types) position_of(name);
    std::vector<std::size_t> positions;
    for (const auto& column : options_.columns) positions.push_back(position_of(column));
    if (options_.columns.empty())
      for (std::size_t i = 0; i < names_.size(); ++i) positions.push_back(i);
    column_at_.assign(names_.size(), -1);
    for (const std::size_t position : positions) {
      const std::string& name = names_[position];
      if (column_at_[position] >= 0) throw Error("[load] expected each column once, got {} twice", name);
      for (const CsvColumn& other : columns_)
        if (other.name() == name)
          throw Error(
              "[load] expected columns of different names, got two called {} in {}; names = {{...}} gives all "
              "columns names, columns = {{1, ...}} chooses by position",
              name, file_);
      column_at_[position] = static_cast<std::ptrdiff_t>(columns_.size());
      const auto type = options_.types.find(name);
      if (type != options_.types.end())
        columns_.emplace_back(name, type->second, false, options_.numbers);
      else
        columns_.emplace_back(name, options_.dtype ? std::optional<CsvType>(*options_.dtype) : std::nullopt, true,
                              options_.numbers);
    }
  }

  /// Reads all rows into the columns for which `reads` is true; returns how many there are.
  template <class Reads>
  std::int64_t read_rows(const Reads& reads) {
    std::vector<CsvColumn*> targets;
    for (const std::ptrdiff_t at : column_at_) {
      CsvColumn* const column = at < 0 ? nullptr : &columns_[static_cast<std::size_t>(at)];
      targets.push_back(column != nullptr && reads(*column) ? column : nullptr);
    }
    std::int64_t rows = 0;
    for (cursor_.skip_empty_lines(); !cursor_.ends() && rows < options_.max_rows; cursor_.skip_empty_lines()) {
      const char* const line = cursor_.at();
      read_row(targets);
      cursor_.end_line();
      // Rows like the first one fill the rest of the file.
      if (rows++ == 0)
        for (CsvColumn* const column : targets)
          if (column != nullptr) column->reserve(most_rows(static_cast<std::size_t>(cursor_.at() - line)));
    }
    return rows;
  }

  /// How many rows of `length` bytes the file has, or are to be read.
  std::size_t most_rows(std::size_t length) const {
    return std::min(bytes_ / length + 1, static_cast<std::size_t>(options_.max_rows));
  }

  void read_row(const std::vector<CsvColumn*>& targets) {
    const char* const line = cursor_.at();
    const auto stops = [&](const char* at) { return cursor_.field_ends(at); };
    for (std::size_t i = 0; i < targets.size(); ++i) {
      CsvColumn* const column = targets[i];
      const char* const after = column == nullptr ? nullptr : column->add_short(cursor_.at(), cursor_.end(), stops);
      if (after != nullptr)
        cursor_.go_to(after);
      else
        read_field(column);
      const bool is_last = i + 1 == targets.size();
      if (cursor_.next_field() == is_last) fail_width(line);
    }
  }

  void read_field(CsvColumn* column) {
    const char* const at = cursor_.at();
    const bool has_quotes = cursor_.is_at_quote();
    const std::string_view field = cursor_.read_field();
    if (column == nullptr) return;
    const bool was_text = column->is_text();
    const std::string expected = column->add(field, has_quotes && make_text(field));
    if (!was_text && column->is_text()) column->remember({std::string(field), cursor_.line_of(at), has_quotes});
    if (expected.empty()) return;
    const std::string got = quoted(field);
    cursor_.go_to(at);
    cursor_.fail(expected, got, column->name(), column->is_date() ? advice_for_date(column->name(), field) : "");
  }

  static std::string advice_for_date(const std::string& name, std::string_view field) {
    const bool is_plain = !name.empty() && std::ranges::all_of(name, is_word);
    return date_advice(without_spaces(field), [&](const std::string& format) {
      return "gpu.load(path, {dates = {" + (is_plain ? name : "[\"" + name + "\"]") + " = \"" + format + "\"}})";
    });
  }

  [[noreturn]] void fail_width(const char* line) {
    cursor_.go_to(line);
    const std::size_t count = first_fields().size();
    const bool is_one = names_.size() == 1;
    cursor_.fail(std::to_string(names_.size()) + (is_one ? " field" : " fields") + ", as in the first line",
                 std::to_string(count), "", advice_for_lines(first_line_, line, cursor_.end(), options_.separator));
  }

  const CsvReading& options_;
  const std::string& file_;
  std::size_t bytes_;
  CsvCursor cursor_;
  const char* first_line_ = nullptr;  // after those that are skipped
  bool quotes_everywhere_ = false;
  std::vector<std::string> names_;         // of all columns of the file
  std::vector<std::ptrdiff_t> column_at_;  // in columns_, for each column of the file; -1: it is not read
  std::vector<CsvColumn> columns_;
};

}  // namespace

CsvTable read_csv(std::span<const char> bytes, const CsvReading& options, const std::string& file) {
  return CsvReader(bytes, options, file).read();
}

}  // namespace gpulua
