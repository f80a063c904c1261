-- gpu.sparse: the cases of SciPy.
local golden = require "golden_cases"

describe("gpu.sparse", function()
  it("gives what SciPy does", function()
    golden.run("sparse", {
      --- The entries row by row, their columns, and the pointers to the rows.
      stored = function(A)
        A = A:tocsr():sum_duplicates()
        return A.data, A.indices, A.indptr
      end,
    })
  end)
end)
