-- The size of steps: E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary Differential Equations I", 1993, sections II.4 and IV.2.
local control = {}

--- The distance of 1 to the next number, and the least number of full precision.
control.epsilon = {float32 = 2 ^ -23, float64 = 2 ^ -52}
control.least = {float32 = 2 ^ -126, float64 = 2 ^ -1022}

control.reasons = {[0] = "converged", "event", "max_steps", "step size", "not finite"}

--- The exponents of the square of the error's norm: a step is followed by one 0.9 `before`^second / `now`^first times as long, a rejected
--- one is repeated with 0.9 / `now`^again.
function control.exponents(tableau)
  local order = tableau.error_order + 1
  local second = 0.2 / order
  return {first = (1 / order - 0.75 * second) / 2, second = second / 2, again = 1 / (2 * order)}
end

return control
