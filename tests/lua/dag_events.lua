-- Events between the expressions of a random program (dag_programs.lua): evaluation, reading, dropping, freeing, writing.

--- The list of events, each fn(program, random); `tools` are functions of dag_programs.lua.
return function(tools)
  local choose, size_of, broadcast, promoted, limits = tools.choose, tools.size_of, tools.broadcast, tools.promoted, tools.limits

  local function is_writable(x) return #x.dims > 0 end

  return {
    function(self, random) -- several at once
      local names = {}
      for _ = 1, 1 + random(3) do names[#names + 1] = "v." .. self:pick(random).name end
      self:line("gpu.eval(%s)", table.concat(names, ", "))
    end,
    function(self, random)
      local a = self:pick(random)
      if #a.dims == 0 then self:line("out(v.%s:item())", a.name) else self:line("out(v.%s:table())", a.name) end
    end,
    function(self, random) self:line("tostring(v.%s)", self:pick(random).name) end,
    function(self, random)
      if #self.arrays < 3 then return end
      local a = self:pick(random)
      self:line("v.%s = nil%s", a.name, self.values(12) == 1 and " collectgarbage()" or "")
      self:drop(a)
    end,
    function(self, random)
      local a = self:pick(random, function(x) return x.base.live == 1 end)
      if not a or #self.arrays < 3 then return end
      self:line("v.%s:free() v.%s = nil", a.name, a.name)
      self:drop(a)
    end,
    function(self, random) -- elements by position
      local a = self:pick(random, is_writable)
      if not a then return end
      local extent = a.dims[1].extent
      local first = self.values(extent)
      local keys = {tostring(first), ('"%d:"'):format(first), '"::2"', self:indices(random, 2, extent, 2)}
      self:line("v.%s[%s] = %d", a.name, choose(random, keys), self:value())
      a.base.bound = math.max(a.base.bound, 9)
    end,
    function(self, random) -- by a mask
      local a = self:pick(random, is_writable)
      if not a then return end
      self:line("v.%s[v.%s:lt(%d)] = %d", a.name, a.name, self:value(), self:value())
      a.base.bound = math.max(a.base.bound, 9)
    end,
    function(self, random) -- from another array
      local a = self:pick(random, is_writable)
      local b = a and self:pick(random, function(x)
        local dims = broadcast(a.dims, x.dims)
        if not dims or #dims ~= #a.dims or promoted(a.dtype, x.dtype) ~= a.dtype then return false end
        for k, dim in ipairs(dims) do if dim.name ~= a.dims[k].name then return false end end
        return true
      end)
      if not b then return end
      local kind, bound = random(4), a.base.bound + b.base.bound
      if kind == 1 or bound > limits[a.dtype] / 64 then
        self:line("v.%s:copy_(v.%s)", a.name, b.name)
        bound = math.max(a.base.bound, b.base.bound)
      elseif kind == 2 then
        self:line("v.%s:add_(v.%s)", a.name, b.name)
      elseif kind == 3 then
        self:line("v.%s:subtract_(v.%s * 2)", a.name, b.name)
        bound = bound + b.base.bound
      else
        self:line("v.%s:copy_(v.%s - v.%s)", a.name, b.name, a.name)
      end
      a.base.bound = bound
    end,
    function(self, random)
      local a = self:pick(random, is_writable)
      if not a or a.base.bound + 54 > limits[a.dtype] then return end
      local extent = a.dims[1].extent
      self:line('gpu.scatter_add(v.%s, gpu.array({%d, %d, %d}, "int32"), %d)', a.name, self.values(extent), self.values(extent),
        self.values(extent), self:value())
      a.base.bound = a.base.bound + 54
    end,
    function(self, random)
      local a = self:pick(random, is_writable)
      if not a then return end
      local size = size_of(a.dims, "extent")
      if self.values(2) == 1 then
        self:line("v.%s:fill_(%d)", a.name, self:value())
      else
        self:line("v.%s:put({%d}, {%d})", a.name, self.values(size), self:value())
      end
      a.base.bound = math.max(a.base.bound, 9)
    end,
  }
end
