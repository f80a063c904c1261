// The rows of a short reduction in shared memory. A block copies the rows of its results in the order in which they lie in
// memory; then each thread reads a row.

// Elements of T where rows consist of whole words, and begin with one.
template <class T, int count>
constexpr bool gpulua_has_words = sizeof(T) < 4 && count * sizeof(T) % 4 == 0;

template <class T, int count, int rows>
struct alignas(sizeof(T) < 4 ? 4 : sizeof(T)) gpulua_staged_rows {
  // Elements from one row to the next. The words of 4 bytes between them are odd in number, so that the threads of a warp,
  // each in its own row, read different banks.
  static constexpr int in_word = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  static constexpr int pitch = ((count + in_word - 1) / in_word | 1) * in_word;

  T elements[rows * pitch];

  // Called by `rows` threads. The rows from `first` on, of `all`, are `stride` elements apart.
  __device__ void copy(const T* from, gpulua_index_t first, gpulua_index_t all, gpulua_offset_t stride) {
    const T* const block = from + (gpulua_offset_t)first * stride;
    if constexpr (gpulua_has_words<T, count>) {
      if ((reinterpret_cast<size_t>(block) | stride * sizeof(T)) % 4 == 0)
        return copy_items<in_word>(reinterpret_cast<const unsigned int*>(block), all - first, stride / in_word);
    }
    copy_items<1>(block, all - first, stride);
  }

  __device__ const T& at(unsigned int row, gpulua_index_t position) const { return elements[row * pitch + position]; }

 private:
  template <int elements_of_item, class Item>
  __device__ void copy_items(const Item* block, gpulua_index_t here, gpulua_offset_t stride) {
    constexpr int items = count / elements_of_item, line = pitch / elements_of_item;
    constexpr int batch = batch_of(items, sizeof(Item) < 4 ? 64 : 256 / sizeof(Item));
    Item* const to = reinterpret_cast<Item*>(elements);
#pragma unroll 1
    for (int begin = 0; begin < items; begin += batch) {
      Item moved[batch] = {};
      if (here >= rows && stride == items && items % batch == 0) {
#pragma unroll
        for (int i = 0; i < batch; ++i) moved[i] = block[threadIdx.x + (begin + i) * rows];
      } else {
#pragma unroll
        for (int i = 0; i < batch; ++i) {
          const Place place = place_of<items>(begin + i);
          if (place.row < rows && place.row < here)
            moved[i] = block[(gpulua_offset_t)place.row * stride + (gpulua_offset_t)place.column];
        }
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const Place place = place_of<items>(begin + i);
        if (items % batch == 0 || place.row < rows) to[place.row * line + place.column] = moved[i];
      }
    }
  }

  // The number of loads ahead of the first store: a part of `items`, if one is not much less than `most`.
  __device__ static constexpr int batch_of(int items, int most) {
    if (items <= most) return items;
    for (int batch = most; 2 * batch > most; --batch)
      if (items % batch == 0) return batch;
    return most;
  }

  struct Place {
    unsigned int row, column;
  };
  // Of the thread's item with that number.
  template <int items>
  __device__ static Place place_of(unsigned int number) {
    if constexpr (rows % items == 0)
      return {threadIdx.x / items + number * (rows / items), threadIdx.x % items};
    else
      return {(threadIdx.x + number * rows) / items, (threadIdx.x + number * rows) % items};
  }
};
