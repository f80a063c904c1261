-- gpu.fft: the cache of plans, and the lengths that are fast.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, records = import "checks", import "records"
local list_type, plan_type = records.list_type("fft.plans", "n"), records.type "fft.plans"

local exports = {}
local fft = gpu.fft

-- ---- plans ------------------------------------------------------------------------------------------------------------------

--- Plans by their keys, with the memory of their arrays; the least recently used are dropped. The newest one stays, whatever its
--- memory: a loop over one long transform makes its plan once.
local plans = {limit = 64, most_bytes = 256 * 2 ^ 20, entries = {}, order = 0}
exports.plans = plans

local function bytes_of(plan)
  local bytes = 0
  for _, value in pairs(plan) do
    if core.is_array(value) then
      bytes = bytes + value.nbytes
    elseif type(value) == "table" then
      bytes = bytes + bytes_of(value)
    end
  end
  return bytes
end

function plans:shrink()
  while true do
    local count, bytes, oldest = 0, 0, nil
    for key, entry in pairs(self.entries) do
      count, bytes = count + 1, bytes + entry.bytes
      if not oldest or entry.used < self.entries[oldest].used then oldest = key end
    end
    if count <= self.limit and (bytes <= self.most_bytes or count == 1) then return end
    self.entries[oldest] = nil
  end
end

function plans:get(key, make)
  local entry = self.entries[key]
  self.order = self.order + 1
  if not entry then
    local plan = make()
    entry = {plan = plan, bytes = bytes_of(plan), used = self.order}
    self.entries[key] = entry
    self:shrink()
  end
  entry.used = self.order
  return entry.plan
end

--- gpu.fft.plans()
function fft.plans()
  local list = {}
  for key, entry in pairs(plans.entries) do
    local kind, n, dtype, device = key:match "^(%S+) (%S+) (%S+) (%S+)"
    if entry.plan.plan ~= false then
      list[#list + 1] = {kind = kind, n = tonumber(n) or n, dtype = dtype, device = device, bytes = entry.bytes, used = entry.used}
    end
  end
  table.sort(list, function(a, b) return a.used > b.used end)
  for _, row in ipairs(list) do row.used = nil end
  return records.seal_list(list, list_type, plan_type)
end

--- gpu.fft.set_cache([{plans, bytes}])
function fft.set_cache(options)
  local op = "fft.set_cache"
  if options ~= nil then checks.mode_change(op) end
  options = checks.fields(op, options)
  for _, name in ipairs {"plans", "bytes"} do
    local value = options[name]
    if value ~= nil and (type(value) ~= "number" or not (value >= 0)) then
      core.fail(op, name .. ", a number of 0 or more", value)
    end
  end
  plans.limit, plans.most_bytes = options.plans or plans.limit, options.bytes or plans.most_bytes
  plans:shrink()
end

-- ---- lengths ----------------------------------------------------------------------------------------------------------------

--- The least number from n on whose prime factors are 2, 3, 5 and 7.
function exports.next_fast_len(n)
  local best = math.huge
  local seven = 1
  while seven < best do
    local five = seven
    while five < best do
      local three = five
      while three < best do
        local length = three
        while length < n do length = 2 * length end
        if length < best then best = length end
        three = 3 * three
      end
      five = 5 * five
    end
    seven = 7 * seven
  end
  return best
end

--- gpu.fft.next_fast_len(n)
function fft.next_fast_len(n)
  local what = "a length from 1 to 2^53"
  checks.count("fft.next_fast_len", what, n, 1, 2 ^ 53)
  return exports.next_fast_len(n)
end

--- gpu.fft.prev_fast_len(n)
--- The greatest length up to n whose prime factors are 2, 3, 5 and 7.
function fft.prev_fast_len(n)
  local op = "fft.prev_fast_len"
  if type(n) ~= "number" or n % 1 ~= 0 or n < 1 or n > 2 ^ 53 then core.fail(op, "a length of 1 or more", n) end
  local best = 1
  local sevens = 1
  while sevens <= n do
    local fives = sevens
    while fives <= n do
      local threes = fives
      while threes <= n do
        best = math.max(best, threes * 2 ^ math.floor(math.log(n / threes) / math.log(2) + 1e-9))
        threes = threes * 3
      end
      fives = fives * 5
    end
    sevens = sevens * 7
  end
  return best
end

return exports
