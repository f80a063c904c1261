// Special functions that neither NVIDIA's nor C's library has. They are computed in double.

constexpr double gpulua_tiny = 1e-300, gpulua_precision = 1.1e-16;
constexpr int gpulua_most_terms = 200000;

// log(gamma(a)) less (a - 1/2) * log(a) - a + log(2 pi) / 2, for a from 16 on: Stirling's series.
__device__ inline double gpulua_stirling(double a) {
  const double r = 1 / (a * a);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 * r) * r) * r) * r) / a;
}

// log(y / z) - (y - z) / z, for neighbours without the difference of numbers that are nearly equal. `away`: y - z.
__device__ inline double gpulua_log_less(double y, double z, double away) {
  const double x = away / z;
  if (!(fabs(x) < 0.05)) return (fabs(x) < 0.5 ? log1p(x) : log(y / z)) - x;
  const double t = x / (2 + x), square = t * t;  // log(1 + x) = 2 artanh(t)
  double sum = 0;
  for (int k = 15; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * t * square * sum - x * t;
}

// ---- the incomplete gamma function -----------------------------------------------------------------------------------------------

// x^a exp(-x) / gamma(a).
__device__ inline double gpulua_gamma_density(double a, double x) {
  if (a < 16) return exp(a * log(x) - x - lgamma(a));
  return sqrt(a / 6.28318530717958647693) * exp(a * gpulua_log_less(x, a, x - a) - gpulua_stirling(a));
}

// The density of the gamma distribution of shape a.
__device__ inline double gpulua_density_of_gamma(double a, double x) {
  if (x == 0) return a < 1 ? __int_as_float(0x7f800000) : a == 1 ? 1 : 0;
  return gpulua_gamma_density(a, x) / x;
}

// The share of the gamma distribution of shape a up to x, and the rest: the smaller one by a series or by a continued fraction
// (Lentz's method), the other one is 1 less that.
__device__ __noinline__ inline double gpulua_incomplete_gamma(double a, double x, bool upper) {
  const double infinity = __int_as_float(0x7f800000);
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return infinity - infinity;
  if (x == 0 || a == infinity) return upper ? 1 : 0;
  if (a == 0 || x == infinity) return upper ? 0 : 1;
  const double density = gpulua_gamma_density(a, x);
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < gpulua_most_terms; ++k) {
      term *= x / (a + k);
      sum += term;
      if (term < sum * gpulua_precision) break;
    }
    return upper ? 1 - density * sum : density * sum;
  }
  double b = x + 1 - a, c = 1 / gpulua_tiny, d = 1 / b, h = d;
  for (int k = 1; k < gpulua_most_terms; ++k) {
    const double factor = -k * (k - a);
    b += 2;
    d = factor * d + b;
    if (fabs(d) < gpulua_tiny) d = gpulua_tiny;
    c = b + factor / c;
    if (fabs(c) < gpulua_tiny) c = gpulua_tiny;
    d = 1 / d;
    const double change = d * c;
    h *= change;
    if (fabs(change - 1) < 2 * gpulua_precision) break;
  }
  return upper ? density * h : 1 - density * h;
}

// ---- the incomplete beta function --------------------------------------------------------------------------------------------------

// log(gamma(a + b) / gamma(a)), for a from 16 on.
__device__ inline double gpulua_log_gamma_step(double a, double b) {
  return (a - 0.5) * log1p(b / a) + b * (log(a + b) - 1) + gpulua_stirling(a + b) - gpulua_stirling(a);
}

// x^a y^b gamma(a + b) / (gamma(a) gamma(b)), with y = 1 - x.
__device__ __noinline__ inline double gpulua_beta_density(double a, double b, double x, double y) {
  const double less = a < b ? a : b, more = a < b ? b : a, sum = a + b;
  if (less >= 16) {
    const double away = x * b - y * a;  // from the mean, times the sum
    const double exponent = a * gpulua_log_less(x * sum, a, away) + b * gpulua_log_less(y * sum, b, -away);
    return sqrt(a * b / (6.28318530717958647693 * sum)) *
           exp(exponent + gpulua_stirling(sum) - gpulua_stirling(a) - gpulua_stirling(b));
  }
  const double logarithm = more >= 16 ? gpulua_log_gamma_step(more, less) - lgamma(less)
                                      : lgamma(sum) - lgamma(a) - lgamma(b);
  return exp(a * log(x) + b * log(y) + logarithm);
}

// The density of the beta distribution.
__device__ inline double gpulua_density_of_beta(double a, double b, double x) {
  if (x != 0 && x != 1) return gpulua_beta_density(a, b, x, 1 - x) / (x * (1 - x));
  const double own = x == 0 ? a : b, other = x == 0 ? b : a;
  return own < 1 ? __int_as_float(0x7f800000) : own == 1 ? other : 0;
}

// The share of the beta distribution up to x: by a continued fraction (Lentz's method), on the side of the mean where it converges.
__device__ __noinline__ inline double gpulua_incomplete_beta(double a, double b, double x) {
  const double infinity = __int_as_float(0x7f800000);
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a == infinity || b == infinity) return infinity - infinity;
  if (x == 0 || x == 1) return x;
  const bool turned = x > (a + 1) / (a + b + 2);
  const double p = turned ? b : a, q = turned ? a : b, t = turned ? 1 - x : x, sum = p + q;
  double c = 1, d = 1 - sum * t / (p + 1);
  if (fabs(d) < gpulua_tiny) d = gpulua_tiny;
  d = 1 / d;
  double h = d;
  for (int k = 1; k < gpulua_most_terms; ++k) {
    const double even = k * (q - k) * t / ((p + 2 * k - 1) * (p + 2 * k));
    d = 1 + even * d;
    c = 1 + even / c;
    if (fabs(d) < gpulua_tiny) d = gpulua_tiny;
    if (fabs(c) < gpulua_tiny) c = gpulua_tiny;
    d = 1 / d;
    h *= d * c;
    const double odd = -(p + k) * (sum + k) * t / ((p + 2 * k) * (p + 2 * k + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    if (fabs(d) < gpulua_tiny) d = gpulua_tiny;
    if (fabs(c) < gpulua_tiny) c = gpulua_tiny;
    d = 1 / d;
    const double change = d * c;
    h *= change;
    if (fabs(change - 1) < 2 * gpulua_precision) break;
  }
  const double share = gpulua_beta_density(a, b, x, 1 - x) * h / p;
  return turned ? 1 - share : share;
}
