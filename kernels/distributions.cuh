// Random numbers that take as many random words as it needs to find one that fits. Element i has block first + i of the
// stream, which has 2^32 draws, to itself: what others take does not matter to it.

struct gpulua_draws {
  unsigned long long key, block;
  unsigned int count;

  __device__ gpulua_draws(unsigned long long key_, unsigned long long first, long long i)
      : key(key_), block(first + (unsigned long long)i), count(0) {}
  __device__ gpulua_philox next() { return gpulua_philox::of(key, block, count++); }
};

// No draw takes this many attempts; the limit ends a loop whatever rounding does.
constexpr int gpulua_attempts = 1000;

// Two numbers in (0, 1].
struct gpulua_two_uniforms {
  double u, v;
  __device__ explicit gpulua_two_uniforms(gpulua_draws& draws) {
    const gpulua_philox block = draws.next();
    u = gpulua_uniform<double>::from(block.long_word(0));
    v = gpulua_uniform<double>::from(block.long_word(1));
  }
};

template <class R>
struct gpulua_normal_and_uniforms {  // float
  R normal, u, v;
  __device__ explicit gpulua_normal_and_uniforms(gpulua_draws& draws) {
    const gpulua_philox block = draws.next();
    R other;
    gpulua_normal<R>::pair(block.word[0], block.word[1], normal, other);
    u = gpulua_uniform<R>::from(block.word[2]);
    v = gpulua_uniform<R>::from(block.word[3]);
  }
};
template <>
struct gpulua_normal_and_uniforms<double> {
  double normal, u, v;
  __device__ explicit gpulua_normal_and_uniforms(gpulua_draws& draws) {
    const gpulua_philox block = draws.next();
    double other;
    gpulua_normal<double>::pair(block.long_word(0), block.long_word(1), normal, other);
    const gpulua_two_uniforms two(draws);
    u = two.u;
    v = two.v;
  }
};

// ---- gamma and beta ----------------------------------------------------------------------------------------------------------

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Below a shape of 1 it is that of shape + 1,
// times a uniform number to the power 1 / shape, of which there is the logarithm: the factor itself may be too small.
template <class R>
struct gpulua_gamma_number {
  R value, log_factor;

  __device__ gpulua_gamma_number(gpulua_draws& draws, R shape) {
    const R infinity = __int_as_float(0x7f800000);
    const R d = (shape < R(1) ? shape + R(1) : shape) - R(1) / R(3), c = R(1) / sqrt(R(9) * d);
    value = d;
    log_factor = R(0);
    if (!(shape >= R(0))) value = infinity - infinity;
    for (int attempt = 0; attempt < gpulua_attempts && shape >= R(0); ++attempt) {
      const gpulua_normal_and_uniforms<R> drawn(draws);
      const R x = drawn.normal, t = c * x;
      if (t <= R(-1)) continue;
      // log(u) < x^2 / 2 + d * (1 - v + log(v)), where v = (1 + t)^3, without the difference of terms that are nearly equal.
      if (!(drawn.u < R(1) - R(0.0331) * (x * x) * (x * x)) &&
          !(log(drawn.u) < d * (R(3) * (log1p(t) - t) + t * t * (R(1.5) - t))))
        continue;
      value = d * (R(1) + t) * (R(1) + t) * (R(1) + t);
      if (shape < R(1)) log_factor = shape > R(0) ? log(drawn.v) / shape : -infinity;
      return;
    }
  }
};

template <class R>
__device__ inline R gpulua_gamma(unsigned long long key, unsigned long long first, long long i, R shape) {
  gpulua_draws draws(key, first, i);
  const gpulua_gamma_number<R> x(draws, shape);
  return shape < R(1) ? x.value * exp(x.log_factor) : x.value;
}

// Its logarithm, which is a number where the gamma number itself is too small for one.
template <class R>
__device__ inline R gpulua_log_gamma(unsigned long long key, unsigned long long first, long long i, R shape) {
  gpulua_draws draws(key, first, i);
  const gpulua_gamma_number<R> x(draws, shape);
  return log(x.value) + x.log_factor;
}

// x / (x + y), of two gamma numbers.
template <class R>
__device__ inline R gpulua_beta(unsigned long long key, unsigned long long first, long long i, R a, R b) {
  gpulua_draws draws(key, first, i);
  const gpulua_gamma_number<R> x(draws, a), y(draws, b);
  const R most = x.log_factor > y.log_factor ? x.log_factor : y.log_factor;
  const R p = x.value * exp(x.log_factor - most), q = y.value * exp(y.log_factor - most);
  return p / (p + q);
}

// ---- angles ------------------------------------------------------------------------------------------------------------------

// Best and Fisher, "Efficient simulation of the von Mises distribution", 1979: from -pi to pi, around 0.
__device__ inline double gpulua_vonmises(unsigned long long key, unsigned long long first, long long i,
                                         double concentration) {
  gpulua_draws draws(key, first, i);
  const double pi = 3.14159265358979323846;
  if (!(concentration >= 0)) return sqrt(-1.0);
  if (concentration < 1e-8) return (gpulua_two_uniforms(draws).u - 0.5) * 2 * pi;
  if (concentration > 1e6) {  // a normal distribution, to rounding
    const double x = gpulua_normal_and_uniforms<double>(draws).normal / sqrt(concentration);
    return x > pi ? pi : x < -pi ? -pi : x;
  }
  const double tau = 1 + sqrt(1 + 4 * concentration * concentration);
  const double rho = (tau - sqrt(2 * tau)) / (2 * concentration);
  const double r = concentration < 1e-5 ? 1 / concentration + concentration : (1 + rho * rho) / (2 * rho);
  double angle = 0;
  for (int attempt = 0; attempt < gpulua_attempts; ++attempt) {
    const gpulua_two_uniforms first_two(draws), last_two(draws);
    const double z = cospi(first_two.u), f = (1 + r * z) / (r + z), c = concentration * (r - f);
    angle = acos(f > 1 ? 1 : f < -1 ? -1 : f);
    if (last_two.u < 0.5) angle = -angle;
    if (c * (2 - c) > first_two.v || log(c / first_two.v) + 1 - c >= 0) break;
  }
  return angle;
}
