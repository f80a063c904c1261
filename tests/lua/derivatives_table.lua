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
gpu.linalg.funm           d    3,3     linalg.funm(x, gpu.exp)
gpu.linalg.sqrtm          d    3,3     linalg.sqrtm(positive(x))
gpu.linalg.logm           d    3,3     linalg.logm(positive(x))
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
gpu.linalg.fiedler        d    4       linalg.fiedler(apart(x))
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
gpu.cummax                d    4,5     gpu.cummax(apart(x), 2) ^ 2
gpu.cummin                d    4,5     gpu.cummin(apart(x)) ^ 2
gpu.nancumsum             d    4,5     gpu.nancumsum(x, 2) ^ 2
gpu.nancumprod            d    4,5     gpu.nancumprod(x, 2)
gpu.sort                  d    4,5     gpu.sort(apart(x), {axis = 1, descending = true}) ^ 2
gpu.partition             d    4,5     gpu.partition(apart(x), 3, 1) ^ 2
gpu.topk                  d    4,5     gpu.topk(apart(x), 3) ^ 2
gpu.topk                  d    4,5     gpu.topk(apart(x), 2, {axis = 1, largest = false}) ^ 2
gpu.argsort               c    5       gpu.argsort(x)
gpu.argpartition          c    5       gpu.argpartition(x, 2)
gpu.searchsorted          c    5       gpu.searchsorted(x, 0.5)
gpu.median                d    4,5     gpu.median(apart(x), 2) ^ 2
gpu.median                d    4,5     gpu.median(apart(x)) ^ 2
gpu.quantile              d    4,5     gpu.quantile(apart(x), {0.2, 0.7}, 2) ^ 2
gpu.quantile              d    4,5     gpu.quantile(apart(x), gpu.linspace(0, 1, 20)) ^ 2
gpu.percentile            d    4,5     gpu.percentile(apart(x), 30, {method = "lower"}) ^ 2
gpu.nanmedian             d    4,5     gpu.nanmedian(apart(x), 2) ^ 2
gpu.nanpercentile         d    4,5     gpu.nanpercentile(apart(x), 40, 2) ^ 2
gpu.nanquantile           d    4,5     gpu.nanquantile(apart(x), 0.4, 2) ^ 2
gpu.extract               d    4,5     gpu.extract(apart(x):gt(0), apart(x)) ^ 2
gpu.extract               d    4,5     apart(x)[apart(x):gt(0)] ^ 2
gpu.compress              d    4,5     gpu.compress(gpu.array {true, false, true, false}, apart(x), 1) ^ 2
gpu.take                  d    4,5     gpu.take(x, {1, 3, 3}, 2) ^ 2
gpu.take_along_axis       d    4,5     gpu.take_along_axis(x, gpu.array({{1, 2, 2, 3, 1}}, "int32"), 1) ^ 2
gpu.put                   r    4       gpu.put(x, {1}, n(1))
gpu.put_along_axis        r    4       gpu.put_along_axis(x, gpu.array({1}, "int32"), n(1), 1)
gpu.scatter_add           r    4       gpu.scatter_add(x, {1}, n(1))
gpu.choose                d    4       gpu.choose(gpu.array({1, 2, 2, 1}, "int32"), {x, x * 2}) ^ 2
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
gpu.poly                  r    4       gpu.poly(x)
gpu.roots                 r    4       gpu.roots(x)
gpu.cubic_spline          d    5       gpu.cubic_spline(gpu.arange(4, "float64"), n(4))(x)
gpu.cubic_spline          r    4       gpu.cubic_spline(gpu.arange(4, "float64"), x)(n(3))
gpu.linalg.funm           d    3,3     linalg.funm(x, gpu.exp)
gpu.array                 -
gpu.take                  d    4,5     gpu.take(x, {2, 2, 7}) ^ 2
gpu.copy                  d    4       gpu.copy(x) ^ 2
gpu.astype                d    4       gpu.astype(x, "float64") ^ 2
gpu.astype                c    4       gpu.astype(x, "int32")
gpu.contiguous            d    3,4     gpu.contiguous(x.T) ^ 2
gpu.reshape               d    3,4     gpu.reshape(x, 2, 6) ^ 2
gpu.ravel                 d    3,4     gpu.ravel(x.T) ^ 2
gpu.flatten               d    3,4     gpu.flatten(x) ^ 2
gpu.permute               d    2,3,4   gpu.permute(x, 3, 1, 2) ^ 2
gpu.transpose             d    2,3,4   gpu.transpose(x) ^ 2
gpu.swapaxes              d    2,3,4   gpu.swapaxes(x, 1, 3) ^ 2
gpu.moveaxis              d    2,3,4   gpu.moveaxis(x, 1, -1) ^ 2
gpu.broadcast_to          d    3       gpu.broadcast_to(x, 2, 3) ^ 2
gpu.squeeze               d    3,1     gpu.squeeze(x) ^ 2
gpu.expand_dims           d    3       gpu.expand_dims(x, 1) ^ 2
gpu.flip                  d    3,4     gpu.flip(x, 2) ^ 2
gpu.diagonal              d    3,4     gpu.diagonal(x, 1) ^ 2
gpu.atleast_1d            d    3       gpu.atleast_1d(x) ^ 2
gpu.atleast_2d            d    3       gpu.atleast_2d(x) ^ 2
gpu.atleast_3d            d    3       gpu.atleast_3d(x) ^ 2
gpu.broadcast_arrays      d    3       gpu.broadcast_arrays(x, n(2, 3))
gpu.concat                d    3,4     gpu.concat({x, n(2, 4)}, 1) ^ 2
gpu.stack                 d    3,4     gpu.stack({x, x * x}, 2) ^ 2
gpu.matmul                dz   4,3     gpu.matmul(x, n(3, 2)) ^ 2
gpu.clip                  d    5       gpu.clip(x, -0.5, 0.5) ^ 2
gpu.round                 d    5       gpu.round(x) * x
gpu.nan_to_num            d    5       gpu.nan_to_num(x) ^ 2
gpu.where                 d    5       gpu.where(n(5):gt(0), x, x * x)
gpu.divmod                d    5       select(2, gpu.divmod(x, 0.7)) * x
gpu.sum                   dz   3,4     gpu.sum(x, 2) ^ 2
gpu.sum                   d    3,4     gpu.sum(x, {where = n(3, 4):gt(0)}) ^ 2
gpu.prod                  dz   3,4     gpu.prod(x, 2) ^ 2
gpu.max                   d    3,4     gpu.max(apart(x), 2) ^ 2
gpu.min                   d    3,4     gpu.min(apart(x)) ^ 2
gpu.mean                  dz   3,4     gpu.mean(x, 1) ^ 2
gpu.std                   d    3,4     gpu.std(x, 1, {ddof = 1}) ^ 2
gpu.var                   dz   3,4     gpu.var(x) ^ 2
gpu.any                   c    3       gpu.any(x)
gpu.all                   c    3       gpu.all(x)
gpu.count_nonzero         c    3       gpu.count_nonzero(x)
gpu.argmax                c    3       gpu.argmax(x)
gpu.argmin                c    3       gpu.argmin(x)
gpu.blas.axpy             r    3       gpu.blas.axpy(2, x, n(3):copy())
gpu.blas.scal             r    3       gpu.blas.scal(2, x)
gpu.blas.copy             r    3       gpu.blas.copy(x, n(3):copy())
gpu.blas.swap             r    3       gpu.blas.swap(x, n(3):copy())
gpu.blas.rot              r    3       gpu.blas.rot(x, n(3):copy(), 0.5, 0.5)
gpu.blas.dot              d    3       gpu.blas.dot(x, n(3)) ^ 2
gpu.blas.asum             d    3       gpu.blas.asum(x)
gpu.blas.iamax            c    3       gpu.blas.iamax(x)
gpu.blas.nrm2             d    3       gpu.blas.nrm2(x)
gpu.complex               -
gpu.logspace              -
gpu.meshgrid              d    3       gpu.meshgrid(x, n(2))
gpu.diag                  d    3       gpu.diag(x, 1) ^ 2
gpu.diag                  d    3,4     gpu.diag(x, -1) ^ 2
gpu.vander                d    3       gpu.vander(x)
gpu.tril                  d    3,3     gpu.tril(x) ^ 2
gpu.triu                  d    3,3     gpu.triu(x, 1) ^ 2
gpu.insert                d    4       gpu.insert(x, 2, 5) ^ 2
gpu.delete                d    4       gpu.delete(x, 2) ^ 2
gpu.resize                d    4       gpu.resize(x, {2, 3}) ^ 2
gpu.unstack               d    3,4     gpu.unstack(x)
gpu.column_stack          d    4       gpu.column_stack {x, n(4)} ^ 2
gpu.block                 d    2,2     gpu.block {{x, n(2, 2)}, {n(2, 2), x}} ^ 2
gpu.trim_zeros            d    4       gpu.trim_zeros(x) ^ 2
gpu.repeat                d    4       gpu["repeat"](x, 2) ^ 2
gpu.repeat_interleave     d    3       gpu.repeat_interleave(x, {1, 0, 3}) ^ 2
gpu.tile                  d    3       gpu.tile(x, 2, 2) ^ 2
gpu.hstack                d    3       gpu.hstack {x, x} ^ 2
gpu.vstack                d    3       gpu.vstack {x, x} ^ 2
gpu.dstack                d    3       gpu.dstack {x, x} ^ 2
gpu.roll                  d    3,4     gpu.roll(x, {1, 2}, {1, 2}) ^ 2
gpu.rot90                 d    3,4     gpu.rot90(x) ^ 2
gpu.array_split           d    5       gpu.array_split(x, 2)
gpu.split                 d    4       gpu.split(x, 2)
gpu.trace                 d    3,3     gpu.trace(x) ^ 2
gpu.einsum                dz   3,4     gpu.einsum("ij,jk->ik", x, n(4, 2)) ^ 2
gpu.einsum                d    3,3     gpu.einsum("ii->i", x) ^ 2
gpu.einsum                d    2,3     gpu.einsum("ij,jk,kl->il", n(2, 2), x, n(3, 2)) ^ 2
gpu.einsum_path           c    3,4     gpu.einsum_path("ij,jk->ik", x, n(4, 2))
gpu.frexp                 d    4       gpu.frexp(x)
gpu.modf                  d    4       gpu.modf(x)
gpu.unwrap                d    4       gpu.unwrap(x) ^ 2
gpu.packbits              c    8       gpu.packbits(x:gt(0))
gpu.unpackbits            -
gpu.sort_complex          dz   4       gpu.sort_complex(apart(x)) ^ 2
gpu.apply_along_axis      d    3,4     gpu.apply_along_axis(function(v) return (v * v):sum() end, 1, x)
gpu.array_equiv           c    4       gpu.array_equiv(x, n(4))
gpu.array_equal           c    4       gpu.array_equal(x, n(4))
gpu.equal                 c    4       gpu.equal(x, n(4))
gpu.allclose              c    4       gpu.allclose(x, n(4))
gpu.isclose               c    4       gpu.isclose(x, n(4))
gpu.bincount              d    4       gpu.bincount(gpu.array({1, 2, 2, 3}, "int32"), {weights = x}) ^ 2
gpu.digitize              c    4       gpu.digitize(x, {0, 1})
gpu.histogram_bin_edges   r    4       gpu.histogram_bin_edges(x)
gpu.histogram             d    4       gpu.histogram(n(4), 3, {weights = x})
gpu.histogram2d           d    4       gpu.histogram2d(n(4), n(4), 3, {weights = x})
gpu.histogramdd           d    4       gpu.histogramdd(n(4, 2), 3, {weights = x})
gpu.lexsort               c    4       gpu.lexsort {x}
gpu.unique                d    4       gpu.unique(apart(x)) ^ 2
gpu.isin                  c    4       gpu.isin(x, {1})
gpu.union1d               d    4       gpu.union1d(apart(x), n(4)) ^ 2
gpu.intersect1d           r    4       gpu.intersect1d(x, n(4))
gpu.setdiff1d             r    4       gpu.setdiff1d(x, n(4))
gpu.setxor1d              r    4       gpu.setxor1d(x, n(4))
gpu.unravel_index         -
gpu.ravel_multi_index     -
gpu.tril_indices_from     c    3,3     gpu.tril_indices_from(x)
gpu.triu_indices_from     c    3,3     gpu.triu_indices_from(x)
gpu.select                d    4       gpu.select({n(4):gt(0), n(4):lt(-1)}, {x, x * x}) ^ 2
gpu.piecewise             d    4       gpu.piecewise(x, {n(4):gt(0)}, {function(v) return v * v end, 0})
gpu.dot                   dz   3,4     gpu.dot(x, n(4)) ^ 2
gpu.inner                 d    3,4     gpu.inner(x, n(2, 4)) ^ 2
gpu.outer                 dz   3       gpu.outer(x, n(4)) ^ 2
gpu.vdot                  dz   3       gpu.vdot(x, n(3)) ^ 2
gpu.vecdot                dz   2,3     gpu.vecdot(x, n(2, 3)) ^ 2
gpu.tensordot             d    2,3,4   gpu.tensordot(x, n(4, 3), {{2, 3}, {2, 1}}) ^ 2
gpu.kron                  dz   2,3     gpu.kron(x, n(2, 2)) ^ 2
gpu.ptp                   d    3,4     gpu.ptp(apart(x), 2) ^ 2
gpu.nansum                d    3,4     gpu.nansum(x, 2) ^ 2
gpu.nanprod               d    3,4     gpu.nanprod(x, 2) ^ 2
gpu.nanmean               d    3,4     gpu.nanmean(x, 2) ^ 2
gpu.average               d    3,4     gpu.average(x, 2, {weights = gpu.array({1, 2, 3, 4}, "float64")}) ^ 2
gpu.average               d    4       gpu.average(n(4), {weights = gpu.exp(x)}) ^ 2
gpu.logsumexp             d    3,4     gpu.logsumexp(x, 2) ^ 2
gpu.softmax               d    3,4     gpu.softmax(x, 2) ^ 2
gpu.log_softmax           d    3,4     gpu.log_softmax(x, 2) ^ 2
gpu.norm                  dz   3,4     gpu.norm(x, 2, 1) ^ 3
gpu.cov                   d    3,4     gpu.cov(x) ^ 2
gpu.corrcoef              d    3,4     gpu.corrcoef(x) ^ 2
gpu.nanargmax             c    4       gpu.nanargmax(x)
gpu.nanargmin             c    4       gpu.nanargmin(x)
gpu.nanmax                d    3,4     gpu.nanmax(x, 2) ^ 2
gpu.nanmin                d    3,4     gpu.nanmin(x) ^ 2
gpu.nanstd                d    3,4     gpu.nanstd(x, 2) ^ 2
gpu.nanvar                d    3,4     gpu.nanvar(x) ^ 2
gpu.stats.zscore          d    3,4     gpu.stats.zscore(x, 2) ^ 2
gpu.stats.zmap            d    3,4     gpu.stats.zmap(x, n(3, 4), 2) ^ 2
gpu.stats.gmean           d    3,4     gpu.stats.gmean(gpu.exp(x), 2) ^ 2
gpu.stats.hmean           d    3,4     gpu.stats.hmean(gpu.exp(x), 2) ^ 2
gpu.stats.sem             d    3,4     gpu.stats.sem(x, 2) ^ 2
gpu.stats.trim_mean       d    3,5     gpu.stats.trim_mean(apart(x), 0.2, 2) ^ 2
gpu.stats.iqr             d    3,5     gpu.stats.iqr(apart(x), 2) ^ 2
gpu.stats.moment          d    3,5     gpu.stats.moment(x, 3, 2) ^ 2
gpu.stats.skew            d    3,5     gpu.stats.skew(x, 2) ^ 2
gpu.stats.kurtosis        d    3,5     gpu.stats.kurtosis(x, 2) ^ 2
gpu.stats.entropy         d    5       gpu.stats.entropy(gpu.exp(x)) ^ 2
gpu.stats.rankdata        c    5       gpu.stats.rankdata(x)
gpu.stats.pearsonr        d    5       gpu.stats.pearsonr(x, n(5))
gpu.stats.spearmanr       c    5       gpu.stats.spearmanr(x, n(5))
gpu.stats.linregress      d    5       gpu.stats.linregress(x, n(5))
gpu.stats.ttest_1samp     d    5       gpu.stats.ttest_1samp(x, 0.5)
gpu.stats.ttest_ind       r    5       gpu.stats.ttest_ind(x, n(5))
gpu.ndimage.correlate     d    4,5     gpu.ndimage.correlate(x, n(3, 3)) ^ 2
gpu.ndimage.convolve      d    4,5     gpu.ndimage.convolve(x, n(2, 3), {mode = "constant"}) ^ 2
gpu.ndimage.gaussian_filter d  4,5     gpu.ndimage.gaussian_filter(x, 1) ^ 2
gpu.ndimage.sobel         d    4,5     gpu.ndimage.sobel(x) ^ 2
gpu.ndimage.prewitt       d    4,5     gpu.ndimage.prewitt(x) ^ 2
gpu.ndimage.uniform_filter d   4,5     gpu.ndimage.uniform_filter(x, 3) ^ 2
gpu.ndimage.distance_transform_edt c 4,5 gpu.ndimage.distance_transform_edt(x:gt(0))
gpu.ndimage.map_coordinates r    4,5     gpu.ndimage.map_coordinates(x, gpu.array({{1.3, 2.6}, {2.2, 4.1}}, "float64"), {order = 1}) ^ 2
gpu.ndimage.affine_transform r    4,5     gpu.ndimage.affine_transform(x, {{1, 0.1}, {0.2, 1}}, {order = 1}) ^ 2
gpu.ndimage.zoom          r    4,5     gpu.ndimage.zoom(x, 1.5, {order = 1}) ^ 2
gpu.ndimage.shift         r    4,5     gpu.ndimage.shift(x, 0.5, {order = 3}) ^ 2
gpu.ndimage.rotate        r    4,5     gpu.ndimage.rotate(x, 30, {order = 1}) ^ 2
gpu.ndimage.correlate1d   d    4,5     gpu.ndimage.correlate1d(x, {1, 2, 3}) ^ 2
gpu.ndimage.convolve1d    d    4,5     gpu.ndimage.convolve1d(x, {1, 2, 3}, 1) ^ 2
gpu.ndimage.uniform_filter1d d 4,5     gpu.ndimage.uniform_filter1d(x, 3) ^ 2
gpu.ndimage.gaussian_filter1d d 4,5    gpu.ndimage.gaussian_filter1d(x, 1) ^ 2
gpu.ndimage.laplace       d    4,5     gpu.ndimage.laplace(x) ^ 2
gpu.ndimage.gaussian_laplace d 4,5     gpu.ndimage.gaussian_laplace(x, 1) ^ 2
gpu.ndimage.gaussian_gradient_magnitude d 4,5 gpu.ndimage.gaussian_gradient_magnitude(x, 1) ^ 2
gpu.ndimage.sum_labels    d    4       gpu.ndimage.sum_labels(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2}) ^ 2
gpu.ndimage.mean          d    4       gpu.ndimage.mean(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2}) ^ 2
gpu.ndimage.variance      d    4       gpu.ndimage.variance(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2}) ^ 2
gpu.ndimage.standard_deviation d 4     gpu.ndimage.standard_deviation(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2}) ^ 2
gpu.ndimage.center_of_mass d   4       gpu.ndimage.center_of_mass(gpu.exp(x), gpu.array({1, 2, 2, 1}, "int32"), {1, 2}) ^ 2
gpu.ndimage.minimum       d    4       gpu.ndimage.minimum(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.maximum       d    4       gpu.ndimage.maximum(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.minimum_position c 4       gpu.ndimage.minimum_position(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.maximum_position c 4       gpu.ndimage.maximum_position(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.median        d    4       gpu.ndimage.median(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.extrema       d    4       gpu.ndimage.extrema(x, gpu.array({1, 2, 2, 1}, "int32"), {1, 2})
gpu.ndimage.label         c    4,5     gpu.ndimage.label(x:gt(0))
gpu.ndimage.binary_fill_holes c 4,5    gpu.ndimage.binary_fill_holes(x:gt(0))
gpu.ndimage.grey_erosion  r    4,5     gpu.ndimage.grey_erosion(apart(x), 3) ^ 2
gpu.ndimage.grey_dilation r    4,5     gpu.ndimage.grey_dilation(apart(x), 3) ^ 2
gpu.ndimage.grey_opening  r    4,5     gpu.ndimage.grey_opening(apart(x), 3) ^ 2
gpu.ndimage.grey_closing  r    4,5     gpu.ndimage.grey_closing(apart(x), 3) ^ 2
gpu.ndimage.morphological_gradient r    4,5     gpu.ndimage.morphological_gradient(apart(x), 3) ^ 2
gpu.ndimage.morphological_laplace r    4,5     gpu.ndimage.morphological_laplace(apart(x), 3) ^ 2
gpu.ndimage.white_tophat  r    4,5     gpu.ndimage.white_tophat(apart(x), 3) ^ 2
gpu.ndimage.black_tophat  r    4,5     gpu.ndimage.black_tophat(apart(x), 3) ^ 2
gpu.ndimage.median_filter r    4,5     gpu.ndimage.median_filter(apart(x), 3) ^ 2
gpu.ndimage.rank_filter   r    4,5     gpu.ndimage.rank_filter(apart(x), 2, 3) ^ 2
gpu.ndimage.percentile_filter r    4,5     gpu.ndimage.percentile_filter(apart(x), 30, 3) ^ 2
gpu.ndimage.minimum_filter r    4,5     gpu.ndimage.minimum_filter(apart(x), 3) ^ 2
gpu.ndimage.maximum_filter r    4,5     gpu.ndimage.maximum_filter(apart(x), 3) ^ 2
gpu.ndimage.minimum_filter1d r    4,5     gpu.ndimage.minimum_filter1d(apart(x), 3) ^ 2
gpu.ndimage.maximum_filter1d r    4,5     gpu.ndimage.maximum_filter1d(apart(x), 3) ^ 2
gpu.signal.lfilter        d    2,6     gpu.signal.lfilter({0.5, 0.2}, {1, -0.3, 0.1}, x) ^ 2
gpu.signal.lfilter_zi     -
gpu.signal.savgol_filter  d    2,7     gpu.signal.savgol_filter(x, 5, 2) ^ 2
gpu.signal.lombscargle    d    5       gpu.signal.lombscargle(n(5), x, {0.5, 1})
gpu.signal.czt            d    2,5     gpu.signal.czt(x, 4)
gpu.signal.zoom_fft       d    2,5     gpu.signal.zoom_fft(x, 0.5, 4)
gpu.signal.find_peaks     c    8       gpu.signal.find_peaks(x)
gpu.signal.peak_prominences r  8       gpu.signal.peak_prominences(x, gpu.array({3}, "int64"))
gpu.signal.peak_widths    r    8       gpu.signal.peak_widths(x, gpu.array({3}, "int64"))
gpu.signal.argrelmax      c    8       gpu.signal.argrelmax(x)
gpu.signal.argrelmin      c    8       gpu.signal.argrelmin(x)
gpu.signal.upfirdn        d    2,6     gpu.signal.upfirdn({1, 2, 3}, x, 2, 3) ^ 2
gpu.signal.resample_poly  d    2,6     gpu.signal.resample_poly(x, 2, 3) ^ 2
gpu.signal.resample       d    2,6     gpu.signal.resample(x, 4) ^ 2
gpu.signal.decimate       d    2,60    gpu.signal.decimate(x, 2) ^ 2
gpu.signal.detrend        d    2,6     gpu.signal.detrend(x) ^ 2
gpu.signal.hilbert        d    2,6     gpu.signal.hilbert(x)
gpu.signal.medfilt        r    7       gpu.signal.medfilt(apart(x), 3) ^ 2
gpu.signal.wiener         d    7       gpu.signal.wiener(x, 3)
gpu.signal.convolve2d     d    4,5     gpu.signal.convolve2d(x, n(2, 3)) ^ 2
gpu.signal.correlate2d    d    4,5     gpu.signal.correlate2d(x, n(2, 3), {mode = "same", boundary = "symm"}) ^ 2
gpu.signal.sosfilt        d    2,6     gpu.signal.sosfilt({{0.5, 0.2, 0.1, 1, -0.3, 0.1}}, x) ^ 2
gpu.signal.filtfilt       d    2,20    gpu.signal.filtfilt({0.5, 0.2}, {1, -0.3}, x) ^ 2
gpu.signal.sosfiltfilt    d    2,20    gpu.signal.sosfiltfilt({{0.5, 0.2, 0.1, 1, -0.3, 0.1}}, x) ^ 2
gpu.signal.sawtooth       d    5       gpu.signal.sawtooth(x) ^ 2
gpu.signal.square         c    5       gpu.signal.square(x)
gpu.signal.gausspulse     d    5       gpu.signal.gausspulse(x, 2) ^ 2
gpu.signal.chirp          d    5       gpu.signal.chirp(x, 1, 2, 3) ^ 2
gpu.stft                  d    20      gpu.stft(x, {nperseg = 8})
gpu.istft                 dz   5,6     gpu.istft(x, {nperseg = 8})
gpu.welch                 d    40      gpu.welch(x, {nperseg = 8})
gpu.periodogram           d    16      gpu.periodogram(x)
gpu.csd                   d    40      gpu.csd(x, n(40), {nperseg = 8})
gpu.coherence             d    40      gpu.coherence(x, n(40), {nperseg = 8})
gpu.spectrogram           d    20      gpu.spectrogram(x, {nperseg = 8})
gpu.random.permuted       d    5       seeded(gpu.random.permuted, x)
gpu.random.permutation    d    5       seeded(gpu.random.permutation, x)
gpu.random.choice         d    5       seeded(gpu.random.choice, x)
gpu.sparse.csr            dz   6       gpu.matmul(sparse(x), n(3)) ^ 2
gpu.sparse.csc            d    6       gpu.sparse.csc(x, {1, 2, 2, 3, 1, 3}, {1, 3, 5, 7}, {3, 3}):matmul(n(3, 2)) ^ 2
gpu.sparse.coo            d    4       gpu.sparse.coo({1, 2, 3, 1}, {1, 2, 1, 1}, x, {3, 3}):matmul(n(3)) ^ 2
A:matmul                  dz   6       sparse(x):matmul(n(3, 2)) ^ 2
A:matmul                  d    3       sparse(n(6)).T:matmul(x) ^ 2
A:matmul                  d    6       gpu.matmul(n(2, 3), sparse(x)) ^ 2
A:todense                 d    6       sparse(x):todense() ^ 2
A:toarray                 d    6       sparse(x):toarray() ^ 2
A:diagonal                d    6       sparse(x):diagonal(1) ^ 2
A:trace                   d    6       sparse(x):trace() ^ 2
A:sum                     d    6       sparse(x):sum(1) ^ 2
A:mean                    d    6       sparse(x):mean(2) ^ 2
A:sin                     d    6       sparse(x):sin():matmul(n(3))
A:multiply                d    6       sparse(x):multiply(n(3)):matmul(n(3)) ^ 2
A:power                   d    6       sparse(x):power(3):matmul(n(3))
A:tocsc                   d    6       sparse(x):tocsc():matmul(n(3)) ^ 2
A:tocoo                   d    6       sparse(x):tocoo().data ^ 2
A:transpose               d    6       sparse(x):transpose():matmul(n(3)) ^ 2
A:copy                    d    6       sparse(x):copy():matmul(n(3)) ^ 2
A:astype                  d    6       sparse(x):astype("float64"):matmul(n(3)) ^ 2
A:conj                    d    6       sparse(x):conj():matmul(n(3)) ^ 2
A:norm                    d    6       sparse(x):norm() ^ 2
A:tril                    d    6       sparse(x):tril():matmul(n(3)) ^ 2
A:triu                    d    6       sparse(x):triu():matmul(n(3)) ^ 2
A:max                     r    6       sparse(x):max(1)
A:argmax                  c    6       sparse(x):argmax(1)
gpu.sparse.linalg.spsolve dz   6       gpu.sparse.linalg.spsolve(sparse(x + strong), n(3))
gpu.sparse.linalg.spsolve d    3,2     gpu.sparse.linalg.spsolve(sparse(n(6) + strong), x) ^ 2
gpu.sparse.linalg.splu    r    6       gpu.sparse.linalg.splu(sparse(x + strong)):solve(n(3))
gpu.sparse.linalg.splu    dz   3       gpu.sparse.linalg.splu(sparse(n(6) + strong)):solve(x, {trans = "T"}) ^ 2
gpu.sparse.linalg.spsolve_triangular d 6 gpu.sparse.linalg.spsolve_triangular(sparse(x + strong):triu(), n(3), {lower = false})
gpu.sparse.linalg.cg      d    6       gpu.sparse.linalg.cg(symmetric(sparse(x + strong):todense()), n(3), {rtol = 1e-12})
gpu.sparse.linalg.minres  d    6       gpu.sparse.linalg.minres(symmetric(sparse(x + strong):todense()), n(3), {rtol = 1e-12})
gpu.sparse.linalg.bicgstab d   6       gpu.sparse.linalg.bicgstab(sparse(x + strong), n(3), {rtol = 1e-12})
gpu.sparse.linalg.cgs     d    3       gpu.sparse.linalg.cgs(sparse(n(6) + strong), x, {rtol = 1e-12})
gpu.sparse.linalg.gmres   d    6       gpu.sparse.linalg.gmres(sparse(x + strong), n(3), {rtol = 1e-12})
gpu.sparse.linalg.lsqr    r    6       gpu.sparse.linalg.lsqr(sparse(x), n(3))
gpu.sparse.linalg.expm_multiply r 6    gpu.sparse.linalg.expm_multiply(sparse(x), n(3))
gpu.sparse.linalg.eigsh   r    6       gpu.sparse.linalg.eigsh(symmetric(sparse(x + strong):todense()), 1)
gpu.sparse.linalg.svds    r    6       gpu.sparse.linalg.svds(sparse(x + strong), 1)
gpu.sparse.linalg.norm    d    6       gpu.sparse.linalg.norm(sparse(x)) ^ 2
gpu.sparse.linalg.operator -
gpu.sparse.diags          d    3       gpu.sparse.diags({x}, {0}, {3, 3}):matmul(n(3)) ^ 2
gpu.sparse.hstack         d    6       gpu.sparse.hstack({sparse(x), sparse(x)}):matmul(n(6)) ^ 2
gpu.sparse.vstack         d    6       gpu.sparse.vstack({sparse(x), sparse(x)}):matmul(n(3)) ^ 2
gpu.sparse.block_diag     d    6       gpu.sparse.block_diag({sparse(x), sparse(x)}):matmul(n(6)) ^ 2
gpu.sparse.bmat           d    6       gpu.sparse.bmat({{sparse(x), sparse(x)}}):matmul(n(6)) ^ 2
gpu.sparse.kron           d    6       gpu.sparse.kron(sparse(x), sparse(n(6))):matmul(n(9)) ^ 2
gpu.sparse.tril           d    6       gpu.sparse.tril(sparse(x)):matmul(n(3)) ^ 2
gpu.sparse.triu           d    6       gpu.sparse.triu(sparse(x)):matmul(n(3)) ^ 2
gpu.sparse.find           d    6       gpu.sparse.find(sparse(x))
A:setdiag                 r    6       sparse(x):setdiag(n(3))
A:sum_duplicates          d    6       sparse(x):sum_duplicates():matmul(n(3)) ^ 2
A:eliminate_zeros         d    6       sparse(x):eliminate_zeros():matmul(n(3)) ^ 2
A:maximum                 r    6       sparse(x):maximum(sparse(n(6)))
A:count_nonzero           c    6       sparse(x):count_nonzero(1)
]]
