// Textures and surfaces: the functions of the "CUDA C++ Programming Guide", chapters "Texture Functions" and "Surface Functions", by the
// arithmetic of its chapter "Texture Fetching". A texture object is the address of a TextureRecord, which the library writes
// (cpu_textures.cpp). Elements are between others by weights of 8 fractional bits, as on a GPU.
#pragma once

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };

#define GPULUA_TEXEL __device__ __attribute__((always_inline)) inline

// ---- what a fetch returns: numbers, and vectors of 1, 2 or 4 of them -----------------------------------------------------------------

template <class T>
struct gpulua_texel;
#define GPULUA_TEXEL_OF(Scalar, vector)                                              \
  template <>                                                                        \
  struct gpulua_texel<Scalar> {                                                      \
    typedef Scalar scalar;                                                           \
    static constexpr int lanes = 1;                                                  \
    GPULUA_TEXEL static Scalar of(const Scalar* v) { return v[0]; }                  \
  };                                                                                 \
  template <>                                                                        \
  struct gpulua_texel<vector##1> {                                                   \
    typedef Scalar scalar;                                                           \
    static constexpr int lanes = 1;                                                  \
    GPULUA_TEXEL static vector##1 of(const Scalar* v) { return {v[0]}; }             \
  };                                                                                 \
  template <>                                                                        \
  struct gpulua_texel<vector##2> {                                                   \
    typedef Scalar scalar;                                                           \
    static constexpr int lanes = 2;                                                  \
    GPULUA_TEXEL static vector##2 of(const Scalar* v) { return {v[0], v[1]}; }       \
  };                                                                                 \
  template <>                                                                        \
  struct gpulua_texel<vector##4> {                                                   \
    typedef Scalar scalar;                                                           \
    static constexpr int lanes = 4;                                                  \
    GPULUA_TEXEL static vector##4 of(const Scalar* v) { return {v[0], v[1], v[2], v[3]}; } \
  };
GPULUA_TEXEL_OF(signed char, char)
GPULUA_TEXEL_OF(unsigned char, uchar)
GPULUA_TEXEL_OF(short, short)
GPULUA_TEXEL_OF(unsigned short, ushort)
GPULUA_TEXEL_OF(int, int)
GPULUA_TEXEL_OF(unsigned int, uint)
GPULUA_TEXEL_OF(float, float)
#undef GPULUA_TEXEL_OF
template <>
struct gpulua_texel<char> : gpulua_texel<signed char> {};

typedef gpulua::cpu::TextureRecord gpulua_texture;

template <class Scalar>
constexpr bool gpulua_is_float = false;
template <>
constexpr bool gpulua_is_float<float> = true;

// ---- one element ----------------------------------------------------------------------------------------------------------------------

/// The channels of the element `at` bytes from the first.
template <int lanes>
GPULUA_TEXEL void gpulua_load_texel(const gpulua_texture& t, long at, float* to) {
  const char* const from = t.texels + at;
  using Element = gpulua::cpu::TextureElement;
#define GPULUA_LOAD_TEXEL(element, expression)       \
  case Element::element:                             \
    for (int i = 0; i < lanes; ++i) to[i] = expression; \
    return;
  switch (t.element) {
    GPULUA_LOAD_TEXEL(float32, ((const float*)from)[i])
    GPULUA_LOAD_TEXEL(float16, (float)((const _Float16*)from)[i])
    GPULUA_LOAD_TEXEL(uint8, ((const unsigned char*)from)[i] / 255.0f)
    GPULUA_LOAD_TEXEL(int8, fmaxf(((const signed char*)from)[i] / 127.0f, -1.0f))
    GPULUA_LOAD_TEXEL(uint16, ((const unsigned short*)from)[i] / 65535.0f)
    GPULUA_LOAD_TEXEL(int16, fmaxf(((const short*)from)[i] / 32767.0f, -1.0f))
    default:
      return;
  }
}
template <int lanes, class Scalar>
GPULUA_TEXEL void gpulua_load_texel(const gpulua_texture& t, long at, Scalar* to) {
  const char* const from = t.texels + at;
  using Element = gpulua::cpu::TextureElement;
  switch (t.element) {
    GPULUA_LOAD_TEXEL(uint8, (Scalar)((const unsigned char*)from)[i])
    GPULUA_LOAD_TEXEL(int8, (Scalar)((const signed char*)from)[i])
    GPULUA_LOAD_TEXEL(uint16, (Scalar)((const unsigned short*)from)[i])
    GPULUA_LOAD_TEXEL(int16, (Scalar)((const short*)from)[i])
    GPULUA_LOAD_TEXEL(uint32, (Scalar)((const unsigned*)from)[i])
    GPULUA_LOAD_TEXEL(int32, (Scalar)((const int*)from)[i])
    default:
      return;
  }
#undef GPULUA_LOAD_TEXEL
}

// ---- positions ------------------------------------------------------------------------------------------------------------------------

/// The two elements around a position along an axis, and the second one's weight.
struct gpulua_neighbours {
  int first, second;
  float weight;
  bool has_first, has_second;
};

/// Those of `position` on an axis of n elements; where the filter is for points, twice the one that it lies on.
GPULUA_TEXEL gpulua_neighbours gpulua_find_neighbours(const gpulua_texture& t, float position, int n) {
  const bool between = t.linear;
  using Border = gpulua::cpu::TextureBorder;
  if (t.normalized_coordinates) {
    if (t.border == Border::wrap) {
      position -= floorf(position);
    } else if (t.border == Border::mirror) {
      const float whole = floorf(position);
      position -= whole;
      const float half = whole * 0.5f;
      if (half != floorf(half)) position = 1 - position;
    }
    position *= (float)n;
  }
  gpulua_neighbours result{0, 0, 0, true, true};
  if (between) position -= 0.5f;
  // NaN is the least position.
  const float whole = fminf(fmaxf(floorf(position), -2.0f), (float)n + 1);
  result.first = (int)whole;
  result.second = between ? result.first + 1 : result.first;
  if (between) {
    const float weight = rintf((position - whole) * 256) * (1.0f / 256);
    result.weight = weight >= 0 && weight <= 1 ? weight : 0;
  }
  if (t.border == Border::zero) {
    result.has_first = (unsigned)result.first < (unsigned)n;
    result.has_second = (unsigned)result.second < (unsigned)n;
  } else if (t.border == Border::wrap) {
    result.first = result.first < 0 ? result.first + n : result.first >= n ? result.first - n : result.first;
    result.second = result.second >= n ? result.second - n : result.second;
  }
  result.first = min(max(result.first, 0), n - 1);
  result.second = min(max(result.second, 0), n - 1);
  return result;
}

/// The element there, or zeros beyond the border.
template <int lanes, class Scalar>
GPULUA_TEXEL void gpulua_fetch(const gpulua_texture& t, long at, bool is_there, Scalar* to) {
  gpulua_load_texel<lanes>(t, at, to);
  for (int i = 0; i < lanes; ++i) to[i] = is_there ? to[i] : Scalar(0);
}

/// to = (1 - weight) to + weight other
template <int lanes>
GPULUA_TEXEL void gpulua_blend(float* to, const float* other, float weight) {
  for (int i = 0; i < lanes; ++i) to[i] = (1 - weight) * to[i] + weight * other[i];
}

template <int lanes>
GPULUA_TEXEL void gpulua_fetch_row(const gpulua_texture& t, long at, const gpulua_neighbours& x, bool is_there, float* to) {
  gpulua_fetch<lanes>(t, at + (long)x.first * t.texel_bytes, is_there && x.has_first, to);
  if (!t.linear) return;
  float right[lanes];
  gpulua_fetch<lanes>(t, at + (long)x.second * t.texel_bytes, is_there && x.has_second, right);
  gpulua_blend<lanes>(to, right, x.weight);
}

template <int lanes>
GPULUA_TEXEL void gpulua_fetch_slice(const gpulua_texture& t, long at, const gpulua_neighbours& x, const gpulua_neighbours& y, bool is_there,
                                     float* to) {
  gpulua_fetch_row<lanes>(t, at + (long)y.first * t.row_bytes, x, is_there && y.has_first, to);
  if (!t.linear) return;
  float below[lanes];
  gpulua_fetch_row<lanes>(t, at + (long)y.second * t.row_bytes, x, is_there && y.has_second, below);
  gpulua_blend<lanes>(to, below, y.weight);
}

/// Ends the launch where the kernel reads the texture by another function, or as another type, than it is made for.
template <class T>
GPULUA_TEXEL void gpulua_check_texture(const gpulua_texture& t, unsigned shape, const char* file, unsigned line) {
  using Texel = gpulua_texel<T>;
  if (t.shape != shape && (t.shape != (shape | gpulua::cpu::texture_in_rows) || shape == 1))
    gpulua_fail("the kernel reads the texture by a function for textures of another kind: see gpu.texture, dimensions and memory", file,
                line);
  constexpr bool is_float = gpulua_is_float<typename Texel::scalar>;
  const bool fits = is_float ? t.is_float : !t.is_float && sizeof(typename Texel::scalar) * Texel::lanes >= t.texel_bytes;
  if (t.channels != Texel::lanes || !fits)
    gpulua_fail("the kernel reads the texture as a type that its elements do not have: see gpu.texture, channels and read", file, line);
}

/// The element at a position. `dimensions` counts the axes that have positions; `layer` is the one along the last axis of layered textures.
template <class T, int dimensions>
GPULUA_TEXEL T gpulua_sample(cudaTextureObject_t object, unsigned shape, float x, float y, float z, int layer, const char* file,
                             unsigned line) {
  const gpulua_texture& t = *(const gpulua_texture*)object;
  gpulua_check_texture<T>(t, shape, file, line);
  using Texel = gpulua_texel<T>;
  constexpr int lanes = Texel::lanes;
  typename Texel::scalar result[lanes];
  const gpulua_neighbours along_x = gpulua_find_neighbours(t, x, t.width);
  gpulua_neighbours along_y{0, 0, 0, true, true}, along_z{0, 0, 0, true, true};
  if constexpr (dimensions > 1) along_y = gpulua_find_neighbours(t, y, t.height);
  if constexpr (dimensions > 2) along_z = gpulua_find_neighbours(t, z, t.depth);
  const long first = dimensions == 3 ? (long)along_z.first * t.slice_bytes : (long)min(max(layer, 0), t.depth - 1) * t.slice_bytes;
  if constexpr (gpulua_is_float<typename Texel::scalar>) {
    if constexpr (dimensions == 1) {
      gpulua_fetch_row<lanes>(t, first, along_x, true, result);
    } else {
      gpulua_fetch_slice<lanes>(t, first, along_x, along_y, along_z.has_first, result);
      if (dimensions == 3 && t.linear) {
        float behind[lanes];
        gpulua_fetch_slice<lanes>(t, (long)along_z.second * t.slice_bytes, along_x, along_y, along_z.has_second, behind);
        gpulua_blend<lanes>(result, behind, along_z.weight);
      }
    }
  } else {
    gpulua_fetch<lanes>(t, first + (long)along_y.first * t.row_bytes + (long)along_x.first * t.texel_bytes,
                        along_x.has_first && along_y.has_first && along_z.has_first, result);
  }
  return Texel::of(result);
}

// ---- the functions --------------------------------------------------------------------------------------------------------------------
// There are no mipmaps, so levels and gradients change nothing.

#define GPULUA_PLACE const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
#define GPULUA_FETCH(name, shape, dimensions, x, y, z, layer, ...)                                 \
  template <class T>                                                                               \
  GPULUA_TEXEL T name(cudaTextureObject_t object, __VA_ARGS__, GPULUA_PLACE) {                     \
    return gpulua_sample<T, dimensions>(object, shape, x, y, z, layer, file, line);                \
  }                                                                                                \
  template <class T>                                                                               \
  GPULUA_TEXEL void name(T* result, cudaTextureObject_t object, __VA_ARGS__, GPULUA_PLACE) {       \
    *result = gpulua_sample<T, dimensions>(object, shape, x, y, z, layer, file, line);             \
  }
GPULUA_FETCH(tex1D, 1, 1, x, 0, 0, 0, float x)
GPULUA_FETCH(tex1DLod, 1, 1, x, 0, 0, 0, float x, float)
GPULUA_FETCH(tex1DGrad, 1, 1, x, 0, 0, 0, float x, float, float)
GPULUA_FETCH(tex2D, 2, 2, x, y, 0, 0, float x, float y)
GPULUA_FETCH(tex2DLod, 2, 2, x, y, 0, 0, float x, float y, float)
GPULUA_FETCH(tex2DGrad, 2, 2, x, y, 0, 0, float x, float y, float2, float2)
GPULUA_FETCH(tex3D, 3, 3, x, y, z, 0, float x, float y, float z)
GPULUA_FETCH(tex3DLod, 3, 3, x, y, z, 0, float x, float y, float z, float)
GPULUA_FETCH(tex3DGrad, 3, 3, x, y, z, 0, float x, float y, float z, float4, float4)
GPULUA_FETCH(tex1DLayered, 1 | gpulua::cpu::texture_layered, 1, x, 0, 0, layer, float x, int layer)
GPULUA_FETCH(tex1DLayeredLod, 1 | gpulua::cpu::texture_layered, 1, x, 0, 0, layer, float x, int layer, float)
GPULUA_FETCH(tex1DLayeredGrad, 1 | gpulua::cpu::texture_layered, 1, x, 0, 0, layer, float x, int layer, float, float)
GPULUA_FETCH(tex2DLayered, 2 | gpulua::cpu::texture_layered, 2, x, y, 0, layer, float x, float y, int layer)
GPULUA_FETCH(tex2DLayeredLod, 2 | gpulua::cpu::texture_layered, 2, x, y, 0, layer, float x, float y, int layer, float)
GPULUA_FETCH(tex2DLayeredGrad, 2 | gpulua::cpu::texture_layered, 2, x, y, 0, layer, float x, float y, int layer, float2, float2)
#undef GPULUA_FETCH

/// The element x of a texture over memory of an array; zeros beyond it.
template <class T>
GPULUA_TEXEL T tex1Dfetch(cudaTextureObject_t object, int x, GPULUA_PLACE) {
  const gpulua_texture& t = *(const gpulua_texture*)object;
  using Texel = gpulua_texel<T>;
  gpulua_check_texture<T>(t, 1 | gpulua::cpu::texture_in_rows, file, line);
  typename Texel::scalar result[Texel::lanes];
  gpulua_fetch<Texel::lanes>(t, (long)min(max(x, 0), t.width - 1) * t.texel_bytes, (unsigned)x < (unsigned)t.width, result);
  return Texel::of(result);
}
template <class T>
GPULUA_TEXEL void tex1Dfetch(T* result, cudaTextureObject_t object, int x, GPULUA_PLACE) {
  *result = tex1Dfetch<T>(object, x, file, line);
}

// ---- surfaces: positions along x count bytes -----------------------------------------------------------------------------------------------

/// The address of a T, or null where `mode` has a read give zeros and a write do nothing.
template <class T>
GPULUA_TEXEL T* gpulua_surface_place(cudaSurfaceObject_t object, unsigned shape, int x, int y, int z, cudaSurfaceBoundaryMode mode,
                                     const char* file, unsigned line) {
  const gpulua_texture& s = *(const gpulua_texture*)object;
  if (s.shape != (shape | gpulua::cpu::texture_is_surface))
    gpulua_fail("the kernel uses the surface by a function for surfaces of another kind, or it is a texture: see t:surface()", file, line);
  const int last_x = s.width * (int)s.texel_bytes - (int)sizeof(T), last_y = s.height - 1, last_z = s.depth - 1;
  const bool is_inside = x >= 0 && x <= last_x && (unsigned)y <= (unsigned)last_y && (unsigned)z <= (unsigned)last_z;
  if (x % (int)sizeof(T) != 0)
    gpulua_fail("the position along x of a surface counts bytes, and is a multiple of the type's size: x * sizeof(float)", file, line);
  if (!is_inside) {
    if (mode == cudaBoundaryModeTrap)
      gpulua_fail("a position outside of the surface; cudaBoundaryModeZero or cudaBoundaryModeClamp allow it", file, line);
    if (mode == cudaBoundaryModeZero) return nullptr;
    x = min(max(x, 0), last_x);
    y = min(max(y, 0), last_y);
    z = min(max(z, 0), last_z);
  }
  return (T*)(s.texels + (long)z * s.slice_bytes + (long)y * s.row_bytes + x);
}

#define GPULUA_SURFACE(kind, shape, x, y, z, ...)                                                                               \
  template <class T>                                                                                                            \
  GPULUA_TEXEL T kind##read(cudaSurfaceObject_t object, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GPULUA_PLACE) { \
    const T* const place = gpulua_surface_place<T>(object, shape, x, y, z, mode, file, line);                                   \
    return place ? *place : T{};                                                                                                \
  }                                                                                                                             \
  template <class T>                                                                                                            \
  GPULUA_TEXEL void kind##read(T* result, cudaSurfaceObject_t object, __VA_ARGS__,                                              \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GPULUA_PLACE) {                             \
    *result = kind##read<T>(object, GPULUA_SURFACE_ARGUMENTS_##kind, mode, file, line);                                         \
  }                                                                                                                             \
  template <class T>                                                                                                            \
  GPULUA_TEXEL void kind##write(T value, cudaSurfaceObject_t object, __VA_ARGS__,                                               \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GPULUA_PLACE) {                            \
    T* const place = gpulua_surface_place<T>(object, shape, x, y, z, mode, file, line);                                         \
    if (place) *place = value;                                                                                                  \
  }
#define GPULUA_SURFACE_ARGUMENTS_surf1D x
#define GPULUA_SURFACE_ARGUMENTS_surf2D x, y
#define GPULUA_SURFACE_ARGUMENTS_surf3D x, y, z
#define GPULUA_SURFACE_ARGUMENTS_surf1DLayered x, layer
#define GPULUA_SURFACE_ARGUMENTS_surf2DLayered x, y, layer
GPULUA_SURFACE(surf1D, 1, x, 0, 0, int x)
GPULUA_SURFACE(surf2D, 2, x, y, 0, int x, int y)
GPULUA_SURFACE(surf3D, 3, x, y, z, int x, int y, int z)
GPULUA_SURFACE(surf1DLayered, 1 | gpulua::cpu::texture_layered, x, 0, layer, int x, int layer)
GPULUA_SURFACE(surf2DLayered, 2 | gpulua::cpu::texture_layered, x, y, layer, int x, int y, int layer)
#undef GPULUA_SURFACE
#undef GPULUA_PLACE
#undef GPULUA_TEXEL
