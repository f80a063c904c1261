// Relatives of the gamma and the Bessel functions, and of exponential integrals, in double; and entropies and losses in the type of
// their arguments.

__device__ inline double gpulua_infinity() { return __int_as_float(0x7f800000); }

// ---- digamma, zeta, polygamma, beta --------------------------------------------------------------------------------------------------

// The logarithmic derivative of gamma: the argument is moved up to 10, where its asymptotic series has all digits.
__device__ __noinline__ inline double gpulua_digamma(double x) {
  if (x == 0) return copysign(gpulua_infinity(), -x);
  if (x == -gpulua_infinity()) return x - x;
  double value = 0;
  if (x < 0) {
    if (x == floor(x)) return x - x + (gpulua_infinity() - gpulua_infinity());
    value = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - rint(x)));  // by the distance from the pole
    x = 1 - x;
  }
  for (; x < 10; x += 1) value -= 1 / x;
  const double r = 1 / (x * x);
  const double series =
      (1.0 / 12 - (1.0 / 120 - (1.0 / 252 - (1.0 / 240 - (1.0 / 132 - (691.0 / 32760 - 1.0 / 12 * r) * r) * r) * r) * r) * r) * r;
  return value + log(x) - 0.5 / x - series;
}

// The sum of (q + k)^-x from k = 0 on, by Euler and Maclaurin's formula.
__device__ __noinline__ inline double gpulua_zeta(double x, double q) {
  const double infinity = gpulua_infinity();
  if (x == 1) return infinity;
  if (!(x > 1)) return infinity - infinity;
  if (q <= 0) {
    if (q == floor(q)) return infinity;
    if (x != floor(x)) return infinity - infinity;
  }
  if (q > 1e8) return (1 / (x - 1) + 1 / (2 * q)) * pow(q, 1 - x);
  double sum = 0, a = q;
  for (int k = 0; k < 12 || a < 9; ++k, a += 1) sum += pow(a, -x);
  const double power = pow(a, -x), r = 1 / (a * a);
  // B(2j) / (2j)! for j from 1 on
  const double factors[8] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
                             1.0 / 74724249600.0, -3617.0 / 10670622842880000.0};
  sum += power * a / (x - 1) + power / 2;
  double rising = x * power / a;
  for (int j = 0; j < 8; ++j) {
    sum += factors[j] * rising;
    rising *= (x + 2 * j + 1) * (x + 2 * j + 2) * r;
  }
  return sum;
}

// The derivative of digamma of order n, a whole number.
__device__ __noinline__ inline double gpulua_polygamma(double n, double x) {
  if (n == 0) return gpulua_digamma(x);
  if (!(n > 0) || n != floor(n)) return gpulua_infinity() - gpulua_infinity();
  const double value = exp(lgamma(n + 1)) * gpulua_zeta(n + 1, x);
  return fmod(n, 2.0) == 0 ? -value : value;
}

// log(gamma(a) gamma(b) / gamma(a + b)), by magnitudes.
__device__ __noinline__ inline double gpulua_log_beta(double a, double b) {
  const double less = a < b ? a : b, more = a < b ? b : a;
  if (less > 0 && more >= 16) {
    // log(gamma(more) / gamma(more + less)) without the difference of large numbers
    return lgamma(less) - gpulua_log_gamma_step(more, less);
  }
  return lgamma(a) + lgamma(b) - lgamma(a + b);
}
__device__ inline double gpulua_gamma_sign(double x) {
  return x > 0 || fmod(floor(x), 2.0) == 0 ? 1.0 : -1.0;
}
__device__ __noinline__ inline double gpulua_beta_function(double a, double b) {
  return gpulua_gamma_sign(a) * gpulua_gamma_sign(b) * gpulua_gamma_sign(a + b) * exp(gpulua_log_beta(a, b));
}
// The number of ways to choose k out of n.
__device__ __noinline__ inline double gpulua_choose(double n, double k) {
  if (n < 0 && n == floor(n)) return gpulua_infinity() - gpulua_infinity();
  const bool whole = k == floor(k);
  if (whole && k >= 0) {
    // Of whole numbers the fewer factors, which are exact as long as the products are.
    const double fewer = n == floor(n) && n > 0 && k > n / 2 ? n - k : k;
    if (fewer < 0) return 0;
    if (fewer < 20) {
      double value = 1, below = 1;
      for (int i = 1; i <= (int)fewer; ++i) {
        value *= n - fewer + i;
        below *= i;
        if (fabs(value) > 1e50) {
          value /= below;
          below = 1;
        }
      }
      return value / below;
    }
  }
  if (whole && k < 0) return 0;
  return 1 / ((n + 1) * gpulua_beta_function(1 + n - k, 1 + k));
}

// ---- inverses of the incomplete gamma and beta functions ------------------------------------------------------------------------------

// The x whose share of the gamma distribution of shape a, or the rest of it, is p: Halley's method within the narrowest known bounds.
__device__ __noinline__ inline double gpulua_incomplete_gamma_inverse(double a, double p, bool upper) {
  const double infinity = gpulua_infinity();
  if (!(a > 0 && a < infinity && p >= 0 && p <= 1)) return infinity - infinity;
  if (p == 0 || p == 1) return (p == 0) != upper ? 0 : infinity;
  const double z = upper ? -normcdfinv(p) : normcdfinv(p);
  const double cube = 1 - 1 / (9 * a) + z / (3 * sqrt(a));
  double x = a * cube * cube * cube;  // E. B. Wilson and M. M. Hilferty, 1931
  const double small = exp((log(upper ? 1 - p : p) + lgamma(a + 1)) / a);
  if (small < 1e-280) return small;
  if (!(cube > 0.2) || small < 0.2 * (a + 1)) x = small;
  if (a < 1 && upper && p < 0.05) x = -log(p) - lgamma(a) + (a - 1) * log(1 - log(p));
  if (!(x > 0)) x = 1e-300;
  double low = 0, high = infinity;
  for (int k = 0; k < 100; ++k) {
    double off = gpulua_incomplete_gamma(a, x, upper) - p;
    if (upper) off = -off;
    if (off == 0) break;
    if (off > 0) high = x; else low = x;
    const double step = off * x / gpulua_gamma_density(a, x), curve = step * ((a - 1) / x - 1);
    double next = x - step / (1 - 0.5 * (curve < 1 ? curve > -1 ? curve : -1 : 1));
    if (!(next > low && next < high)) next = high == infinity ? 2 * x : low == 0 ? high / 16 : 0.5 * (low + high);
    const double moved = fabs(next - x);
    x = next;
    if (moved <= 2 * gpulua_precision * x) break;
  }
  return x;
}

// The x up to which the share of the beta distribution is p: Halley's method within the narrowest known bounds.
__device__ __noinline__ inline double gpulua_incomplete_beta_inverse(double a, double b, double p) {
  const double infinity = gpulua_infinity();
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || a == infinity || b == infinity) return infinity - infinity;
  if (p == 0 || p == 1) return p;
  const double logarithm = gpulua_log_beta(a, b);
  double x = exp((log(p) + log(a) + logarithm) / a);  // where x^a is all of it
  if (x < 1e-280) return x;
  const double turned = 1 - exp((log1p(-p) + log(b) + logarithm) / b);
  if (a >= 1 && b >= 1) {
    // From the normal distribution (M. Abramowitz and I. A. Stegun, 26.5.22).
    const double z = -normcdfinv(p), third = (z * z - 3) / 6;
    const double h = 2 / (1 / (2 * a - 1) + 1 / (2 * b - 1));
    const double w = z * sqrt(third + h) / h - (1 / (2 * b - 1) - 1 / (2 * a - 1)) * (third + 5.0 / 6 - 2 / (3 * h));
    const double guess = a / (a + b * exp(2 * w));
    if (third + h > 0 && guess > 0 && guess < 1) x = guess;
  } else if (!(x < a / (a + b))) {
    x = turned;
  }
  if (!(x > 0 && x < 1)) x = a / (a + b);
  double low = 0, high = 1;
  for (int k = 0; k < 200; ++k) {
    const double off = gpulua_incomplete_beta(a, b, x) - p;
    if (off == 0) break;
    if (off > 0) high = x; else low = x;
    const double step = off * x * (1 - x) / gpulua_beta_density(a, b, x, 1 - x);
    const double curve = step * ((a - 1) / x - (b - 1) / (1 - x));
    double next = x - step / (1 - 0.5 * (curve < 1 ? curve > -1 ? curve : -1 : 1));
    if (!(next > low && next < high)) next = low == 0 ? high / 16 : 0.5 * (low + high);
    const double moved = fabs(next - x);
    x = next;
    if (moved <= 2 * gpulua_precision * x) break;
  }
  return x;
}

// ---- exponential integrals ---------------------------------------------------------------------------------------------------------

// The integral of exp(-x t) / t^n from t = 1 on: a series, or a continued fraction (Lentz's method).
__device__ __noinline__ inline double gpulua_expn(double order, double x) {
  const double infinity = gpulua_infinity();
  if (!(order >= 0) || order != floor(order) || !(x >= 0)) return infinity - infinity;
  if (x == infinity) return 0;
  if (order == 0) return exp(-x) / x;
  if (x == 0) return order > 1 ? 1 / (order - 1) : infinity;
  if (x > 1) {
    double b = x + order, c = 1 / gpulua_tiny, d = 1 / b, h = d;
    for (int k = 1; k < 1000; ++k) {
      const double factor = -k * (order - 1 + k);
      b += 2;
      d = 1 / (factor * d + b);
      c = b + factor / c;
      h *= c * d;
      if (fabs(c * d - 1) < gpulua_precision) break;
    }
    return h * exp(-x);
  }
  // psi(order)
  double digamma = -0.57721566490153286061;
  for (int k = 1; k < (int)order; ++k) digamma += 1.0 / k;
  double term = 1, sum = order == 1 ? digamma - log(x) : 1 / (order - 1);
  for (int k = 1; k < 200; ++k) {
    term *= -x / k;
    const double change = k == (int)order - 1 ? term * (digamma - log(x)) : -term / (k - (order - 1));
    sum += change;
    if (fabs(change) < fabs(sum) * gpulua_precision && k >= order) break;
  }
  return sum;
}

// The principal value of the integral of exp(t) / t up to x.
__device__ __noinline__ inline double gpulua_expi(double x) {
  const double infinity = gpulua_infinity();
  if (x == 0) return -infinity;
  if (x < 0) return -gpulua_expn(1, -x);
  if (x == infinity) return x;
  if (x < 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 500; ++k) {
      term *= x / k;
      sum += term / k;
      if (term / k < sum * gpulua_precision) break;
    }
    return 0.57721566490153286061 + log(x) + sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < x && k < 60; ++k) {
    term *= k / x;
    sum += term;
    if (term < gpulua_precision) break;
  }
  return x > 709 ? exp(x - 700) / x * sum * exp(700.0) : exp(x) / x * sum;
}

// ---- modified Bessel functions -----------------------------------------------------------------------------------------------------

// exp(x) times the one of the second kind of that order: the integral of exp(-x (cosh t - 1)) cosh(order t). The trapezoidal rule has
// all digits: the integrand is analytic, and falls doubly exponentially.
__device__ __noinline__ inline double gpulua_bessel_k_scaled(double order, double x) {
  if (x < 0 || x != x) return gpulua_infinity() - gpulua_infinity();
  if (x == 0) return gpulua_infinity();
  if (x == gpulua_infinity()) return 0;
  // The first terms of the series have all digits there, where exp(x) is 1 + x and the integral's exponentials would overflow.
  if (x < 1e-10) return (order == 0 ? 0.11593151565841244881 - log(x) : 1 / x) * (1 + x);
  const double step = x > 8 ? 0.2 / sqrt(x / 8) : 0.2;
  const double first = expm1(step), ratio = first + 1;
  double sum = 0.5, less = 0;  // exp(t) - 1
  for (int k = 1; k < 5000; ++k) {
    less = less * ratio + first;
    const double whole = less + 1, power = x * less * less / (2 * whole);  // x (cosh t - 1)
    const double term = order == 0 ? exp(-power) : exp(-power) * (0.5 * (whole + 1 / whole));
    sum += term;
    if (term < sum * 1e-17 && power > 1) break;
  }
  return sum * step;
}
__device__ inline double gpulua_bessel_k(double order, double x) {
  const double scaled = gpulua_bessel_k_scaled(order, x);
  return x > 700 ? exp(-(x - 600)) * scaled * exp(-600.0) : exp(-x) * scaled;
}

// exp(-|x|) times the one of the first kind, of order 0 or 1: from 500 on its asymptotic series.
__device__ __noinline__ inline double gpulua_bessel_i_scaled(double order, double x) {
  const double size = fabs(x);
  double value;
  if (size < 500) {
    value = exp(-size) * (order == 0 ? cyl_bessel_i0(size) : cyl_bessel_i1(size));
  } else {
    double term = 1, sum = 1;
    for (int k = 1; k < 8; ++k) {
      term *= -(4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k * size);
      sum += term;
    }
    value = sum / (2.50662827463100050242 * sqrt(size));
  }
  return order == 0 ? value : copysign(value, x);
}

// ---- logarithms that do not overflow, entropies and losses ---------------------------------------------------------------------------

__device__ __noinline__ inline double gpulua_log_normcdf(double x) {
  if (x > -1) return log1p(-normcdf(-x));
  const double t = -x * 0.70710678118654752440;
  return log(0.5 * erfcx(t)) - t * t;
}
template <class T> __device__ inline T gpulua_log_sigmoid(T x) { return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)); }
template <class T> __device__ inline T gpulua_xlogy(T x, T y) { return x == 0 && y == y ? T(0) : x * log(y); }
template <class T> __device__ inline T gpulua_xlog1py(T x, T y) { return x == 0 && y == y ? T(0) : x * log1p(y); }
template <class T> __device__ inline T gpulua_entr(T x) {
  return x > 0 ? -x * log(x) : x == 0 ? T(0) : x < 0 ? T(-gpulua_infinity()) : x;
}
template <class T> __device__ inline T gpulua_rel_entr(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x > 0 && y > 0) return x * log(x / y);
  return x == 0 && y >= 0 ? T(0) : T(gpulua_infinity());
}
template <class T> __device__ inline T gpulua_kl_div(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x > 0 && y > 0) return x * log(x / y) - x + y;
  return x == 0 && y >= 0 ? y : T(gpulua_infinity());
}
template <class T> __device__ inline T gpulua_huber(T delta, T r) {
  if (delta < 0) return T(gpulua_infinity());
  return fabs(r) <= delta ? T(0.5) * r * r : delta * (fabs(r) - T(0.5) * delta);
}
template <class T> __device__ inline T gpulua_pseudo_huber(T delta, T r) {
  if (delta < 0) return T(gpulua_infinity());
  if (delta == 0 || r == 0) return r != r ? r : T(0);
  const T ratio = r / delta;
  return delta * delta * expm1(T(0.5) * log1p(ratio * ratio));
}
template <class T> __device__ inline T gpulua_boxcox(T x, T power) { return power == 0 ? log(x) : expm1(power * log(x)) / power; }
template <class T> __device__ inline T gpulua_inv_boxcox(T y, T power) { return power == 0 ? exp(y) : exp(log1p(power * y) / power); }
template <class T> __device__ inline T gpulua_exprel(T x) {
  if (x == 0) return T(1);
  if (isinf(x)) return x > 0 ? x : T(0);
  if (x < 80) return expm1(x) / x;
  const T root = exp(T(0.5) * x);  // of the exponential, which alone may overflow
  return root / x * root;
}
// The integral of t^order exp(x t) for t from 0 to 1: the derivative of that order of exprel.
__device__ __noinline__ inline double gpulua_exp_moment(double order, double x) {
  const double size = fabs(x);
  if (isinf(x)) return x > 0 ? x : 0;
  if (size < 20 + 2 * order) {
    // Series whose terms are positive, for a negative x with the factor exp(x).
    double term = x < 0 ? 1 / (order + 1) : 1, sum = 1 / (order + 1);
    for (int k = 1; k < 1000; ++k) {
      term *= x < 0 ? size / (order + 1 + k) : x / k;
      const double change = x < 0 ? term : term / (order + 1 + k);
      sum += change;
      if (change < sum * 1.1e-16 && k > size) break;
    }
    return x < 0 ? exp(x) * sum : sum;
  }
  // By parts. A positive x without the factor exp(x), which may overflow before the product.
  double value = -expm1(-size) / size;
  for (int k = 1; k <= (int)order; ++k) value = ((x > 0 ? 1 : exp(x)) - k * value) / x;
  const double root = x > 0 ? exp(0.5 * x) : 1;
  return value * root * root;
}
