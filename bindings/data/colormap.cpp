#include "bindings/data/colormap.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/base/error.h"

namespace gpulua {

namespace {

// Evenly spaced colours, six hexadecimal digits each; between them they are interpolated. viridis, plasma, inferno and
// magma: S. van der Walt and N. Smith; cividis: J. Nunez and others, 2018; twilight: B. Bechtold (all CC0). cubehelix:
// the formula of D. Green, 2011. coolwarm and purplegreen: the formula of K. Moreland, 2009. phase: a circle of one
// lightness in Oklab, by B. Ottosson's formula. hot: a body that glows more and more.
constexpr NamedColormap maps[] = {
    {"cividis",
     "00224e00285b002e6a0433711a386f273e6e32436d3b496c434e6c4b546c52596d5a5f6e61656f686a716f7073757676"
     "7c7b788481798b8778938d789b9376a39a75aba072b3a670bbad6cc3b469ccba64d4c15fddc958e6d051efd748f8df3c"
     "fee838"},
    {"coolwarm",
     "3b4cc0445acc4e68d75875e16282ea6c8ef1779af782a5fb8db0fe98b9ffa3c2feaec9fdb8d0f9c2d5f4ccd9eed5dbe6"
     "dddddde5d8d1ecd3c6f1ccb9f5c4adf7bba0f7b194f7a687f49a7bf18d6fec7f63e57057de614cd55042cb3e38c0282f"
     "b40426"},
    {"cubehelix",
     "0000000c050e150b1d19132d1b1d3b192a4617374d15454e16534c1a5f46236a3e307237437731597a2f717b32897a3b"
     "a07949b4795dc47a74ce7d8ed483a7d48cbfd197d3cca5e2c7b3edc3c1f2c1cff3c4dcf2cae7f0d4efefe2f6f0f0fbf5"
     "ffffff"},
    {"gray",
     "000000"
     "ffffff"},
    {"hot",
     "0a0000"
     "5c0000"
     "ad0000"
     "ff0000"
     "ff5500"
     "ffaa00"
     "ffff00"
     "ffff80"
     "ffffff"},
    {"inferno",
     "0000040403120b0724150b37210c4a2e0a5a3c09654a0c6b57106d63146e70196e7d1e6d89226a962766a32b61af315c"
     "bb3755c63e4dd14644db4f3be35932eb6528f1711ef67f14f98d0afb9c06fcab0ffbba1ff9ca32f5d949f2e865f3f586"
     "fcffa4"},
    {"magma",
     "0000040303110a0822130d331d114628115a36106a430f7650127c5d177f691c817621818226818f2a819c2e7fa9327d"
     "b63779c33b75cf4170db486ae65163ee5c5ef5695cf9785dfb8761fd9668fea571feb47bfec387fed194fde0a2fceeb0"
     "fcfdbf"},
    {"phase",
     "df8073dd8364d98755d38c49cb923fc0983ab49e3ba6a34197a94c85ad5a73b1695eb47a48b68a30b69a14b6aa00b5b9"
     "05b2c625afd23dabdb53a6e367a2e77a9ce98b97e89a92e5a98ddfb589d6c185cbca81bfd27fb1d87da2dd7d92df7e83"
     "df8073"},
    {"plasma",
     "0d08872206903105963f049c4c02a15901a56600a77201a87e03a88909a69511a29f1a9ca92396b22c8ebb3587c33e80"
     "cb4778d25071d9596ae06263e66c5ceb7555f07f4ff48a48f89441fb9f3afdab33feb72dfdc328fcd025f9dd25f5eb27"
     "f0f921"},
    {"purplegreen",
     "6f278581318b923b91a24697b1529cbf5ea1cc6ba6d678aadf85afe792b4ec9fb8efabbef0b7c3efc2c9ebcccfe5d5d6"
     "ddddddcddadcbcd6d9abd1d59accce88c6c676c0bd66b9b155b1a546a99838a08a2c977b228e6c1b855d167b4f147240"
     "146832"},
    {"twilight",
     "e2d9e2d6d7ddc2ced4aac2cc94b4c781a6c37296c16886be6275ba5f63b55e50ac5d3da0592a8f511b7745135c381145"
     "3014373a113a4b134260184a751e4f882850993550a74550b25752bc6958c37d63c89073cca489d2b6a3d9c7bfdfd4d6"
     "e2d9e2"},
    {"viridis",
     "440154470d6048186a482374472d7b4536814240863f49893b528b375a8d33638d2f6a8e2c728e297a8e26818e23898e"
     "21908c1f988b1f9f8821a68528ae8031b57b3ebc744cc26c5dc9636ece5882d34c96d83fabdc32c0df24d5e21aeae51a"
     "fde725"},
};

std::uint8_t channel(std::string_view stops, std::size_t stop, std::size_t part) {
  const char* digits = stops.data() + 6 * stop + 2 * part;
  std::uint8_t value = 0;
  std::from_chars(digits, digits + 2, value, 16);
  return value;
}

}  // namespace

std::span<const NamedColormap> colormaps() {
  return maps;
}

Colormap make_colormap(std::string_view name) {
  const auto* map =
      std::find_if(std::begin(maps), std::end(maps), [&](const NamedColormap& row) { return row.name == name; });
  if (map == std::end(maps)) {
    std::string names;
    for (const NamedColormap& row : maps) names += (names.empty() ? "" : ", ") + std::string(row.name);
    throw Error("[colormap] expected one of {}, got \"{}\"", names, name);
  }

  Colormap colors;
  const std::size_t last = map->stops.size() / 6 - 1;
  for (std::size_t level = 0; level < colors.size(); ++level) {
    const double place = static_cast<double>(level * last) / 255;
    const std::size_t stop = std::min(level * last / 255, last - 1);
    for (std::size_t part = 0; part < 3; ++part) {
      const double from = channel(map->stops, stop, part), to = channel(map->stops, stop + 1, part);
      colors[level][part] =
          static_cast<std::uint8_t>(std::lround(from + (place - static_cast<double>(stop)) * (to - from)));
    }
  }
  return colors;
}

}  // namespace gpulua
