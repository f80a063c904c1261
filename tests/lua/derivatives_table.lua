-- Which functions have a derivative. A line has a function's name, and
--   d    a sample: the shape of x, and an expression of it, whose derivative is checked; d1: the first derivative only; dz: with complex
--        numbers, too
--   c    the same for a function whose results are constants
--   r    the same for a function that refuses
--   row  an elementwise operation: gradients_spec and partials_spec have them
--   -    no function of the elements of arrays
-- In an expression, n(...) and m(...) are constant arrays of random numbers of that shape; more than one line may have a name.
return [[
gpu.linalg.solve          dz   3,3     linalg.solve(x + 3 * eye(3), n(3))
gpu.linalg.solve          dz   2,3,3   linalg.solve(x + 3 * eye(3), n(3, 2))
gpu.linalg.solve          dz   3,2     linalg.solve(n(3, 3), x)
gpu.linalg.inv            dz   2,3,3   linalg.inv(x + 3 * eye(3))
gpu.linalg.det            dz   2,3,3   linalg.det(x)
gpu.linalg.slogdet        dz   2,3,3   linalg.slogdet(x)
gpu.linalg.lu_factor      r    3,3     linalg.lu_factor(x)
gpu.linalg.lu_solve       r    3,3     linalg.lu_solve(x, gpu.arange(3, "int32") + 1, n(3))
gpu.linalg.lu             r    3,3     linalg.lu(x)
gpu.linalg.tensorsolve    d    2,3,6   linalg.tensorsolve(x, n(2, 3))
gpu.linalg.tensorinv      d    2,3,6   linalg.tensorinv(x)
gpu.linalg.funm           r    3,3     linalg.funm(x, gpu.exp)
gpu.linalg.sqrtm          r    3,3     linalg.sqrtm(positive(x))
gpu.linalg.logm           r    3,3     linalg.logm(positive(x))
gpu.linalg.expm           dz   2,3,3   linalg.expm(x)
gpu.linalg.matrix_rank    c    3,3     linalg.matrix_rank(x)
gpu.linalg.pinv           dz   4,3     linalg.pinv(x)
gpu.linalg.pinv           dz   2,3,4   linalg.pinv(x)
gpu.linalg.pinv           dz   3,3     linalg.pinv(hermitian(x), {hermitian = true})
gpu.linalg.lstsq          dz   4,3     linalg.lstsq(x, n(4, 2))
gpu.linalg.lstsq          d    4       linalg.lstsq(n(4, 2), x)
gpu.linalg.norm           dz   3,4     linalg.norm(x)
gpu.linalg.norm           d    3,4     linalg.norm(x, 2)
gpu.linalg.norm           d    3,4     linalg.norm(x, "nuc")
gpu.linalg.vector_norm    d    3,4     linalg.vector_norm(x, 3, 2)
gpu.linalg.matrix_norm    d    2,3,4   linalg.matrix_norm(x)
gpu.linalg.cond           d    3,3     linalg.cond(x)
gpu.linalg.matrix_power   dz   3,3     linalg.matrix_power(x, 3)
gpu.linalg.matrix_power   d    3,3     linalg.matrix_power(x, -2)
gpu.linalg.multi_dot      dz   3,4     linalg.multi_dot {n(2, 3), x, n(4, 2)}
gpu.linalg.matrix_transpose d  3,4     linalg.matrix_transpose(x) ^ 2
gpu.linalg.block_diag     d    3,4     linalg.block_diag(x, n(2, 2)) ^ 2
gpu.linalg.toeplitz       d    4       linalg.toeplitz(x) ^ 2
gpu.linalg.cross          d    4,3     linalg.cross(x, n(4, 3))
gpu.linalg.diagonal       d    4,3     linalg.diagonal(x) ^ 2
gpu.linalg.matmul         dz   4,3     linalg.matmul(x, n(3, 2)) ^ 2
gpu.linalg.outer          d    4       linalg.outer(x, x)
gpu.linalg.tensordot      d    2,3,4   linalg.tensordot(x, n(3, 4, 2), 2) ^ 2
gpu.linalg.trace          d    3,3     linalg.trace(x) ^ 2
gpu.linalg.vander         d    4       linalg.vander(x)
gpu.linalg.vecdot         dz   4,3     linalg.vecdot(x, x)
gpu.linalg.circulant      d    4       linalg.circulant(x) ^ 2
gpu.linalg.hankel         d    4       linalg.hankel(x) ^ 2
gpu.linalg.companion      d    4       linalg.companion(x)
gpu.linalg.convolution_matrix d 3      linalg.convolution_matrix(x, 4) ^ 2
gpu.linalg.dft            -
gpu.linalg.fiedler        d    4       linalg.fiedler(x)
gpu.linalg.hadamard       -
gpu.linalg.helmert        -
gpu.linalg.hilbert        -
gpu.linalg.leslie         d    4       linalg.leslie(x, n(3)) ^ 2
gpu.linalg.khatri_rao     d    3,4     linalg.khatri_rao(x, n(2, 4)) ^ 2
gpu.linalg.qr             dz   4,3     linalg.qr(x)
gpu.linalg.qr             dz   3,4     linalg.qr(x)
gpu.linalg.qr             dz   2,4,3   linalg.qr(x, "r")
gpu.linalg.eigh           d    2,3,3   linalg.eigh(hermitian(x))
gpu.linalg.eigvalsh       dz   2,3,3   linalg.eigvalsh(hermitian(x))
gpu.linalg.eig            dz   3,3     phased(linalg.eig(x))
gpu.linalg.eigvals        dz   3,3     linalg.eigvals(x)
gpu.linalg.svd            d    4,3     linalg.svd(x, false)
gpu.linalg.svd            dz   2,3,5   product_of_svd(linalg.svd(x, false))
gpu.linalg.svdvals        dz   2,4,3   linalg.svdvals(x)
gpu.linalg.null_space     r    3,4     linalg.null_space(x)
gpu.linalg.orth           r    4,3     linalg.orth(x)
gpu.linalg.polar          d    4,3     linalg.polar(x)
gpu.linalg.solve_banded   r    3,4     linalg.solve_banded({1, 1}, x, n(4))
gpu.linalg.solveh_banded  r    2,4     linalg.solveh_banded(x, n(4))
gpu.linalg.solve_toeplitz d    4       linalg.solve_toeplitz(x + gpu.array({8, 0, 0, 0}, "float64"), n(4))
gpu.linalg.solve_circulant d   4       linalg.solve_circulant(x + gpu.array({8, 0, 0, 0}, "float64"), n(4))
gpu.linalg.cholesky       dz   2,3,3   linalg.cholesky(positive(x))
gpu.linalg.cholesky       dz   3,3     linalg.cholesky(positive(x), {upper = true})
gpu.linalg.solve_triangular dz 2,3,3   linalg.solve_triangular(x + 3 * eye(3), n(3, 2), {trans = "T"})
gpu.linalg.solve_triangular dz 3,3     linalg.solve_triangular(x, n(3), {lower = true, unit_diagonal = true})
gpu.linalg.solve_triangular dz 2,3,2   linalg.solve_triangular(n(3, 3), x, {lower = true, trans = "C"})
gpu.linalg.cho_solve      dz   2,3,3   linalg.cho_solve(x + 3 * eye(3), n(3, 2))
gpu.linalg.cho_solve      dz   3,3     linalg.cho_solve(x + 3 * eye(3), x(1), {upper = true})
gpu.fft.fft               dz   2,6     fft.fft(x)
gpu.fft.fft               dz   5,2     fft.fft(x, 7, 1, {norm = "ortho"})
gpu.fft.ifft              dz   2,6     fft.ifft(x, 4)
gpu.fft.rfft              d    2,6     fft.rfft(x)
gpu.fft.rfft              d    2,6     fft.rfft(x, 7, {norm = "forward"})
gpu.fft.rfft              d    5,2     fft.rfft(x, {axis = 1, n = 3})
gpu.fft.ihfft             d    2,6     fft.ihfft(x)
gpu.fft.irfft             dz   2,4     fft.irfft(x)
gpu.fft.irfft             dz   2,4     fft.irfft(x, 9, {norm = "ortho"})
gpu.fft.hfft              dz   2,4     fft.hfft(x, 5)
gpu.fft.fft2              dz   3,4     fft.fft2(x, {norm = "forward"})
gpu.fft.ifft2             dz   3,4     fft.ifft2(x, {4, 3})
gpu.fft.fftn              dz   2,3,4   fft.fftn(x)
gpu.fft.ifftn             dz   2,3,4   fft.ifftn(x, {axes = {1, 3}, norm = "ortho"})
gpu.fft.rfft2             d    3,4     fft.rfft2(x)
gpu.fft.rfftn             d    2,3,5   fft.rfftn(x, {s = {4, 4}, axes = {1, 3}})
gpu.fft.irfft2            dz   3,3     fft.irfft2(x)
gpu.fft.irfftn            dz   2,3,3   fft.irfftn(x, {s = {3, 5}, axes = {2, 3}, norm = "forward"})
gpu.fft.dct               d    2,5     fft.dct(x)
gpu.fft.dct               d    2,5     fft.dct(x, 1)
gpu.fft.dct               d    2,5     fft.dct(x, 3, {norm = "ortho", n = 7})
gpu.fft.dct               d    5,2     fft.dct(x, 4, {axis = 1, norm = "forward"})
gpu.fft.idct              d    2,5     fft.idct(x)
gpu.fft.idct              d    2,5     fft.idct(x, 1, {norm = "forward", n = 4})
gpu.fft.idct              d    2,5     fft.idct(x, 3)
gpu.fft.dst               d    2,5     fft.dst(x)
gpu.fft.dst               d    2,5     fft.dst(x, 1)
gpu.fft.dst               d    2,5     fft.dst(x, 3, {norm = "forward"})
gpu.fft.idst              d    2,5     fft.idst(x)
gpu.fft.idst              d    2,5     fft.idst(x, 3, {norm = "ortho"})
gpu.fft.dctn              d    3,4     fft.dctn(x)
gpu.fft.idctn             d    3,4     fft.idctn(x)
gpu.fft.dstn              d    3,4     fft.dstn(x)
gpu.fft.idstn             d    3,4     fft.idstn(x)
gpu.fft.hfft2             dz   3,3     fft.hfft2(x)
gpu.fft.hfftn             dz   3,3     fft.hfftn(x)
gpu.fft.ihfft2            d    3,4     fft.ihfft2(x)
gpu.fft.ihfftn            d    3,4     fft.ihfftn(x)
gpu.fft.fftfreq           -
gpu.fft.rfftfreq          -
gpu.fft.fftshift          d    5       fft.fftshift(x) ^ 2
gpu.fft.ifftshift         d    5       fft.ifftshift(x) ^ 2
gpu.fft.plans             -
gpu.fft.set_cache         -
gpu.fft.next_fast_len     -
gpu.fft.prev_fast_len     -
gpu.convolve              dz   5       gpu.convolve(x, n(3), "same")
gpu.convolve              dz   3       gpu.convolve(n(5), x, "valid")
gpu.correlate             dz   5       gpu.correlate(x, n(3))
gpu.correlate             dz   3       gpu.correlate(n(5), x, "full")
gpu.fftconvolve           dz   4,5     gpu.fftconvolve(x, n(2, 3))
gpu.fftconvolve           d    2,3     gpu.fftconvolve(n(4, 5), x, {mode = "same"})
gpu.oaconvolve            d    900     gpu.oaconvolve(x, n(5))
gpu.cumsum                dz   4,5     gpu.cumsum(x, 2) ^ 2
gpu.cumsum                d    2,5     gpu.cumsum(x, {axis = 1, exclusive = true}) ^ 2
gpu.cumprod               dz   4,5     gpu.cumprod(x, 2)
gpu.cumprod               d    2,3     gpu.cumprod(x)
gpu.cumprod               d    4,5     gpu.cumprod(x, {axis = 1, exclusive = true})
gpu.cummax                d    4,5     gpu.cummax(x, 2) ^ 2
gpu.cummin                d    4,5     gpu.cummin(x) ^ 2
gpu.nancumsum             d    4,5     gpu.nancumsum(x, 2) ^ 2
gpu.nancumprod            d    4,5     gpu.nancumprod(x, 2)
gpu.sort                  d    4,5     gpu.sort(x, {axis = 1, descending = true}) ^ 2
gpu.partition             d    4,5     gpu.partition(x, 3, 1) ^ 2
gpu.topk                  d    4,5     gpu.topk(x, 3) ^ 2
gpu.topk                  d    4,5     gpu.topk(x, 2, {axis = 1, largest = false}) ^ 2
gpu.argsort               c    5       gpu.argsort(x)
gpu.argpartition          c    5       gpu.argpartition(x, 2)
gpu.searchsorted          c    5       gpu.searchsorted(x, 0.5)
gpu.median                d    4,5     gpu.median(x, 2) ^ 2
gpu.median                d    4,5     gpu.median(x) ^ 2
gpu.quantile              d    4,5     gpu.quantile(x, {0.2, 0.7}, 2) ^ 2
gpu.quantile              d    4,5     gpu.quantile(x, gpu.linspace(0, 1, 20)) ^ 2
gpu.percentile            d    4,5     gpu.percentile(x, 30, {method = "lower"}) ^ 2
gpu.nanmedian             d    4,5     gpu.nanmedian(x, 2) ^ 2
gpu.nanpercentile         d    4,5     gpu.nanpercentile(x, 40, 2) ^ 2
gpu.nanquantile           d    4,5     gpu.nanquantile(x, 0.4, 2) ^ 2
gpu.extract               d    4,5     gpu.extract(x:gt(0), x) ^ 2
gpu.extract               d    4,5     x[x:gt(0)] ^ 2
gpu.compress              d    4,5     gpu.compress(gpu.array {true, false, true, false}, x, 1) ^ 2
gpu.take                  d    4,5     gpu.take(x, {1, 3, 3}, 2) ^ 2
gpu.take_along_axis       d    4,5     gpu.take_along_axis(x, gpu.array {{1, 2, 2, 3, 1}}, 1) ^ 2
gpu.put                   r    4       gpu.put(x, {1}, n(1))
gpu.put_along_axis        r    4       gpu.put_along_axis(x, gpu.array {1}, n(1), 1)
gpu.scatter_add           r    4       gpu.scatter_add(x, {1}, n(1))
gpu.choose                d    4       gpu.choose(gpu.array {1, 2, 2, 1}, {x, x * 2}) ^ 2
gpu.nonzero               c    4       gpu.nonzero(x)
gpu.flatnonzero           c    4       gpu.flatnonzero(x)
gpu.argwhere              c    4       gpu.argwhere(x)
gpu.pad                   d    3,4     gpu.pad(x, {{1, 2}, {0, 3}}, {value = 2}) ^ 2
gpu.pad                   d    3,4     gpu.pad(x, 2, "edge") ^ 2
gpu.pad                   d    3,4     gpu.pad(x, 5, "reflect") ^ 2
gpu.pad                   d    3,4     gpu.pad(x, {2, 3}, "symmetric") ^ 2
gpu.pad                   d    3,4     gpu.pad(x, 3, "wrap") ^ 2
gpu.sliding_window        d    6       gpu.sliding_window(x, 3) ^ 2
gpu.sliding_window        d    4,5     gpu.sliding_window(x, {2, 3}) ^ 2
gpu.diff                  d    4,5     gpu.diff(x, 2, 2) ^ 2
gpu.diff                  d    4,5     gpu.diff(x, {axis = 1, prepend = 0}) ^ 2
gpu.ediff1d               d    5       gpu.ediff1d(x) ^ 2
gpu.gradient              d    5       gpu.gradient(x, {edge_order = 2}) ^ 2
gpu.gradient              d    3,5     gpu.gradient(x, 0.5)
gpu.trapezoid             d    3,5     gpu.trapezoid(x, 0.5, 2) ^ 2
gpu.trapezoid             d    5       gpu.trapezoid(n(5), x) ^ 2
gpu.simpson               d    3,5     gpu.simpson(x, 0.5, 2) ^ 2
gpu.cumulative_trapezoid  d    3,5     gpu.cumulative_trapezoid(x, 0.5, 2) ^ 2
gpu.interp                d    5       gpu.interp(x, {-3, -1, 0.1, 3}, n(4)) ^ 2
gpu.interp                d    4       gpu.interp(n(5), {-3, -1, 0.1, 3}, x) ^ 2
gpu.cross                 d    4,3     gpu.cross(x, n(4, 3)) ^ 2
gpu.polyval               d    4       gpu.polyval(x, n(3)) ^ 2
gpu.polyval               d    4       gpu.polyval(n(3), x)
gpu.polyfit               d    5       gpu.polyfit(n(5), x, 2) ^ 2
gpu.polyadd               d    4       gpu.polyadd(x, n(3)) ^ 2
gpu.polysub               d    4       gpu.polysub(x, n(3)) ^ 2
gpu.polymul               d    4       gpu.polymul(x, n(3)) ^ 2
gpu.polydiv               r    4       gpu.polydiv(x, n(2))
gpu.polyder               d    4       gpu.polyder(x) ^ 2
gpu.polyint               d    4       gpu.polyint(x) ^ 2
gpu.poly                  d    4       gpu.poly(x)
gpu.roots                 r    4       gpu.roots(x)
gpu.cubic_spline          d    5       gpu.cubic_spline(gpu.arange(4, "float64"), n(4))(x)
gpu.cubic_spline          r    4       gpu.cubic_spline(gpu.arange(4, "float64"), x)(n(3))
]]
