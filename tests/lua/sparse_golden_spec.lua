-- gpu.sparse: the cases of SciPy.
local golden = require "golden_cases"

describe("gpu.sparse", function()
  it("gives what SciPy does", function()
    golden.run("sparse", {
      --- data, indices and indptr of the matrix by rows.
      stored = function(A)
        A = A:tocsr():sum_duplicates()
        return A.data, A.indices, A.indptr
      end,
    })
  end)
end)
