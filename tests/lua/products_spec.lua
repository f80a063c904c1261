-- Products of arrays of all dtypes and layouts. Golden data: tests/golden/arrays/products.py.
local golden = require "golden_cases"

describe("products", function()
  it("agree with NumPy", function() golden.run "products" end)
end)
