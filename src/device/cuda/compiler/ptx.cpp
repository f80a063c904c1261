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

/// `.param .b32 x, .param .align 8 .b8 y[16]` up to the closing parenthesis.
std::vector<PtxParameter> take_parameters(Tokens& tokens) {
  std::vector<PtxParameter> parameters;
  while (!tokens.take_if(")")) {
    const Declaration declaration = take_type(tokens);
    tokens.take();
    PtxParameter parameter{declaration.type, 0, declaration.alignment};
    const std::uint64_t size = declaration.size * take_extents(tokens, parameter.array);
    if (size > most_parameter) throw Error("[ptx] expected a parameter below 4 GB, got {} bytes", size);
    parameter.size = static_cast<std::uint32_t>(size);
    parameters.push_back(std::move(parameter));
    tokens.take_if(",");
  }
  return parameters;
}

enum class Linkage : std::uint8_t { local, visible, weak, external };

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(text) {}

  PtxModule read() {
    Linkage linkage = Linkage::local;
    while (!tokens_.at_end()) {
      const std::string_view token = tokens_.take();
      if (token == ".extern") {
        linkage = Linkage::external;
      } else if (token == ".visible") {
        linkage = Linkage::visible;
      } else if (token == ".weak" || token == ".common") {
        linkage = Linkage::weak;
      } else {
        read_declaration(token, linkage);
        linkage = Linkage::local;
      }
    }
    return std::move(module_);
  }

 private:
  void read_declaration(std::string_view token, Linkage linkage) {
    if (token == ".entry") {
      read_entry(linkage);
    } else if (token == ".global" || token == ".const") {
      read_globals(token == ".const" ? PtxSpace::constant : PtxSpace::global, linkage);
    } else if (token == ".func") {
      read_function(linkage);
    } else if (token == ".shared" || token == ".section") {
      skip_to_body();
    } else if (token == "{") {
      tokens_.skip_block("{", "}");
    }
  }

  void skip_to_body() {
    while (tokens_.peek() != ";" && tokens_.peek() != "{") tokens_.take();
  }

  /// Each symbol once. Functions may be declared before they are defined.
  void add_symbol(Linkage linkage, LinkSymbol symbol) {
    if (linkage == Linkage::local) return;
    symbol.is_shared = linkage == Linkage::weak;
    const auto known = std::ranges::find(module_.symbols, symbol.name, &LinkSymbol::name);
    if (known == module_.symbols.end())
      module_.symbols.push_back(std::move(symbol));
    else if (symbol.is_defined)
      *known = std::move(symbol);
  }

  void read_entry(Linkage linkage) {
    PtxEntry entry;
    entry.symbol = tokens_.take();
    if (tokens_.take_if("(")) entry.parameters = take_parameters(tokens_);
    if (linkage == Linkage::external) return;
    add_symbol(linkage, {.name = entry.symbol});
    if (std::ranges::find(module_.entries, entry.symbol, &PtxEntry::symbol) == module_.entries.end())
      module_.entries.push_back(std::move(entry));
  }

  void read_function(Linkage linkage) {
    const auto types = [](const std::vector<PtxParameter>& parameters) {
      std::string text;
      for (const PtxParameter& parameter : parameters)
        text += (text.empty() ? "" : ", ") + parameter.type +
                (parameter.array ? "[" + std::to_string(parameter.size) + "]" : "");
      return text;
    };
    std::string result = "nothing";
    if (tokens_.take_if("(")) result = types(take_parameters(tokens_));
    LinkSymbol symbol{.name = std::string(tokens_.take())};
    std::string parameters;
    if (tokens_.take_if("(")) parameters = types(take_parameters(tokens_));
    symbol.type = "a function (" + parameters + ") that returns " + result;
    skip_to_body();
    symbol.is_defined = tokens_.peek() == "{";
    add_symbol(linkage, std::move(symbol));
  }

  void read_globals(PtxSpace space, Linkage linkage) {
    const Declaration declaration = take_type(tokens_);
    while (!tokens_.take_if(";")) {
      PtxGlobal global{space, std::string(tokens_.take())};
      bool array = false;
      global.bytes = declaration.size * take_extents(tokens_, array);
      add_symbol(linkage, {.name = global.symbol, .is_defined = linkage != Linkage::external, .bytes = global.bytes});
      if (linkage != Linkage::external) module_.globals.push_back(std::move(global));
      if (tokens_.take_if("=")) {
        while (tokens_.peek() != "," && tokens_.peek() != ";") {
          const std::string_view token = tokens_.take();
          if (token == "{") tokens_.skip_block("{", "}");
          if (token == "(") tokens_.skip_block("(", ")");
        }
      }
      tokens_.take_if(",");
    }
  }

  Tokens tokens_;
  PtxModule module_;
};

}  // namespace

PtxModule parse_ptx(std::string_view text) {
  return Reader(text).read();
}

}  // namespace gpulua::cuda
