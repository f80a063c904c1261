// Random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
// A stream is a key and the number of its first block, and a block has four words. An element's number depends on the stream
// and the element's position alone: a kernel may take elements one by one or several at a time, on either device. For the
// same reason float normals are computed here, and not by the devices' libraries.

__device__ inline void gpulua_multiply_wide(unsigned int x, unsigned int y, unsigned int& high, unsigned int& low) {
#ifdef GPULUA_CPU
  const unsigned long long product = (unsigned long long)x * y;
  high = (unsigned int)(product >> 32);
  low = (unsigned int)product;
#else
  // In C++, NVRTC makes 64-bit products of 64-bit operands of it.
  asm("{\n\t.reg .u64 product;\n\tmul.wide.u32 product, %2, %3;\n\tmov.b64 {%1, %0}, product;\n\t}"
      : "=r"(high), "=r"(low)
      : "r"(x), "r"(y));
#endif
}

struct gpulua_philox {
  unsigned int word[4];

  __device__ gpulua_philox(const unsigned int (&counter)[4], unsigned int key0, unsigned int key1)
      : word{counter[0], counter[1], counter[2], counter[3]} {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      unsigned int high0, low0, high2, low2;
      gpulua_multiply_wide(word[0], 0xD2511F53u, high0, low0);
      gpulua_multiply_wide(word[2], 0xCD9E8D57u, high2, low2);
      word[0] = high2 ^ word[1] ^ (key0 + round * 0x9E3779B9u);
      word[1] = low2;
      word[2] = high0 ^ word[3] ^ (key1 + round * 0xBB67AE85u);
      word[3] = low0;
    }
  }

  // The stream's block of that number; of what one block's number gives, the `draw`th.
  __device__ static gpulua_philox of(unsigned long long key, unsigned long long block, unsigned int draw = 0) {
    const unsigned int counter[4] = {(unsigned int)block, (unsigned int)(block >> 32), draw, 0};
    return gpulua_philox(counter, (unsigned int)key, (unsigned int)(key >> 32));
  }

  __device__ unsigned long long long_word(int i) const {
    return word[2 * i] | (unsigned long long)word[2 * i + 1] << 32;
  }
};

// ---- from words to numbers, two by two. Numbers of 8 bytes take two words each, others one. ----------------------------------

struct gpulua_words {
  using number = unsigned long long;
  using source = unsigned long long;
  __device__ static void pair(source a, source b, number& x, number& y) {
    x = a;
    y = b;
  }
};

// In (0, 1].
template <class T>
struct gpulua_uniform;

template <>
struct gpulua_uniform<float> {
  using number = float;
  using source = unsigned int;
  // To nearest, and never 0.
  __device__ static float from(unsigned int word) { return fmaf((float)word, 0x1p-32f, 0x1p-33f); }
  __device__ static void pair(source a, source b, float& x, float& y) {
    x = from(a);
    y = from(b);
  }
};

template <>
struct gpulua_uniform<double> {
  using number = double;
  using source = unsigned long long;
  __device__ static double from(unsigned long long word) { return (double)((word >> 11) + 1) * 0x1p-53; }
  __device__ static void pair(source a, source b, double& x, double& y) {
    x = from(a);
    y = from(b);
  }
};

// 16-bit types: the multiples of 2^-digits, which they have all of.
template <int digits>
struct gpulua_uniform_grid {
  using number = float;
  using source = unsigned int;
  __device__ static float from(unsigned int word) {
    return (float)((word >> (32 - digits)) + 1) * (1.0f / (1 << digits));
  }
  __device__ static void pair(source a, source b, float& x, float& y) {
    x = from(a);
    y = from(b);
  }
};
template <>
struct gpulua_uniform<gpulua_half> : gpulua_uniform_grid<11> {};
template <>
struct gpulua_uniform<gpulua_bfloat16> : gpulua_uniform_grid<8> {};

// Box and Muller, "A note on the generation of random normal deviates", 1958: a radius and an angle give two.
template <class T>
struct gpulua_normal {
  using number = float;
  using source = unsigned int;

  // sqrt(-2 log(u)) to about two units in the last place. u = 2^exponent * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
  __device__ static float radius(unsigned int word) {
    const int bits = __float_as_int(gpulua_uniform<float>::from(word));
    const int exponent = (bits - 0x3f3504f3) >> 23;
    const float f = __int_as_float(bits - (exponent << 23)) - 1.0f;
    float q = 0.202353254f;
    q = fmaf(q, f, -0.324548006f);
    q = fmaf(q, f, 0.344980985f);
    q = fmaf(q, f, -0.397987068f);
    q = fmaf(q, f, 0.499400049f);
    q = fmaf(q, f, -0.666701972f);
    q = fmaf(q, f, 1.00000727f);
    q = fmaf(q, f, -1.99999988f);
    return sqrtf(fmaf((float)exponent, -1.38629436f, q * f));
  }

  // The word's low 30 bits choose a place on the quarter of the circle around (1, 0), the others one of four quarters.
  __device__ static void pair(source a, source b, float& x, float& y) {
    const float turn = (float)(int)(b << 2) * 0x1p-32f;  // in [-1/2, 1/2) right angles
    const float square = turn * turn;
    float sine = fmaf(square, -0.00468387362f, 0.07971178f);
    sine = fmaf(square, sine, -0.645966589f);
    sine = fmaf(square, sine, 1.57079637f) * turn;
    float cosine = fmaf(square, -0.0203283802f, 0.253570408f);
    cosine = fmaf(square, cosine, -1.23369455f);
    cosine = fmaf(square, cosine, 0.99999994f);
    const float r = radius(a), signed_r = (int)b < 0 ? -r : r;
    const bool swapped = (b & 0x40000000u) != 0;
    x = signed_r * (swapped ? sine : cosine);
    y = signed_r * (swapped ? cosine : sine);
  }
};

template <>
struct gpulua_normal<double> {
  using number = double;
  using source = unsigned long long;
  __device__ static void pair(source a, source b, double& x, double& y) {
    const double radius = sqrt(-2.0 * log(gpulua_uniform<double>::from(a)));
    double sine, cosine;
    sincospi((double)(b >> 11) * 0x1p-52, &sine, &cosine);
    x = radius * cosine;
    y = radius * sine;
  }
};

// ---- from positions to numbers -----------------------------------------------------------------------------------------------

template <class Kind, int size = sizeof(typename Kind::source)>
struct gpulua_block {  // two pairs a block
  static constexpr int numbers = 4;
  __device__ static void pair(const gpulua_philox& block, bool second, typename Kind::number& x, typename Kind::number& y) {
    Kind::pair(second ? block.word[2] : block.word[0], second ? block.word[3] : block.word[1], x, y);
  }
};
template <class Kind>
struct gpulua_block<Kind, 8> {  // one
  static constexpr int numbers = 2;
  __device__ static void pair(const gpulua_philox& block, bool, typename Kind::number& x, typename Kind::number& y) {
    Kind::pair(block.long_word(0), block.long_word(1), x, y);
  }
};

// The number of element i.
template <class Kind>
__device__ inline typename Kind::number gpulua_random(unsigned long long key, unsigned long long first, long long i) {
  using Block = gpulua_block<Kind>;
  typename Kind::number x, y;
  Block::pair(gpulua_philox::of(key, first + (unsigned long long)i / Block::numbers), (i & 2) != 0, x, y);
  return (i & 1) != 0 ? y : x;
}

// The numbers of the elements from i on; i is a multiple of `width`, a power of two.
template <class Kind, int width>
struct gpulua_randoms {
  typename Kind::number at[width];

  __device__ gpulua_randoms(unsigned long long key, unsigned long long first, long long i) {
    using Block = gpulua_block<Kind>;
#pragma unroll
    for (int k = 0; k < width; k += Block::numbers) {
      const gpulua_philox block = gpulua_philox::of(key, first + (unsigned long long)(i + k) / Block::numbers);
      if (width < Block::numbers) {
        Block::pair(block, (i & 2) != 0, at[0], at[1]);
      } else {
#pragma unroll
        for (int pair = 0; pair < Block::numbers; pair += 2) Block::pair(block, pair == 2, at[k + pair], at[k + pair + 1]);
      }
    }
  }
};

// ---- integers ----------------------------------------------------------------------------------------------------------------

// One of `range` integers from `low` on; 0 stands for 2^64 of them. Some of them are more probable than others, by at most
// range / 2^64.
__device__ inline unsigned long long gpulua_in_range(unsigned long long word, unsigned long long range, unsigned long long low) {
  return low + (range == 0 ? word : __umul64hi(word, range));
}

template <int width>
struct gpulua_random_integers {
  unsigned long long at[width];

  __device__ gpulua_random_integers(unsigned long long key, unsigned long long first, unsigned long long range,
                                    unsigned long long low, long long i) {
    const gpulua_randoms<gpulua_words, width> words(key, first, i);
#pragma unroll
    for (int k = 0; k < width; ++k) at[k] = gpulua_in_range(words.at[k], range, low);
  }
};
