-- The derivatives of the functions of gpu's parts and of sparse matrices, of derivatives.txt.
local checks = require "derivative_checks"

describe("each function of a part", function()
  for _, part in ipairs {"^gpu%.linalg%.", "^gpu%.fft%.", "^gpu%.sparse%.", "^A:", "^gpu%.[^lfs]%w*%.%w", "^gpu%.s[^p]%w*%.%w"} do
    it("has the derivative that differences have: " .. part, function() checks.each("d", part, checks.differences) end)
    it("has an adjoint map: " .. part, function() checks.each("d", part, checks.adjoint) end)
  end
end)
