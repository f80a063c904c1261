-- Small least squares problems on the host, by triangles: J = Q R keeps more digits than J' J.
local matrices = {}

--- The step p of the columns that `free` lists, with the least |R p + z|^2 + damping |D p|^2: by Householder's reflections of R over
--- the diagonal. R: a list of rows; D: the scales of the columns. The other elements of p are 0.
function matrices.damped_step(R, z, D, damping, free)
  local rows, n, root = #R, #free, math.sqrt(damping)
  local columns, right, p = {}, {}, {}
  for i = 1, rows do right[i] = -z[i] end
  for i = 1, n do right[rows + i] = 0 end
  for c, j in ipairs(free) do
    local column = {}
    for i = 1, rows do column[i] = R[i][j] end
    for i = 1, n do column[rows + i] = i == c and root * D[j] or 0 end
    columns[c] = column
  end
  local most = rows + n
  for c = 1, n do
    local v, sum = columns[c], 0
    for i = c, most do sum = sum + v[i] * v[i] end
    local length = v[c] > 0 and -math.sqrt(sum) or math.sqrt(sum)
    local head = v[c] - length
    local scale = -1 / (length * head) -- 2 / |v|^2, where v has `head` in place of v[c]
    local function reflect(x)
      local along = head * x[c]
      for i = c + 1, most do along = along + v[i] * x[i] end
      along = along * scale
      x[c] = x[c] - along * head
      for i = c + 1, most do x[i] = x[i] - along * v[i] end
    end
    for k = c + 1, n do reflect(columns[k]) end
    reflect(right)
    v[c] = length
  end
  for j = 1, #D do p[j] = 0 end
  for c = n, 1, -1 do
    local sum = right[c]
    for k = c + 1, n do sum = sum - columns[k][c] * p[free[k]] end
    p[free[c]] = sum / columns[c][c]
  end
  return p
end

--- R x, and R' x.
function matrices.product(R, x)
  local y = {}
  for i, row in ipairs(R) do
    local sum = 0
    for j = 1, #x do sum = sum + row[j] * x[j] end
    y[i] = sum
  end
  return y
end

function matrices.transposed_product(R, x, n)
  local y = {}
  for j = 1, n do
    local sum = 0
    for i, row in ipairs(R) do sum = sum + row[j] * x[i] end
    y[j] = sum
  end
  return y
end

--- (R' R)^-1 for a triangle R of n rows; nothing where it is singular to working precision. Columns are compared by their lengths.
function matrices.inverse_of_square(R, n)
  if #R < n then return nil end
  local inverse, result = {}, {}
  for j = 1, n do
    local length = 0
    for i = 1, j do length = length + R[i][j] ^ 2 end
    if not (math.abs(R[j][j]) > n * 2 ^ -52 * math.sqrt(length)) then return nil end
  end
  for j = 1, n do -- the column j of R^-1
    local column = {}
    for i = j, 1, -1 do
      local sum = i == j and 1 or 0
      for k = i + 1, j do sum = sum - R[i][k] * column[k] end
      column[i] = sum / R[i][i]
    end
    inverse[j] = column
  end
  for i = 1, n do
    result[i] = {}
    for j = 1, n do
      local sum = 0
      for k = math.max(i, j), n do sum = sum + inverse[k][i] * inverse[k][j] end
      result[i][j] = sum
    end
  end
  return result
end

return matrices
