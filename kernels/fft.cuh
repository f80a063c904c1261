// Discrete Fourier transforms of rows of complex numbers whose length has no prime factor above 13, in place: decimation in time
// (J. W. Cooley and J. W. Tukey, 1965), or in frequency, one pass for each factor. A block transforms W neighbouring rows side by
// side. Its memory has the real parts and then the imaginary ones, element by element, the W rows next to each other. So lanes meet
// neighbours in memory. On a core, a block has 32 rows, in groups of as many as a cache line has numbers: a group's memory is small,
// but memory is read and written along 32 rows. There a lane has a row of each group, so that all lanes have the same twiddle factors.

// The memory of a block, or of a group of its rows, and the thread's part in it.
template <class R, bool core>
struct gpulua_fft_rows {
  static constexpr int of_group = 64 / sizeof(R);  // rows, on a core

  R *re, *im;
  int W;      // rows
  int slots;  // elements of a row
  int last;   // the last row that there is, from `row` = 0 on
  int row, column;  // the thread's, and its place among the W
  int first, step;  // its elements, or groups of them

  __device__ gpulua_fft_rows(R* memory, int width, int slots_, int last_)
      : re(memory), W(core ? of_group : width), slots(slots_), last(last_) {
    im = re + lines(slots) * W;
    row = column = core ? (int)threadIdx.x : (int)threadIdx.x % W;
    first = core ? 0 : (int)threadIdx.x / W;
    step = core ? 1 : (int)blockDim.x / W;
  }
  // The number of groups that have rows.
  __device__ int groups() const { return core ? last / of_group + 1 : 1; }
  __device__ gpulua_fft_rows group(int number) const {
    gpulua_fft_rows result = *this;
    result.re += number * 2 * lines(slots) * W, result.im += number * 2 * lines(slots) * W;
    result.row += number * W;
    return result;
  }
  __device__ bool exists() const { return row <= last; }
  // On a core, rows that all exist are read and written without masks.
  __device__ bool has_whole(int group) const { return core && (group + 1) * of_group <= last + 1; }
  // On a core, a line of the cache is left out after 32 elements: otherwise those that a pass combines, which are powers of 2 apart,
  // would have the same place in the cache.
  __device__ static int lines(int elements) { return core ? elements + elements / 32 : elements; }
  __device__ R& re_at(int place, int its_column) const { return re[lines(place) * W + its_column]; }
  __device__ R& im_at(int place, int its_column) const { return im[lines(place) * W + its_column]; }
  __device__ gpulua_point<R> get(int place) const { return {re_at(place, column), im_at(place, column)}; }
  __device__ void set(int place, gpulua_point<R> x) const { re_at(place, column) = x.re, im_at(place, column) = x.im; }
  // The parts exchanged: the transform of such numbers is the inverse of the numbers, without the division by n.
  __device__ gpulua_fft_rows exchanged() const {
    gpulua_fft_rows result = *this;
    result.re = im, result.im = re;
    return result;
  }
  __device__ static void wait() {
    if constexpr (core)
      __syncwarp();
    else
      __syncthreads();
  }
};

template <class R>
__device__ inline gpulua_point<R> gpulua_point_of(const R* table, long long at) {
  return {table[2 * at], table[2 * at + 1]};
}

// One pass over n numbers. In time: transforms of `length` numbers become those of `radix` times as many. In frequency: the same
// the other way around, with the same twiddle factors. roots[k] = exp(-2 pi i k / n).
template <int radix, bool in_time, class R, bool core>
__device__ inline void gpulua_fft_pass(const gpulua_fft_rows<R, core>& rows, const R* roots, int n, int length) {
  const int groups = n / radix, stretch = groups / length;
  int j = rows.first % length, base = rows.first / length * length * radix;
  for (int group = rows.first; group < groups; group += rows.step) {
    gpulua_point<R> x[radix];
#pragma unroll
    for (int k = 0; k < radix; ++k) x[k] = rows.get(base + j + k * length);
    if (!in_time) gpulua_butterfly<radix, R>::run(x);
    if (j > 0) {
#pragma unroll
      for (int k = 1; k < radix; ++k) x[k] = gpulua_times(x[k], gpulua_point_of(roots, j * k * stretch));
    }
    if (in_time) gpulua_butterfly<radix, R>::run(x);
#pragma unroll
    for (int k = 0; k < radix; ++k) rows.set(base + j + k * length, x[k]);
    if (rows.step == 1) {
      if (++j == length) j = 0, base += length * radix;
    } else {
      j = (group + rows.step) % length, base = (group + rows.step) / length * length * radix;
    }
  }
}

// `radices`: those that the passes have, four bits each.
template <unsigned radices, bool in_time, class R, bool core>
__device__ inline void gpulua_fft_pass_of(int radix, const gpulua_fft_rows<R, core>& rows, const R* roots, int n, int length) {
  constexpr unsigned others = radices >> 4;
  if (others == 0 || radix == (int)(radices & 15))
    gpulua_fft_pass<(int)(radices & 15), in_time>(rows, roots, n, length);
  else if constexpr (others != 0)
    gpulua_fft_pass_of<others, in_time>(radix, rows, roots, n, length);
}

// All passes. `factors`: four bits each, from the pass of length 1 on. In time, element i is at places[i] before; in frequency,
// element i of the result is there afterwards.
template <unsigned radices, bool in_time, class R, bool core>
__device__ inline void gpulua_fft_passes(const gpulua_fft_rows<R, core>& rows, const R* roots, int n, long long factors) {
  if (in_time) {
    for (int length = 1; factors != 0; factors >>= 4) {
      gpulua_fft_pass_of<radices, true>((int)(factors & 15), rows, roots, n, length);
      length *= (int)(factors & 15);
      rows.wait();
    }
  } else {
    int length = n, bits = 0;
    while (factors >> bits > 15) bits += 4;
    for (; bits >= 0; bits -= 4) {
      const int radix = (int)(factors >> bits & 15);
      length /= radix;
      gpulua_fft_pass_of<radices, false>(radix, rows, roots, n, length);
      rows.wait();
    }
  }
}

// exp(-2 pi i e / N), the product of a root from each table: coarse[e >> bits] and fine[e % 2^bits].
template <class R>
__device__ inline gpulua_point<R> gpulua_root(const R* coarse, const R* fine, int bits, long long e) {
  return gpulua_times(gpulua_point_of(coarse, e >> bits), gpulua_point_of(fine, e & ((1LL << bits) - 1)));
}

// How rows lie in memory: the elements of a row are neighbours, on a core also such that the starts of rows compete for the same lines
// of the cache; or the first elements of neighbouring rows are neighbours; or neither.
enum { gpulua_fft_along, gpulua_fft_along_competing, gpulua_fft_across, gpulua_fft_apart };

// Reads `count` elements of each row of the block to place(i).
template <int layout, class R, bool core, class Place>
__device__ inline void gpulua_fft_read(const gpulua_fft_rows<R, core>& block, const R* in, int count, long long step,
                                       long long to_row, Place place) {
  if constexpr (layout > gpulua_fft_along_competing) {
    const long long distance = layout == gpulua_fft_across ? 1 : to_row;
    for (int i = block.first; i < count; i += block.step)
      for (int g = 0; g < block.groups(); ++g) {
        const gpulua_fft_rows<R, core> rows = block.group(g);
        if (block.has_whole(g))
          rows.set(place(i), gpulua_point_of(in + 2 * i * step, rows.row * distance));
        else if (rows.exists())
          rows.set(place(i), gpulua_point_of(in + 2 * i * step, rows.row * distance));
      }
  } else if constexpr (!core) {  // neighbouring threads read neighbours
    for (int f = threadIdx.x; f < count * (block.last + 1); f += blockDim.x) {
      const int row = f / count, i = f % count, to = place(i);
      const gpulua_point<R> x = gpulua_point_of(in + 2 * row * to_row, i);
      block.re_at(to, row) = x.re, block.im_at(to, row) = x.im;
    }
  } else {
    for (int g = 0; g < block.groups(); ++g) {
      const gpulua_fft_rows<R, core> rows = block.group(g);
      if constexpr (layout == gpulua_fft_along_competing) {
        __syncwarp();
        for (int i = threadIdx.x; i < count; i += rows.W)
          for (int k = 0; k < rows.W && g * rows.W + k <= rows.last; ++k) {
            const gpulua_point<R> x = gpulua_point_of(in + 2 * (g * rows.W + k) * to_row, i);
            rows.re_at(place(i), k) = x.re, rows.im_at(place(i), k) = x.im;
          }
        __syncwarp();
      } else if (rows.exists()) {
        const R* const from = in + 2 * rows.row * to_row;
        for (int i = 0; i < 2 * count; ++i)
          (i % 2 ? rows.im : rows.re)[rows.lines(place(i / 2)) * rows.W + rows.column] = from[i];
      }
    }
  }
}

// Writes elements 0 to count - 1 of each row of the block.
template <int layout, class R, bool core>
__device__ inline void gpulua_fft_write(const gpulua_fft_rows<R, core>& block, R* out, int count, long long step,
                                        long long to_row) {
  const int W = block.W;
  if constexpr (layout > gpulua_fft_along_competing) {
    const long long distance = layout == gpulua_fft_across ? 1 : to_row;
    for (int i = block.first; i < count; i += block.step)
      for (int g = 0; g < block.groups(); ++g) {
        const gpulua_fft_rows<R, core> rows = block.group(g);
        R* const to = out + 2 * (i * step + rows.row * distance);
        if (block.has_whole(g))
          to[0] = rows.get(i).re, to[1] = rows.get(i).im;
        else if (rows.exists())
          to[0] = rows.get(i).re, to[1] = rows.get(i).im;
      }
  } else if constexpr (!core) {
    for (int f = threadIdx.x; f < count * (block.last + 1); f += blockDim.x) {
      const int row = f / count, i = f % count;
      R* const to = out + 2 * (row * to_row + i);
      to[0] = block.re_at(i, row), to[1] = block.im_at(i, row);
    }
  } else {
    for (int g = 0; g < block.groups(); ++g) {
      const gpulua_fft_rows<R, core> rows = block.group(g);
      if constexpr (layout == gpulua_fft_along_competing) {
        __syncwarp();
        for (int i = threadIdx.x; i < count; i += W)
          for (int k = 0; k < W && g * W + k <= rows.last; ++k) {
            R* const to = out + 2 * (g * W + k) * to_row;
            to[2 * i] = rows.re_at(i, k), to[2 * i + 1] = rows.im_at(i, k);
          }
        __syncwarp();
      } else if (rows.exists()) {
        R* const to = out + 2 * rows.row * to_row;
        for (int i = 0; i < 2 * count; ++i) to[i] = (i % 2 ? rows.im : rows.re)[rows.lines(i / 2) * W + rows.column];
      }
    }
  }
}

// The elements k and h - k of the transform X of 2 h real numbers from those of the transform Z of the h complex numbers that they
// are in memory: X[k] is the transform of the even elements, plus exp(-2 pi i k / 2 h) times that of the odd ones. `root` is that
// factor. With `join`, the elements of Z, doubled, from those of X.
template <class R>
__device__ inline void gpulua_halves(gpulua_point<R>& x, gpulua_point<R>& y, gpulua_point<R> root, bool join) {
  const R half = join ? R(1) : R(0.5), sign = join ? R(1) : R(-1);
  const gpulua_point<R> mirrored{y.re, -y.im}, turned{root.im, sign * root.re};
  const gpulua_point<R> even = gpulua_plus(x, mirrored), odd = gpulua_times(gpulua_minus(x, mirrored), turned);
  const gpulua_point<R> a = gpulua_plus(even, odd), b = gpulua_minus(even, odd);
  x = {half * a.re, half * a.im};
  y = {half * b.re, -half * b.im};
}

// The same for rows in a block's memory, with one element more than h. place(k): of element k < h.
template <class R, bool core, class Place>
__device__ inline void gpulua_fft_halves_of_rows(const gpulua_fft_rows<R, core>& rows, const R* coarse, const R* fine, int bits,
                                                 int h, bool join, Place place) {
  for (int k = rows.first; k <= h / 2; k += rows.step) {
    const int here = place(k), there = k > 0 ? place(h - k) : h;
    gpulua_point<R> x = rows.get(here), y = rows.get(join || k > 0 ? there : here);
    if (join && k == 0) x.im = 0, y.im = 0;  // real by symmetry
    gpulua_halves(x, y, gpulua_root(coarse, fine, bits, k), join);
    rows.set(here, x);
    if (there != here) rows.set(there, y);
  }
  rows.wait();
}

// The rows of a launch: `lanes` rows along one axis, for each position on up to three other axes. A block takes W of the lanes.
// Distances in complex numbers.
struct gpulua_fft_axes {
  long long lanes, in_lane, out_lane, extent_1, in_1, out_1, extent_2, in_2, out_2, extent_3, in_3, out_3;

  __device__ long long blocks(int W) const { return (lanes + W - 1) / W * extent_1 * extent_2 * extent_3; }
};
struct gpulua_fft_block {
  long long in, out, lane;  // of the block's first row
  int last;                 // row of the block

  __device__ gpulua_fft_block(const gpulua_fft_axes& axes, long long block, int W) {
    const long long of_lanes = (axes.lanes + W - 1) / W;
    lane = block % of_lanes * W;
    block /= of_lanes;
    const long long at_1 = block % axes.extent_1, at_2 = block / axes.extent_1 % axes.extent_2,
                    at_3 = block / axes.extent_1 / axes.extent_2;
    in = at_1 * axes.in_1 + at_2 * axes.in_2 + at_3 * axes.in_3 + lane * axes.in_lane;
    out = at_1 * axes.out_1 + at_2 * axes.out_2 + at_3 * axes.out_3 + lane * axes.out_lane;
    last = (int)min((long long)W, axes.lanes - lane) - 1;
  }
};

// The memory of a block: on a GPU shared; on a core its part of `scratch`, which may be larger.
template <class R, bool core>
__device__ inline R* gpulua_fft_memory(R* scratch, int width, int slots) {
  if constexpr (core) return scratch + (long long)blockIdx.x * 2 * gpulua_fft_rows<R, core>::lines(slots) * 32;
  extern __shared__ double gpulua_fft_shared[];
  return (R*)gpulua_fft_shared;
}

// Transforms rows of n elements. `mode`: 0; 1: element i of lane j of the result is multiplied by the root to the power i j; 2: the
// transform of 2 n real numbers; 3: its inverse. `from` and `to`: layouts of the rows. `inverse`: of the passes.
template <class R, unsigned radices, int mode, int from, int to, bool core>
__device__ inline void gpulua_fft(const R* in, R* out, R* scratch, const R* roots, const int* places, const R* coarse,
                                  const R* fine, int bits, long long factors, int n, int width, bool inverse,
                                  long long in_step, long long out_step, long long lanes, long long in_lane, long long out_lane,
                                  long long extent_1, long long in_1, long long out_1, long long extent_2, long long in_2,
                                  long long out_2, long long extent_3, long long in_3, long long out_3) {
  const gpulua_fft_axes axes{lanes, in_lane, out_lane, extent_1, in_1, out_1, extent_2, in_2, out_2, extent_3, in_3, out_3};
  R* const memory = gpulua_fft_memory<R, core>(scratch, width, n + 1);
  const int W = core ? 32 : width;
  const auto natural = [](int i) { return i; };
  const auto reversed = [places](int i) { return places[i]; };  // places[n] = n
  for (long long block = blockIdx.x, blocks = axes.blocks(W); block < blocks; block += gridDim.x) {
    const gpulua_fft_block at(axes, block, W);
    const gpulua_fft_rows<R, core> all(memory, W, n + 1, at.last);
    gpulua_fft_read<from>(all, in + 2 * at.in, mode == 3 ? n + 1 : n, in_step, in_lane, reversed);
    all.wait();
    for (int g = 0; g < all.groups(); ++g) {
      const gpulua_fft_rows<R, core> rows = all.group(g);
      if constexpr (mode == 3) gpulua_fft_halves_of_rows(rows, coarse, fine, bits, n, true, reversed);
      const gpulua_fft_rows<R, core> turned = inverse ? rows.exchanged() : rows;
      gpulua_fft_passes<radices, true>(turned, roots, n, factors);
      if constexpr (mode == 1) {
        const long long lane = at.lane + min(rows.row, at.last);
        // A core takes seven of eight factors from the one before: loads from tables cost it more.
        const gpulua_point<R> next = gpulua_root(coarse, fine, bits, lane);
        gpulua_point<R> factor{1, 0};
        for (int i = rows.first; i < n; i += rows.step) {
          factor = core && i % 8 != 0 ? gpulua_times(factor, next) : gpulua_root(coarse, fine, bits, i * lane);
          turned.set(i, gpulua_times(turned.get(i), factor));
        }
        rows.wait();
      }
      if constexpr (mode == 2) gpulua_fft_halves_of_rows(rows, coarse, fine, bits, n, false, natural);
    }
    gpulua_fft_write<to>(all, out + 2 * at.out, mode == 2 ? n + 1 : n, out_step, out_lane);
    all.wait();
  }
}

// Transforms rows of `count` elements of any length by a convolution of n: L. Bluestein, 1970. chirp[k] = exp(-pi i k^2 / count);
// spectrum: the transform of its conjugate, element i at places[i], divided by n.
template <class R, unsigned radices, int from, int to, bool core>
__device__ inline void gpulua_fft_chirp(const R* in, R* out, R* scratch, const R* roots, const R* chirp, const R* spectrum,
                                        long long factors, int n, int count, int width, bool inverse, long long in_step,
                                        long long out_step, long long lanes, long long in_lane, long long out_lane,
                                        long long extent_1, long long in_1, long long out_1, long long extent_2, long long in_2,
                                        long long out_2, long long extent_3, long long in_3, long long out_3) {
  const gpulua_fft_axes axes{lanes, in_lane, out_lane, extent_1, in_1, out_1, extent_2, in_2, out_2, extent_3, in_3, out_3};
  R* const memory = gpulua_fft_memory<R, core>(scratch, width, n);
  const int W = core ? 32 : width;
  for (long long block = blockIdx.x, blocks = axes.blocks(W); block < blocks; block += gridDim.x) {
    const gpulua_fft_block at(axes, block, W);
    const gpulua_fft_rows<R, core> all(memory, W, n, at.last);
    gpulua_fft_read<from>(all, in + 2 * at.in, count, in_step, in_lane, [](int i) { return i; });
    all.wait();
    for (int g = 0; g < all.groups(); ++g) {
      const gpulua_fft_rows<R, core> rows = all.group(g), turned = inverse ? rows.exchanged() : rows;
      for (int i = rows.first; i < n; i += rows.step)
        turned.set(i, i < count ? gpulua_times(turned.get(i), gpulua_point_of(chirp, i)) : gpulua_point<R>{0, 0});
      rows.wait();
      gpulua_fft_passes<radices, false>(turned, roots, n, factors);
      for (int i = rows.first; i < n; i += rows.step)
        turned.set(i, gpulua_times(turned.get(i), gpulua_point_of(spectrum, i)));
      rows.wait();
      gpulua_fft_passes<radices, true>(turned.exchanged(), roots, n, factors);
      for (int i = rows.first; i < count; i += rows.step)
        turned.set(i, gpulua_times(turned.get(i), gpulua_point_of(chirp, i)));
      rows.wait();
    }
    gpulua_fft_write<to>(all, out + 2 * at.out, count, out_step, out_lane);
    all.wait();
  }
}

// gpulua_halves of rows in memory. A thread computes the elements k and h - k of a row.
template <class R>
__device__ inline void gpulua_fft_halves(const R* in, R* out, const R* coarse, const R* fine, int bits, long long h,
                                         long long in_row, long long out_row, long long threads_of_row, bool join) {
  const long long blocks = (threads_of_row + blockDim.x - 1) / blockDim.x;
  const long long row = blockIdx.x / blocks, k = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  if (k >= threads_of_row) return;
  in += 2 * row * in_row;
  out += 2 * row * out_row;
  gpulua_point<R> x = gpulua_point_of(in, k), y = gpulua_point_of(in, join || k > 0 ? h - k : 0);
  if (join && k == 0) x.im = 0, y.im = 0;
  gpulua_halves(x, y, gpulua_root(coarse, fine, bits, k), join);
  out[2 * k] = x.re, out[2 * k + 1] = x.im;
  if (h - k == k || (join && k == 0)) return;
  out[2 * (h - k)] = y.re, out[2 * (h - k) + 1] = y.im;
}
