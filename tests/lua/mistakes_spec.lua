-- Bad input: each mistake raises an error at the script's line, with the expected and the actual value.
local gpu = require "gpu"

-- Parts of messages that come again.
local view = " expected an array to write to, got a broadcast view of shape (2,3), where several indices are one element; "
  .. "x:copy() makes one to write"
local index = '[index] expected an integer, {first, last, step}, a string like "2:5", "...", gpu.newaxis, or an array of integers or '
  .. "bool, got "
local compare = "[compare] expected x:lt(y), x:le(y), x:gt(y) or x:ge(y), which give an array; Lua's < <= > >= give one boolean"
local compare_one = compare .. "; x:item() < y compares the number of an array of one element"
local no_index = '[index] expected an index array of integers, got float32[%d]; i:astype("int32") makes one of its numbers, '
  .. 'i:astype("bool") a mask'
local concat = "[..] expected strings or numbers: tostring(x) gives an array's text, x:item() its one number, and "
  .. "gpu.concat({x, y}) joins arrays, got an array "

local longer = "; arrays keep their size: gpu.concat({x, y}) makes a longer one"

local compared = "; x:eq(y) compares the elements, Lua's == gives one boolean"

-- The mistake, and the whole message.
local mistakes = {
  { "shapes that do not broadcast or fit",
    { 'x + gpu.ones(2, 4)', '[add] operands could not be broadcast together with shapes (2,3) (2,4): counted from the last axis, 3 meets 4, and sizes of an axis are equal or one is 1' },
    { 'gpu.where(x:gt(0), gpu.ones(4), x)', '[where] operands could not be broadcast together with shapes (2,3) (4,) (2,3): counted from the last axis, 3 meets 4, and sizes of an axis are equal or one is 1' },
    { 'x:add_(gpu.ones(2, 2, 3))', "[add_] expected an array to write to of the result's shape (2,2,3), got (2,3)" },
    { 'x:copy_(gpu.ones(4))', '[copy_] operands could not be broadcast together with shapes (4,) (2,3): counted from the last axis, 4 meets 3, and sizes of an axis are equal or one is 1' },
    { 'gpu.exp(x, { out = gpu.ones(3, 2) })', "[exp] expected an array to write to of the result's shape (2,3), got (3,2)" },
    { 'x[1] = { 1, 2 }', '[index] operands could not be broadcast together with shapes (2,) (3,): counted from the last axis, 2 meets 3, and sizes of an axis are equal or one is 1' },
    { 'x[mask] = gpu.ones(5)', '[index] operands could not be broadcast together with shapes (5,) (2,3): counted from the last axis, 5 meets 3, and sizes of an axis are equal or one is 1' },
    { 'x * gpu.ones(3, 2)', '[multiply] operands could not be broadcast together with shapes (2,3) (3,2): counted from the last axis, '
      .. '3 meets 2, and sizes of an axis are equal or one is 1; gpu.matmul(x, y) is the product of matrices' },
    { 'y["2:"] / y[":-1"]', '[divide] operands could not be broadcast together with shapes (2,) (3,): counted from the last axis, 2 meets 3, and sizes of an axis are equal or one is 1; '
      .. 'a range has both of its ends: ":-2" leaves the last one out' },
    { 'x:matmul(x)', '[matmul] expected (m,k) x (k,n), got (2,3) x (2,3): 3 columns meet 2 rows; the second transposed, b.T, fits' },
    { 'x + gpu.ones(2)', '[add] operands could not be broadcast together with shapes (2,3) (2,): counted from the last axis, 3 meets 2, and sizes of an axis are equal or one is 1; '
      .. 'expand_dims(2) makes (2,1) of (2,)' },
    { 'gpu.exp(x, { out = "y" })', '[exp] out: expected an array, got "y"' },
    { 'y:where(y:gt(0), 0)', '[where] expected the condition first, gpu.where(condition, x, y), got float32[3] before an array of bool' },
    { 'y:put(2, { 1, 2 })', '[put] operands could not be broadcast together with shapes (2,) ()' },
  },
  { "dtypes that do not fit",
    { 'x:bitwise_and(1)', '[bitwise_and] expected integers or bool, got float32' },
    { '-mask', '[negative] expected numbers, got bool; x:logical_not() reverses a mask, x:astype("int32") makes numbers' },
    { 'mask - mask', '[subtract] expected numbers, got bool; x:logical_not() reverses a mask, x:astype("int32") makes numbers' },
    { 'k:add_(0.5)', '[add_] expected an array to write to that takes float32, got int32; x:astype("float32") makes one of the array that is written, x' },
    { 'gpu.ones(2, "uint8"):add_(gpu.ones(2, "int8"))',
      '[add_] expected an array to write to that takes int16, got uint8; x:astype("int16") makes one of the array that is written, x' },
    { 'gpu.exp(k, { out = k })',
      '[exp] expected an array to write to that takes float32, got int32; x:astype("float32") makes one of the array that is written, x' },
    { 'gpu.gcd(x, 2)', '[gcd] expected integers or bool, got float32' },
    { 'gpu.floor(gpu.ones(1, "complex64"))', '[floor] expected real numbers, got complex64' },
    { 'gpu.ones(2, "uint8") + 300', '[add] 300 does not fit uint8: it is out of range; x:astype("int16") takes it' },
    { 'k:fill_(1.5)', '[fill_] 1.5 does not fit int32: it is not an integer' },
    { 'k[1] = 1.5', '[convert] 1.5 does not fit int32: it is not an integer' },
    { 'gpu.array({ 1, 2.5 }, "int32")', '[array] 2.5 does not fit int32: it is not an integer at [2]' },
    { 'gpu.array { 1, "a" }', '[array] expected a number, a boolean or a complex number at [2], got "a"; arrays hold numbers, columns of a gpu.table hold texts' },
    { 'gpu.array { { 1, 2 }, { 3 } }', '[array] expected tables of one shape: 2 items at [2], as before it, got 1 items' },
    { 'x + "a"', '[add] expected an array or a number as the right operand, got "a"; arrays hold numbers, columns of a gpu.table hold texts' },
    { 'x + "2"', '[add] expected an array or a number as the right operand, got "2"; tonumber(text) makes a number' },
    { 'x - x.mean', '[subtract] expected an array or a number as the right operand, got a function; parentheses call a function: '
      .. 'x:mean() is a value, x.mean a function' },
    { 'gpu.mean({ x, y })', '[mean] expected an array, got a table; gpu.stack(t) makes one array of a table of arrays' },
    { 'gpu.array({ x, y })', '[array] expected numbers at [1], got an array float32[2x3]; gpu.stack(t) makes one array of a table of arrays' },
    { 'gpu.array([[1, 2], [3, 4]])', '[array] expected a number, a boolean or a complex number, got "1, 2], [3, 4"; '
      .. '[[ ]] is text: {{1, 2}, {3, 4}} is a matrix' },
    { 'gpu.array({ 2, 20230101 })', "[array] expected integers that float32, the dtype of a table's numbers, takes, got 20230101 at [2]; "
      .. 'a dtype beside the table takes them, "int64", or "float32" rounds them' },
    { 'gpu.ones(2, "cpu")', '[dtype] expected one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, '
      .. 'float32, float64, complex64, complex128, got "cpu"; a device is an option: {device = "cpu"}' },
    { '"a" - x', '[subtract] expected an array or a number as the left operand, got "a"; arrays hold numbers, columns of a gpu.table hold texts' },
    { 'x + { 1 }', '[add] expected an array or a number as the right operand, got a table; gpu.array(t) makes an array of a table' },
    { 'x + nil', '[add] expected an array or a number as the right operand, got nil' },
    { 'nil * x', '[multiply] expected an array or a number as the left operand, got nil' },
    { '(1 + 2i) + nil', '[add] expected an array or a number as the right operand, got nil' },
    { 'gpu.where(x:gt(0), x, nil)', '[where] expected y, got nil; give it, or leave x out too' },
    { 'gpu.sum(3)', '[sum] expected an array, got 3; the call is gpu.sum(x [, axis]); x[i] of a vector is a number: x[{i}] is an array of one, gpu.array(t) makes one of numbers' },
    { 'gpu.sum({ 1, 2 })', '[sum] expected an array, got a table; gpu.array(t) makes an array of a table' },
    { 'gpu.median({ 1, 2 })', '[median] expected an array, got a table; gpu.array(t) makes an array of a table' },
    { 'gpu.arange(x:sum())', '[arange] expected a number, got an array float32[]; x:item() gives its number' },
    { 'x:reshape(k:max(), 2)', '[reshape] expected sizes that are integers, got an array int32[]; x:item() gives its number' },
    { 'x:fill_(y)', '[fill_] expected a number, a boolean or a complex number; x:copy_(y) writes an array, got an array float32[3]' },
    { '"sum: " .. x:sum()', concat .. 'float32[]' },
    { 'x .. " is x"', concat .. 'float32[2x3]' },
  },
  { "properties called",
    { 'x:shape()', '[shape] expected no parentheses: x.shape and x.strides are properties, x.shape[1] is the first size' },
    { 'x.shape[0]', '[shape] dimensions are counted from 1, got 0: x.shape[1] is the first size' },
    { 'x:T()', '[array] x.T is a property: it has no parentheses' },
    { 'x.T()', '[array] x.T is a property: it has no parentheses' },
  },
  { "loops over arrays",
    { 'for v in x do end', "[index] expected a loop over positions, for i = 1, #x do ... x[i] ... end, or over a table, "
      .. "for i, v in ipairs(x:table()) do; an array is not an iterator" },
  },
  { "pictures",
    { 'gpu.image.save("x.jpg", gpu.zeros(4, 5, "uint8"))', '[image.save] expected a path that ends in .png, got "x.jpg"' },
    { 'gpu.image.save("x.png", gpu.zeros(4, 5, 3))', '[image.save] expected uint8 of shape (height,width), (height,width,3) or '
      .. '(height,width,4), got float32[4x5x3]; (x * 255):clip(0, 255):astype("uint8") makes bytes of numbers from 0 to 1, x:astype("uint8") of numbers '
      .. 'from 0 to 255' },
    { 'gpu.image.save("x.png", gpu.zeros(3, 4, 5, "uint8"))', '[image.save] expected uint8 of shape (height,width), '
      .. '(height,width,3) or (height,width,4), got uint8[3x4x5]; x:permute(2, 3, 1) puts the channels last' },
    { 'gpu.image.save("x.png", gpu.zeros(4, 5, 3), { colormap = "hot" })', '[image.save] expected real numbers of shape '
      .. '(height,width), got float32[4x5x3]; colours of its own are saved without a colormap' },
  },
  { "axes",
    { 'x:sum(3)', '[sum] axis 3 is out of range for an array of 2 dimensions' },
    { 'x:sum(0)', '[sum] axes start at 1, got 0' },
    { 'x:sum(-3)', '[sum] axis -3 is out of range for an array of 2 dimensions' },
    { 'x:sum(0/0)', '[sum] expected an axis: an integer, got NaN' },
    { 'x:sum(1.5)', '[sum] expected an axis: an integer, got 1.5' },
    { 'x:sum("1")', '[sum] expected an axis: an integer, got "1"; tonumber(text) is the number' },
    { 'x:sum { 1, -2 }', '[sum] expected each axis once, got one twice' },
    { 'x:max { 2, 2 }', '[max] expected each axis once, got one twice' },
    { 'x:cumsum(3)', '[cumsum] axis 3 is out of range for an array of 2 dimensions' },
    { 'x:sort(0)', '[sort] axes start at 1, got 0' },
    { 'x:sort(0/0)', '[sort] expected an axis: an integer, got NaN' },
    { 'x:flip { 1, 1 }', '[flip] expected each axis once, got axis 1 twice' },
    { 'gpu.concat({ x, x }, 3)', '[concat] axis 3 is out of range for an array of 2 dimensions' },
    { 'gpu.stack({ x, x }, 4)', '[stack] axis 4 is out of range for an array of 3 dimensions' },
    { 'x:expand_dims(0/0)', '[expand_dims] expected an axis: an integer, got NaN' },
    { 'x:transpose(1, 1)', '[transpose] expected each axis once, got axis 1 twice' },
    { 'x:squeeze(1)', '[squeeze] expected axes of size 1, got axis 1 of shape (2,3)' },
    { 'x:topk(2, 5)', '[topk] axis 5 is out of range for an array of 2 dimensions' },
    { 'x:take({ 1 }, 3)', '[take] axis 3 is out of range for an array of 2 dimensions' },
    { 'x:softmax(3)', '[softmax] axis 3 is out of range for an array of 2 dimensions' },
    { 'x:std(0)', '[std] axes start at 1, got 0; the divisor is an option, x:std({ddof = 1})' },
  },
  { "shapes of another size, and with too many dimensions",
    { 'x:reshape(4)', '[reshape] expected a shape of 6 elements, as (2,3) has, got (4,)' },
    { 'x:reshape(4, -1)', '[reshape] expected a shape of 6 elements, as (2,3) has, got (4,-1)' },
    { 'x:reshape(-1, -1)', '[reshape] expected at most one size of -1, got (-1,-1)' },
    { 'x:reshape(1.5, 4)', '[reshape] expected sizes that are integers, got 1.5' },
    { 'gpu.zeros(many)', '[zeros] expected at most 64 dimensions, got 65' },
    { 'x:reshape(many)', '[reshape] expected at most 64 dimensions, got 65' },
    { 'gpu.array(deep)', '[array] the table nests deeper than 64 levels' },
    { 'x:broadcast_to(many)', '[broadcast_to] expected at most 64 dimensions, got 65' },
    { 'gpu.rand(many)', '[rand] expected at most 64 dimensions, got 65' },
    { 'gpu.zeros(-1)', '[zeros] expected sizes of 0 or more, got -1' },
    { 'gpu.zeros(1.5)', '[zeros] expected sizes that are integers of 0 or more, got 1.5; gpu.full(shape, value) fills an array with a value: '
      .. 'gpu.full({3, 4}, 0.5)' },
    { 'gpu.zeros(2^40, 2^40)', '[zeros] expected a shape of at most 2^53 elements, got (1099511627776,1099511627776)' },
    { 'gpu.zeros()', '[zeros] expected a shape: numbers, or a table of numbers, got nothing' },
    { 'gpu.zeros(misspelt)', '[zeros] expected a shape: numbers, or a table of numbers, got nil; the global \'misspelt\' is not defined' },
    { 'gpu.zeros("100")', '[zeros] expected a shape: numbers, or a table of numbers, got "100"; tonumber(text) is the number' },
    { 'x:reshape(misspelt)', '[reshape] expected a shape: numbers, or a table of numbers, got nil; the global \'misspelt\' is not defined' },
    { 'x:reshape(2, misspelt)', '[reshape] expected sizes that are integers, got nil; the global \'misspelt\' is not defined' },
  },
  { "writes to broadcast views",
    { 'wide:fill_(1)', '[fill_]' .. view },
    { 'wide:add_(1)', '[add_]' .. view },
    { 'wide:copy_(x)', '[copy_]' .. view },
    { 'gpu.exp(wide, { out = wide })', '[exp]' .. view },
    { 'wide:sort { out = wide }', '[sort]' .. view },
  },
  { "indices",
    { 'y["1:n"]', index .. '"1:n"; variables stand in a table: x({first, last})' },
    { 'x[":, 1"]', index .. '":, 1"; each axis has a text of its own: x(":", 1)' },
    { 'x(":", nil)', index .. 'nil; gpu.newaxis makes a dimension' },
    { 'x[3]', '[index] 3 is out of range for axis 1 of 2 elements' .. longer .. "; x:take(3) counts through all elements, one row after the other" },
    { 'x[0]', '[index] indices start at 1, got 0' },
    { 'x[1.5]', index .. '1.5; math.floor(i) rounds down to an integer' },
    { 'x[0/0]', index .. 'NaN' },
    { 'x[{ 1, 4 }]', '[index] 4 is out of range for axis 2 of 3 elements' },
    { 'x[{ 1, 2, 3 }]', '[index] expected at most 2 indices for shape (2,3), got 3; x:take({1, 2, 3}, 1) takes positions' },
    { 'y(2, 1)', '[index] expected at most 1 index for shape (3,), got 2; x:take({2, 1}, 1) takes positions, x({2, 1}) the range' },
    { 'y({ 2, 5, 7 })',
      '[index] expected {first, last, step}, got {2, 5, 7}, whose step is beyond the last position; x:take({2, 5, 7}, 1) takes '
        .. 'positions, x[{{2, 5, 7}}] the range' },
    { 'y({ 2 })', '[index] expected {first, last} or {first, last, step}, got a table of 1 item; x:take({2}, 1) takes positions' },
    { 'y({ 1, 3, step = 2 })', '[index] expected indices alone in a list, got step = 2 among them' },
    { 'x[{ axis = 1 }]', '[index] expected indices alone in a list, got axis = 1 among them' },
    { 'x[-3]', '[index] -3 is out of range for axis 1 of 2 elements' },
    { 'y["1-3"]', index .. '"1-3"' },
    { 'x["1:2:0"]', '[index] expected a step other than 0' },
    { 'x["0:2"]', '[index] indices start at 1, got 0' },
    { 'x({ 1.5, 2 })', '[index] expected integers in {first, last, step}, got 1.5; math.floor(i) rounds down to an integer' },
    { 'x(1, 0)', '[index] indices start at 1, got 0' },
    { 'x(1, 1.5)', index .. '1.5; math.floor(i) rounds down to an integer' },
    { 'x[3] = 1', '[index] 3 is out of range for axis 1 of 2 elements' .. longer .. "; x:take(3) counts through all elements, one row after the other" },
    { 'x[0] = 1', '[index] indices start at 1, got 0' },
    { 'x[1.5] = 1', index .. '1.5; math.floor(i) rounds down to an integer' },
    { 'x[x == 0] = 1', index:gsub(", got $", "") .. " (x:eq(y) makes a mask: Lua's == gives one boolean), got false" },
    { 'x:sum()[1] = 2', '[index] expected at most 0 indices for shape (), got 1; x:item() reads the one element, x:fill_(value) writes it' },
  },
  { "index arrays and masks",
    { 'x(gpu.array({ 3 }, "int32")):table()',
      '[index] 3 in an index array is out of range for axis 1 of 2 elements; queued at mistake:3' },
    { 'x(gpu.array({ 0 }, "int32")):table()',
      '[index] indices start at 1, got 0 in an index array for axis 1; a mask of 0 and 1 is i:astype("bool"); queued at mistake:3' },
    { 'x(gpu.array({ 1.5 }))', no_index:format(1) },
    { 'y[gpu.array { 0, 1, 1 }]', no_index:format(3) },
    { 'y:take(gpu.array { 1, 3 })', no_index:format(2) },
    { 'y:put(gpu.array { 1, 3 }, 0)', no_index:format(2) },
    { 'y:take_along_axis(gpu.array { 1, 3 }, 1)', no_index:format(2) },
    { 'gpu.scatter_add(y, gpu.array { 1, 3 }, 1)', no_index:format(2) },
    { 'gpu.choose(gpu.array { 1, 2 }, { 5, 6 })', no_index:format(2) },
    { 'x:take({ 7 }):table()', '[index] 7 in an index array is out of range for axis 1 of 6 elements; queued at mistake:3' },
    { 'x:take({ 1.5 })', '[take] expected an integer at [1], got 1.5; math.floor(i) rounds down to an integer' },
    { 'y:put({ 9 }, 1) gpu.sync()', '[index] 9 in an index array is out of range for axis 1 of 3 elements; queued at mistake:3' },
    { 'x[gpu.array({ 3 }, "int32")] = 1 gpu.sync()',
      '[index] 3 in an index array is out of range for axis 1 of 2 elements; queued at mistake:3' },
    { 'x[gpu.ones(3, 2, "bool")]', '[index] expected a mask of shape (2,3), as the array\'s, got (3,2)' },
    { 'y[mask]', '[index] expected a mask of shape (3,), as the array\'s, got (2,)' },
    { 'x(":", mask)', '[index] expected a mask of shape (3,), that of axis 2 of the array (2,3), got (2,)' },
    { 'gpu.compress(mask, x, 2)', '[index] expected a mask of shape (3,), that of axis 2 of the array (2,3), got (2,)' },
    { 'x(k, gpu.ones(2, "int32"))', '[index] operands could not be broadcast together with shapes (3,) (2,): counted from the last axis, 3 meets 2, and sizes of an axis are equal or one is 1' },
  },
  { "empty reductions",
    { 'gpu.zeros(0):max()', '[max] zero-size array to reduction operation max which has no identity: shape (0,)' },
    { 'gpu.zeros(0, 3):argmin()', '[argmin] zero-size array to reduction operation argmin which has no identity: shape (0,3)' },
    { 'gpu.zeros(0):ptp()', '[ptp] zero-size array to reduction operation ptp which has no identity: shape (0,)' },
    { 'gpu.zeros(2, 0):nanmax(2)', '[nanmax] zero-size array to reduction operation nanmax which has no identity: shape (2,0)' },
    { 'gpu.zeros(2, 0):nanargmin(2)',
      '[nanargmin] zero-size array to reduction operation nanargmin which has no identity: shape (2,0)' },
    { 'gpu.zeros(2, 0):min(2)', '[min] zero-size array to reduction operation min which has no identity: shape (2,0)' },
  },
  { "negative powers of integers",
    { 'k ^ -1', '[power] integers to negative integer powers are not integers; x:astype("float32") first' },
    { 'k ^ gpu.array({ -1, 1, 1 }, "int32")',
      '[power] integers to negative integer powers are not integers; x:astype("float32") first' },
    { 'k:power_(-2)', '[power] integers to negative integer powers are not integers; x:astype("float32") first' },
    { '2 ^ gpu.array({ -1 }, "int32")', '[power] integers to negative integer powers are not integers; x:astype("float32") first' },
  },
  { "comparison by Lua's operators",
    { 'x < x', compare },
    { 'x <= x', compare },
    { 'x > x', compare },
    { 'x >= y', compare },
    { 'x:sum() > x:max()', compare_one },
  },
  { "what is no function",
    { 'gpu.fft(x)', '[gpu.fft] expected a call of one of its functions, gpu.fft.fft(...), got a call of gpu.fft itself' },
    { 'gpu.random(3)', '[gpu.random] expected a call of one of its functions, got a call of gpu.random itself' },
    { 'gpu.plot(y)', '[gpu.plot] expected a call of one of its functions, gpu.plot.line(x, y), got a call of gpu.plot itself' },
    { 'gpu.graph(function() return x + 1 end)()', '[graph] expected graph:launch([s]), got a call of the graph itself' },
    { 'gpu.fuse(function(a) a = a + 1 end)(x)',
      '[fuse] expected a function that returns arrays, or writes in place, got one that does neither' },
  },
  { "other arguments",
    { 'gpu.full(3, 3, 7)',
      '[full] expected a shape of several sizes as a table, gpu.full({3, 4}, value), and a dtype or options, got 7' },
    { 'gpu.concat(x, x)', '[concat] expected a table of arrays, {x, y}, got an array float32[2x3]' },
    { 'gpu.zeros(x)', '[zeros] expected a shape: numbers, or a table of numbers, as x.shape is, got an array float32[2x3]' },
    { 'gpu.full(3, x:max())', '[full] expected a number, a boolean or a complex number, which x:item() gives of an array of one '
      .. 'element, got an array float32[]' },
    { 'gpu.save("x.npy", { x = x })', '[save] expected an array for a .npy file, where a .npz file takes a table of arrays, got a table; gpu.array(t) makes an array of a table' },
    { 'gpu.eval({ x, y })', '[eval] expected the arrays as arguments, (x, y) or unpack(t), got a table' },
    { 'gpu.allclose(x)', '[allclose] expected an array or a number as the right operand, got nil; the call is gpu.allclose(x, y [, rtol [, atol]])' },
    { 'x:isclose("1")', '[isclose] expected an array or a number as the right operand, got "1"; tonumber(text) makes a number' },
    { 'gpu.save("x.safetensors", x)', '[save] expected a table of arrays for a .safetensors file, got an array float32[2x3]' },
    { 'gpu.stream():sum()', '[stream] a stream has no field or method "sum"; it has done, sync, wait' },
    { 'gpu.random.rand(3)', '[gpu.random] gpu.random has no field "rand"; use gpu.rand' },
    { 'gpu.correlate(y)', '[correlate] expected an array, got nil; the call is gpu.correlate(x, y [, mode])' },
    { 'gpu.convolve(nil, y)', '[convolve] expected an array, got nil; the call is gpu.convolve(x, y [, mode])' },
    { 'gpu.einsum(x, "ij")', '[einsum] expected the subscripts first, as in gpu.einsum("ij,jk", x, y), got an array before them' },
    { 'gpu.eye("3")', '[eye] expected a count of 0 or more, got "3"' },
    { 'gpu.comm.split()', '[comm.split] expected an integer, or nil for no part, got nil' },
    { 'gpu.view(8, 3, "float32")', '[view] expected an address: a number, or an FFI pointer or array, got 8: no memory of a process lies below 4096' },
    { 'gpu.from_dlpack(5)', '[from_dlpack] expected a capsule of x:dlpack(), or the address of a DLManagedTensorVersioned, got 5: no memory of a process lies below 4096' },
    { 'gpu.from_arrow(5, 8)', '[from_arrow] expected the address of a struct ArrowSchema, got 5: no memory of a process lies below 4096' },
    { 'gpu.random.triangular(3, 3, 2, 1)', '[random.triangular] expected mode - left, the place of the mode, of 0 or more, got -1' },
    { 'x:item()', '[item] expected an array of one element, got shape (2,3); x[1] is an element, x:table() and x:host() give all' },
    { 'x:clip()', '[clip] expected a lower bound, got nothing' },
    { 'x.foo', '[array] an array has no field or method "foo"' },
    { 'x.shape = 3', "[array] an array's fields cannot be set: \"shape\"; x:reshape(...) and x:astype(dtype) give another array, "
      .. "x:copy_(values) writes the elements" },
    { 'x:free() local _ = x + 1', '[array] the array was freed, by free or at the end of a gpu.scope, which keeps what its function returns; '
      .. 'that was at mistake:3' },
    { '#gpu.array(1)', '[length] a 0-d array has no length; x.size is 1' },
    { 'gpu.random.generator { seed = 1 }',
      '[random.generator] expected the name of an algorithm, as in gpu.random.generator("philox", {seed = 1}), got a table' },
    { 'local ffi = require "ffi" gpu.array(ffi.cast("float*", ffi.new "float[3]"))',
      '[array] expected a table or an FFI array of numbers, got an FFI value of type float *; a pointer does not tell how many there '
        .. 'are: gpu.empty(count, "float32"):copy_from(p)' },
  },
}

local launch = "; it belongs to a launch: kernel {grid = blocks, block = threads}(arguments)"
local row_kernel = 'gpu.kernel("__global__ void f(float* x) { x[0] = 1; }", "f"'

mistakes[#mistakes + 1] = { "habits of other libraries",
  { 'gpu.random.normal(0, 1, {size = 5})', '[random.normal] expected the shape first, as in gpu.random.normal(5, 0, 1), got 0 first; '
    .. '{0} is a shape without elements' },
  { 'gpu.random.uniform(0, 1)', '[random.uniform] expected the shape first, as in gpu.random.uniform(1, 0, 1), got 0 first; '
    .. '{0} is a shape without elements' },
  { 'gpu.random.poisson(3, {size = {2, 4}})', '[random.poisson] expected the shape first, as in gpu.random.poisson({2, 4}, 3), got 3 first' },
  { 'gpu.random.integers(0, 10, {size = 3})', '[random.integers] expected the shape first, as in gpu.random.integers(3, 0, 10), got 0 first; '
    .. '{0} is a shape without elements' },
  { 'gpu.random.choice(x, {size = 3})', '[random.choice] expected the options axis, replace, p, generator and device, got "size"; '
    .. 'shape is an argument, not an option: gpu.random.choice(x [, shape])' },
  { 'gpu.stats.norm.cdf(x)', '[gpu.stats] gpu.stats has no field "norm"; use gpu.normcdf(x), gpu.normcdfinv(p), and '
    .. 'gpu.random.normal(shape, mean, deviation)' },
  { 'gpu.stats.t', '[gpu.stats] gpu.stats has no field "t"; use gpu.betainc(k / 2, 0.5, k / (k + t * t)), the probability of both its tails; gpu.betaincinv(k / 2, 0.5, 2 * (1 - p)) gives its quantiles, as the reference shows beside gpu.stats' },
  { 'gpu.cuda.synchronize()', '[gpu] gpu has no field "cuda"; use gpu.device(name), gpu.sync() and gpu.memory()' },
  { 'gpu.print(x)', '[gpu] gpu has no field "print"; use print(x)' },
  { 'gpu.plot.plot(x)', '[gpu.plot] gpu.plot has no field "plot"; use gpu.plot.line(x, y)' },
  { 'gpu.plot.line(y, {linestyle = "--"})', '[plot.line] expected the options label, color, width, dash, marker, size, opacity, axis, '
      .. 'title, xlabel, ylabel, y2label, xlim, ylim, y2lim, log, dates, aspect, legend and theme, got "linestyle"; did you mean "dash"?' },
  { 'gpu.plot.histogram(y, {bins = 3})', '[plot.histogram] expected the options density, label, color, opacity, axis, title, xlabel, '
    .. 'ylabel, y2label, xlim, ylim, y2lim, log, dates, aspect, legend and theme, got "bins"; bins is an argument, not an option: gpu.plot.histogram(x [, bins])' },
  { 'x:ffill()', '[array] an array has no field or method "ffill"; use x:fillna("forward")' },
  { 'x:resample(3)', '[array] an array has no field or method "resample"; use gpu.signal.resample(x, count); of a gpu.table t.month = '
    .. 't.day:floor("month") and t:group_by("month")' },
  { 'local function f() return x.T:T() end f()', '[array] x.T is a property: it has no parentheses' },
  { 'gpu.ones(5) + gpu.ones(4)', '[add] operands could not be broadcast together with shapes (5,) (4,): counted from the last axis, 5 meets 4, and sizes of an axis are equal or one is 1' },
  { row_kernel .. ', {blocks = 2})', '[kernel] expected the options options, defines, headers, include, names, name and device, got "blocks"' .. launch },
  { row_kernel .. ') {blocks = 2}', '[f] expected the options grid, block, shared, stream, cooperative and cluster, got "blocks"; did you mean "grid"?' },
  { row_kernel .. ') {threads = 2}', '[f] expected the options grid, block, shared, stream, cooperative and cluster, got "threads"; did you mean "block"?' },
  { 'gpu.norm(y, "fro")', '[norm] expected a matrix, or two axes, for the order "fro", got shape (3,); a vector\'s norm is x:norm()' },
  { 'gpu.interp(y, {2, 1}, {3, 4})', '[interp] expected points xp in ascending order, without NaN, got xp[2] = 1 after 2' },
  { 'gpu.stats.iqr(y, {range = {75, 25}})', '[stats.iqr] expected range = {lower, upper}, percentiles from 0 to 100, got {75, 25}' },
  { 'y:scatter_add({1}, {1, 2})', '[scatter_add] operands could not be broadcast together with shapes (2,) ()' },
}

mistakes[#mistakes + 1] = { "Lua's comparison of an array in the place of numbers",
  { 'gpu.exp(y == 1)', '[exp] expected an array or a number, got false' .. compared },
  { 'gpu.maximum(y == 2, 0)', '[maximum] expected an array or a number as the left operand, got false' .. compared },
  { 'gpu.eq(y == 2, 0)', '[eq] expected an array or a number as the left operand, got false' .. compared },
  { 'gpu.where(y:gt(1), y == 1, 0)', '[where] expected an array or a number as the second operand, got false' .. compared },
  { 'y:fill_(false)', '[fill_] expected a number or an array for elements of float32, got false' .. compared },
  { 'y[1] = (y == 2)', '[index] expected a number or an array for elements of float32, got false' .. compared },
  { 'y[{{1, 2}}] = {true, false}', "[index] expected numbers, got true at [1]; x:eq(y) compares an array's elements, Lua's == gives one boolean" },
  { 'k:copy_(true)', '[copy_] expected a number or an array for elements of int32, got true' .. compared },
  { 'y:scatter_add({1}, y == 1)', '[scatter_add] expected a number or an array for elements of float32, got false' .. compared },
  { 'gpu.full(3, y == 2, "float32")', '[full] expected a number for an array of float32, got false' .. compared },
  { 'gpu.full_like(y, y == 2)', '[full_like] expected a number for an array of float32, got false' .. compared },
  { 'gpu.array({y == 2, 1})', "[array] expected numbers alone, or booleans alone, got false at [1]; x:eq(y) compares an array's elements, Lua's == gives one boolean" },
  { 'gpu.array({{1, 2}, {3, true}}, "float64")', "[array] expected numbers alone, or booleans alone, got true at [2][2]; x:eq(y) compares an array's elements, Lua's == gives one boolean" },
  { 'gpu.array({true, 2LL})', "[array] expected numbers alone, or booleans alone, got true at [1]; x:eq(y) compares an array's elements, Lua's == gives one boolean" },
  { 'y:sum {initial = true}', '[sum] expected a number for initial beside an array of numbers, got true' .. compared },
  { 'gpu.searchsorted(y, y == 1)', '[searchsorted] expected an array or a number, got false' .. compared },
  { 'gpu.pad(y, 1, "constant", {value = y == 1})', '[pad] expected a number for an array of float32, got false' .. compared },
  { 'gpu.insert(y, 1, y == 1)', "[insert] expected numbers, got false; x:eq(y) compares an array's elements, Lua's == gives one boolean" },
  { 'y:isin({y == 1})', '[isin] expected an array or numbers, got false' .. compared },
  { 'gpu.choose(k, {y == 1, y})', '[choose] expected an array or a number beside numbers, got false' .. compared },
}

mistakes[#mistakes + 1] = { "booleans and nil in other places",
  { 'y:take({true, false})', '[take] expected positions, got booleans; x[gpu.array(t)] takes the elements of a mask' },
  { 'y:put({true}, 1)', '[put] expected positions, got booleans; x[gpu.array(t)] takes the elements of a mask' },
  { 'gpu.table({a = {1, 2}}):take(y == 1)', "[take] expected positions or a mask, as x:eq(y) makes (Lua's == gives one boolean), got false" },
  { 'y:astype(int)', '[astype] expected a dtype\'s name, a string such as "float64" or "int32", got nil; the global \'int\' is not defined' },
  { 'y:trace()', '[trace] expected an array of two dimensions or more, got an array float32[3]' },
  { 'gpu.stats.iqr(gpu.zeros(0))', '[stats.iqr] expected elements along the axes, got shape (0,)' },
  { 'gpu.random.uniform({3}, {{1}})', '[random.uniform] expected numbers or arrays after the shape, got the table {{1}}; gpu.array(t) makes an array of a table' },
}

mistakes[#mistakes + 1] = { "numbers with fractions for integers",
  { 'k[1] = gpu.exp(1)', '[convert] 2.71828183 does not fit int32: it is not an integer' },
  { 'k:fill_(gpu.exp(1))', '[fill_] 2.71828183 does not fit int32: it is not an integer' },
  { 'k:copy_(gpu.sqrt(2) * 2)', '[copy_] 2.82842712 does not fit int32: it is not an integer' },
  { 'k[k:gt(0)] = gpu.exp(1)', '[convert] 2.71828183 does not fit int32: it is not an integer' },
  { 'k:put({1}, gpu.exp(1))', '[put] 2.71828183 does not fit int32: it is not an integer' },
}

mistakes[#mistakes + 1] = { "finite numbers beyond a dtype",
  { 'gpu.full(3, 70000, "float16")', '[full] 70000 does not fit float16: it is out of range' },
  { 'gpu.full(3, 1e39)', '[full] 1e+39 does not fit float32: it is out of range' },
  { 'y:fill_(-1e39)', '[fill_] -1e+39 does not fit float32: it is out of range' },
  { 'y[1] = 1e39', '[convert] 1e+39 does not fit float32: it is out of range' },
  { 'gpu.array({ 1, 1e39 })', '[array] 1e+39 does not fit float32: it is out of range at [2]' },
}

mistakes[#mistakes + 1] = { "parameters that contradict each other",
  { 'gpu.split(gpu.arange(6), { 4, 2 })', '[split] expected last positions of pieces in ascending order, got 2 after 4' },
  { 'gpu.split(gpu.arange(6), { 4, 9 })', '[split] expected last positions of pieces within the 6 elements of axis 1, got 9' },
  { 'gpu.array_split(gpu.arange(6), { -7 })', '[array_split] expected last positions of pieces within the 6 elements of axis 1, got -7' },
  { 'gpu.average(y, { weights = gpu.array { 1, -1, 0 } }):item()',
    '[average] expected weights whose sum is not 0, got 0 in element 1 of an array; queued at mistake:3' },
  { 'gpu.random.uniform({ 3 }, 5, 1)', '[random.uniform] expected low of at most high, got 5 and 1; the shape comes first: gpu.random.uniform(shape, low, high)' },
  { 'gpu.random.uniform({ 2 }, gpu.array { 0, 1 }, gpu.array { 1, 0 }):table()',
    '[random.uniform] expected low of at most high, a width high - low of 0 or more, got -1 in element 2 of an array; queued at mistake:3' },
  { 'gpu.random.uniform({ 3 }, { 0 }, { 1 })',
    '[random.uniform] expected numbers or arrays after the shape, got the table {0}; gpu.array(t) makes an array of a table' },
  { 'gpu.random.normal({ 3 }, gpu.ones(4))', '[random.normal] expected parameters that broadcast to (3,), got one of (4,)' },
  { 'gpu.trapezoid(y, gpu.ones(4))', '[trapezoid] expected coordinates for the 3 samples of axis 1, got shape (4,)' },
  { 'gpu.ndimage.binary_erosion(mask, { iterations = -1 })',
    '[ndimage.binary_erosion] expected 1 iteration or more, or 0: until nothing changes, got -1' },
  { 'gpu.view(require "ffi".new "float[4]", { 2, 3 }, "float32")', '[view] expected a view within the 16 bytes of float [4], got 24 bytes of float32' },
  { 'gpu.view(require "ffi".new "float[4]", 2, "float32", { strides = { -4 } })',
    '[view] expected a view within the 16 bytes of float [4], got elements before it' },
  { 'gpu.fuse(function(a) return nil end)(y)', '[fuse] expected a function that returns arrays, or writes in place, got one that does neither' },
}

mistakes[#mistakes + 1] = { "names and forms from elsewhere",
  { 'gpu.repmat(x, 2)', '[gpu] gpu has no field "repmat"; use gpu.tile(x, m, n)' },
  { 'x:repeat_(2)', '[array] an array has no field or method "repeat_"; use gpu.repeat_interleave(x, n)' },
  { 'gpu.band(k, k)', '[gpu] gpu has no field "band"; use gpu.bitwise_and(x, y)' },
  { 'gpu.linalg.rank(x)', '[gpu.linalg] gpu.linalg has no field "rank"; use gpu.linalg.matrix_rank(a)' },
  { 'gpu.sobol(4, 2)', '[gpu] gpu has no field "sobol"; use gpu.random.sobol(n, d)' },
  { 'gpu.optimize.brentq(x)', '[gpu.optimize] gpu.optimize has no field "brentq"; use gpu.optimize.root_scalar(f, {bracket = {a, b}})' },
  { 'gpu.optimize.newton(x)', '[gpu.optimize] gpu.optimize has no field "newton"; use gpu.optimize.root_scalar(f, {x0 = x})' },
  { 'x:rank()', '[array] an array has no field or method "rank"; use gpu.stats.rankdata(x), or x.ndim for the number of axes' },
  { 'gpu.plot.subplot(1, 2, 1)', '[gpu.plot] gpu.plot has no field "subplot"; use gpu.plot.grid(charts)' },
  { 'x:view("int32")', '[array] an array has no field or method "view"; use x:reshape(sizes) for another shape, x:astype(dtype) for another dtype' },
  { 'gpu.meshgrid({ 1, 2 }, { 3, 4 })', '[meshgrid] expected an array, got a table; the call is gpu.meshgrid(x, ...); gpu.array(t) makes an array of a table' },
  { 'gpu.linalg.multi_dot(x, x)', '[linalg.multi_dot] expected one list and a table of options (out), got an array float32[2x3] after the '
    .. 'first argument; gpu.linalg.multi_dot({x, y}) takes several' },
  { 'gpu.ndimage.binary_dilation(mask, mask)', '[ndimage.binary_dilation] expected a table of options: structure, iterations, mask, '
    .. 'border_value and origin, got an array bool[2]; a table has them by name, {structure = ...}' },
  { 'gpu.sparse.csr(x):T()', '[sparse] A.T is a property: it has no parentheses' },
  { 'gpu.sparse.hstack(gpu.sparse.csr(x), gpu.sparse.csr(x))', '[sparse.hstack] expected one list and a table of options (dtype and format), '
    .. 'got a sparse matrix after the first argument; gpu.sparse.hstack({x, y}) takes several' },
  { 'gpu.loadtxt("foo.txt", ",")', '[loadtxt] expected a dtype or a table of options, got ","; {delimiter = ","} separates fields' },
  { 'gpu.image.save("/tmp/e.png", gpu.zeros({ 0, 0, 3 }, "uint8"))', '[image.save] expected a picture of at least one pixel, got uint8[0x0x3]' },
  { 'gpu.signal.get_window("hanning", 3)', '[signal.get_window] expected a window\'s name, got "hanning"; "hann" is its name here' },
}

mistakes[#mistakes + 1] = { "braces in the place of parentheses, and another order of arguments",
  { 'gpu.linspace{0, 1, 5}', '[linspace] expected a number, got a table; parentheses hold arguments, f(a, b), braces make one table of them' },
  { 'gpu.arange{0, 10}', '[arange] expected a number, got a table; parentheses hold arguments, f(a, b), braces make one table of them' },
  { 'y:clip{0, 1}', '[clip] expected the options out and dtype, got 0; parentheses hold arguments, f(a, b), braces options by name' },
  { 'gpu.clip{y, 0, 1}', '[clip] expected a lower bound, got nothing; parentheses hold arguments, f(a, b), braces make one table of them' },
  { 'y:clip{min = 0}', '[clip] expected the options out and dtype, got "min"; low is an argument, not an option: gpu.clip(x, low [, high])' },
  { 'gpu.linspace(0, 1, {num = 5})', '[linspace] expected the options dtype, device and endpoint, got "num"; '
    .. 'count is an argument, not an option: gpu.linspace(first, last [, count])' },
  { 'gpu.interp(y, y * 2, gpu.array{0.5, 1.5})', '[interp] expected points in two vectors of one length, got shapes (3,) and (2,); '
    .. 'gpu.interp(x, xp, fp) has them last' },
}

mistakes[#mistakes + 1] = { "fields of objects that have none to set",
  { 'gpu.stream().x = 5', '[stream] fields of a stream cannot be set, got "x"' },
  { 'gpu.kernel("__global__ void f(float* x) {}", "f").x = 5', '[kernel] fields of a kernel cannot be set, got "x"' },
}

mistakes[#mistakes + 1] = { "options that are no booleans",
  { 'gpu.vander(y, 2, { increasing = 0 })', '[vander] expected increasing = true or false, got 0' },
  { 'gpu.allclose(x, x, { equal_nan = "no" })', '[allclose] expected equal_nan = true or false, got "no"' },
  { 'gpu.random.integers(3, 0, 2, { endpoint = "false" })', '[random.integers] expected endpoint = true or false, got "false"' },
  { 'x:dlpack({ legacy = 1 })', '[dlpack] expected legacy = true or false, got 1' },
  { 'y:copy_from(gpu.pinned(3), { async = 1 })', '[copy_from] expected async = true or false, got 1' },
  { 'y:copy_to(gpu.pinned(3), { async = "false" })', '[copy_to] expected async = true or false, got "false"' },
  { 'gpu.view(gpu.pinned(3), 3, "float32", { read_only = "no" })', '[view] expected read_only = true or false, got "no"' },
}

local below_one = ' = a number of 0 or more and below 1, got '
mistakes[#mistakes + 1] = { "numbers out of their range",
  { 'gpu.linalg.lstsq(x, gpu.ones(2), -1)', '[linalg.lstsq] expected rcond' .. below_one .. '-1' },
  { 'gpu.linalg.lstsq(x, gpu.ones(2), 2)', '[linalg.lstsq] expected rcond' .. below_one .. '2' },
  { 'gpu.linalg.pinv(x, -1)', '[linalg.pinv] expected rcond' .. below_one .. '-1' },
  { 'gpu.linalg.pinv(x, 1)', '[linalg.pinv] expected rcond' .. below_one .. '1' },
  { 'gpu.linalg.null_space(x, -1)', '[linalg.null_space] expected rcond' .. below_one .. '-1' },
  { 'gpu.linalg.orth(x, { rcond = 3 })', '[linalg.orth] expected rcond' .. below_one .. '3' },
  { 'gpu.linalg.matrix_rank(x, -1)', '[linalg.matrix_rank] expected tol = a number of 0 or more, got -1' },
  { 'gpu.linalg.matrix_rank(x, { rtol = 1 })', '[linalg.matrix_rank] expected rtol' .. below_one .. '1' },
  { 'gpu.allclose(x, x, -1)', '[allclose] expected rtol = a number of 0 or more, got -1' },
  { 'gpu.signal.find_peaks(y, { height = { 5, 1 } })', '[signal.find_peaks] expected height = {least, greatest}, got {5, 1}' },
  { 'gpu.signal.wiener(y, 3, { noise = -1 })', '[signal.wiener] expected noise, a variance of 0 or more, got -1' },
  { 'gpu.signal.kaiserord(60, 100)', '[signal.kaiserord] expected a width above 0 and at most 1, half the sampling frequency, got 100' },
  { 'gpu.signal.zoom_fft(y, { 0.5, 0.1 }, 4)', '[signal.zoom_fft] expected a band {first, last} that increases, got {0.5, 0.1}' },
  { 'gpu.signal.zoom_fft(y, { 100, 200 }, 4)', '[signal.zoom_fft] expected a band within the sampling frequency fs = 2, got {100, 200}' },
  { 'gpu.stats.entropy(y, { base = 1 })', '[stats.entropy] expected a base above 0 and not 1, got 1' },
  { 'gpu.random.set_state({ seed = 1 })', '[random.set_state] expected {seed = ..., offset = ...}, as state() gives, got no offset' },
  { 'gpu.random.set_state({ offset = 4 })', '[random.set_state] expected {seed = ..., offset = ...}, as state() gives, got no seed' },
  { 'gpu.scatter_add(k, gpu.array({ 1, 2 }, "int32"), gpu.array { 0.5, 1.5 })',
    '[scatter_add] expected an array to write to that takes float32, got int32; x:astype("float32") makes one of the array that is written, x' },
  { 'gpu.savetxt("/tmp/never_written.txt", x * 0.5, { fmt = "%d" })', '[savetxt] expected integers for the format "%d"; "%g" takes all numbers, got 0.5' },
  { 'gpu.view(require("ffi").new("float[6]"), 3, "float64")', '[view] expected float32, the elements of float [6], got float64; '
    .. 'ffi.cast("void *", p) points to elements of any dtype' },
  { 'gpu.view(require("ffi").new("int[6]"), 6, "float32")', '[view] expected int32, the elements of int [6], got float32; '
    .. 'ffi.cast("void *", p) points to elements of any dtype' },
}

mistakes[#mistakes + 1] = { "arguments that an inner function refuses, with the name of the function that was called",
  { 'gpu.isclose(y, gpu.ones(2))', '[isclose] operands could not be broadcast together with shapes (3,) (2,): counted from the last axis, 3 meets 2, and sizes of an axis are equal or one is 1' },
  { 'gpu.stats.ttest_ind(x, gpu.ones(3, 4))', '[stats.ttest_ind] operands could not be broadcast together with shapes (3,) (4,): '
    .. 'counted from the last axis, 3 meets 4, and sizes of an axis are equal or one is 1' },
  { 'gpu.array_equal(y, { 1, 1, 1 })', '[array_equal] expected an array, got a table; the call is gpu.equal(x, y); gpu.array(t) makes an array of a table' },
  { 'gpu.signal.unit_impulse(5, 0)', '[signal.unit_impulse] indices start at 1, got 0' },
  { 'gpu.random.integers(5, 0, 300, { dtype = "uint8" })', '[random.integers] 299 does not fit uint8: it is out of range' },
  { 'gpu.save("/tmp/never_written.csv", { a = gpu.ones(3), b = gpu.ones(2) })', '[save] expected columns of one length, got 2 in column b, 3 in column a' },
  { 'gpu.isin(y, { "1" })', '[isin] expected a number, a boolean or a complex number at [1], got "1"; tonumber(text) makes a number' },
  { 'gpu.stats.iqr(y, { range = { 25, 750 } })', '[stats.iqr] expected range = {lower, upper}, percentiles from 0 to 100, got {25, 750}' },
}

mistakes[#mistakes + 1] = { "arguments in another order, or of another kind",
  { 'gpu.einsum(gpu.ones(2, 3), gpu.ones(3, 2), "ij,jk->ik")',
    '[einsum] expected the subscripts first, as in gpu.einsum("ij,jk", x, y), got an array before them' },
  { 'gpu.blas.axpy(y, y)', '[blas.axpy] expected alpha, a number, before x and y, got an array float32[3]' },
  { 'gpu.random.gamma(3)', '[random.gamma] expected a shape and 1 to 2 parameters, got 0' },
  { 'gpu.random.vonmises(3, 1)', '[random.vonmises] expected a shape and 2 parameters, got 1' },
  { 'gpu.signal.chirp(y, 0, 1, 10, { method = "logarithmic" })', '[signal.chirp] expected f0 and f1 of one sign for a logarithmic chirp, got 0 and 10' },
  { 'gpu.unravel_index(0, { 2, 3 })', '[unravel_index] expected a position from 1 to 6, got 0' },
  { 'gpu.save("/tmp/never_written.npz", gpu.table { c = { "x", "y" } })',
    '[save] expected arrays by name, {x = t.x}, for a .npz file; .csv takes a table of columns, got a table of columns' },
  { 'gpu.linalg.funm(gpu.eye(2), math.exp)', '[linalg.funm] expected a function of the eigenvalues, an array, as gpu.exp, not math.exp, got a function' },
}

mistakes[#mistakes + 1] = { "assignments to fields of gpu and its parts",
  { 'gpu.random.seed = 42', '[gpu.random] expected no assignment to a field of gpu.random, got gpu.random.seed = 42; it is a function, gpu.random.seed(...)' },
  { 'gpu.linalg.inv(gpu.eye(2)) gpu.linalg.inv = 5',
    '[gpu.linalg] expected no assignment to a field of gpu.linalg, got gpu.linalg.inv = 5; it is a function, gpu.linalg.inv(...)' },
  { 'gpu.strict = true', '[gpu] expected no assignment to a field of gpu, got gpu.strict = true; it is a function, gpu.strict(...)' },
  { 'gpu.comm.size = 4',
    "[gpu.comm] expected no assignment to a field of gpu.comm, got gpu.comm.size = 4; a table of the script's own has its values" },
  { 'gpu.plot.style = "dark"', '[gpu.plot] gpu.plot has no field "style"; help(gpu.plot) lists its functions' },
}

mistakes[#mistakes + 1] = { "a colon in a dot's place",
  { 'gpu.linalg:inv(gpu.eye(2))', '[linalg.inv] expected gpu.linalg.inv(a [, {dtype, out}]), with a dot, got a colon, which passes gpu.linalg itself' },
  { 'gpu.fft:fft(y)', '[fft.fft] expected gpu.fft.fft(x [, n [, axis]] [, {n, axis, norm, out}]), with a dot, got a colon, which passes gpu.fft itself' },
  { 'gpu.random:seed(3)', '[random.seed] expected gpu.random.seed(seed), with a dot, got a colon, which passes gpu.random itself' },
  { 'gpu.atomic:add(3)', '[atomic.add] expected gpu.atomic.add(array, index, value), with a dot, got a colon, which passes gpu.atomic itself' },
}

mistakes[#mistakes + 1] = { "arguments in another library's form",
  { 'gpu.einsum("ij,jk", { gpu.eye(2), gpu.eye(2) })', '[einsum] expected the arrays one by one, gpu.einsum("ij,jk", x, y), got a table of them' },
  { 'gpu.sparse.coo({ { 5, 6 }, { { 1, 2 }, { 1, 2 } } }, { 3, 3 })',
    "[sparse.coo] expected gpu.sparse.coo(rows, columns, values, shape), got SciPy's (values, (rows, columns))" },
  { 'gpu.sparse.csr({ { 5, 6 }, { { 1, 2 }, { 1, 2 } } })',
    "[sparse.csr] expected gpu.sparse.coo(rows, columns, values, shape), got SciPy's (values, (rows, columns))" },
  { 'gpu.sparse.csr({ y, { gpu.array { 1, 2 }, gpu.array { 1, 2 } } }, { 3, 3 })',
    "[sparse.csr] expected gpu.sparse.coo(rows, columns, values, shape), got SciPy's (values, (rows, columns))" },
  { 'local n, m = x.shape return n * m',
    '[shape] expected numbers, got a list of sizes: x.shape[1] is the first, local n, m = unpack(x.shape) gives all' },
  { 'gpu.signal.lfilter(y, { 0.5, 0.5 }, { 1 })', '[signal.lfilter] expected an array, got a table; the call is gpu.signal.lfilter(b, a, x [, axis]); gpu.array(t) makes an array of a table' },
  { 'gpu.signal.filtfilt(y, { 0.5, 0.5 }, { 1 })', '[signal.filtfilt] expected an array, got a table; the call is gpu.signal.filtfilt(b, a, x [, axis]); gpu.array(t) makes an array of a table' },
  { 'gpu.take({ 1, 2 }, y)', '[take] expected an array, got a table; the call is gpu.take(x, indices [, axis]); gpu.array(t) makes an array of a table' },
  { 'gpu.signal.sosfilt(y, gpu.ones(1, 6))', '[signal.sosfilt] expected sections of shape (n,6), as {output = "sos"} of a design gives, got (3,); '
    .. 'they come first: gpu.signal.sosfilt(sos, x); gpu.signal.lfilter(b, a, x) takes coefficients, and gpu.signal.tf2sos(b, a) makes sections of b and a' },
  { 'gpu.signal.butter(4, 50)', '[signal.butter] expected frequencies above 0 and below 1, half the sampling frequency, got 50; '
    .. '{fs = 1000} is that of 1000 Hz, and they are in Hz then' },
  { 'gpu.signal.firwin(31, 50)', '[signal.firwin] expected frequencies above 0 and below 1, half the sampling frequency, got 50; {fs = 1000} is that of 1000 Hz, and they are in Hz then' },
  { 'y[{ true, false, true }]', '[index] expected an integer, {first, last, step}, a string like "2:5", "...", gpu.newaxis, or an array of '
    .. 'integers or bool, got booleans; a mask is an array of bool: x[gpu.array{true, false, true}]' },
  { 'gpu.max(x, {}, 2)', '[max] expected a table of options: axis, keepdims, dtype, out, where and initial, got 2; an axis follows the array, x:max(2)' },
  { 'gpu.polyval(y, { 1, 2 })', '[polyval] expected the coefficients first, and x, an array or a number, after them, got a table' },
  { 'gpu.table({ v = y }).head(1)', '[head] expected t:head([n]), with a colon, got a dot and 1 in t\'s place' },
}

mistakes[#mistakes + 1] = { "sources that are not whole",
  { 'gpu.elementwise { inputs = "T x", outputs = "T y", body = "y = g(x);", preamble = "__device__ float g(float x) { return x;" }',
    "[elementwise] preamble: expected whole declarations, got a '{' without its counterpart" },
  { 'gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a + b", preamble = "int f(int x]);" }',
    "[reduction] preamble: expected whole declarations, got a ']' without its counterpart" },
  { 'gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a +" }',
    '[reduction] reduce: expected an expression of a and b, got "a +", which is not a whole one' },
  { 'gpu.reduction { inputs = "T x", outputs = "T y", map = "sqrt(x", reduce = "a + b" }',
    '[reduction] map: expected an expression of the inputs, got "sqrt(x", which is not a whole one' },
  { 'gpu.scan_kernel { input = "T x", expr = "a + b;" }',
    '[scan_kernel] expr: expected an expression of a and b, got "a + b;", which is not a whole one' },
  { 'gpu.module("__global__ void f() {}", { include = { "/no/such folder" } })',
    '[module] include: expected folders, got "/no/such folder", which is not a folder' },
}

mistakes[#mistakes + 1] = { "kernels that leave their output as it is",
  { 'gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = "y == x;" }',
    '[elementwise] body: expected statements that set y, as in "y = ...;", got "y == x;"' },
  { 'gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = "if (x == y) { }" }',
    '[elementwise] body: expected statements that set y, as in "y = ...;", got "if (x == y) { }"' },
  { 'gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a + b", post = "sqrt(a)" }',
    '[reduction] post: expected statements that set y, as in "y = ...;", got "sqrt(a)"' },
  { 'gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a + b", post = "y == a;" }',
    '[reduction] post: expected statements that set y, as in "y = ...;", got "y == a;"' },
}

-- What the device finds is raised where its results are read.
mistakes[#mistakes + 1] = { "elements that a function cannot take",
  { 'gpu.interp(y, gpu.array { 2, 1, 0 }, gpu.array { 0, 10, 20 }):table()', '[interp] expected points xp in ascending order, the second argument of gpu.interp(x, xp, fp), whose differences are 0 or more, got -1 in element 1 of an array; queued at mistake:3' },
  { '(gpu.signal.peak_prominences(y, gpu.array({ 0 }, "int32"))):table()',
    '[signal.peak_prominences] expected positions from 1 to 3, got 0 in element 1 of an array; queued at mistake:3' },
  { '(gpu.signal.peak_widths(y, gpu.array({ 99 }, "int32"))):table()',
    '[signal.peak_widths] expected positions from 1 to 3, got 99 in element 1 of an array; queued at mistake:3' },
}

--- The globals of the mistakes.
local function surroundings()
  local many, deep = {}, 1
  for i = 1, 65 do
    many[i], deep = 1, { deep }
  end
  return setmetatable({ gpu = gpu, x = gpu.ones(2, 3), y = gpu.ones(3), k = gpu.ones(3, "int32"), mask = gpu.array { true, false },
    wide = gpu.ones(3):broadcast_to(2, 3), many = many, deep = deep }, { __index = _G })
end

describe("mistakes", function()
  for _, group in ipairs(mistakes) do
    it("with " .. group[1] .. " are errors at the script's line", function()
      for i = 2, #group do
        local code, message = unpack(group[i])
        local text = "\n\n%s\n"
        local chunk = loadstring(text:format("local _ = " .. code), "=mistake") or assert(loadstring(text:format(code), "=mistake"))
        local ok, got = pcall(setfenv(chunk, surroundings()))
        assert(not ok, code .. " raised no error")
        assert.are.equal("mistake:3: " .. message, got, code)
      end
      gpu.sync()
    end)
  end
end)

-- The texts of functions for a device are read again, so these chunks have no name. Parts of messages.
local in_functions = {
  { 'gpu.reduce(function(a, b) return a * b end, 0)', '[reduce] expected an identity e, with which f(e, x) is x, got 0: f(0, 0.25) is 0' },
  { 'gpu.reduce(function(a, b) return math.max(a, b) end, 0)', '[reduce] expected an identity e, with which f(e, x) is x, got 0: f(0, -2) is 0' },
  { 'gpu.reduce(function(a, b) return math.min(a, b) end, 1)', '[reduce] expected an identity e, with which f(e, x) is x, got 1: f(1, 5) is 1' },
  { 'gpu.reduce(function(a, b) return a + b end, 1)', '[reduce] expected an identity e, with which f(e, x) is x, got 1: f(1, 3) is 4' },
  { 'gpu.jit(function(a) a[1] = gpu.warp.shuffle(a[1], 0) end) { grid = 1, block = 32 }(y)', "expected a lane from 1 to 32 for gpu.warp.shuffle, got 0" },
  { 'gpu.jit(function(a) a[1] = gpu.warp.shuffle(a[1], 40) end) { grid = 1, block = 32 }(y)', "expected a lane from 1 to 32 for gpu.warp.shuffle, got 40" },
  { 'gpu.jit(function(a) a[1] = gpu.warp.down(a[1], -1) end) { grid = 1, block = 32 }(y)', "expected a distance from 0 to 31 for gpu.warp.down, got -1" },
  { 'gpu.jit(function(a) local s = gpu.shared(4, "float32") s[5] = 1 a[1] = s[5] end) { grid = 1, block = 1 }(y)', "expected an index of s from 1 to 4, got 5" },
  { 'gpu.jit(function(a) local t = gpu.local_array(4, "float32") a[1] = t[-5] end) { grid = 1, block = 1 }(y)', "expected an index of t from 1 to 4, got -5" },
  { 'gpu.jit(function(a) local r = gpu.random.at(1, gpu.grid()) a[1] = r:integer(0) end) { grid = 1, block = 1 }(y)',
    "expected an integer of 1 or more for r:integer(n), got 0" },
}

describe("functions for a device", function()
  it("have constants in their ranges", function()
    for _, mistake in ipairs(in_functions) do
      local code, part = unpack(mistake)
      local ok, message = pcall(setfenv(loadstring("local _ = " .. code) or loadstring(code), surroundings()))
      assert(not ok and message:find(part, 1, true), code .. ": " .. tostring(message))
    end
    for identity, f in pairs { [0] = function(a, b) return a + b end, [-1] = function(a, b) return bit.band(a, b) end,
      [1] = function(a, b) return a * b end, [-math.huge] = function(a, b) return math.max(a, b) end } do
      assert(gpu.reduce(f, identity))
    end
    gpu.elementwise { inputs = "float32 x", outputs = "float32 y, float32 z", body = "y = x; sincosf(x, &y, &z);" }
  end)
end)

describe("booleans", function()
  it("are elements of arrays of bool", function()
    local function same(x, ...) assert.are.same({ ... }, x:table()) end
    local m = gpu.array { true, false }
    same(m, true, false)
    same(gpu.full(2, true), true, true)
    same(gpu.full_like(m, false), false, false)
    same(m:copy():fill_(false), false, false)
    same(gpu.maximum(m, true), true, true)
    same(gpu.where(m, false, true), false, true)
    same(gpu.array({ true, false }, "float32"), 1, 0)
    m[2] = true
    same(m, true, true)
    m[{ { 1, 2 } }] = { false, true }
    same(m, false, true)
    local k = gpu.ones(2, "int32")
    k[1] = gpu.floor(2.5)
    same(k, 2, 1)
  end)
end)
