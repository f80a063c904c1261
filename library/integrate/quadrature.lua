-- The rules of gpu.integrate.quad and fixed_quad.
local quadrature = {}

-- Kronrod's rule of 21 points over Gauss' of 10 between -1 and 1 (R. Piessens et al., "QUADPACK", 1983): the points above 0, the
-- greatest first. Every second point belongs to Gauss' rule, too; the point 0 belongs to Kronrod's rule alone.
quadrature.points = {0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
  0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
  0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
  0.148874338981631210884826001129720}
quadrature.kronrod = {0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
  0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
  0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
  0.147739104901338491374841515972068}
quadrature.kronrod_center = 0.149445554002916905664936468389821
quadrature.gauss = {0, 0.066671344308688137593568809893332, 0, 0.149451349150580593145863397657697, 0,
  0.219086362515982043995534928234163, 0, 0.269266719309996355091226921569469, 0, 0.295524224714752870173815619188769}

--- The point x between a and b that stands for t, and dx / dt, so that integrands which are infinite at an end become smooth (L. F.
--- Shampine, "Vectorized adaptive quadrature in MATLAB", 2008). By `kind`: 0, both ends are finite, t from -1 to 1; 1, from a to infinity,
--- t from 0 to 1; 2, from -infinity to b, t from 0 to 1; 3, all numbers, t from -1 to 1. For the host's arrays and for the device.
quadrature.substitution = loadstring [[
local gpu = ...
return function(kind, a, b, t)
  if kind == 0 then
    local u = 1 - gpu.abs(t)
    local d = 0.25 * (b - a) * u * u * (3 - u)
    return gpu.where(gpu.lt(t, 0), a + d, b - d), 0.75 * (b - a) * u * (2 - u)
  elseif kind == 3 then
    local u = 1 / (1 - t * t)
    return t * u, (1 + t * t) * u * u
  end
  local u = 1 / (1 - t)
  local s = t * u
  if kind == 1 then return a + s * s, 2 * s * u * u end
  return b - s * s, 2 * s * u * u
end]]

--- QUADPACK's estimate of the error from the difference of the rules, the integral of |f - its mean| and that of |f|.
quadrature.estimate = loadstring [[
return function(difference, spread, size, epsilon)
  local e = math.abs(difference)
  if spread > 0 and e > 0 then
    local ratio = 200 * e / spread
    if ratio < 1 then e = spread * ratio * math.sqrt(ratio) end
  end
  if e < 50 * epsilon * size then e = 50 * epsilon * size end
  return e
end]]()

quadrature.reasons = {[0] = "converged", "limit", "rounding", "not finite"}

--- The points and weights of Gauss' rule of n points between -1 and 1, by Newton's method from F. G. Tricomi's guesses (1950).
function quadrature.gauss_legendre(n)
  local points, weights = {}, {}
  for i = 1, n do
    local x, slope = (1 - (n - 1) / (8 * n ^ 3)) * math.cos(math.pi * (4 * i - 1) / (4 * n + 2)), nil
    for _ = 1, 100 do
      local before, now = 1, x
      for k = 2, n do before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k end
      slope = n * (before - x * now) / (1 - x * x)
      local step = now / slope
      x = x - step
      if math.abs(step) <= 2 ^ -52 then break end
    end
    points[n + 1 - i], weights[n + 1 - i] = x, 2 / ((1 - x * x) * slope * slope)
  end
  return points, weights
end

return quadrature
