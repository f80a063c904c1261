// Dual numbers: a value and its derivatives by `count` variables. The variables of a derivative within another one have
// a greater `level`; the value and the derivatives of such a number are dual numbers of the levels below.

template <int level, int count, class T>
struct gpulua_dual {
  T v;
  T d[count];

  __device__ gpulua_dual() : v(), d() {}
  // What has no such level is a constant for its variables.
  template <class S>
  __device__ gpulua_dual(const S& x) : v((T)x), d() {}
  template <class S>
  __device__ gpulua_dual(const gpulua_dual<level, count, S>& x) : v((T)x.v) {
#pragma unroll
    for (int k = 0; k < count; ++k) d[k] = (T)x.d[k];
  }
};

// The number as variable `index`.
template <class Dual, class S>
__device__ inline Dual gpulua_variable(const S& x, int index) {
  Dual variable(x);
  variable.d[index] = 1;
  return variable;
}
