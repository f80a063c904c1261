// The neighbours of a rank: networks of comparisons, whose elements are registers. What a network computes and nobody reads, the
// compiler leaves out. Needs window_filter.cuh.

// Integers in the order of numbers, with -0 before 0 and NaN last.
template <class T>
__device__ inline T gpulua_rank_key(T x) {
  return x;
}
__device__ inline int gpulua_rank_key(float x) {
  const int bits = __float_as_int(x);
  return x != x ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff);
}
__device__ inline long long gpulua_rank_key(double x) {
  const long long bits = __double_as_longlong(x);
  return x != x ? 0x7fffffffffffffffll : bits ^ ((bits >> 63) & 0x7fffffffffffffffll);
}
// The number with that key, of the type of the second argument.
template <class T>
__device__ inline T gpulua_ranked_number(T key, T) {
  return key;
}
__device__ inline float gpulua_ranked_number(int key, float) {
  return __int_as_float(key ^ ((key >> 31) & 0x7fffffff));
}
__device__ inline double gpulua_ranked_number(long long key, double) {
  return __longlong_as_double(key ^ ((key >> 63) & 0x7fffffffffffffffll));
}

template <class K>
__device__ inline K gpulua_lesser(K x, K y) {
  return x < y ? x : y;
}
template <class K>
__device__ inline K gpulua_greater(K x, K y) {
  return x < y ? y : x;
}

// A sorted list.
template <class K, int count>
struct gpulua_sorted {
  K at[count > 0 ? count : 1];

  // Every second element from `first` on.
  template <int first>
  __device__ gpulua_sorted<K, (count + 1 - first) / 2> half() const {
    gpulua_sorted<K, (count + 1 - first) / 2> result;
#pragma unroll
    for (int i = first; i < count; i += 2) result.at[i / 2] = at[i];
    return result;
  }
  template <int first, int end>
  __device__ gpulua_sorted<K, end - first> part() const {
    gpulua_sorted<K, end - first> result;
#pragma unroll
    for (int i = first; i < end; ++i) result.at[i - first] = at[i];
    return result;
  }
};

// Batcher's merge by odd and even elements (D. E. Knuth, The Art of Computer Programming, 5.3.4).
template <class K, int n, int m>
__device__ inline gpulua_sorted<K, n + m> gpulua_merged(const gpulua_sorted<K, n>& x, const gpulua_sorted<K, m>& y) {
  if constexpr (n == 0) {
    return y;
  } else if constexpr (m == 0) {
    return x;
  } else {
    gpulua_sorted<K, n + m> result;
    if constexpr (n == 1 && m == 1) {
      result.at[0] = gpulua_lesser(x.at[0], y.at[0]);
      result.at[1] = gpulua_greater(x.at[0], y.at[0]);
    } else {
      constexpr int evens = (n + 1) / 2 + (m + 1) / 2, odds = n / 2 + m / 2;
      const gpulua_sorted<K, evens> even = gpulua_merged(x.template half<0>(), y.template half<0>());
      const gpulua_sorted<K, odds> odd = gpulua_merged(x.template half<1>(), y.template half<1>());
      result.at[0] = even.at[0];
#pragma unroll
      for (int i = 1; i < n + m; ++i) {
        const int next = (i + 1) / 2;  // of `even`; it and the one before of `odd` stand at 2 * next - 1 and 2 * next
        if (next >= evens)
          result.at[i] = odd.at[next - 1];
        else if (next > odds)
          result.at[i] = even.at[next];
        else
          result.at[i] =
              i % 2 == 1 ? gpulua_lesser(even.at[next], odd.at[next - 1]) : gpulua_greater(even.at[next], odd.at[next - 1]);
      }
    }
    return result;
  }
}
template <class K, int n>
__device__ inline gpulua_sorted<K, n> gpulua_sort_list(const gpulua_sorted<K, n>& x) {
  if constexpr (n < 2)
    return x;
  else
    return gpulua_merged(gpulua_sort_list(x.template part<0, (n + 1) / 2>()), gpulua_sort_list(x.template part<(n + 1) / 2, n>()));
}

constexpr int gpulua_at_least(int x, int least) {
  return x < least ? least : x;
}
constexpr int gpulua_at_most(int x, int most) {
  return x < most ? x : most;
}

// The elements from `first` on, before `end`, of `count` lists that are merged. Elements that cannot be among these are left out.
template <int count, int first, int end, class K, int n>
__device__ inline gpulua_sorted<K, end - first> gpulua_merged_part(const gpulua_sorted<K, n>* lists) {
  if constexpr (count == 1) {
    return lists[0].template part<first, end>();
  } else {
    constexpr int before = (count - 1) * n;
    constexpr int x = gpulua_at_least(first - n, 0), y = gpulua_at_least(first - before, 0);
    const auto merged = gpulua_merged(gpulua_merged_part<count - 1, x, gpulua_at_most(end, before)>(lists),
                                      lists[count - 1].template part<y, gpulua_at_most(end, n)>());
    return merged.template part<first - x - y, end - x - y>();
  }
}

// The element of a rank among two sorted lists together: y, which has m elements, and another one, which has n. Of the latter, x has
// the elements from `first` on; they are all that can have the rank.
template <int rank, int n, int first, class K, int count, int m>
__device__ inline K gpulua_element_of_rank(const gpulua_sorted<K, count>& x, const gpulua_sorted<K, m>& y) {
  // `taken` elements are the one of the rank and all before it: the first i of the n elements, and the first of y's for the rest.
  // For each i the greater of the two lists' last ones is a candidate; the least candidate is the element.
  constexpr int taken = rank + 1, least = gpulua_at_least(taken - m, 0), most = gpulua_at_most(taken, n);
  K found;
#pragma unroll
  for (int i = least; i <= most; ++i) {
    const int j = taken - i;
    const K last = i == 0 ? y.at[j - 1] : j == 0 ? x.at[i - 1 - first] : gpulua_greater(x.at[i - 1 - first], y.at[j - 1]);
    found = i == least ? last : gpulua_lesser(found, last);
  }
  return found;
}

// A thread computes two elements below each other at a time. Their windows share all rows but the upper one's first and the lower
// one's last. A row is sorted once, and two shared rows are merged once for all elements that share them.
template <class From, class T, int high, int wide, int near, int rank>
__device__ inline void gpulua_window_ranks(const From* x, From* y, int rows, int columns, int inner, int above, int left,
                                           int border, double beyond, int height) {
  using K = decltype(gpulua_rank_key(T()));
  using Row = gpulua_sorted<K, wide>;
  constexpr bool odd = high % 2 == 1;
  constexpr int couples = (high - 1) / 2, shared = (high - 1) * wide, in_couples = couples * 2 * wide;
  // The shared elements that can be of the rank.
  constexpr int first = gpulua_at_least(rank - wide, 0), end = gpulua_at_most(rank + 1, shared);
  constexpr int more = !odd;  // rows that are read and not used
  const gpulua_window_strip strip(rows, columns, inner, border, height);
  const bool borders = strip.has_borders(above + more, left, wide, height + high - 1 + more);
  const From* const plane = x + strip.plane * rows * strip.line;
  const T number = gpulua_convert<T>::from(gpulua_convert<From>::from(beyond));
  // Two rows from the i-th of the strip's on. Both are under way at the same time.
  const auto read = [&](Row(&to)[2], int i) {
    T elements[2][wide];
    if (borders) {
#pragma unroll
      for (int k = 0; k < 2; ++k) gpulua_window_row<true, near>(elements[k], plane, strip, strip.row - above + i + k, left, number);
    } else {
#pragma unroll
      for (int k = 0; k < 2; ++k)
        gpulua_window_row<false, near>(elements[k], plane, strip, strip.row - above + i + k, left, number);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      Row keys;
#pragma unroll
      for (int j = 0; j < wide; ++j) keys.at[j] = gpulua_rank_key(elements[k][j]);
      to[k] = gpulua_sort_list(keys);
    }
  };
  const auto write = [&](int down, K key) {
    strip.template write<true>(y, down, gpulua_convert<From>::from(gpulua_ranked_number(key, T())));
  };
  Row others[couples + 1] = {};                                      // every second row, from the upper element's first on
  gpulua_sorted<K, 2 * wide> pairs[couples > 0 ? couples : 1] = {};  // of rows, from the next one on
  Row last = {};
  for (int down = 1 - high - more; down < strip.height; down += 2) {
    Row two[2];
    read(two, down + high - 1);
    const Row &row = two[0], &next = two[1];
    if constexpr (odd) {
      others[couples] = row;
      if constexpr (couples > 0) pairs[couples - 1] = gpulua_merged(last, row);
    }
    gpulua_sorted<K, end - first> both;
    if constexpr (odd && couples > 0) {
      both = gpulua_merged_part<couples, first, end>(pairs);
    } else if constexpr (!odd && couples == 0) {
      both = row.template part<first, end>();
    } else if constexpr (!odd) {
      constexpr int x = gpulua_at_least(first - wide, 0), y = gpulua_at_least(first - in_couples, 0);
      both = gpulua_merged(gpulua_merged_part<couples, x, gpulua_at_most(end, in_couples)>(pairs),
                           row.template part<y, gpulua_at_most(end, wide)>())
                 .template part<first - x - y, end - x - y>();
    }
    write(down, gpulua_element_of_rank<rank, shared, first>(both, others[0]));
    write(down + 1, gpulua_element_of_rank<rank, shared, first>(both, next));
#pragma unroll
    for (int k = 0; k < couples; ++k) others[k] = others[k + 1];
#pragma unroll
    for (int k = 1; k < couples; ++k) pairs[k - 1] = pairs[k];
    if constexpr (odd)
      last = next;
    else
      others[couples] = next;
    if constexpr (!odd && couples > 0) pairs[couples - 1] = gpulua_merged(row, next);
  }
}

// The least or greatest of windows of any size; with `chosen`, of the neighbours where the footprint is true.
template <class T, bool greatest, bool chosen>
struct gpulua_extreme {
  using Held = decltype(gpulua_rank_key(T()));
  const bool* footprint;
  __device__ static Held begin() { return greatest ? gpulua_limits<Held>::min : gpulua_limits<Held>::max; }
  __device__ static Held hold(T x) { return gpulua_rank_key(x); }
  __device__ bool next() { return !chosen || *footprint++; }
  __device__ void add(Held& found, Held x) const { found = greatest ? gpulua_greater(found, x) : gpulua_lesser(found, x); }
  __device__ static T result(Held found) { return gpulua_ranked_number(found, T()); }
};

template <class From, class T, bool greatest, bool chosen, bool tall, int height>
__device__ inline void gpulua_window_extremes(const From* x, const bool* footprint, From* y, int rows, int columns, int inner,
                                              int above, int left, int border, double beyond, int depth, int before, int deep,
                                              int high, int wide) {
  gpulua_window_of_any_size<tall, height>(x, y, gpulua_extreme<T, greatest, chosen>{footprint}, rows, columns, inner, above, left,
                                          border, gpulua_convert<T>::from(gpulua_convert<From>::from(beyond)), depth, before, deep,
                                          high, wide);
}
