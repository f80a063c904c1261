#include "src/device/shared/source_textures.h"

#include <algorithm>

#include "src/base/cxx_tokens.h"

namespace gpulua {

namespace {

/// What the name says: "surf2DLayeredwrite"; none for another name.
std::optional<TextureUse> read_function(std::string_view name) {
  TextureUse use;
  use.function = std::string(name);
  use.is_surface = name.starts_with("surf");
  if (!use.is_surface && !name.starts_with("tex")) return std::nullopt;
  name.remove_prefix(use.is_surface ? 4 : 3);
  if (name.size() < 2 || name[0] < '1' || name[0] > '3' || name[1] != 'D') return std::nullopt;
  use.dimensions = name[0] - '0';
  name.remove_prefix(2);
  if (name.starts_with("Layered")) {
    use.layered = true;
    name.remove_prefix(7);
  }
  use.in_rows = name == "fetch";
  const auto ends = use.is_surface ? std::vector<std::string_view>{"read", "write"}
                                   : std::vector<std::string_view>{"", "fetch", "Lod", "Grad"};
  if (std::ranges::find(ends, name) == ends.end()) return std::nullopt;
  return use;
}

struct ScalarName {
  std::string_view name;
  DType dtype;
};
// The signs that have names of their own are first.
constexpr ScalarName scalar_names[] = {
    {"unsigned char", DType::uint8}, {"unsigned short", DType::uint16}, {"unsigned int", DType::uint32},
    {"unsigned", DType::uint32},     {"signed char", DType::int8},      {"uchar", DType::uint8},
    {"ushort", DType::uint16},       {"uint", DType::uint32},           {"uint8_t", DType::uint8},
    {"uint16_t", DType::uint16},     {"uint32_t", DType::uint32},       {"int8_t", DType::int8},
    {"int16_t", DType::int16},       {"int32_t", DType::int32},         {"float", DType::float32},
    {"char", DType::int8},           {"short", DType::int16},           {"int", DType::int32},
};

void read_type(TextureUse& use) {
  for (const ScalarName& scalar : scalar_names) {
    if (!use.type.starts_with(scalar.name)) continue;
    const std::string_view rest = std::string_view(use.type).substr(scalar.name.size());
    if (!rest.empty() && rest != "1" && rest != "2" && rest != "4") continue;
    use.dtype = scalar.dtype;
    use.lanes = rest.empty() ? 1 : static_cast<unsigned>(rest[0] - '0');
    return;
  }
}

}  // namespace

std::vector<TextureUse> texture_uses(std::string_view text) {
  std::vector<TextureUse> uses;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::word) continue;
    std::optional<TextureUse> use = read_function(token.text);
    if (!use) continue;
    CxxTokens ahead = tokens;
    if (ahead.next().text == "<")
      for (CxxToken part = ahead.next(); part.kind == CxxToken::Kind::word; part = ahead.next())
        use->type += (use->type.empty() ? "" : " ") + std::string(part.text);
    read_type(*use);
    if (!use->dtype) use->type.clear();
    const auto is_same = [&](const TextureUse& other) { return other.text() == use->text(); };
    if (std::ranges::none_of(uses, is_same)) uses.push_back(std::move(*use));
  }
  return uses;
}

}  // namespace gpulua
