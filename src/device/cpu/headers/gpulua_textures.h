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
/// For host functions.
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

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

/// The channels of the element `at` bytes from the first; integers of 8 and 16 bits that are read as fractions are not divided yet.
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
    GPULUA_LOAD_TEXEL(uint8, (float)((const unsigned char*)from)[i])
    GPULUA_LOAD_TEXEL(int8, (float)((const signed char*)from)[i])
    GPULUA_LOAD_TEXEL(uint16, (float)((const unsigned short*)from)[i])
    GPULUA_LOAD_TEXEL(int16, (float)((const short*)from)[i])
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

/// What a kernel gets for elements or their blend: a float16, or a fraction of 16 bits.
template <int lanes>
GPULUA_TEXEL void gpulua_finish_read(const gpulua_texture& t, float* values) {
  using Element = gpulua::cpu::TextureElement;
#define GPULUA_FINISH_READ(element, expression)  \
  case Element::element:                         \
    for (int i = 0; i < lanes; ++i) {            \
      const float value = values[i];             \
      values[i] = expression;                    \
    }                                            \
    return;
  switch (t.element) {
    GPULUA_FINISH_READ(float16, (float)(_Float16)value)
    GPULUA_FINISH_READ(uint8, floorf(value * 257 + 0.5f) / 65535)
    GPULUA_FINISH_READ(uint16, floorf(value + 0.5f) / 65535)
    GPULUA_FINISH_READ(int8, fmaxf(t.linear ? floorf(value * (32767.0f / 127) + 0.5f) / 32767 : value / 127, -1.0f))
    GPULUA_FINISH_READ(int16, fmaxf(floorf(value + 0.5f) / 32767, -1.0f))
    default:
      return;
  }
#undef GPULUA_FINISH_READ
}

// ---- positions ------------------------------------------------------------------------------------------------------------------------
// What the documentation leaves open is as an H200 does it (tests/golden/textures).

/// The two elements around a position along an axis, and the second one's weight, of 256.
struct gpulua_neighbours {
  int first, second, weight;
  bool has_first, has_second;
};

/// i, on an axis of n elements which goes on with its mirror image, for 0 <= i < 2 n.
GPULUA_TEXEL int gpulua_mirrored(int i, int n) { return i < n ? i : 2 * n - 1 - i; }

/// Those of the position `at`, in elements, on an axis of n; where the filter is for points, twice the one that it lies on.
template <class Real>
GPULUA_TEXEL void gpulua_neighbours_at(const gpulua_texture& t, Real at, int n, gpulua_neighbours& result) {
  using Border = gpulua::cpu::TextureBorder;
  const bool repeats = t.border == Border::wrap || t.border == Border::mirror;
  if (t.linear) at -= Real(0.5);
  // NaN is the least position; beyond the border nothing changes.
  at = fmin(fmax(at, Real(-2)), Real(repeats ? 2 * n : n + 1));
  const Real whole = floor(at);
  result = {(int)whole, (int)whole, 0, true, true};
  if (t.linear) {
    ++result.second;
    result.weight = (int)((at - whole) * 256 + Real(0.5));
  }
  if (repeats) {
    result.first += result.first < 0 ? 2 * n : 0;
    result.second -= result.second >= 2 * n ? 2 * n : 0;
    if (t.border == Border::mirror) {
      result.first = gpulua_mirrored(result.first, n);
      result.second = gpulua_mirrored(result.second, n);
    } else {
      result.first -= result.first >= n ? n : 0;
      result.second -= result.second >= n ? n : 0;
    }
  } else if (t.border == Border::zero) {
    result.has_first = (unsigned)result.first < (unsigned)n;
    result.has_second = (unsigned)result.second < (unsigned)n;
  }
  result.first = min(max(result.first, 0), n - 1);
  result.second = min(max(result.second, 0), n - 1);
}

/// Those of a kernel's position. A normalized one has 21 fractional bits; images that repeat do so after 2, with the mirror image.
GPULUA_TEXEL void gpulua_find_neighbours(const gpulua_texture& t, float position, int n, gpulua_neighbours& result) {
  using Border = gpulua::cpu::TextureBorder;
  if (!t.normalized_coordinates) return gpulua_neighbours_at(t, position, n, result);
  constexpr double unit = 1 << 21;
  double units = floorf(position * (float)unit);
  if (t.border == Border::wrap || t.border == Border::mirror) units -= 2 * unit * floor(units / (2 * unit));
  gpulua_neighbours_at(t, units * n / unit, n, result);
}

/// The element there, or zeros beyond the border.
template <int lanes, class Scalar>
GPULUA_TEXEL void gpulua_fetch(const gpulua_texture& t, long at, bool is_there, Scalar* to) {
  gpulua_load_texel<lanes>(t, at, to);
  for (int i = 0; i < lanes; ++i) to[i] = is_there ? to[i] : Scalar(0);
}

/// The weights of the elements around a position, numbered with x in the lowest bit: integers whose sum is 256.
template <int dimensions>
GPULUA_TEXEL void gpulua_weigh(const gpulua_neighbours* axes, int* weights) {
  const int x = axes[0].weight;
  if constexpr (dimensions == 1) {
    weights[0] = 256 - x;
    weights[1] = x;
  } else {
    // The plane of x and y, or of x and z, whose parts y then divides.
    const int other = axes[dimensions - 1].weight, both = (x * other + 128) >> 8;
    const int parts[4] = {256 - x - other + both, x - both, other - both, both};
    if constexpr (dimensions == 2) {
      for (int i = 0; i < 4; ++i) weights[i] = parts[i];
    } else {
      for (int i = 0; i < 4; ++i) {
        const int below = (parts[i] * axes[1].weight + 127 + (i & 1)) >> 8;
        weights[(i & 1) + 2 * (i & 2)] = parts[i] - below;
        weights[(i & 1) + 2 * (i & 2) + 2] = below;
      }
    }
  }
}

/// The blend of the elements around a position, or the element that it lies on, `first` bytes from the first.
template <int dimensions, int lanes, class Scalar>
GPULUA_TEXEL void gpulua_blend(const gpulua_texture& t, const gpulua_neighbours* axes, long first, Scalar* to) {
  const long steps[3] = {(long)t.texel_bytes, (long)t.row_bytes, (long)t.slice_bytes};
  constexpr bool is_float = gpulua_is_float<Scalar>;
  if (!is_float || !t.linear) {
    bool is_there = true;
    for (int axis = 0; axis < dimensions; ++axis) {
      first += axes[axis].first * steps[axis];
      is_there = is_there && axes[axis].has_first;
    }
    return gpulua_fetch<lanes>(t, first, is_there, to);
  }
  if constexpr (is_float) {
    int weights[1 << dimensions];
    gpulua_weigh<dimensions>(axes, weights);
    for (int i = 0; i < lanes; ++i) to[i] = 0;
#pragma unroll
    for (int corner = 0; corner < 1 << dimensions; ++corner) {
      long at = first;
      bool is_there = true;
#pragma unroll
      for (int axis = 0; axis < dimensions; ++axis) {
        const bool is_second = corner >> axis & 1;
        at += (is_second ? axes[axis].second : axes[axis].first) * steps[axis];
        is_there = is_there && (is_second ? axes[axis].has_second : axes[axis].has_first);
      }
      float element[lanes];
      gpulua_fetch<lanes>(t, at, is_there, element);
      for (int i = 0; i < lanes; ++i) to[i] = fmaf((float)weights[corner] * (1.0f / 256), element[i], to[i]);
    }
  }
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
  gpulua_neighbours axes[dimensions];
  gpulua_find_neighbours(t, x, t.width, axes[0]);
  if constexpr (dimensions > 1) gpulua_find_neighbours(t, y, t.height, axes[1]);
  if constexpr (dimensions > 2) gpulua_find_neighbours(t, z, t.depth, axes[2]);
  // Layers before the first one are the last: their number has no sign.
  const long first = dimensions == 3 ? 0 : (long)min((unsigned)layer, (unsigned)t.depth - 1) * t.slice_bytes;
  typename Texel::scalar result[Texel::lanes];
  gpulua_blend<dimensions, Texel::lanes>(t, axes, first, result);
  if constexpr (gpulua_is_float<typename Texel::scalar>) gpulua_finish_read<Texel::lanes>(t, result);
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
  if constexpr (gpulua_is_float<typename Texel::scalar>) gpulua_finish_read<Texel::lanes>(t, result);
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
