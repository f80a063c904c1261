-- gpu.ndimage: lines, ranks, morphology, labels, measurements and distances. Golden data: tests/golden/arrays/ndimage_parts.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails
local nd = gpu.ndimage

describe("the parts of pictures", function()
  it("are as SciPy's", function() golden.run "ndimage_parts" end)

  it("are the same with many parts, and whatever the layout", function()
    local x = gpu.rand(257, 130):gt(0.5):eval()
    local labels, count = nd.label(x)
    -- Each part touches no other: where two neighbours are inside, they have one number; and the numbers are all used.
    local both = x({ 1, 256 }):logical_and(x({ 2, 257 }))
    assert.is_true(labels({ 1, 256 }):eq(labels({ 2, 257 })):logical_or(both:logical_not()):all():item())
    assert.are.equal(count, labels:max():item())
    assert.are.equal(count + 1, gpu.unique(labels).size)
    assert.is_true(labels:gt(0):equal(x))
    local turned, same = nd.label(x.T)
    assert.are.equal(count, same)
    assert.is_true(turned:gt(0):equal(x.T))
    -- A number says which box, and the box holds all of the part.
    local boxes = nd.find_objects(labels)
    assert.are.equal(count, #boxes)
    for _, label in ipairs { 1, 7, count } do
      local inside = labels(unpack(boxes[label])):eq(label)
      assert.are.equal(labels:eq(label):sum():item(), inside:sum():item())
      assert.is_true(inside(1):any():item() and inside(-1):any():item())
      assert.is_true(inside(":", 1):any():item() and inside(":", -1):any():item())
    end
    assert.are.same({ { { 2, 2 } }, false, { { 1, 3 } } }, nd.find_objects(gpu.array({ 3, 1, 3 }, "int32"), 3))
    assert.are.same({}, nd.find_objects(gpu.zeros(3, "int32")))
  end)

  it("have their nearest element", function()
    local x = gpu.rand(20, 31):gt(0.1):eval()
    local distances, nearest = nd.distance_transform_edt(x, { return_indices = true })
    local rows, columns = gpu.indices({ 20, 31 }, "int64")
    local y, z = nearest(1), nearest(2)
    assert.is_false(x[{ y:ravel(), z:ravel() }]:any():item())
    assert.is_true(gpu.hypot((y - rows):astype "float64", (z - columns):astype "float64"):allclose(distances, 1e-12))
    assert.is_true(nd.distance_transform_edt(gpu.ones(3)):isinf():all():item())
  end)

  it("have distances that take no longer where the nearest element is far away", function()
    local x = gpu.ones(3000, 2000, "bool")
    x[{ 7, 1990 }] = false
    local y = gpu.arange(3000, "float64"):reshape(3000, 1) - 6
    local z = gpu.arange(2000, "float64") - 1989
    assert.is_true(nd.distance_transform_edt(x):allclose(gpu.hypot(y, z), 1e-14))
    assert.is_true(nd.distance_transform_edt(x, { sampling = { 2, 0.5 } }):allclose(gpu.hypot(2 * y, 0.5 * z), 1e-14))
  end)

  it("have the distances of a search among all elements", function()
    for _, shape in ipairs { { 40 }, { 13, 17 }, { 5, 6, 7 }, { 1, 9 }, { 9, 1 } } do
      for _, share in ipairs { 0.3, 0.9, 0.97 } do
        local x = gpu.rand(shape):lt(share):eval()
        local sampling, list, at = { 1, 0.7, 3 }, {}, {}
        for axis = #sampling, #shape + 1, -1 do sampling[axis] = nil end
        for i, place in ipairs { gpu.indices(shape, "float64") } do list[i] = place:ravel() * sampling[i] end
        local outside = x:ravel():logical_not()
        if outside:any():item() then
          local squares = gpu.zeros(x.size, outside:sum():item(), "float64")
          for i, place in ipairs(list) do squares = squares + (place:reshape(x.size, 1) - place[outside]) ^ 2 end
          assert.is_true(nd.distance_transform_edt(x, { sampling = sampling }):ravel():allclose(squares:min(2):sqrt(), 1e-13))
        end
      end
    end
  end)

  it("have their least and greatest elements, and where these are", function()
    local least, greatest, where_least, where_greatest = gpu.ndimage.extrema(gpu.array { { 5, 2 }, { 3, 9 } },
      gpu.array({ { 1, 1 }, { 2, 2 } }, "int32"), { 1, 2 })
    assert.are.same({ 2, 3 }, least:table())
    assert.are.same({ 5, 9 }, greatest:table())
    assert.are.same({ { 1, 2 }, { 2, 1 } }, where_least:table())
    assert.are.same({ { 1, 1 }, { 2, 2 } }, where_greatest:table())
  end)

  it("may be empty", function()
    local none = gpu.zeros(0, 3)
    local labels, count = nd.label(none)
    assert.are.equal("(0, 3)", tostring(labels.shape))
    assert.are.equal(0, count)
    for _, name in ipairs { "binary_erosion", "binary_fill_holes", "distance_transform_edt", "laplace" } do
      assert.are.equal("(0, 3)", tostring(nd[name](none).shape))
    end
    assert.are.equal("(0, 3)", tostring(nd.grey_closing(none, 3).shape))
    assert.are.equal(0, nd.sum_labels(none):item())
    assert.is_true(nd.mean(gpu.ones(3), gpu.zeros(3, "int32"), 1):isnan():item())
    fails("[ndimage.minimum] expected elements, got shape (0,3)", nd.minimum, none)
  end)

  it("say what they take", function()
    local x = gpu.zeros(4, 5)
    fails("[ndimage.label] expected a structure of three elements on each axis", nd.label, x, { structure = { { 1, 1 } } })
    fails("[ndimage.label] expected a symmetric structure", nd.label, x, { structure = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } } })
    fails("[ndimage.label] expected an array with dimensions", nd.label, gpu.zeros({}))
    fails("[ndimage.label] expected the option structure, got \"structur\"; did you mean", nd.label, x, { structur = 1 })
    fails("[ndimage.find_objects] expected labels: integers", nd.find_objects, x)
    fails("[ndimage.binary_erosion] expected a structure with as many axes as x and with elements, got shapes (4,5) and (2,)",
      nd.binary_erosion, x, { structure = { 1, 1 } })
    fails("[ndimage.binary_erosion] expected a mask of x's shape (4,5), got (4,)", nd.binary_erosion, x, { mask = gpu.ones(4) })
    fails("[ndimage.binary_dilation] expected a number of iterations, got 1.5", nd.binary_dilation, x, { iterations = 1.5 })
    fails("[ndimage.binary_dilation] expected border_value = true or false, got 1", nd.binary_dilation, x, { border_value = 1 })
    fails("[ndimage.iterate_structure] expected a number of iterations, 1 or more", nd.iterate_structure, gpu.ones(3, 3), 0)
    fails("[ndimage.grey_erosion] expected a size, or a footprint", nd.grey_erosion, x)
    fails("[ndimage.grey_erosion] expected a footprint of bool of the structure's shape", nd.grey_erosion, x,
      { structure = gpu.ones(3, 3), footprint = gpu.ones({ 2, 2 }, "bool") })
    fails("[ndimage.rank_filter] expected a rank: 1 is the least, -1 the greatest, got 0", nd.rank_filter, x, 0, 3)
    fails("[ndimage.rank_filter] expected a rank of 1 to 9, got -10", nd.rank_filter, x, -10, 3)
    fails("[ndimage.percentile_filter] expected a percentile of 0 to 100, got 101", nd.percentile_filter, x, 101, 3)
    fails("[ndimage.correlate1d] expected weights: a vector with elements", nd.correlate1d, x, gpu.ones(2, 2))
    fails("[ndimage.gaussian_laplace] expected a standard deviation of 0 or more", nd.gaussian_laplace, x, -1)
    fails("[ndimage.mean] expected labels of x's shape (4,5), got (4,)", nd.mean, x, gpu.ones({ 4 }, "int32"))
    fails("[ndimage.mean] expected labels: integers or bool", nd.mean, x, x)
    fails("[ndimage.mean] expected labels, got nil; give its value, as an argument follows it", nd.mean, x, nil, 1)
    fails("[ndimage.distance_transform_edt] expected a sampling above 0, got 0", nd.distance_transform_edt, x, { sampling = 0 })
    fails("[ndimage.affine_transform] expected a matrix of 2 or 3 columns and 2 or 3 rows for 2 axes", nd.affine_transform, x,
      { { 1 }, { 2 } })
    fails("[ndimage.affine_transform] expected an offset for each of 2 axes, got 3", nd.affine_transform, x, { 1, 1 }, { 1, 2, 3 })
  end)
end)
