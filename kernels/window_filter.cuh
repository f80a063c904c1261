// Filters: what the neighbours of each element in a window give. An array is planes of `rows` lines, and a line is `columns` times
// `inner` elements. A window has `high` rows, `above` of them before the element, and `wide` columns, `left` of them before it. A
// thread has a position in a line and goes down the rows, so what neighbouring threads read lies side by side. Beyond the borders
// an index says which element stands there; only blocks at the edge ask for it.

// What is beyond the borders, as WindowBorder in src/algorithms/window_filter.h: a, b, c, d is continued by
enum gpulua_border {
  gpulua_border_reflect,   // d, c, b, a
  gpulua_border_mirror,    // c, b, a, b
  gpulua_border_nearest,   // d, d, d, d
  gpulua_border_wrap,      // a, b, c, d
  gpulua_border_constant,  // a number
};

// The index of the element that stands at i, which is beyond the borders; -1 for a number.
#ifdef GPULUA_CPU
#define GPULUA_RARE inline
#else
#define GPULUA_RARE __noinline__
#endif
__device__ GPULUA_RARE int gpulua_index_beyond(int i, int extent, int border) {
  if (border == gpulua_border_constant) return -1;
  if (border == gpulua_border_nearest) return i < 0 ? 0 : extent - 1;
  const int last = border == gpulua_border_reflect ? 2 * extent - 1 : 2 * extent - 2;
  const int period = border == gpulua_border_wrap ? extent : border == gpulua_border_reflect ? last + 1 : last > 0 ? last : 1;
  if (i < -period || i >= 2 * period) i %= period;
  if (i < 0) i += period;
  if (i >= period) i -= period;
  return i < extent ? i : last - i;
}
#undef GPULUA_RARE

// The same for any i.
__device__ inline int gpulua_border_index(int i, int extent, int border) {
  return (unsigned int)i < (unsigned int)extent ? i : gpulua_index_beyond(i, extent, border);
}

// The block's part of the array, and the thread's: `height` rows of `threads` positions of a plane.
struct gpulua_window_strip {
  int rows, columns, inner, line, border, height;
  long long plane;
  int row, first;        // the block's first row, and its first position in a line
  int position, column;  // the thread's
  bool outside;          // the thread has none of its own

  __device__ gpulua_window_strip(int rows_, int columns_, int inner_, int border_, int height_)
      : rows(rows_), columns(columns_), inner(inner_), line(columns * inner), border(border_), height(height_) {
    const int threads = blockDim.x;
    const long long across = (line + threads - 1) / threads, down = (rows + height - 1) / height;
    const long long strip = blockIdx.x / across;
    plane = strip / down;
    row = (int)(strip - plane * down) * height;
    first = (int)(blockIdx.x - strip * across) * threads;
    position = first + (int)threadIdx.x;
    outside = position >= line;
    if (outside) position = line - 1;
    column = position / inner;
  }

  // Whether an element of the block, or one of the neighbours, is beyond a border. `walked`: the rows that a thread reads.
  __device__ bool has_borders(int above, int left, int wide, int walked) const {
    return row < above || row - above + walked > rows || first < left * inner ||
           first + (int)blockDim.x + (wide - 1 - left) * inner > line;
  }

  // The neighbour that is `by` columns from `own`, the thread's position in a row. Threads whose neighbour is there read what lies
  // side by side, without an index.
  template <bool borders, class T, class From>
  __device__ T neighbour(const From* own, int by, int near, T beyond) const {
    if (borders && (unsigned int)(column + by) >= (unsigned int)columns) {
      const int index = gpulua_index_beyond(column + by, columns, border);
      return index < 0 ? beyond : gpulua_convert<T>::from(own[(index - column) * near]);
    }
    return gpulua_convert<T>::from(own[by * near]);
  }

  // Writes the element that is `down` rows below the first, if it is the thread's.
  template <bool borders, class T>
  __device__ void write(T* y, int down, T value) const {
    if (down < 0 || down >= height || (borders && (outside || row + down >= rows))) return;
    y[(plane * rows + row + down) * line + position] = value;
  }
};

// The neighbours of a thread's position in a row, as elements of T, from `left` columns before it on. `plane`: the rows' first
// element. `near`: the array's `inner`, or 0 for any.
template <bool borders, int near, class T, int wide, class From>
__device__ inline void gpulua_window_row(T (&to)[wide], const From* plane, const gpulua_window_strip& strip, int row, int left,
                                         T beyond) {
  if (borders) row = gpulua_border_index(row, strip.rows, strip.border);
  const From* const own = plane + ((long long)row * strip.line + strip.position);
#pragma unroll
  for (int j = 0; j < wide; ++j) {
    to[j] = beyond;
    if (!borders || row >= 0) to[j] = strip.template neighbour<borders>(own, j - left, near > 0 ? near : strip.inner, beyond);
  }
}

// How many rows of a window a thread loads before it uses them. Each has a copy of the code.
template <bool borders>
constexpr int gpulua_window_ahead(int count) {
#ifdef GPULUA_CPU
  return 1;
#else
  return borders || count > 100 ? 1 : count > 32 ? 2 : 4;
#endif
}

// ---- sums of products
// ----------------------------------------------------------------------------------------------------------------

// The weights as all threads of a block read them again and again.
template <int count, class T>
__device__ inline const T* gpulua_window_weights(const T* weights) {
#ifdef GPULUA_CPU
  return weights;
#else
  __shared__ alignas(16) T own[count];
  for (int i = threadIdx.x; i < count; i += blockDim.x) own[i] = weights[i];
  __syncthreads();
  return own;
#endif
}

// What is read again afterwards is not kept in registers, where they are few.
__device__ inline void gpulua_window_refresh() {
#ifndef GPULUA_CPU
  __syncwarp();
#endif
}

// A row that is read takes part in the sums of `high` elements below each other. A sum has the order of the weights.
template <bool borders, int high, int wide, int near, class From, class T>
__device__ inline void gpulua_window_sum_rows(const From* plane, const T* weights, T* y, const gpulua_window_strip& strip,
                                              int above, int left, T beyond) {
  constexpr int ahead = gpulua_window_ahead<borders>(high * wide);
  T sums[high] = {};  // of elements that lack rows, the upper first
  for (int i = 0; i < strip.height + high - 1; i += ahead) {
    gpulua_window_refresh();
    T row[ahead][wide], done[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) gpulua_window_row<borders, near>(row[k], plane, strip, strip.row - above + i + k, left, beyond);
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
#pragma unroll
      for (int r = 0; r < high; ++r) {
        T sum = sums[r];
#pragma unroll
        for (int j = 0; j < wide; ++j) sum = fma(weights[(high - 1 - r) * wide + j], row[k][j], sum);
        if (r == 0)
          done[k] = sum;
        else
          sums[r - 1] = sum;
      }
    }
#pragma unroll
    for (int k = 0; k < ahead; ++k) strip.template write<borders>(y, i + k - (high - 1), done[k]);
  }
}

template <class From, class T, int high, int wide, int near>
__device__ inline void gpulua_window_sums(const From* x, const T* weights, T* y, int rows, int columns, int inner, int above,
                                          int left, int border, double number, int height) {
  const T beyond = (T)number;
  const gpulua_window_strip strip(rows, columns, inner, border, height);
  const From* const plane = x + strip.plane * rows * strip.line;
  const T* const own = gpulua_window_weights<high * wide>(weights);
  if (strip.has_borders(above, left, wide, height + high - 1 + gpulua_window_ahead<false>(high * wide) - 1))
    gpulua_window_sum_rows<true, high, wide, near>(plane, own, y, strip, above, left, beyond);
  else
    gpulua_window_sum_rows<false, high, wide, near>(plane, own, y, strip, above, left, beyond);
}

// ---- windows of any size
// ----------------------------------------------------------------------------------------------------------------

// A sum of products, from the first neighbour to the last.
template <class T>
struct gpulua_weighted_sum {
  using Held = T;
  const T* weights;
  T weight;
  __device__ static T begin() { return T(0); }
  __device__ static T hold(T x) { return x; }
  // Goes to the next neighbour, and gives whether it counts.
  __device__ bool next() {
    weight = *weights++;
    return true;
  }
  __device__ void add(T& sum, T x) const { sum = fma(weight, x, sum); }
  __device__ static T result(T sum) { return sum; }
};

// Such a window may have several planes, too: `deep` of the `depth` that lie behind each other. A thread has the strip's elements,
// which are `height`. `tall`: the window has one column, whose elements a thread reads once for all of its own. Term: as
// gpulua_weighted_sum.
template <bool borders, bool tall, int height, class T, class From, class To, class Term>
__device__ inline void gpulua_window_elements(const From* x, To* y, Term term, const gpulua_window_strip& strip, int depth,
                                              int before, int deep, int high, int wide, int above, int left, T beyond) {
  using Held = typename Term::Held;
  constexpr int unrolled = gpulua_window_ahead<borders>(height);
  const int behind = (int)(strip.plane % depth), first = strip.row - above;
  Held held[height];
#pragma unroll
  for (int t = 0; t < height; ++t) held[t] = Term::begin();
  for (int p = 0; p < deep; ++p) {
    int plane = behind + p - before;
    if (borders) plane = gpulua_border_index(plane, depth, strip.border);
    const From* const from = x + ((strip.plane - behind + plane) * strip.rows * strip.line + strip.position);
    const auto row_of = [&](int row) {
      return !borders ? row : plane < 0 ? -1 : gpulua_border_index(row, strip.rows, strip.border);
    };
    const auto read = [&](int row, int by) {
      if (borders && row < 0) return Term::hold(beyond);
      return Term::hold(strip.template neighbour<borders>(from + (long long)row * strip.line, by, strip.inner, beyond));
    };
    if constexpr (tall) {
      Held column[height];
#pragma unroll
      for (int t = 1; t < height; ++t) column[t] = read(row_of(first + t - 1), 0);
#pragma unroll unrolled
      for (int r = 0; r < high; ++r) {
#pragma unroll
        for (int t = 1; t < height; ++t) column[t - 1] = column[t];
        column[height - 1] = read(row_of(first + r + height - 1), 0);
        if (!term.next()) continue;
#pragma unroll
        for (int t = 0; t < height; ++t) term.add(held[t], column[t]);
      }
    } else {
      for (int r = 0; r < high; ++r) {
        int row[height];
#pragma unroll
        for (int t = 0; t < height; ++t) row[t] = row_of(first + r + t);
#pragma unroll unrolled
        for (int j = 0; j < wide; ++j) {
          if (!term.next()) continue;
#pragma unroll
          for (int t = 0; t < height; ++t) term.add(held[t], read(row[t], j - left));
        }
      }
    }
  }
#pragma unroll
  for (int t = 0; t < height; ++t) strip.template write<borders>(y, t, gpulua_convert<To>::from(Term::result(held[t])));
}

template <bool tall, int height, class T, class From, class To, class Term>
__device__ inline void gpulua_window_of_any_size(const From* x, To* y, const Term& term, int rows, int columns, int inner,
                                                 int above, int left, int border, T beyond, int depth, int before, int deep,
                                                 int high, int wide) {
  const gpulua_window_strip strip(rows, columns, inner, border, height);
  const int behind = (int)(strip.plane % depth);
  if (behind < before || behind - before + deep > depth || strip.has_borders(above, left, wide, height + high - 1))
    gpulua_window_elements<true, tall, height>(x, y, term, strip, depth, before, deep, high, wide, above, left, beyond);
  else
    gpulua_window_elements<false, tall, height>(x, y, term, strip, depth, before, deep, high, wide, above, left, beyond);
}

template <class From, class T, bool tall, int height>
__device__ inline void gpulua_window_sums_of_any(const From* x, const T* weights, T* y, int rows, int columns, int inner, int above,
                                                 int left, int border, double beyond, int depth, int before, int deep, int high,
                                                 int wide) {
  gpulua_window_of_any_size<tall, height>(x, y, gpulua_weighted_sum<T>{weights, T(0)}, rows, columns, inner, above, left, border,
                                          (T)beyond, depth, before, deep, high, wide);
}
