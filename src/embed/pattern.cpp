#include "src/embed/pattern.h"

namespace gpulua::embed {
namespace {

constexpr int deepest = 200;  // as LuaJIT
// What takes about as long as a step of the search.
constexpr std::size_t bytes_of_step = 8;
constexpr std::size_t steps_between_looks = 4096;

// ASCII, as LuaJIT: the program's locale decides nothing.
bool is_between(unsigned char c, char first, char last) {
  return c >= static_cast<unsigned char>(first) && c <= static_cast<unsigned char>(last);
}
bool is_digit(unsigned char c) {
  return is_between(c, '0', '9');
}
bool is_letter(unsigned char c) {
  return is_between(c | 0x20, 'a', 'z');
}
bool is_control(unsigned char c) {
  return c < 32 || c == 127;
}
bool is_space(unsigned char c) {
  return c == ' ' || is_between(c, '\t', '\r');
}
bool is_graphic(unsigned char c) {
  return is_between(c, '!', '~');
}

/// Whether c is in the class %letter; an upper-case letter is the complement.
bool is_in_class(unsigned char c, unsigned char letter) {
  bool is = false;
  switch (letter | 0x20) {
    case 'a':
      is = is_letter(c);
      break;
    case 'c':
      is = is_control(c);
      break;
    case 'd':
      is = is_digit(c);
      break;
    case 'g':
      is = is_graphic(c);
      break;
    case 'l':
      is = is_between(c, 'a', 'z');
      break;
    case 'p':
      is = is_graphic(c) && !is_letter(c) && !is_digit(c);
      break;
    case 's':
      is = is_space(c);
      break;
    case 'u':
      is = is_between(c, 'A', 'Z');
      break;
    case 'w':
      is = is_letter(c) || is_digit(c);
      break;
    case 'x':
      is = is_digit(c) || is_between(c | 0x20, 'a', 'f');
      break;
    case 'z':
      is = c == 0;
      break;
    default:
      return letter == c;
  }
  return is_letter(letter) && is_between(letter, 'A', 'Z') ? !is : is;
}

}  // namespace

void PatternSearch::fail(const char* error) {
  error_ = error;
  throw Abandoned();
}

void PatternSearch::count_steps(std::size_t steps) {
  steps_ += steps;
  if (steps_ < steps_between_looks) return;
  steps_ = 0;
  if (!stop_(context_)) return;
  stopped_ = true;
  throw Abandoned();
}

bool PatternSearch::find(std::size_t from, bool anchored) try {
  for (std::size_t s = from; s <= subject_.size(); ++s) {
    levels_ = depth_ = 0;
    count_steps();
    const std::size_t end = match(s, 0);
    if (end != none) {
      start_ = s;
      end_ = end;
      return true;
    }
    if (anchored) break;
  }
  return false;
} catch (const Abandoned&) {
  return false;
}

/// The end of the subject's text from s on that matches the pattern from p on; none if it does not.
std::size_t PatternSearch::match(std::size_t s, std::size_t p) {
  if (++depth_ > deepest) fail("pattern too complex");
  bool done = false;
  while (!done && s != none) {
    count_steps();
    if (p == pattern_.size()) break;
    const char c = pattern_[p];
    const char next = p + 1 < pattern_.size() ? pattern_[p + 1] : '\0';
    done = true;
    if (c == '(') {
      s = next == ')' ? open_capture(s, p + 2, true) : open_capture(s, p + 1, false);
    } else if (c == ')') {
      s = close_capture(s, p + 1);
    } else if (c == '$' && p + 1 == pattern_.size()) {
      s = s == subject_.size() ? s : none;
    } else if (c == '%' && next == 'b') {
      s = balanced(s, p + 2);
      p += 4;
      done = false;
    } else if (c == '%' && next == 'f') {
      p += 2;
      if (p >= pattern_.size() || pattern_[p] != '[') fail("missing '[' after '%f' in pattern");
      const std::size_t end = end_of_item(p);
      const unsigned char before = s == 0 ? '\0' : static_cast<unsigned char>(subject_[s - 1]);
      const unsigned char here = s == subject_.size() ? '\0' : static_cast<unsigned char>(subject_[s]);
      if (is_in_set(before, p, end - 1) || !is_in_set(here, p, end - 1)) s = none;
      p = end;
      done = false;
    } else if (c == '%' && is_digit(static_cast<unsigned char>(next))) {
      s = same_as_capture(s, next);
      p += 2;
      done = false;
    } else {
      const std::size_t item_end = end_of_item(p);
      const char suffix = item_end < pattern_.size() ? pattern_[item_end] : '\0';
      if (suffix == '*') {
        s = most(s, p, item_end);
      } else if (suffix == '+') {
        s = is_one(s, p, item_end) ? most(s + 1, p, item_end) : none;
      } else if (suffix == '-') {
        s = least(s, p, item_end);
      } else {
        done = false;
        if (suffix == '?') {
          const std::size_t with = is_one(s, p, item_end) ? match(s + 1, item_end + 1) : none;
          if (with != none) {
            s = with;
            done = true;
          }
          p = item_end + 1;
        } else {
          s = is_one(s, p, item_end) ? s + 1 : none;
          p = item_end;
        }
      }
    }
  }
  --depth_;
  return s;
}

std::size_t PatternSearch::most(std::size_t s, std::size_t p, std::size_t item_end) {
  std::size_t count = 0;
  while (is_one(s + count, p, item_end)) {
    count_steps();
    ++count;
  }
  for (;; --count) {
    const std::size_t end = match(s + count, item_end + 1);
    if (end != none || count == 0) return end;
  }
}

std::size_t PatternSearch::least(std::size_t s, std::size_t p, std::size_t item_end) {
  for (;; ++s) {
    const std::size_t end = match(s, item_end + 1);
    if (end != none) return end;
    if (!is_one(s, p, item_end)) return none;
  }
}

/// "%bxy": p is at x.
std::size_t PatternSearch::balanced(std::size_t s, std::size_t p) {
  if (p + 1 >= pattern_.size()) fail("unbalanced pattern");
  if (s >= subject_.size() || subject_[s] != pattern_[p]) return none;
  const char opens = pattern_[p], closes = pattern_[p + 1];
  std::size_t nesting = 1;
  while (++s < subject_.size()) {
    count_steps();
    if (subject_[s] == closes) {
      if (--nesting == 0) return s + 1;
    } else if (subject_[s] == opens) {
      ++nesting;
    }
  }
  return none;
}

std::size_t PatternSearch::open_capture(std::size_t s, std::size_t p, bool is_position) {
  if (levels_ >= most_captures) fail("too many captures");
  captures_[levels_] = {{s, 0, is_position}, !is_position};
  ++levels_;
  const std::size_t end = match(s, p);
  if (end == none) --levels_;
  return end;
}

std::size_t PatternSearch::close_capture(std::size_t s, std::size_t p) {
  int level = levels_ - 1;
  while (level >= 0 && !captures_[level].open) --level;
  if (level < 0) fail("invalid pattern capture");
  Level& capture = captures_[level];
  capture.range.size = s - capture.range.start;
  capture.open = false;
  const std::size_t end = match(s, p);
  if (end == none) capture.open = true;
  return end;
}

std::size_t PatternSearch::same_as_capture(std::size_t s, char digit) {
  const int level = digit - '1';
  if (level < 0 || level >= levels_ || captures_[level].open) fail("invalid capture index");
  const Capture& capture = captures_[level].range;
  if (capture.is_position) return none;
  const std::string_view text = subject_.substr(capture.start, capture.size);
  count_steps(text.size() / bytes_of_step);
  return subject_.substr(s).starts_with(text) ? s + text.size() : none;
}

std::size_t PatternSearch::end_of_item(std::size_t p) {
  const char c = pattern_[p++];
  if (c == '%') {
    if (p == pattern_.size()) fail("malformed pattern (ends with '%')");
    return p + 1;
  }
  if (c != '[') return p;
  if (p < pattern_.size() && pattern_[p] == '^') ++p;
  do {  // a ']' that comes first stands for itself
    if (p >= pattern_.size()) fail("malformed pattern (missing ']')");
    if (pattern_[p++] == '%' && p < pattern_.size()) ++p;
  } while (p >= pattern_.size() || pattern_[p] != ']');
  return p + 1;
}

bool PatternSearch::is_one(std::size_t s, std::size_t p, std::size_t item_end) {
  if (s >= subject_.size()) return false;
  const auto c = static_cast<unsigned char>(subject_[s]);
  switch (pattern_[p]) {
    case '.':
      return true;
    case '%':
      return is_in_class(c, static_cast<unsigned char>(pattern_[p + 1]));
    case '[':
      return is_in_set(c, p, item_end - 1);
    default:
      return static_cast<unsigned char>(pattern_[p]) == c;
  }
}

/// The set begins at p with '[' and ends at `last` with ']'.
bool PatternSearch::is_in_set(unsigned char c, std::size_t p, std::size_t last) {
  count_steps((last - p) / bytes_of_step);
  bool in = true;
  if (pattern_[++p] == '^') {
    in = false;
    ++p;
  }
  for (; p < last; ++p) {
    const auto item = static_cast<unsigned char>(pattern_[p]);
    if (item == '%' && p + 1 < last) {
      if (is_in_class(c, static_cast<unsigned char>(pattern_[++p]))) return in;
    } else if (p + 2 < last && pattern_[p + 1] == '-') {
      if (item <= c && c <= static_cast<unsigned char>(pattern_[p + 2])) return in;
      p += 2;
    } else if (item == c) {
      return in;
    }
  }
  return !in;
}

}  // namespace gpulua::embed
