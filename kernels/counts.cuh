// Random counts, drawn by rejection as in distributions.cuh. They are computed in double.

// The logarithm of the probability of k.
__device__ inline double gpulua_log_poisson(double k, double mean) {
  if (k < 16) return k * log(mean) - mean - lgamma(k + 1);
  // Stirling's series, and the rest: k * log(mean / k) - mean + k.
  const double d = (mean - k) / k;
  return k * (log1p(d) - d) - 0.5 * log(6.28318530717958647692 * k) - (1.0 / 12 - 1 / (360 * k * k)) / k;
}

// Means below 10: one probability after the other is taken from a uniform number. Others: Hoermann, "The transformed rejection
// method for generating Poisson random variables", 1993, algorithm PTRS.
__device__ inline long long gpulua_poisson(unsigned long long key, unsigned long long first, long long i, double mean) {
  gpulua_draws draws(key, first, i);
  if (!(mean >= 0)) return 0;
  mean = fmin(mean, 0x1p80);  // no long long either
  double k = 0;
  if (mean < 10) {
    double u = gpulua_two_uniforms(draws).u, p = exp(-mean);
    while (u > p && k < 100) {
      u -= p;
      k += 1;
      p *= mean / k;
    }
    return (long long)k;
  }
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), within = 0.9277 - 3.6224 / (b - 2);
  for (int attempt = 0; attempt < gpulua_attempts; ++attempt) {
    const gpulua_two_uniforms drawn(draws);
    const double u = drawn.u - 0.5, v = drawn.v, s = 0.5 - fabs(u);
    k = floor((2 * a / s + b) * u + mean + 0.43);
    if (s >= 0.07 && v <= within) break;
    if (k < 0 || (s < 0.013 && v > s)) continue;
    if (log(v * inverse_alpha / (a / (s * s) + b)) <= gpulua_log_poisson(k, mean)) break;
  }
  return gpulua_convert<long long>::from(k);
}

// log(k!) less (k + 1/2) * log(k + 1) - (k + 1) + log(2 pi) / 2.
__device__ inline double gpulua_stirling_rest(double k) {
  const double next = k + 1, square = next * next;
  if (k < 10) return lgamma(next) - (k + 0.5) * log(next) + next - 0.91893853320467274178;
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / next;
}

// p up to 1/2. As above: Hoermann, "The generation of binomial random variates", 1993, algorithm BTRS.
__device__ inline double gpulua_binomial_of_rarer(gpulua_draws& draws, double n, double p) {
  const double odds = p / (1 - p), mean = n * p;
  double k = 0;
  if (mean < 10) {
    double u = gpulua_two_uniforms(draws).u, probability = exp(n * log1p(-p));
    while (u > probability && k < n && k < 110) {
      u -= probability;
      k += 1;
      probability *= odds * (n - k + 1) / k;
    }
    return k;
  }
  const double deviation = sqrt(mean * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double within = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = floor((n + 1) * p);
  for (int attempt = 0; attempt < gpulua_attempts; ++attempt) {
    const gpulua_two_uniforms drawn(draws);
    const double u = drawn.u - 0.5, v = drawn.v, s = 0.5 - fabs(u);
    k = floor((2 * a / s + b) * u + mean + 0.5);
    if (s >= 0.07 && v <= within) break;
    if (k < 0 || k > n) continue;
    const double above_mode = n - mode + 1, above = n - k + 1;
    const double limit = (mode + 0.5) * log((mode + 1) / (odds * above_mode)) + (n + 1) * log(above_mode / above) +
                         (k + 0.5) * log(above * odds / (k + 1)) + gpulua_stirling_rest(mode) +
                         gpulua_stirling_rest(n - mode) - gpulua_stirling_rest(k) - gpulua_stirling_rest(n - k);
    if (log(v * alpha / (a / (s * s) + b)) <= limit) break;
  }
  return k;
}

__device__ inline long long gpulua_binomial(unsigned long long key, unsigned long long first, long long i, double n,
                                            double p) {
  gpulua_draws draws(key, first, i);
  if (!(n >= 0 && n <= 0x1p53 && p >= 0 && p <= 1)) return 0;
  n = floor(n);
  const double k = gpulua_binomial_of_rarer(draws, n, p > 0.5 ? 1 - p : p);
  return (long long)(p > 0.5 ? n - k : k);
}

// ---- draws without replacement -------------------------------------------------------------------------------------------------

// log(a! / k!) less (a - k) * log(a + 1).
__device__ inline double gpulua_log_factorials(double a, double k) {
  return (k + 0.5) * log1p((a - k) / (k + 1)) - (a - k) + gpulua_stirling_rest(a) - gpulua_stirling_rest(k);
}

// How many of `good` items are among `taken` of good + bad items. Up to 9 are taken one by one. Others: Stadlober, "The ratio of
// uniforms approach for generating discrete random variates", 1990, algorithm HRUA.
__device__ inline double gpulua_hypergeometric_of_rarer(gpulua_draws& draws, double good, double bad, double taken) {
  const double all = good + bad;
  double k = 0;
  if (taken < 10) {
    for (int drawn = 0; drawn < (int)taken; ++drawn)
      if (gpulua_two_uniforms(draws).u * (all - drawn) <= good - k) k += 1;
    return k;
  }
  const double share = good / all, mean = taken * share + 0.5;
  const double deviation = sqrt((all - taken) * taken * share * (1 - share) / (all - 1) + 0.5);
  const double width = 1.71552776992141359 * deviation + 0.89891616205889870;
  const double mode = floor((taken + 1) * (good + 1) / (all + 2));
  const double slope = log((mode + 1) / (good - mode + 1) * ((bad - taken + mode + 1) / (taken - mode + 1)));
  double end = floor(mean + 16 * deviation);
  if (end > taken + 1) end = taken + 1;
  if (end > good + 1) end = good + 1;
  for (int attempt = 0; attempt < gpulua_attempts; ++attempt) {
    const gpulua_two_uniforms drawn(draws);
    const double x = drawn.u, place = mean + width * (drawn.v - 0.5) / x;
    if (!(place >= 0 && place < end)) continue;
    k = floor(place);
    const double limit = (mode - k) * slope + gpulua_log_factorials(mode, k) +
                         gpulua_log_factorials(good - mode, good - k) + gpulua_log_factorials(taken - mode, taken - k) +
                         gpulua_log_factorials(bad - taken + mode, bad - taken + k);
    if (x * (4 - x) - 3 <= limit || 2 * log(x) <= limit) break;
  }
  return k;
}

__device__ inline long long gpulua_hypergeometric(unsigned long long key, unsigned long long first, long long i,
                                                  double good, double bad, double sample) {
  gpulua_draws draws(key, first, i);
  const double all = good + bad;
  if (!(good >= 0 && bad >= 0 && all <= 0x1p53 && sample >= 0 && sample <= all)) return 0;
  good = floor(good);
  bad = floor(bad);
  sample = floor(sample);
  const bool takes_most = sample > all - sample;
  const double taken = takes_most ? all - sample : sample;
  double k = gpulua_hypergeometric_of_rarer(draws, good < bad ? good : bad, good < bad ? bad : good, taken);
  if (!(good < bad)) k = taken - k;
  return (long long)(takes_most ? good - k : k);
}

// ---- counts from 1 -------------------------------------------------------------------------------------------------------------

// Devroye, "Non-Uniform Random Variate Generation", 1986, X.6.1. Numbers above `most` are not drawn.
__device__ inline long long gpulua_zipf(unsigned long long key, unsigned long long first, long long i, double exponent,
                                        double most) {
  gpulua_draws draws(key, first, i);
  const double less = exponent - 1;
  if (!(less > 0)) return 0;
  if (less >= 1024) return 1;
  const double least = exp(-less * log(most)), of_two = expm1(less * 0.69314718055994530942);
  for (int attempt = 0; attempt < gpulua_attempts; ++attempt) {
    const gpulua_two_uniforms drawn(draws);
    const double k = floor(exp(-log(drawn.u * (1 - least) + least) / less));
    if (!(k >= 1 && k <= most)) continue;
    const double ratio = expm1(less * log1p(1 / k));
    if (drawn.v * k * ratio / of_two <= (ratio + 1) / (of_two + 1)) return gpulua_convert<long long>::from(k);
  }
  return 1;
}

// Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", 1981, algorithm LK.
__device__ inline long long gpulua_logseries(unsigned long long key, unsigned long long first, long long i, double p) {
  gpulua_draws draws(key, first, i);
  if (!(p >= 0 && p < 1)) return 0;
  const gpulua_two_uniforms drawn(draws);
  if (drawn.v >= p) return 1;
  const double power = log1p(-p) * drawn.u, q = -expm1(power);
  if (drawn.v <= q * q) return gpulua_convert<long long>::from(floor(1 + log(drawn.v) / log1p(-exp(power))));
  return drawn.v >= q ? 1 : 2;
}
