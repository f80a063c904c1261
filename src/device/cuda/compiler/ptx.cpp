#include "src/device/cuda/compiler/ptx.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "src/base/characters.h"
#include "src/base/error.h"

namespace gpulua::cuda {
namespace {

/// True for a character of a name in PTX.
bool is_name(char c) {
  return is_identifier(c) || c == '%';
}

/// Splits PTX into directives (".param"), words (names and numbers) and single characters. Comments and the contents of
/// strings are left out.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { next(); }

  bool at_end() const { return token_.empty(); }
  std::string_view peek() const { return token_; }
  bool is_directive() const { return token_.size() > 1 && token_[0] == '.'; }

  std::string_view take() {
    if (at_end()) throw Error("[ptx] the text ends in the middle of a declaration");
    const std::string_view token = token_;
    next();
    return token;
  }
  bool take_if(std::string_view token) {
    if (token_ != token) return false;
    next();
    return true;
  }
  std::uint64_t take_number() {
    const std::string_view token = take();
    std::uint64_t value = 0;
    const bool hexadecimal = token.starts_with("0x") || token.starts_with("0X");
    const char* first = token.data() + (hexadecimal ? 2 : 0);
    std::from_chars(first, token.data() + token.size(), value, hexadecimal ? 16 : 10);
    return value;
  }
  /// Past the bracket that closes the one just taken, skipping nested ones.
  void skip_block(std::string_view open, std::string_view close) {
    for (int depth = 1; depth > 0;) {
      const std::string_view token = take();
      if (token == open) ++depth;
      if (token == close) --depth;
    }
  }

 private:
  void next() {
    skip_blank();
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    const std::size_t start = at_++;
    const char first = text_[start];
    if (first == '"') {
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
      token_ = "\"";
      return;
    }
    if (first == '.' || is_name(first))
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    token_ = text_.substr(start, at_ - start);
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\0')
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view token_;
};

constexpr unsigned most_bits = 128;  // of a fundamental type

/// Bytes of one value of a fundamental type; 0 when `directive` is none.
std::uint32_t type_size(std::string_view directive) {
  if (directive == ".texref" || directive == ".samplerref" || directive == ".surfref") return 8;
  if (directive == ".pred") return 1;
  const bool is_pair = directive.ends_with("x2");
  if (is_pair) directive.remove_suffix(2);
  const std::size_t digits = directive.find_first_of("0123456789");
  if (digits == std::string_view::npos ||
      directive.substr(0, digits).find_first_not_of(".bfsu") != std::string_view::npos)
    return 0;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(directive.data() + digits, directive.data() + directive.size(), bits);
  if (error != std::errc() || end != directive.data() + directive.size() || bits > most_bits) return 0;
  return bits / 8 * (is_pair ? 2 : 1);
}

struct Declaration {
  std::string type;
  std::uint32_t size = 0;  // of one element
  std::uint32_t alignment = 0;
};

/// Reads `.align 4 .v2 .f32` and whatever else precedes a name.
Declaration take_type(Tokens& tokens) {
  Declaration declaration;
  std::uint32_t lanes = 1;
  bool describes_pointee = false;
  while (tokens.is_directive()) {
    const std::string_view directive = tokens.take();
    if (directive == ".align") {
      const auto alignment = static_cast<std::uint32_t>(tokens.take_number());
      if (!describes_pointee) declaration.alignment = alignment;
    } else if (directive == ".ptr") {
      describes_pointee = true;
    } else if (directive == ".attribute") {
      if (tokens.take_if("(")) tokens.skip_block("(", ")");
    } else if (directive == ".v2" || directive == ".v4" || directive == ".v8") {
      lanes = static_cast<std::uint32_t>(directive[2] - '0');
    } else if (const std::uint32_t size = type_size(directive); size > 0) {
      declaration.type = directive;
      declaration.size = size;
    }
  }
  declaration.size *= lanes;
  if (declaration.alignment == 0) declaration.alignment = declaration.size;
  return declaration;
}

constexpr std::uint64_t most_elements = std::uint64_t{1} << 53;
constexpr std::uint64_t most_parameter = std::numeric_limits<std::uint32_t>::max();

/// Reads `[4][3]`: the number of elements, 1 where there are no brackets.
std::uint64_t take_extents(Tokens& tokens, bool& array) {
  std::uint64_t count = 1;
  while (tokens.take_if("[")) {
    array = true;
    if (tokens.peek() == "]")
      count = 0;
    else if (__builtin_mul_overflow(count, tokens.take_number(), &count) || count > most_elements)
      throw Error("[ptx] expected an array that fits memory, got one of more than 2^53 elements");
    if (!tokens.take_if("]")) throw Error("[ptx] expected ']' after an array's extent");
  }
  return count;
}

PtxEntry take_entry(Tokens& tokens) {
  PtxEntry entry;
  entry.symbol = tokens.take();
  if (tokens.take_if("(")) {
    while (!tokens.take_if(")")) {
      const Declaration declaration = take_type(tokens);
      tokens.take();
      PtxParameter parameter{declaration.type, 0, declaration.alignment};
      const std::uint64_t size = declaration.size * take_extents(tokens, parameter.array);
      if (size > most_parameter) throw Error("[ptx] expected a parameter below 4 GB, got {} bytes", size);
      parameter.size = static_cast<std::uint32_t>(size);
      entry.parameters.push_back(std::move(parameter));
      tokens.take_if(",");
    }
  }
  return entry;
}

void take_globals(Tokens& tokens, PtxSpace space, bool is_extern, std::vector<PtxGlobal>& globals) {
  const Declaration declaration = take_type(tokens);
  while (!tokens.take_if(";")) {
    PtxGlobal global{space, std::string(tokens.take())};
    bool array = false;
    global.bytes = declaration.size * take_extents(tokens, array);
    if (!is_extern) globals.push_back(std::move(global));
    if (tokens.take_if("=")) {
      while (tokens.peek() != "," && tokens.peek() != ";") {
        const std::string_view token = tokens.take();
        if (token == "{") tokens.skip_block("{", "}");
        if (token == "(") tokens.skip_block("(", ")");
      }
    }
    tokens.take_if(",");
  }
}

}  // namespace

PtxModule parse_ptx(std::string_view text) {
  PtxModule module;
  Tokens tokens(text);
  bool is_extern = false;
  while (!tokens.at_end()) {
    const std::string_view token = tokens.take();
    if (token == ".extern") {
      is_extern = true;
      continue;
    }
    if (token == ".entry") {
      PtxEntry entry = take_entry(tokens);
      const bool known =
          std::ranges::any_of(module.entries, [&](const PtxEntry& e) { return e.symbol == entry.symbol; });
      if (!known && !is_extern) module.entries.push_back(std::move(entry));
    } else if (token == ".global" || token == ".const") {
      take_globals(tokens, token == ".const" ? PtxSpace::constant : PtxSpace::global, is_extern, module.globals);
    } else if (token == ".func" || token == ".shared" || token == ".section") {
      while (tokens.peek() != ";" && tokens.peek() != "{") tokens.take();
    } else if (token == "{") {
      tokens.skip_block("{", "}");
    }
    if (token != ".visible" && token != ".weak" && token != ".common") is_extern = false;
  }
  return module;
}

}  // namespace gpulua::cuda
