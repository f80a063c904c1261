// Discrete Fourier transforms of a few complex numbers, in registers.

template <class R>
struct gpulua_point {
  R re, im;
};
template <class R>
__device__ inline gpulua_point<R> gpulua_plus(gpulua_point<R> x, gpulua_point<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
__device__ inline gpulua_point<R> gpulua_minus(gpulua_point<R> x, gpulua_point<R> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R>
__device__ inline gpulua_point<R> gpulua_times(gpulua_point<R> x, gpulua_point<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// The cosine and sine of k turns by an n-th part of the circle, 0 < k <= n / 2.
template <int n>
__device__ constexpr double gpulua_cosine(int k) {
  constexpr double of_3[] = {-0.5}, of_5[] = {0.3090169943749474241, -0.8090169943749474241};
  constexpr double of_7[] = {0.6234898018587335305, -0.2225209339563144043, -0.9009688679024191262};
  constexpr double of_11[] = {0.8412535328311811688, 0.4154150130018864255, -0.1423148382732851404, -0.6548607339452850640,
                              -0.9594929736144973898};
  constexpr double of_13[] = {0.8854560256532098959, 0.5680647467311558025, 0.1205366802553230533, -0.3546048870425356260,
                              -0.7485107481711010986, -0.9709418174260520271};
  return n == 3 ? of_3[k - 1] : n == 5 ? of_5[k - 1] : n == 7 ? of_7[k - 1] : n == 11 ? of_11[k - 1] : of_13[k - 1];
}
template <int n>
__device__ constexpr double gpulua_sine(int k) {
  constexpr double of_3[] = {0.8660254037844386468}, of_5[] = {0.9510565162951535721, 0.5877852522924731292};
  constexpr double of_7[] = {0.7818314824680298087, 0.9749279121818236070, 0.4338837391175581205};
  constexpr double of_11[] = {0.5406408174555975821, 0.9096319953545183715, 0.9898214418809327324, 0.7557495743542582838,
                              0.2817325568414296977};
  constexpr double of_13[] = {0.4647231720437685457, 0.8229838658936563946, 0.9927088740980539928, 0.9350162426854148235,
                              0.6631226582407952024, 0.2393156642875577672};
  return n == 3 ? of_3[k - 1] : n == 5 ? of_5[k - 1] : n == 7 ? of_7[k - 1] : n == 11 ? of_11[k - 1] : of_13[k - 1];
}

// The transform of n numbers, n an odd prime. x[k] and x[n - k] meet cosines as a sum and sines as a difference.
template <int n, class R>
struct gpulua_butterfly {
  __device__ static void run(gpulua_point<R>* x) {
    constexpr int half = n / 2;
    gpulua_point<R> sum[half], difference[half];
    const gpulua_point<R> first = x[0];
#pragma unroll
    for (int k = 1; k <= half; ++k) {
      sum[k - 1] = gpulua_plus(x[k], x[n - k]);
      difference[k - 1] = gpulua_minus(x[k], x[n - k]);
      x[0] = gpulua_plus(x[0], sum[k - 1]);
    }
#pragma unroll
    for (int m = 1; m <= half; ++m) {
      gpulua_point<R> even = first, odd = {0, 0};
#pragma unroll
      for (int k = 1; k <= half; ++k) {
        const int turns = m * k % n, folded = turns <= half ? turns : n - turns;
        const R cosine = R(gpulua_cosine<n>(folded)), sine = R(turns <= half ? gpulua_sine<n>(folded) : -gpulua_sine<n>(folded));
        even.re += cosine * sum[k - 1].re, even.im += cosine * sum[k - 1].im;
        odd.re += sine * difference[k - 1].im, odd.im -= sine * difference[k - 1].re;
      }
      x[m] = gpulua_plus(even, odd);
      x[n - m] = gpulua_minus(even, odd);
    }
  }
};
template <class R>
struct gpulua_butterfly<2, R> {
  __device__ static void run(gpulua_point<R>* x) {
    const gpulua_point<R> first = x[0];
    x[0] = gpulua_plus(first, x[1]);
    x[1] = gpulua_minus(first, x[1]);
  }
};
template <class R>
struct gpulua_butterfly<4, R> {
  __device__ static void run(gpulua_point<R>* x) {
    const gpulua_point<R> a = gpulua_plus(x[0], x[2]), b = gpulua_minus(x[0], x[2]);
    const gpulua_point<R> c = gpulua_plus(x[1], x[3]), d = gpulua_minus(x[1], x[3]);
    x[0] = gpulua_plus(a, c);
    x[1] = {b.re + d.im, b.im - d.re};
    x[2] = gpulua_minus(a, c);
    x[3] = {b.re - d.im, b.im + d.re};
  }
};
template <class R>
struct gpulua_butterfly<8, R> {
  __device__ static void run(gpulua_point<R>* x) {
    gpulua_point<R> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    gpulua_butterfly<4, R>::run(even);
    gpulua_butterfly<4, R>::run(odd);
    const R root = R(0.70710678118654752440);
    odd[1] = {(odd[1].re + odd[1].im) * root, (odd[1].im - odd[1].re) * root};
    odd[2] = {odd[2].im, -odd[2].re};
    odd[3] = {(odd[3].im - odd[3].re) * root, -(odd[3].re + odd[3].im) * root};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      x[k] = gpulua_plus(even[k], odd[k]);
      x[k + 4] = gpulua_minus(even[k], odd[k]);
    }
  }
};
