// gpu.image: pictures as PNG files.

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "bindings/arrays/lua_array.h"
#include "bindings/data/colormap.h"
#include "bindings/data/data_parts.h"
#include "bindings/data/files.h"
#include "bindings/lua/state.h"
#include "src/expressions/transfer.h"
#include "src/files/host_file.h"
#include "src/files/png.h"

namespace gpulua {

namespace {

struct SaveOptions {
  std::optional<Colormap> colormap;
  std::optional<double> min, max;
};

SaveOptions check_save_options(lua_State* L, int index) {
  constexpr const char* op = "image.save";
  SaveOptions options;
  const auto finite = [&](int value) {
    const double number = check_number(L, value, op, "a number for min and max");
    if (!std::isfinite(number)) fail(op, "a finite number for min and max", L, value);
    return number;
  };
  const auto colormap = [&](int value) {
    return make_colormap(check_string(L, value, op, "the name of a colour map"));
  };
  read_options(L, index, op,
               {{"colormap", [&](int value) { options.colormap = colormap(value); }},
                {"min", [&](int value) { options.min = finite(value); }},
                {"max", [&](int value) { options.max = finite(value); }}});
  if ((options.min || options.max) && !options.colormap)
    throw Error("[image.save] expected a colormap with min and max, got none");
  if (options.min && options.max && !(*options.min < *options.max))
    throw Error("[image.save] expected min below max, got {} and {}", to_string(*options.min), to_string(*options.max));
  return options;
}

/// Downloads the pixels as real numbers.
std::vector<double> read_values(Node& array) {
  std::vector<char> bytes(array.nbytes());
  download(array, bytes.data());
  std::vector<double> values(static_cast<std::size_t>(array.layout.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::visit(
        [](auto value) -> double {
          if constexpr (std::is_same_v<decltype(value), std::complex<double>>)
            return std::numeric_limits<double>::quiet_NaN();
          else
            return static_cast<double>(value);
        },
        decode(array.dtype, bytes.data() + i * array.itemsize()));
  return values;
}

/// Colours the values: RGB pixels, or RGBA pixels when a value is NaN, which becomes transparent. The default bounds
/// are the least and the greatest finite value.
void color(Picture& picture, const std::vector<double>& values, const SaveOptions& options) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  low = options.min.value_or(low);
  high = options.max.value_or(high);
  const bool has_nan = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  picture.channels = has_nan ? 4 : 3;
  std::vector<char>& pixels = picture.samples;
  pixels.reserve(values.size() * static_cast<std::size_t>(picture.channels));
  for (double value : values) {
    if (std::isnan(value)) {
      pixels.insert(pixels.end(), 4, '\0');
      continue;
    }
    // 0 also when all values are equal or none is finite.
    const double place = value > low && low < high ? std::min((value - low) / (high - low), 1.0) : 0;
    const auto& rgb = (*options.colormap)[static_cast<std::size_t>(std::lround(place * 255))];
    pixels.insert(pixels.end(), rgb.begin(), rgb.end());
    if (has_nan) pixels.push_back('\xff');
  }
}

/// The hint how to convert an array that is not a picture.
std::string pixels_hint(Node& array, bool colormap) {
  const Dims& shape = array.layout.shape;
  const auto is_channels = [](std::int64_t extent) { return extent == 3 || extent == 4; };
  if (shape.size() == 2) {
    if (colormap) return "";
    const char* const bytes = info(array.dtype).kind == DTypeKind::floating
                                  ? ", (x * 255):clip(0, 255):astype(\"uint8\") makes greys of numbers from 0 to 1"
                                  : "";
    return std::string("; {colormap=\"viridis\"} draws numbers of any real dtype") + bytes;
  }
  if (shape.size() != 3) return "";
  if (is_channels(shape[0]) && !is_channels(shape[2])) return "; x:permute(2, 3, 1) puts the channels last";
  if (!is_channels(shape[2])) return "";
  if (colormap) return "; colours of its own are saved without a colormap";
  return array.dtype == DType::uint8
             ? ""
             : "; (x * 255):clip(0, 255):astype(\"uint8\") makes bytes of numbers from 0 to 1, x:astype(\"uint8\") "
               "of numbers from 0 to 255";
}

void check_pixels(Node& array, bool colormap) {
  const Dims& shape = array.layout.shape;
  const bool plane = shape.size() == 2;
  const bool channels = shape.size() == 3 && (shape[2] == 3 || shape[2] == 4);
  const bool fits = colormap ? plane && info(array.dtype).kind != DTypeKind::complex
                             : (plane || channels) && array.dtype == DType::uint8;
  constexpr std::int64_t most = 2147483647;  // rows and columns of a PNG file
  if (fits && shape[0] > 0 && shape[1] > 0 && shape[0] <= most && shape[1] <= most) return;
  if (shape.size() >= 2 && shape.size() <= 3 && array.layout.size() == 0)
    throw Error("[image.save] expected a picture of at least one pixel, got {}", type_text(array));
  throw Error("[image.save] expected {}, got {}{}",
              colormap ? "real numbers of shape (height,width)"
                       : "uint8 of shape (height,width), (height,width,3) or (height,width,4)",
              type_text(array), pixels_hint(array, colormap));
}

/// gpu.image.save(path, x [, {colormap, min, max}])
/// Returns true.
int save_image(lua_State* L) {
  constexpr const char* op = "image.save";
  if (test<Array>(L, 1)) fail(op, "the path first, gpu.image.save(path, x)", L, 1);
  const std::string path(check_string(L, 1, op, "the path of a file"));
  const Array array = check<Array>(L, 2, op);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty() && ending != ".png" && ending != ".PNG") fail(op, "a path that ends in .png", L, 1);
  const SaveOptions options = check_save_options(L, 3);
  check_pixels(*array, options.colormap.has_value());

  const Dims& shape = array->layout.shape;
  Picture picture{shape[0], shape[1], 1, {}};
  if (options.colormap) {
    color(picture, read_values(*array), options);
  } else {
    picture.samples.resize(array->nbytes());
    download(*array, picture.samples.data());
    if (shape.size() == 3) picture.channels = static_cast<int>(shape[2]);
  }
  save_png(path, picture);
  lua_pushboolean(L, 1);
  return 1;
}

/// gpu.image.load(path)
/// An array of uint8, or of uint16 for 16 bits per sample, of shape (height,width) for gray pictures, else
/// (height,width,channels); nil and a message when the file cannot be opened.
int load_image(lua_State* L) {
  constexpr const char* op = "image.load";
  const std::string path(check_string(L, 1, op, "the path of a file"));
  return or_file_failure(L, [&] {
    push_array(L, read_png(FileBytes(op, path).bytes(), bindings_of(L).device(), path));
    return 1;
  });
}

/// colormaps(): the colours of each map by its name, evenly spaced ones in a string of six hexadecimal digits each.
int all_colormaps(lua_State* L) {
  lua_newtable(L);
  for (const NamedColormap& map : colormaps()) {
    lua_pushlstring(L, map.name.data(), map.name.size());
    lua_pushlstring(L, map.stops.data(), map.stops.size());
    lua_rawset(L, -3);
  }
  return 1;
}

/// colormap(name): red, green and blue of its 256 levels, a byte each.
int colormap_levels(lua_State* L) {
  const Colormap map = make_colormap(check_string(L, 1, "colormap", "the name of a colour map"));
  lua_pushlstring(L, reinterpret_cast<const char*>(map.data()), sizeof map);
  return 1;
}

}  // namespace

void add_colormaps(lua_State* L) {
  set_functions(L, {{"colormap", protect<colormap_levels>}, {"colormaps", protect<all_colormaps>}});
}

void open_images(lua_State* L) {
  lua_newtable(L);
  set_functions(L, {{"save", protect<save_image>}, {"load", protect<load_image>}});
  lua_setfield(L, -2, "image");
}

}  // namespace gpulua
