// The product C = A B of two sparse matrices by lines (sparse.cuh): line i of C is the sum of the lines of B at the indices of A's
// line i, times the nonzeros there. A term is a nonzero of A times one of B. Each nonzero of C is the sum of its terms in their order:
// the order of A's nonzeros, then of B's. The lines are first counted, then found.

// The indices and starts of both matrices.
template <class I>
struct gpulua_pair {
  const I *a_places, *a_starts, *b_places, *b_starts;

  // Nonzeros of A in the line.
  __device__ long long entries(long long line) const { return (long long)a_starts[line + 1] - a_starts[line]; }
  // The nonzero's first term, and the number of its terms.
  __device__ I first_term(I entry) const { return b_starts[a_places[entry]]; }
  __device__ I terms(I entry) const { return b_starts[a_places[entry] + 1] - first_term(entry); }
};

// ---- lines of a few nonzeros ----------------------------------------------------------------------------------------------------
// A thread merges the lines of B, whose indices ascend, each once. `few`: the most nonzeros of A; registers have what they need.

constexpr long long gpulua_few_terms = 512;

// For each index of C's line, in ascending order: add(entry, j) for its terms in their order, where j is B's nonzero; then
// end(place).
template <int few, class I, class Add, class End>
__device__ inline void gpulua_merge_few(const gpulua_pair<I>& pair, long long line, const Add& add, const End& end) {
  constexpr I none = (I)(~0ull >> (65 - 8 * sizeof(I)));  // no place: the greatest number
  const I first = pair.a_starts[line], last = pair.a_starts[line + 1];
  I next[few], ends[few], places[few];
#pragma unroll
  for (int i = 0; i < few; ++i) {
    const bool is_entry = first + i < last;
    next[i] = is_entry ? pair.first_term(first + i) : I(0);
    ends[i] = is_entry ? next[i] + pair.terms(first + i) : I(0);
    places[i] = next[i] < ends[i] ? pair.b_places[next[i]] : none;
  }
  for (;;) {
    I least = none;
#pragma unroll
    for (int i = 0; i < few; ++i) least = places[i] < least ? places[i] : least;
    if (least == none) return;
#pragma unroll
    for (int i = 0; i < few; ++i) {
      if (places[i] != least) continue;
      add(first + i, next[i]);
      ++next[i];
      places[i] = next[i] < ends[i] ? pair.b_places[next[i]] : none;
    }
    end(least);
  }
}

// ---- lines of more nonzeros -----------------------------------------------------------------------------------------------------
// A block of `threads` expands the terms of a line, up to `most` of half as many nonzeros, in shared memory, and sorts them by index.

constexpr int gpulua_order_bits = 12;  // of a term's number in its line
constexpr unsigned long long gpulua_order_mask = (1ull << gpulua_order_bits) - 1;

template <int most>
struct gpulua_terms {
  unsigned long long keys[most];  // the place, and below it the number of the term
  int ends[most / 2];             // the number of terms up to each nonzero of A
};

// The sum of `count` of the threads before this one. `sums`: shared memory of all threads; the last element becomes the sum of all.
template <int threads>
__device__ inline int gpulua_sum_before(int count, int* sums) {
  const int thread = (int)threadIdx.x;
  __syncthreads();
  sums[thread] = count;
  __syncthreads();
  for (int distance = 1; distance < threads; distance *= 2) {
    const int other = thread >= distance ? sums[thread - distance] : 0;
    __syncthreads();
    sums[thread] += other;
    __syncthreads();
  }
  return sums[thread] - count;
}

// The part of `count` items that is this thread's: from `begin` on and before `end`.
template <int threads>
struct gpulua_pair_share {
  int begin, end;
  __device__ explicit gpulua_pair_share(int count) {
    const int size = (count + threads - 1) / threads, from = (int)threadIdx.x * size;
    begin = from < count ? from : count;
    end = from + size < count ? from + size : count;
  }
};

// A bitonic sort of a power of 2 of keys.
template <int threads>
__device__ inline void gpulua_sort_keys(unsigned long long* keys, int size) {
  for (int sorted = 2; sorted <= size; sorted *= 2) {
    for (int distance = sorted / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = (int)threadIdx.x; i < size / 2; i += threads) {
        const int low = 2 * i - (i & (distance - 1)), high = low + distance;
        const unsigned long long a = keys[low], b = keys[high];
        const bool ascends = (low & sorted) == 0;
        if ((a > b) == ascends) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  }
  __syncthreads();
}

// The nonzero of A, counted in its line, that the term belongs to: the first whose terms end after it.
__device__ inline int gpulua_entry_of_term(const int* ends, int entries, int term) {
  int first = 0, last = entries - 1;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (ends[middle] <= term)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

// Calls visit(n, i, terms) for the n-th index of the line, counted from 0, where keys[i] is the first key. Returns the number of
// indices.
template <int most, int threads, class I, class Visit>
__device__ inline int gpulua_sort_terms(const gpulua_pair<I>& pair, long long line, gpulua_terms<most>& shared, const Visit& visit) {
  __shared__ int sums[threads];
  const I first = pair.a_starts[line];
  const int entries = (int)pair.entries(line);
  const gpulua_pair_share<threads> own(entries);
  int count = 0;
  for (int i = own.begin; i < own.end; ++i) count += (int)pair.terms(first + i);
  int end = gpulua_sum_before<threads>(count, sums);
  const int terms = sums[threads - 1];
  for (int i = own.begin; i < own.end; ++i) shared.ends[i] = end += (int)pair.terms(first + i);
  __syncthreads();

  int size = 1;
  while (size < terms) size *= 2;
  for (int term = (int)threadIdx.x; term < size; term += threads) {
    unsigned long long key = ~0ull;
    if (term < terms) {
      const int entry = gpulua_entry_of_term(shared.ends, entries, term);
      const int begin = entry == 0 ? 0 : shared.ends[entry - 1];
      const I place = pair.b_places[pair.first_term(first + entry) + (term - begin)];
      key = (unsigned long long)place << gpulua_order_bits | (unsigned long long)term;
    }
    shared.keys[term] = key;
  }
  gpulua_sort_keys<threads>(shared.keys, size);

  const gpulua_pair_share<threads> keys(terms);
  const auto is_first = [&](int i) {
    return i == 0 || shared.keys[i] >> gpulua_order_bits != shared.keys[i - 1] >> gpulua_order_bits;
  };
  int places = 0;
  for (int i = keys.begin; i < keys.end; ++i) places += is_first(i) ? 1 : 0;
  int n = gpulua_sum_before<threads>(places, sums);
  for (int i = keys.begin; i < keys.end; ++i)
    if (is_first(i)) visit(n++, i, terms);
  return sums[threads - 1];
}

// ---- kernels -----------------------------------------------------------------------------------------------------------------------

// The number of nonzeros in each line of C whose indices a thread merges; of others, how they are to be found, as a negative number:
// -1 and -2 by a block in gpulua_count_sorted, -3 otherwise. `merges`: indices of B ascend in each line, each once.
template <class I, int few>
__device__ inline void gpulua_count_pair(const I* a_places, const I* a_starts, const I* b_places, const I* b_starts, long long* counts,
                                         long long lines, bool merges) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const gpulua_pair<I> pair{a_places, a_starts, b_places, b_starts};
  const I first = a_starts[line], last = a_starts[line + 1];
  const auto takes = [&](long long most, long long terms) { return 2 * pair.entries(line) <= most && terms <= most; };
  constexpr long long small = 512, large = 4096;
  long long terms = 0;
  if (takes(large, 0))
    for (I entry = first; entry < last && terms <= large; ++entry) terms += pair.terms(entry);
  long long count = !takes(large, terms) ? -3 : !takes(small, terms) ? -2 : terms > 0 ? -1 : 0;
  if (merges && last - first <= few && terms <= gpulua_few_terms) {
    count = 0;
    gpulua_merge_few<few>(pair, line, [](I, I) {}, [&](I) { ++count; });
  }
  counts[line] = count;
}

// The number of nonzeros in each of the lines in the list, which have a block each.
template <class I, int most, int threads>
__device__ inline void gpulua_count_sorted(const I* a_places, const I* a_starts, const I* b_places, const I* b_starts,
                                           const long long* list, long long* counts) {
  __shared__ gpulua_terms<most> terms;
  const long long line = list[blockIdx.x];
  const int places = gpulua_sort_terms<most, threads>(gpulua_pair<I>{a_places, a_starts, b_places, b_starts}, line, terms,
                                                      [](int, int, int) {});
  if (threadIdx.x == 0) counts[line] = places;
}

// The lines of C that gpulua_count_pair has counted, and not marked. They begin at `starts`.
template <class T, class I, int few>
__device__ inline void gpulua_multiply_pair(const T* a_entries, const I* a_places, const I* a_starts, const T* b_entries,
                                            const I* b_places, const I* b_starts, const long long* counts, const I* starts, I* places,
                                            T* entries, long long lines) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line >= lines || counts[line] <= 0) return;
  const T zero = gpulua_convert<T>::from(0);
  I to = starts[line];
  T sum = zero;
  gpulua_merge_few<few>(
      gpulua_pair<I>{a_places, a_starts, b_places, b_starts}, line,
      [&](I entry, I j) { sum = sum + gpulua_entry_times(a_entries[entry], b_entries[j]); },
      [&](I place) {
        places[to] = place;
        entries[to++] = sum;
        sum = zero;
      });
}

// The lines of C in the list, which have a block each.
template <class T, class I, int most, int threads>
__device__ inline void gpulua_multiply_sorted(const T* a_entries, const I* a_places, const I* a_starts, const T* b_entries,
                                              const I* b_places, const I* b_starts, const long long* list, const I* starts, I* places,
                                              T* entries) {
  __shared__ gpulua_terms<most> shared;
  const long long line = list[blockIdx.x];
  const gpulua_pair<I> pair{a_places, a_starts, b_places, b_starts};
  const I first = a_starts[line];
  const int all = (int)pair.entries(line);
  gpulua_sort_terms<most, threads>(pair, line, shared, [&](int n, int i, int terms) {
    const unsigned long long place = shared.keys[i] >> gpulua_order_bits;
    T sum = gpulua_convert<T>::from(0);
    for (; i < terms && shared.keys[i] >> gpulua_order_bits == place; ++i) {
      const int term = (int)(shared.keys[i] & gpulua_order_mask);
      const int entry = gpulua_entry_of_term(shared.ends, all, term);
      const int begin = entry == 0 ? 0 : shared.ends[entry - 1];
      sum = sum + gpulua_entry_times(a_entries[first + entry], b_entries[pair.first_term(first + entry) + (term - begin)]);
    }
    places[starts[line] + n] = (I)place;
    entries[starts[line] + n] = sum;
  });
}

// ---- order -------------------------------------------------------------------------------------------------------------------------

// found[0] becomes 1 where a place does not ascend within its line.
template <class I>
__device__ inline void gpulua_find_descent(const I* places, const I* starts, long long lines, long long count, int* found) {
  const long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x + 1;
  if (k >= count || places[k - 1] < places[k]) return;
  // Whether a line begins with nonzero k.
  long long first = 0, last = lines;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    if (starts[middle] < k)
      first = middle + 1;
    else
      last = middle;
  }
  if (starts[first] != k) atomicOr(found, 1);
}
