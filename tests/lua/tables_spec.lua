-- gpu.load and gpu.save of tables in text, and gpu.table. Expected values are written out, or computed by plain loops.
local gpu = require "gpu"
local support = require "support"
local read, write, series = support.read, support.write, support.series

describe("tables in text", function()
  local temporary = support.temporary_files(before_each, after_each)

  local function loaded(text, options, ending)
    local path = temporary(ending or ".csv")
    write(path, text)
    return gpu.load(path, options or {})
  end
  local function fails(message, text, options, ending)
    return (support.fails(message, loaded, text, options, ending))
  end
  local function texts_of(t, name)
    local texts, list = t:texts(name), {}
    for i, position in ipairs(t[name]:table()) do list[i] = texts[position] end
    return list
  end

  it("have a dtype by column", function()
    local t = loaded "id,price,ok,city\n1,2.5,true,Oslo\n-2,3e2,False,Bern\n3,-.5,TRUE,Oslo\n"
    assert.are.same({"id", "price", "ok", "city"}, t.names)
    assert.are.equal(3, t.rows)
    assert.are.same({"int64", "float64", "bool", "int32"}, {t.id.dtype, t.price.dtype, t.ok.dtype, t.city.dtype})
    assert.are.same({1, -2, 3}, t.id:table())
    assert.are.same({2.5, 300, -0.5}, t.price:table())
    assert.are.same({true, false, true}, t.ok:table())
    assert.are.same({"Bern", "Oslo"}, t:texts "city")
    assert.are.same({"Oslo", "Bern", "Oslo"}, texts_of(t, "city"))
  end)

  it("change a column's dtype where a later field needs it", function()
    local t = loaded "a,b,c,d,e\n1,1,1,true,9007199254740993\n2,2.5,18446744073709551615,x,2\n3,3,3,true,1.5\n"
    assert.are.same({"int64", "float64", "uint64", "int32", "float64"},
      {t.a.dtype, t.b.dtype, t.c.dtype, t.d.dtype, t.e.dtype})
    assert.are.same({1, 2.5, 3}, t.b:table())
    assert.are.equal(18446744073709551615ULL, t.c:table()[2])
    assert.are.same({"true", "x", "true"}, texts_of(t, "d"))
    assert.are.equal(2 ^ 53, t.e[1])
    assert.are.same({1.8446744073709552e19, -1}, loaded("u\n18446744073709551615\n-1\n").u:table())
  end)

  it("are made of the columns of a matrix, which they show", function()
    local m = gpu.array {{1, 2}, {3, 4}, {5, 6}}
    local t = gpu.table(m, {"bid", "ask"})
    assert.are.same({"bid", "ask"}, t.names)
    assert.are.same({2, 4, 6}, t.ask:table())
    m[2] = gpu.array {7, 8}
    assert.are.same({7, 8}, {t.bid[2], t.ask[2]})
    assert.are.same(m:table(), t:matrix():table())
  end)

  it("say how to read other separators, comments and encodings", function()
    for separator, shown in pairs {[";"] = '";"', ["\t"] = [["\t"]], ["|"] = '"|"'} do
      local text = ("a;b\n1;2\n3;4\n"):gsub(";", separator)
      fails(('expected "," between fields, got lines with %s alone in '):format(shown), text)
      fails(("; {sep = %s} reads them, {sep = \",\"} as one column"):format(shown), text)
      assert.are.same({3, 4}, {loaded(text, {sep = separator}).a[2], loaded(text, {sep = separator}).b[2]})
      assert.are.equal(2, loaded(text, {sep = ","}).rows)
    end
    fails("{sep = \";\"} reads them", "a;b\n1,5;2,5\n3;4\n")
    assert.are.equal(2, loaded("text\nwell; so\nand; so; on\n").rows)
    assert.are.equal(1, loaded('"a;b"\n"1;2"\n').rows)
    fails("expected 1 field, as in the first line, got 2 in line 3 of ", "# made\n# today\na,b\n1,2\n")
    fails('; {comments = "#"} leaves out lines that are comments', "# made\n# today\na,b\n1,2\n")
    fails('got 1 in line 3 of ', "a,b\n1,2\n// end\n")
    fails('; {comments = "//"} leaves out lines that are comments', "a,b\n1,2\n// end\n")
    fails("expected lines that end with \\n or \\r\\n, got \\r alone in ", "a,b\r1,2\r3,4\r")
    fails("expected text in UTF-8, got UTF-16 in ", "\255\254a\0,\0b\0\n\0001\0,\0002\0\n\0")
    fails("expected text in UTF-8, got bytes of 0, as UTF-16 has them in ", "a\0,\0b\0\n\0001\0,\0002\0\n\0")
    fails("got text; gpu.loadtxt reads an array of numbers in text, gpu.load a table by the ending .csv or .tsv", "1 2\n3 4\n", nil, ".txt")
  end)

  it("have NaN for what is missing", function()
    local t = loaded("x,y,z\n1,,NA\n,2,\n3,n/a,\n4,-999,\n", {missing = "-999"})
    assert.are.same({"float64", "float64", "float64"}, {t.x.dtype, t.y.dtype, t.z.dtype})
    assert.are.same({false, true, false, false}, t.x:isnan():table())
    assert.are.same({true, false, true, true}, t.y:isnan():table())
    assert.is_true(t.z:isnan():all():item())
    -- The first field may be missing, whatever kind the others have.
    for _, field in ipairs {"1", "0.5", "true"} do
      t = loaded("x,y\n,1\n" .. field .. ",2\n" .. (field == "true" and "" or "3,\n"))
      assert(t.x.dtype == "float64" and t.x:isnan()[1], field)
    end
    fails("expected no missing values beside integers beyond 2^53, which float64 would round, got both in column x",
      "x,y\n9007199254740993,1\n,2\n")
    -- A text is never missing: NA is Namibia.
    assert.are.same({"NA", "", "NO"}, texts_of(loaded "c,x\nNA,1\n,2\nNO,3\n", "c"))
  end)

  it("may have quotes, other ends of lines, and a byte order mark", function()
    local t = loaded '\239\187\191"a ""b""",c\r\n"x, y",1\r\n"two\nlines",2\r\n\r\n"",3'
    assert.are.same({'a "b"', "c"}, t.names)
    assert.are.same({"x, y", "two\nlines", ""}, texts_of(t, 'a "b"'))
    assert.are.same({1, 2, 3}, t.c:table())
    assert.are.same({2}, loaded("a\tb\n1\t2\n", nil, ".tsv").b:table())
  end)

  it("are read as the options say", function()
    local text = "made by hand\nx;y;z\n1;2;3\n4;5;6\n"
    local t = loaded(text, {skip = 1, sep = ";", columns = {"z", 1}, dtype = {z = "float32"}})
    assert.are.same({"z", "x"}, t.names)
    assert.are.same({"float32", "int64"}, {t.z.dtype, t.x.dtype})
    t = loaded("1,2\n3,4\n")
    assert.are.same({"c1", "c2"}, t.names)
    assert.are.same({2, 4}, t.c2:table())
    assert.are.equal(1, loaded("1,2\n3,4\n", {header = true}).rows)
    t = loaded("a,b\nx,1\n", {header = false})
    assert.are.same({"a", "x"}, texts_of(t, "c1"))
    t = loaded("a,b\n1,true\n0,false\n", {dtype = "float64"})
    assert.are.same({1, 0}, t.b:table())
    t = loaded("a,b\n1,true\n0,false\n", {dtype = "uint64"})
    assert.are.equal("uint64", t.b.dtype)
    assert.are.same({1, 0}, loaded("a,b\n1,true\n0,false\n", {dtype = "int8"}).b:table())
    t = loaded("a,b,s\n1,2,x\n3,4,y\n", {dtype = "float16"})
    assert.are.same({"float16", "float16", "int32"}, {t.a.dtype, t.b.dtype, t.s.dtype})
    assert.are.same({"007", "12"}, texts_of(loaded("id\n007\n12\n", {dtype = {id = "text"}}), "id"))
    assert.are.equal(0, loaded("a,b\n").rows)
  end)

  it("are refused where spaces part their numbers", function()
    local function refuses(count, text)
      fails(('[load] expected "," between fields, got lines of %d numbers with spaces between them in'):format(count), text)
    end
    refuses(2, "1.0 2.0\n3 4\n")
    refuses(3, "1  -2\t3e5\n 4 5 +6\n")
    refuses(2, "time value\n1 2\n")
    local t = loaded("1 2\n3 4\n", {sep = " ", header = false})
    assert(t.rows == 2 and t.c2[2] == 4)
    for _, text in ipairs {"a b\nx 2\n", "1 2\n", "a b\n1 2 3\n", "a\n1\n2\n"} do assert(#loaded(text).names == 1, text) end
    fails('a line that lacks fields needs their "," for missing values', "a,b\n1,2\n3\n")
    support.fails('its columns are "1.0 2.0"', function() return loaded("1.0 2.0\n3 4\n", {sep = ","}).x end)
  end)
  it("have numbers as they are written elsewhere", function()
    local t = loaded('a,b,c\n"1,234,567",$5,5.2%\n12,"-$1,000.50",-0.1 %\n"1,23,456",€7,10\n', {thousands = ",", symbols = {"$", "%", "€"}})
    assert.are.same({"int64", "float64", "float64"}, {t.a.dtype, t.b.dtype, t.c.dtype})
    assert.are.same({1234567, 12, 123456}, t.a:table())
    assert.are.same({5, -1000.5, 7}, t.b:table())
    assert.are.same({5.2, -0.1, 10}, t.c:table())
    t = loaded("x;y\n1.234,56;1,5e3\n-7,5;+2\n1.000.000;0,25\n", {sep = ";", thousands = ".", decimal = ","})
    assert.are.same({1234.56, -7.5, 1000000}, t.x:table())
    assert.are.same({1500, 2, 0.25}, t.y:table())
    t = loaded("x\n'1'200\n", {thousands = "'"})
    assert.are.equal("text", tostring(t):match "text")
    assert.are.same({1200, 3}, loaded("x\n1'200\n3\n", {thousands = "'", dtype = "float32"}).x:table())
    -- What is no number in this way is text, a comma for decimals among them, rather than another number.
    for _, field in ipairs {"1,5", "1,2345", "12345,678", ",100", "1,,100", "1.5,000", "1e1,000"} do
      assert.are.equal(1, #loaded('x\n"' .. field .. '"\n', {thousands = ","}):texts "x", field)
    end
    for _, field in ipairs {"1.5", "1,5,5", "1.234"} do
      assert.are.equal(1, #loaded("x\n" .. field .. "\n", {sep = ";", decimal = ","}):texts "x", field)
    end
    -- Quotes make text of other numbers still.
    assert.are.same({"5"}, loaded('x,y\n"5",1\n', {thousands = ","}):texts "x")
  end)

  it("leave out comments and lines of spaces, and read as many rows as asked", function()
    local text = "# made\na,b\n# more\n1,2\n  \n  # and more\n3,4\n\n5,6\n7,8"
    local t = loaded(text, {comments = "#"})
    assert.are.same({"a", "b"}, t.names)
    assert.are.same({1, 3, 5, 7}, t.a:table())
    assert.are.same({2, 4}, loaded(text, {comments = "#", max_rows = 2}).b:table())
    assert.are.equal(0, loaded(text, {comments = "#", max_rows = 0}).rows)
    t = loaded("a,a\n1,x\n", {names = {"first", "second"}})
    assert.are.same({"first", "second"}, t.names)
    assert.are.same({"x"}, t:texts "second")
    assert.are.same({2, 4}, loaded("1,2\n3,4\n", {names = {"x", "y"}}).y:table())
    fails("got two called a in ", "a,a\n1,2\n")
  end)

  it("say which option reads a column that one field made text", function()
    local function advises(advice, text, options, column)
      local t = loaded(text, options)
      support.fails(advice, gpu.mean, t:column(column or "x"))
      return t
    end
    local function reads(advice, text, column) return advises(("; gpu.load(path, {%s}) reads it"):format(advice), text, nil, column) end
    reads('thousands = ","', 'x,y\n"1,234",1\n"5,000,000",2\n')
    reads('thousands = ",", symbols = {"$"}', 'x,y\n"$1,234.50",1\n$5,2\n')
    reads('symbols = {"%"}', "x\n5.2%\n-1%\n")
    reads('symbols = {"€"}', "x\n€5\n")
    reads('dates = {x = "%m/%d/%Y"}', "x\n03/14/2024\n04/01/2024\n")
    reads('dates = {x = "%d/%m/%Y"}', "x\n01/04/2024\n14/03/2024\n")
    reads('dates = {x = "%m/%d/%Y"}', "x\n01/04/2024\n")
    advises('or "%d/%m/%Y" if that is the order of day and month', "x\n01/04/2024\n")
    reads('dates = {["the day"] = "%d.%m.%Y %H:%M"}', "the day\n14.03.2024 10:30\n", "the day")
    reads('missing = {"-"}', "x\n1\n2\n-\n4\n")
    reads('missing = {"unknown"}', "x,y\n2024-01-01,1\n2024-01-02,1\nunknown,1\n")
    reads('dtype = {x = "float64"}', 'x,y\n1,1\n"2",2\n')
    for decimals, options in pairs {["1,5"] = 'decimal = ","', ["1.234,5"] = 'thousands = ".", decimal = ","'} do
      local t = loaded("x;y\n" .. decimals .. ";1\n2,25;2\n", {sep = ";"})
      support.fails(("; gpu.load(path, {%s}) reads it"):format(options), gpu.add, t.x, 1)
    end
    -- The message has the column, the field and its line, and parts of the column have the message too.
    local lines = {"x,y"}
    for i = 1, 2000 do lines[i + 1] = i .. "," .. i end
    lines[1500] = "n.a.,1"
    local t = reads('missing = {"n.a."}', table.concat(lines, "\n"))
    support.fails('[sum] expected numbers, got column x of text, as "n.a." in line 1500 of ', gpu.sum, t:head(3).x)
    -- So have methods of numbers and dates, and groups.
    t = loaded('k,day,x\n1,03/14/2024,"1,234"\n2,03/15/2024,"5,000"\n')
    for _, fn in ipairs {function() t:group_by "k":mean "x" end, function() t:group_by "k":aggregate {x = "sum"} end, function() t.x:gt(5) end,
      function() t.x:rolling(2) end, function() t.k:rolling(2):corr(t.x) end, function() t:pivot("k", "day", "x") end} do
      support.fails('column x of text, as "1,234" in line 2 of ', fn)
    end
    for _, name in ipairs {"year", "floor", "number", "diff"} do
      support.fails('; gpu.load(path, {dates = {day = "%m/%d/%Y"}}) reads it', function() t.day[name](t.day, "month") end)
    end
    support.fails('; gpu.dates(x, {format = "%m/%d/%Y"}) reads it', gpu.dates, t.day)
    -- Words are no numbers under any option.
    support.fails("got a column of text; x:eq(text) compares it", gpu.mean, loaded("x\nOslo\nBern\n").x)
    -- What the advice says reads the file.
    local path = temporary ".csv"
    write(path, 'day,x\n14/03/2024,"$1,234.5"\n01/04/2024,-\n')
    t = gpu.load(path, {thousands = ",", symbols = {"$"}, missing = "-", dates = {day = "%d/%m/%Y"}})
    assert(t.day[1] == "2024-03-14" and t.x[1] == 1234.5 and t.x:isnan()[2])
  end)

  it("may be compressed by gzip", function()
    local path = temporary ".csv"
    write(path, "a,b\n1,x\n2,y\n")
    local zipped = path .. ".gz"
    assert(os.execute(("gzip -c %s > %s && printf '3,z\\n' | gzip >> %s"):format(path, zipped, zipped)) == 0)
    local bytes = read(zipped)
    local t = gpu.load(zipped)
    os.remove(zipped)
    assert.are.same({1, 2, 3}, t.a:table())
    assert.are.same({"x", "y", "z"}, texts_of(t, "b"))
    fails("the compressed file is damaged: it ends too early", bytes:sub(1, -5))
    fails("the compressed file is damaged: incorrect data check", bytes:sub(1, -9) .. "12345678")
    support.fails("expected a path without .gz: gzip compresses a file that is there", gpu.save, zipped, t)
  end)

  it("tell what is wrong, and where", function()
    fails("expected 2 fields, as in the first line, got 3 in line 3 of ", "a,b\n1,2\n1,2,3\n")
    fails("expected 2 fields, as in the first line, got 1 in line 4 of ", "a,b\n1,2\n\n1\n")
    fails('expected a value of int8, got "200" in line 3, column b of ', "a,b\n1,2\n1,200\n", {dtype = "int8"})
    fails('expected a value of int32, got "x" in line 2, column b of ', "a,b\n1,x\n", {dtype = {b = "int32"}})
    fails("expected a value, as int32 has none for missing ones; float64 has NaN", "a,b\n1,\n", {dtype = {b = "int32"}})
    fails("expected a closing quote, got the end of the file after the opening quote in line 3 of ", 'a,b\n1,2\n"3,4\n5,6\n')
    fails("expected a separator after the closing quote, got other text in line 2 of ", 'a,b\n1,"2"3\n')
    fails('which has a, price, got "prize"; did you mean "price"?', "a,price\n1,2\n", {columns = "prize"})
    fails("expected a table, got a file without lines", "")
    fails("expected a table, got a file without lines", "\n\n")
    fails("expected a table, got no lines after the 10 that skip leaves out", "a,b\n1,2\n3,4\n", {skip = 10})
    fails("expected a column from 1 to 2", "a,b\n1,2\n", {columns = {3}})
    fails("expected columns of different names, got two called a", "a,a\n1,2\n")
    fails("expected each column once, got a twice", "a,b\n1,2\n", {columns = {"a", 1}})
    fails("for a table in text, got \"shape\"", "a\n1\n", {shape = {1}})
    for _, name in ipairs {"seperator", "separator", "delimiter", "spe"} do
      fails(('decimal, symbols and parentheses for a table in text, got "%s"; did you mean "sep"?'):format(name), "a\n1\n", {[name] = ";"})
    end
    for theirs, ours in pairs {usecols = "columns", na_values = "missing", parse_dates = "dates", nrows = "max_rows", skiprows = "skip",
      comment = "comments", dayfirst = "dates"} do
      fails(('got "%s"; did you mean "%s"?'):format(theirs, ours), "a\n1\n", {[theirs] = 1})
    end
    for theirs, advice in pairs {encoding = "text is in UTF-8", compression = "files of gzip are read as others", index_col = "rows have no index",
      on_bad_lines = "all rows have as many fields", chunksize = "skip and max_rows read a part of a file"} do
      fails(('got "%s"; %s'):format(theirs, advice), "a\n1\n", {[theirs] = 1})
    end
    fails("expected a decimal that is not the separator, got \",\" for both", "a\n1\n", {decimal = ","})
    fails("expected decimal and thousands that differ, got \".\" for both", "a\n1\n", {thousands = "."})
    fails("[load] expected thousands, one character", "a\n1\n", {thousands = ""})
    fails("[load] expected comments, the text that comments begin with, got \"\"", "a\n1\n", {comments = ""})
    fails("[load] expected symbols: texts beside numbers, got \"\"", "a\n1\n", {symbols = {""}})
    fails("expected 2 names, one for each column of ", "a,b\n1,2\n", {names = {"x"}})
    fails("sep, one character", "a\n1\n", {sep = "--"})
    local t, message = gpu.load "/nowhere/a.csv"
    assert(t == nil and message:find("cannot open /nowhere/a.csv", 1, true))
    support.fails("expected a path that ends in .npy, .npz, .csv", gpu.save, "x.dat", gpu.ones(2))
    support.fails('expected no options for a .npy file, got "sep"', gpu.save, "x.npy", gpu.ones(2), {sep = ","})
  end)

  it("come back bit by bit", function()
    local ffi = require "ffi"
    local path, n = temporary ".csv", 20000
    local words, doubles, singles = ffi.new("uint32_t[?]", 2 * n), ffi.new("double[?]", n), ffi.new("float[?]", n)
    local state = 1
    for i = 0, 2 * n - 1 do
      state = (state * 16807) % 2147483647
      words[i] = (state % 65536) * 65536 + math.floor(state / 7) % 65536
    end
    ffi.copy(doubles, words, 8 * n)
    ffi.copy(singles, words, 4 * n)
    local halves = gpu.randn(n, "float16")
    local t = gpu.table({d = gpu.array(doubles), f = gpu.array(singles), h = halves, i = gpu.array(words, "uint32")({1, n})},
      {"d", "f", "h", "i"})
    assert.is_true(gpu.save(path, t))
    local back = gpu.load(path, {dtype = {f = "float32", h = "float16", i = "uint32"}})
    for _, name in ipairs(t.names) do
      local a, b = t[name], back[name]
      assert(a.dtype == b.dtype, name)
      if a.dtype:find "float" then
        assert(gpu.array_equal(a:isnan(), b:isnan()), name)
        a, b = gpu.where(a:isnan(), 0, a), gpu.where(b:isnan(), 0, b)
      end
      assert(gpu.array_equal(a, b), name)
    end
    for _, special in ipairs {{0, -0, 1 / 0, -1 / 0, 5e-324, 1.7976931348623157e308, 0.1, 1e22, 123456789012345678}} do
      gpu.save(path, gpu.array(special, "float64"))
      local again = gpu.load(path).c1
      assert.are.equal("float64", again.dtype)
      for i, value in ipairs(special) do assert(again[i] == value and 1 / again[i] == 1 / value) end
    end
    assert.are.same({1 / 0, 0, -1 / 0, 0}, loaded("x\n1e999\n1e-999\n-1e9999\n0.0e-99999\n").x:table())
  end)

  it("have short numbers written short, and none that comes back another", function()
    local path = temporary ".csv"
    gpu.save(path, {x = gpu.array({0, -0, -2.25, 100000, 0.0001, 0.00001, 1234567.8901, 99999999999.9999, 1e15, 0.1 + 0.2}, "float64")},
      {header = false})
    assert.are.equal("0.0\n-0.0\n-2.25\n100000.0\n0.0001\n1e-05\n1234567.8901\n99999999999.9999\n1e+15\n0.30000000000000004\n",
      read(path))
    gpu.save(path, {x = gpu.array({0.1, 99.9999, 100.001, 16777216, -0.5}, "float32")})
    assert.are.equal("x\n0.1\n99.9999\n100.001\n16777216.0\n-0.5\n", read(path))

    -- Values with few decimals, and their neighbours.
    local values = series(3000, function(i)
      local value = math.floor((i * 0.6180339887498949) % 1 * 10 ^ (i % 15)) / 10 ^ (i % 6)
      return i % 3 == 0 and value * (1 + 2 ^ -52) or value
    end)
    gpu.save(path, {x = gpu.array(values, "float64")}, {header = false})
    local row = 0
    for line in read(path):gmatch "[^\n]+" do
      row = row + 1
      assert(tonumber(line) == values[row], line)
    end
    assert.are.equal(3000, row)
  end)

  it("are written as others read them", function()
    local path = temporary ".csv"
    gpu.save(path, gpu.table({x = {1, 0 / 0, 2.5}, n = gpu.array({1, 2, 3}, "int8"), s = {"a", 'b "c"', "d,e"}, b = {true, false, true}},
      {"x", "n", "s", "b"}))
    assert.are.equal('x,n,s,b\n1.0,1,a,true\n,2,"b ""c""",false\n2.5,3,"d,e",true\n', read(path))
    gpu.save(path, gpu.array({{1, 2}, {3, 4}}, "int32"), {header = false, sep = ";"})
    assert.are.equal("1;2\n3;4\n", read(path))
    gpu.save(path, {x = gpu.array({0 / 0, 1}, "float64")}, {missing = "NA"})
    assert.are.equal("x\nNA\n1.0\n", read(path))
    gpu.save(path, {x = gpu.array({0 / 0, 1}, "float64")})
    assert.are.equal(2, gpu.load(path).rows)
    support.fails("missing, a text for NaN without separators", gpu.save, path, {x = gpu.ones(1)}, {missing = "a,b"})
    support.fails("expected real numbers in column x, got complex64", gpu.save, path, {x = gpu.zeros(2, "complex64")})
  end)

  it("hold texts that look like numbers, and give them back", function()
    local path = temporary ".csv"
    local texts = {"001", "2.50", "", "NA", "true", "Oslo", "-", "1e5", "inf", "\t7", "n,a"}
    local codes = {}
    for i = 1, #texts do codes[i] = i + 0.5 end
    gpu.save(path, gpu.table({["2020"] = codes, s = texts}, {"2020", "s"}), {missing = "-"})
    assert.are.equal('"2020",s\n1.5,"001"\n2.5,"2.50"\n3.5,""\n4.5,"NA"\n5.5,"true"\n6.5,Oslo\n7.5,"-"\n8.5,"1e5"\n9.5,"inf"\n'
      .. '10.5,"\t7"\n11.5,"n,a"\n', read(path))
    for last = 1, #texts do  -- each text alone decides
      gpu.save(path, gpu.table({["2020"] = {1}, s = {texts[last]}}, {"2020", "s"}), {missing = "-"})
      local back = gpu.load(path, {missing = "-"})
      assert.are.same({"2020", "s"}, back.names)
      assert.are.same({texts[last]}, texts_of(back, "s"))
    end
    gpu.save(path, gpu.table {a = {"001", "002", "3"}})
    assert.are.same({"001", "002", "3"}, texts_of(gpu.load(path), "a"))
    assert.are.same({"001", "002", "3"}, texts_of(gpu.load(path, {dtype = "float32"}), "a"))
    assert.are.same({1, 2, 3}, gpu.load(path, {dtype = {a = "float32"}}).a:table())
    gpu.save(path, gpu.table {["zip code"] = {"001", "002", " x"}})
    assert.are.equal('zip code\n"001"\n"002"\n" x"\n', read(path))
    assert.are.same({"001", "002", " x"}, texts_of(gpu.load(path), "zip code"))
    -- The first line is no row of numbers where a field is in quotes; the name of a column may be a number.
    assert.are.same({"1", "2"}, loaded('"1","2"\n3,4\n').names)
    assert.are.same({"1"}, texts_of(loaded('"1",2\n', {header = false}), "c1"))
    -- Of programs that put everything in quotes they say nothing.
    local all = loaded '"id","price","city"\n"1","2.5","Oslo"\n"2","","Bern"\n'
    assert.are.same({"int64", "float64", "int32"}, {all.id.dtype, all.price.dtype, all.city.dtype})
    assert.are.same({3}, loaded('"1","2"\n"3","4"\n', {skip = 1}).c1:table())
    -- Quotes alone in a line stand for a missing number, as pandas writes it.
    assert.are.same({true, false}, loaded('x\n""\n1\n').x:isnan():table())
  end)

  it("may be damaged in any way", function()
    local path, state = temporary ".csv", 99
    local function random(n)
      state = (state * 16807) % 2147483647
      return state % n
    end
    local pieces = {'"', ",", "\n", "\r", "\r\n", '""', ",,", "e999", "-", "NA", "\0", "\255", "99999999999999999999", "true", ".", "inf"}
    local whole = 'id,price,ok,city\n1,2.5,true,Oslo\n2,,false,"New ""York"", NY"\n3,1e-3,true,Bern\n'
    local good, bad = 0, 0
    for _ = 1, 400 do
      local bytes = whole
      for _ = 0, random(4) do
        local at = 1 + random(#bytes)
        bytes = bytes:sub(1, at - 1) .. pieces[1 + random(#pieces)] .. bytes:sub(at + random(3))
      end
      write(path, bytes)
      local ok, t = pcall(gpu.load, path)
      if ok then
        good = good + 1
        for _, name in ipairs(t.names) do assert.are.equal(t.rows, t[name].size) end
      else
        bad = bad + 1
        assert(tostring(t):find("[load] expected ", 1, true), t)
      end
    end
    assert(good > 50 and bad > 50)
  end)
end)

describe("gpu.table", function()
  local n = 1000
  local kind, side, value = {}, {}, {}
  for i = 1, n do kind[i], side[i], value[i] = (i * 7) % 5, (i * 3) % 2 == 0 and "b" or "a", (i * i) % 101 / 4 end
  value[10] = 0 / 0
  local t = gpu.table({kind = gpu.array(kind, "int16"), side = side, value = value}, {"kind", "side", "value"})

  --- Rows of {key, values}, in the order of keys, by a loop.
  local function expected(key_of)
    local groups, keys = {}, {}
    for i = 1, n do
      local key = key_of(i)
      if not groups[key] then
        groups[key] = {}
        keys[#keys + 1] = key
      end
      table.insert(groups[key], value[i])
    end
    table.sort(keys)
    return groups, keys
  end
  local function fold(values, fn)
    local result
    for _, v in ipairs(values) do
      if v == v then result = result and fn(result, v) or v end
    end
    return result
  end

  it("groups on the device", function()
    local groups, keys = expected(function(i) return kind[i] end)
    local g = t:group_by "kind"
    local sum, mean, least, most, count = g:sum(), g:mean "value", g:min "value", g:max "value", g:count()
    assert.are.same({"kind", "value"}, sum.names)
    assert.are.same(keys, sum.kind:table())
    assert.are.equal("int16", sum.kind.dtype)
    for i, key in ipairs(keys) do
      local values = groups[key]
      local total, there = fold(values, function(a, b) return a + b end), 0
      for _, v in ipairs(values) do there = there + (v == v and 1 or 0) end
      assert.are.equal(total, sum.value[i])
      assert.is_true(math.abs(mean.value[i] - total / there) < 1e-12)
      assert.are.equal(fold(values, math.min), least.value[i])
      assert.are.equal(fold(values, math.max), most.value[i])
      assert.are.equal(#values, count.count[i])
    end
  end)

  it("groups by several columns and by text", function()
    local groups, keys = expected(function(i) return side[i] .. kind[i] end)
    local count = t:group_by("side", "kind"):count()
    assert.are.equal(#keys, count.rows)
    for i, key in ipairs(keys) do
      assert.are.equal(key, count.side[i] .. count.kind[i])
      assert.are.equal(#groups[key], count.count[i])
    end
    -- Integers of 64 bits are summed exactly, and NaN is one group.
    local big = gpu.table {k = {0 / 0, 1, 0 / 0}, v = gpu.array({9007199254740993LL, 1LL, 1LL}, "int64")}
    local sums = big:group_by "k":sum()
    assert.are.equal(2, sums.rows)
    assert.are.equal(9007199254740994LL, sums.v:table()[2] + 0LL)
    assert.are.same({1}, {big:group_by "k":min().v[1]})
  end)

  it("has groups of missing values alone, and of no rows", function()
    local g = gpu.table {k = {1, 1, 2}, v = {0 / 0, 0 / 0, 5}}:group_by "k"
    assert.are.equal(0, g:sum().v[1])
    for _, op in ipairs {"mean", "min", "max"} do assert(g[op](g).v:isnan()[1] and g[op](g).v[2] == 5) end
    local empty = t:take(t.kind:lt(0)):group_by "kind"
    for _, op in ipairs {"sum", "mean", "min", "max", "count"} do assert.are.equal(0, empty[op](empty).rows) end
  end)

  it("groups alike by keys of any range, and rows of any number", function()
    local rows = 3000
    local keys = {
      narrow = gpu.array({-3, 4, 0}, "int8"), wide = gpu.array({-5, 70000, 12}, "int32"), flag = gpu.array({true, false, true}),
      far = gpu.array({-2 ^ 52, 2 ^ 52, 7}, "int64"), unsigned = gpu.array({2 ^ 40, 1, 2 ^ 40 + 3}, "uint64"),
      real = gpu.array {0.5, -1, 0 / 0},
    }
    local pick = (gpu.arange(rows, {dtype = "int64"}) * 7 % 5):minimum(2)
    local values = (gpu.arange(rows, {dtype = "float64"}) * 37 % 1009):eval()
    values[values:lt(20)] = 0 / 0
    local host, group = values:table(), pick:table()
    for name, three in pairs(keys) do
      local own_keys = three:table()
      for _, second in ipairs(name == "flag" and {false} or {false, true}) do
        local t = gpu.table {k = three:take(pick + 1), j = keys.narrow:take(pick + 1), v = values, w = pick}
        local g = second and t:group_by("k", "j") or t:group_by "k"
        local least, most, sum, count, median = g:min "v", g:max "v", g:sum("v", "w"), g:count(), g:median "v"
        for i = 1, count.rows do
          local key, want = count.k[i], {n = 0, sum = 0, w = 0, list = {}}
          for r = 1, rows do
            local own = own_keys[group[r] + 1]
            if own == key or own ~= own and key ~= key then
              want.n, want.w = want.n + 1, want.w + group[r]
              if host[r] == host[r] then
                want.sum = want.sum + host[r]
                table.insert(want.list, host[r])
              end
            end
          end
          table.sort(want.list)
          local m = #want.list
          local middle = (want.list[math.ceil(m / 2)] + want.list[math.floor(m / 2) + 1]) / 2
          assert.are.same({want.n, want.sum, want.w, want.list[1], want.list[m], middle},
            {count.count[i], sum.v[i], sum.w[i], least.v[i], most.v[i], median.v[i]}, name)
        end
        assert.are.equal(name == "flag" and 2 or 3, count.rows, name)
      end
    end
  end)

  it("sorts rows, equal ones in their order", function()
    local small = gpu.table({k = {2, 1, 2, 0 / 0, 1}, i = {1, 2, 3, 4, 5}})
    assert.are.same({2, 5, 1, 3, 4}, small:sort_by "k".i:table())
    assert.are.same({1, 3, 2, 5, 4}, small:sort_by("k", {descending = true}).i:table())
    local mixed = gpu.table {a = {"y", "x", "x", "y"}, n = gpu.array({1, 2, 3, 4}, "uint8"), v = gpu.array {0 / 0, 5, 7, 1},
      d = gpu.dates {"2024-03-01", "", "2024-01-01", "2024-02-01"}}
    local function order(...) return mixed:sort_by(...).n:table() end
    assert.are.same({3, 2, 4, 1}, order({"a", "v"}, {descending = {false, true}}))
    assert.are.same({4, 1, 3, 2}, order({"a", "n"}, {descending = true}))
    assert.are.same({1, 4, 2, 3}, order({"a", "n"}, {descending = {true, false}}))
    assert.are.same({1, 4, 3, 2}, order("d", {descending = true}))
    support.fails("[sort_by] expected descending = true or false for each of 2 columns", function() order({"a", "n"}, {descending = {true}}) end)
    support.fails('[sort_by] expected descending = true or false, got "yes"', function() order("a", {descending = "yes"}) end)
    local sorted = t:sort_by {"side", "kind"}
    for i = 2, n do
      local a, b = {sorted.side[i - 1], sorted.kind[i - 1]}, {sorted.side[i], sorted.kind[i]}
      assert(a[1] < b[1] or a[1] == b[1] and a[2] <= b[2])
    end
  end)

  it("selects columns and rows, and takes new columns", function()
    local small = gpu.table {a = {1, 2, 3}, b = {"x", "y", "x"}}
    small.c = small.a * 2
    assert.are.same({"a", "b", "c"}, small.names)
    assert.are.same({"c", "b"}, small:select("c", "b").names)
    assert.are.same({4, 6}, small:take(small.a:gt(1)).c:table())
    assert.are.same({6, 2}, small:take {3, 1}.c:table())
    assert.are.equal(small.a, small:column "a")
  end)

  it("selects rows by what they hold", function()
    local small = gpu.table {
      city = {"Oslo", "Bern", "Oslo", "Rome"}, n = gpu.array({1, 2, 3, 4}, "int64"), ok = {true, false, true, true},
    }
    assert.are.same({1, 3}, small:where("city", "Oslo").n:table())
    assert.are.same({2, 4}, small:where("city", {"Rome", "Paris", "Bern"}).n:table())
    assert.are.same({1, 4}, small:where("n", {4, 1, 7}).n:table())
    assert.are.same({2}, small:where("n", 2).n:table())
    assert.are.same({2}, small:where("ok", false).n:table())
    assert.are.equal(0, small:where("city", "Paris").rows)
    assert.are.equal(0, small:where("city", {}).rows)
    assert.are.same({false, true, false, true}, small:isin("city", "Oslo"):logical_not():table())
    assert.are.same({3}, small:take(small:isin("city", "Oslo"):logical_and(small.n:gt(1))).n:table())
    assert.are.same({1, 2}, small:head(2).n:table())
    assert.are.equal(4, small:head().rows)
    assert.are.equal(5, t:head().rows)
    assert.are.equal(0, small:head(0).rows)
    support.fails("[where] expected a text, or a table of them, for column city, got 3", small.where, small, "city", 3)
    support.fails("[where] expected a text, or a table of them, for column city, got nil", small.where, small, "city")
    support.fails("[isin] expected numbers for column n, which is not text, got \"a\"", small.isin, small, "n", "a")
    support.fails("[where] expected numbers for column n, which is not text, got nil", small.where, small, "n")
    support.fails("expected a column of city, n, ok, got \"cty\"; did you mean \"city\"?", small.where, small, "cty", "Oslo")
    support.fails("expected a number of rows, 0 or more, got -1", small.head, small, -1)
  end)

  it("is no list of numbers, as no object is", function()
    local t = gpu.table {a = {1, 2}, b = {3, 4}}
    local message = "[array] expected numbers, got a table of columns; t.name is the array of one, t:matrix(names) the matrix"
    support.fails(message, gpu.array, t)
    support.fails(message, gpu.array, {t, t})
    support.fails("[array] expected numbers, got a chart", gpu.array, gpu.plot.line {1, 2})
    assert.are.same({{1, 3}, {2, 4}}, gpu.stack({t.a, t.b}, 2):table())
    assert.are.equal(0, gpu.array({}).size + gpu.array({{}}).size + gpu.array(gpu.ones({}).shape).size)
  end)

  it("names what other libraries call otherwise", function()
    local t = gpu.table {s = {"a", "b", "a"}, x = {1, 2, 3}}
    for name, use in pairs {
      drop_duplicates = "t:group_by(names):first()", nlargest = 't:sort_by("name", {descending = true}):head(n)', set_index = "t:where(name, value)",
      iterrows = "local x = t:values(name)", melt = "gpu.concat{t, u}", rank = "gpu.stats.rankdata(t.name)",
    } do
      support.fails(('no column, property or method "%s"; use %s'):format(name, use), function() return t[name] end)
    end
    assert.are.same({1, 2}, t:group_by "s":first().x:table())
    assert.are.same({3, 2}, t:sort_by("x", {descending = true}):head(2).x:table())
    support.fails("or t:group_by(name):count() of a gpu.table", function() return t.s:value_counts() end)
    support.fails('[join] expected how behind the names, t:join(u, keys, "left"), got it as an option', t.join, t, t, "s", {how = "left"})
    support.fails("[join] expected a table of options, {suffix = ...}, got 3", t.join, t, t, "s", "left", 3)
    support.fails('got "labels"; did you mean "xnames"?', gpu.plot.heatmap, gpu.ones(2, 2), {labels = {"a", "b"}})
    local name = os.tmpname()
    local path = name .. ".csv"
    gpu.save(path, t)
    support.fails('got "parse_dates"; did you mean "dates"?', gpu.load, path, {parse_dates = {"s"}})
    support.fails('got "index_col"; rows have no index', gpu.load, path, {index_col = 0})
    os.remove(path)
    os.remove(name)
  end)

  it("has columns of text, which are no numbers", function()
    local small = gpu.table {s = {"b", "a", "b"}, other = {"c", "b", "b"}, n = {1, 2, 3}}
    for op, fn in pairs {
      add = function(x) return x + 1 end, subtract = function(x) return 1 - x end, multiply = function(x) return x * x end,
      divide = function(x) return x / 2 end, power = function(x) return x ^ 2 end, negative = function(x) return -x end,
      remainder = function(x) return x % 2 end, exp = gpu.exp, maximum = function(x) return gpu.maximum(3, x) end,
      hypot = function(x) return x:hypot(2) end, clip = function(x) return x:clip(1, 2) end,
      round = function(x) return gpu.round(x, -1) end,
      sum = gpu.sum, mean = gpu.mean, std = gpu.std, prod = gpu.prod, cumsum = gpu.cumsum,
      bitwise_and = function(x) return gpu.bitwise_and(1, x) end, floor_divide = function(x) return gpu.divmod(x, 2) end,
    } do
      support.fails("[" .. op .. "] expected numbers, got a column of text", fn, small.s)
    end
    support.fails("[subtract] expected numbers, got a column of text", function() return small.n - small.s end)
    support.fails("[add] expected numbers, got a column of text", gpu.add, small.s, 1)
    support.fails("[add_] expected numbers, got a column of text", function() small.s:add_(1) end)
    support.fails("[add] expected numbers, got a column of text", function() small.n:add_(small.s) end)
    assert.are.same({3, 2, 3}, (small.s:copy() + 1):table())
    assert.are.same({true, false, true}, small.s:eq("b"):table())
    assert.are.same({false, true, false}, small.s:ne("b"):table())
    assert.are.same({false, false, false}, small.s:eq("nobody"):table())
    for _, op in ipairs {"eq", "ne", "lt", "le", "gt", "ge"} do
      support.fails(("[%s] expected a text or a column of text beside a column of text, got 2"):format(op), small.s[op], small.s, 2)
      support.fails(("[%s] expected a text or a column of text"):format(op), small.s[op], small.s, small.n)
      support.fails(("[%s] expected numbers, got a column of text"):format(op), gpu[op], small.s, 2)
      support.fails(("[%s] expected numbers, got a column of text"):format(op), small.n[op], small.n, small.s)
    end
    for name, fn in pairs {
      max = gpu.max, min = gpu.min, sort = gpu.sort, unique = gpu.unique, topk = function(x) return x:topk(1) end,
      astype = function(x) return x:astype "float32" end, any = gpu.any, count_nonzero = gpu.count_nonzero,
      median = gpu.median, quantile = function(x) return x:quantile(0.5) end, where = function(x) return gpu.where(x:eq "b", x, 0) end,
      searchsorted = function(x) return gpu.searchsorted(gpu.arange(3), x) end, isin = function(x) return gpu.isin(x, {1}) end,
      cummax = gpu.cummax, histogram = gpu.histogram, partition = function(x) return x:partition(1) end,
    } do
      support.fails("[" .. name .. "] expected numbers, got a column of text", fn, small.s)
    end
    assert.are.same({false, false, true}, small.s:eq(small.other):table())
    assert.are.same({true, true, true}, small.s:eq(small.s):table())
    -- Every way to a column gives one; a new name keeps the texts.
    small.again = small.s
    for _, x in ipairs {small.again, small:take({1}).s, small:select("s").s, small:sort_by("n").s, small:group_by("s"):count().s} do
      support.fails("got a column of text", function() return x + 1 end)
    end
    assert.are.same({"a", "b"}, small:texts "again")
    assert(small.s.dtype == "int32" and small.s.size == 3 and #small.s == 3)
    support.fails("tables_spec.lua", function() return small.s.sise end)
  end)

  it("has columns of text that no function takes for numbers", function()
    local t = gpu.table {s = {"x", "y"}, n = {1, 2}}
    local other = gpu.table {s = {"y", "z"}}
    local write = gpu.jit(function(c) c[1] = 9 end)
    local write_text = gpu.kernel("__global__ void write_text(int* c) { c[0] = 9; }", "write_text")
    local times = gpu.elementwise {inputs = "T x", outputs = "T y", body = "y = 10 * x"}
    for what, fn in pairs {
      ["save of .npy"] = function() gpu.save("text.npy", t.s) end,
      savetxt = function() gpu.savetxt("text.txt", t.s) end,
      ["save of .npz"] = function() gpu.save("text.npz", {s = t.s}) end,
      ["an element"] = function() t.s[1] = 2 end,
      ["an element by a text"] = function() t.s[1] = "y" end,
      rows = function() t.s["1:1"] = other.s["2:2"] end,
      ["rows of a mask"] = function() t.s[t.s:eq "x"] = "y" end,
      fill_ = function() t.s:fill_(2) end,
      copy_ = function() t.s:copy_(other.s) end,
      put = function() t.s:put({1}, {2}) end,
      ["copy_ into numbers"] = function() t.n:copy_(t.s) end,
      out = function() gpu.add(1, 2, {out = t.s}) end,
      vectorize = function() gpu.vectorize(function(c) return c + 1 end)(t.s) end,
      captured = function() local s = t.s gpu.vectorize(function(c) return c + s[1] end)(t.n) end,
      jit = function() write {grid = 1, block = 1}(t.s) end,
      kernel = function() write_text {grid = 1, block = 1}(t.s) end,
      elementwise = function() times(t.s) end,
      reduce = function() gpu.reduce(function(p, q) return p + q end)(t.s) end,
      guvectorize = function() gpu.guvectorize("(n)->()", function(x) return x[1] end)(t.s) end,
      stack = function() gpu.stack {t.s, t.n} end,
      concat = function() gpu.concat {t.n, other.s} end,
      column_stack = function() gpu.column_stack {t.s, t.n} end,
      allclose = function() gpu.allclose(t.s, other.s) end,
      matmul = function() t.s:matmul(t.n) end,
      dot = function() gpu.dot(t.s, t.s) end,
      einsum = function() gpu.einsum("i,i->", t.s, t.s) end,
      pad = function() gpu.pad(t.s, 1) end,
      roll = function() gpu.roll(t.s, 1) end,
      diff = function() t.s:diff() end,
      fft = function() gpu.fft.fft(t.s) end,
      bincount = function() gpu.bincount(t.s) end,
      scatter_add = function() gpu.scatter_add(gpu.zeros(2), gpu.array({1, 2}, "int32"), t.s) end,
      reshape = function() t.s:reshape(2, 1) end,
      interp = function() gpu.interp(t.s, {1, 2}, {1, 2}) end,
    } do
      local ok, message = pcall(fn)
      assert(not ok and message:find("a column of text", 1, true) and message:find "tables_spec", what .. ": " .. tostring(message))
    end
    assert.are.same({"x", "y"}, t:values "s")
    -- Its positions select.
    local lengths = gpu.array {4, 7}
    assert.are.same({4, 7}, lengths(t.s):table())
    assert.are.same({4, 7}, lengths:take(t.s):table())
    lengths[t.s] = 1
    assert.are.same({1, 1}, lengths:table())
    assert.are.same({2, 1}, t.s:take({2, 1}):table())
    assert.are.same({1, 2}, t.s:table())
    assert(t.s:eval() == t.s and t.s.device == t.n.device and t.s.ndim == 1 and t.s ~= other.s)
    gpu.scope(function() return t.s:sort() end)
    for _ = 1, 100 do gpu.table {s = {"x", "y"}} end
    collectgarbage()
  end)

  it("has elements that are texts, and parts that are columns of text", function()
    local t = gpu.table {s = {"b", "a", "c", "b"}, n = {1, 2, 3, 4}}
    assert.are.same({"b", "a", "c", "b"}, {t.s[1], t.s[2], t.s[-2], t.s[{4}]})
    assert.are.equal("c", t.s(3))
    support.fails("[index] 5 is out of range", function() return t.s[5] end)
    assert.are.equal("a", t.s({2, 2}):item())
    local parts = {t.s[t.n:gt(2)], t.s({3, 4}), t.s("3:4"), t.s["3:4"], t.s:take({3, 4}), t.s[gpu.array({3, 4}, "int64")]}
    for i, part in ipairs(parts) do
      assert.are.same({"c", "b"}, gpu.table {s = part}:values "s", i)
      support.fails("got a column of text", function() return part * 2 end)
    end
    assert.are.same({4, 1, "int32"}, {t.s.size, t.s.ndim, t.s.dtype})
  end)

  it("has the order of texts", function()
    local words = {"pear", "fig", "apple", "fig", "plum"}
    local t = gpu.table {s = words, n = {1, 2, 3, 4, 5}}
    local function values(x) return gpu.table {x = x}:values "x" end
    local sorted = {unpack(words)}
    table.sort(sorted)
    assert.are.same(sorted, values(t.s:sort()))
    assert.are.equal("plum", t.s:max())
    assert.are.equal("apple", t.s:min())
    assert.are.equal("pear", t:take({1, 2}).s:max())
    assert.are.same({"apple", "fig", "pear", "plum"}, values(t.s:unique()))
    assert.are.same({"apple", "fig"}, values(t:take({2, 3, 4}).s:unique()))
    local distinct, counts = t.s:unique {return_counts = true}
    assert.are.same({"apple", "fig", "pear", "plum"}, values(distinct))
    assert.are.same({1, 2, 1, 1}, counts:table())
    assert.are.same({3, 2, 4, 1, 5}, t.s:argsort():table())
    assert.are.same({5, 3}, {t.s:argmax():item(), t.s:argmin():item()})
    assert.are.same({false, true, true, true, false}, t.s:isin({"fig", "apple", "kiwi"}):table())
    assert.are.same({true, false, false, false, false}, t.s:isin("pear"):table())
    assert.are.same({false, true, false, true, false}, t.s:isin(gpu.table {s = {"fig", "lime"}}.s):table())
    support.fails("[isin] expected a text, a table of texts or a column of text, got 1", t.s.isin, t.s, {1})
  end)

  it("has the spread and the middle of groups", function()
    local groups, keys = expected(function(i) return kind[i] end)
    local g = t:group_by "kind"
    local var, std, sample, median = g:var {ddof = 0}, g:std("value", {ddof = 0}), g:var "value", g:median "value"
    for i, key in ipairs(keys) do
      local values, total, squares = {}, 0, 0
      for _, v in ipairs(groups[key]) do
        if v == v then values[#values + 1] = v end
      end
      for _, v in ipairs(values) do total = total + v end
      for _, v in ipairs(values) do squares = squares + (v - total / #values) ^ 2 end
      table.sort(values)
      assert(math.abs(var.value[i] - squares / #values) < 1e-10)
      assert(math.abs(std.value[i] - math.sqrt(squares / #values)) < 1e-10)
      assert(math.abs(sample.value[i] - squares / (#values - 1)) < 1e-10)
      assert.are.equal((values[math.ceil(#values / 2)] + values[math.floor(#values / 2) + 1]) / 2, median.value[i])
    end
    local few = gpu.table {k = {1, 1, 2, 3, 3}, h = gpu.array({1, 4, 2, 0 / 0, 0 / 0}, "float16"), i = gpu.array({1, 4, 2, 7, 7}, "int8")}
      :group_by "k"
    local medians, vars = few:median(), few:var {ddof = 0}
    assert.are.same({"float32", "float64", "float32", "float64"}, {medians.h.dtype, medians.i.dtype, vars.h.dtype, vars.i.dtype})
    assert.are.same({2.5, 2, 7}, few:median().i:table())
    assert.are.same({2.25, 0}, few:var({ddof = 0}).h({1, 2}):table())
    assert(few:median().h:isnan()[3] and few:var({ddof = 0}).h:isnan()[3] and few:var("i").i:isnan()[2])
    local empty = t:take(t.kind:lt(0)):group_by "kind"
    for _, op in ipairs {"var", "std", "median"} do assert.are.equal(0, empty[op](empty).rows) end
    support.fails("[var] expected the option ddof, got \"dof\"", g.var, g, "value", {dof = 1})
    support.fails("[std] expected ddof, a number, got \"1\"", g.std, g, {ddof = "1"})
    support.fails("[median] expected real numbers in column side, got a column of text", g.median, g, "side")
  end)

  it("compares text by its order, with a text or another column", function()
    local t = gpu.table {day = {"2024-05-01", "2024-01-31", "2024-03-15", "2024-03-15"},
      other = {"2024-03-15", "2024-02-01", "2024-03-15", "2023-12-24"}}
    local orders = {lt = function(a, b) return a < b end, le = function(a, b) return a <= b end, gt = function(a, b) return a > b end,
      ge = function(a, b) return a >= b end, eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end}
    local days, others = t:values "day", t:values "other"
    assert.are.same({"2024-05-01", "2024-01-31", "2024-03-15", "2024-03-15"}, days)
    for op, holds in pairs(orders) do
      for _, text in ipairs {"2024-03-15", "2024-03", "", "2024-05-01", "3", "2024-02-29"} do
        local expected = series(4, function(i) return holds(days[i], text) end)
        assert.are.same(expected, t.day[op](t.day, text):table())
      end
      assert.are.same(series(4, function(i) return holds(days[i], others[i]) end), t.day[op](t.day, t.other):table())
      assert.are.same(series(4, function() return holds(1, 1) end), t.day[op](t.day, t.day):table())
    end
    assert.are.equal(0, t:take {false, false, false, false}.day:lt("x").size)
    assert.are.same({1.5, 2}, gpu.table {x = {1.5, 2}}:values "x")
  end)

  it("repeats a number, a boolean or a text that a column is set to", function()
    local t = gpu.table {x = {1, 2, 3}}
    t.one, t.yes, t.city = 1, true, "Oslo"
    assert.are.same({1, 1, 1}, t.one:table())
    assert.are.equal("bool", t.yes.dtype)
    assert.are.same({"Oslo", "Oslo", "Oslo"}, t:values "city")
    assert.are.equal(3, t:where("city", "Oslo").rows)
  end)

  it("shows a column of text as text", function()
    local t = gpu.table {city = {"Oslo", 'the "Hague"', "Bern"}, many = {1, 2, 3}}
    assert.are.equal('text[3] cpu\n["Oslo" "the \\"Hague\\"" "Bern"]', (tostring(t.city):gsub("cuda:%d", "cpu")))
    local long = t:take(gpu.ones(100, "int64"))
    assert(tostring(long.city):find('\n["Oslo" "Oslo" "Oslo" "Oslo" "Oslo" ... "Oslo" "Oslo" "Oslo" "Oslo" "Oslo"]', 1, true))
  end)

  it("prints the columns that fit into a line, and names the others", function()
    local columns = {}
    for i = 1, 9 do columns["column" .. i] = {i, i + 1 / 3} end
    gpu.print_options {width = 40, precision = 3}
    local text = tostring(gpu.table(columns))
    gpu.print_options {width = "terminal", precision = 6}
    local lines = {}
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
      assert(#line <= 40 or line:find "^2 rows", line)
    end
    assert.are.equal("column1  column2  ...  column8  column9", lines[1])
    assert.are.equal("   1.33     2.33  ...     8.33     9.33", lines[4])
    assert.are.equal("2 rows, 9 columns; not shown: column3, column4, column5, column6, column7", lines[5])
    -- A notebook shows as many whatever their width.
    local many = {}
    for i = 11, 40 do many["c" .. i] = {i} end
    local t = gpu.table(many)
    local html = debug.getmetatable(t).__display(t)["text/html"]
    local names = {}
    for name in html:gmatch "<th[^>]*>([^<]*)</th>" do names[#names + 1] = name end
    assert.are.equal("c11 c12 c13 c14 c15 c16 ... c35 c36 c37 c38 c39 c40", table.concat(names, " "))
    assert(html:find("1 row, 30 columns; not shown: c17, c18", 1, true), html)
  end)

  it("aligns and cuts texts by characters", function()
    local text = tostring(gpu.table({city = {"Z\195\188rich", ("\195\188"):rep(30)}, n = {1, 2}}, {"city", "n"}))
    assert(text:find("\nZ\195\188rich" .. (" "):rep(18) .. "        1\n", 1, true), text)
    assert(text:find("\n" .. ("\195\188"):rep(21) .. "...        2\n2 rows, 2 columns", 1, true), text)
    assert(tostring(gpu.table {x = {1}}):find("1 row, 1 column$"))
  end)

  it("prints its first and last rows", function()
    assert.are.equal([[
      k  name          v
float64  text    float64
      1  one         0.5
      2  twenty  1e+30
2 rows, 3 columns]], (tostring(gpu.table({k = {1, 2}, name = {"one", "twenty"}, v = {0.5, 1e30}}, {"k", "name", "v"}))
      :gsub("  1e%+30", "1e+30")))
    local lines = {}
    for line in tostring(t):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.are.equal(2 + 5 + 1 + 5 + 1, #lines)
    assert.are.equal("1000 rows, 3 columns", lines[#lines])
  end)

  it("keeps its properties and methods beside columns of their names", function()
    local names = {"column", "group_by", "head", "isin", "names", "price", "rows", "select", "sort_by", "take", "texts", "values", "where"}
    local columns = {}
    for i, name in ipairs(names) do columns[name] = {i, i + 1, i} end
    local odd = gpu.table(columns)
    assert.are.same(names, odd.names)
    assert.are.equal(3, odd.rows)
    for i, name in ipairs(names) do
      assert.are.same({i, i + 1, i}, odd:column(name):table())
      assert.are.same({i, i + 1, i}, odd:values(name))
      assert.are.equal(2, odd:take(odd:isin(name, i)).rows)
      assert.are.equal(1, odd:where(name, i + 1).rows)
      assert.are.equal(i + 1, odd:sort_by(name, {descending = true}):head(1):column(name)[1])
      assert.are.same({2, 1}, odd:group_by(name):count():column "count":table())
      assert.are.same({name}, odd:select(name).names)
    end
    assert(tostring(odd:select("price", "rows", "take")):find("3 rows, 3 columns; t:column(name) gives rows, take", 1, true))
    support.fails("gpu.table makes columns of any name, which t:column(name) reads", function() odd.take = {1, 2, 3} end)
  end)

  it("says what is wrong", function()
    local fails = support.fails
    fails('a table has no column, property or method "valeu"; its columns are kind, side, value; did you mean "value"?', function() return t.valeu end)
    fails("expected 1000 rows in column w, as in the others, got 2", function() t.w = {1, 2} end)
    fails("expected a name that is not a property or method of tables, got \"rows\"", function() t.rows = {1} end)
    fails("expected real numbers in column side, got a column of text", function() t:group_by "kind":sum "side" end)
    fails("expected a column that is not a key, got kind", function() t:group_by "kind":sum "kind" end)
    fails("expected a column of kind, side, value, got \"x\"", function() t:sort_by "x" end)
    fails("expected the option descending, got \"down\"", function() t:sort_by("kind", {down = true}) end)
    fails("expected at least one column", gpu.table, {})
    fails("expected strings alone, or numbers alone, in column s", gpu.table, {s = {"a", 1}})
    fails("groups have no method \"mode\"", function() return t:group_by "kind":mode() end)
    fails('groups have no method "size"; use g:count()', function() return t:group_by "kind":size() end)
    fails('groups have no method "value"; g:mean("value") is a table of its means', function() return t:group_by "kind".value end)
    fails('no column, property or method "filter"; use t:where(name, value) or t:take(mask); its columns', function() t:filter(1) end)
    fails('no column, property or method "query"; use t:where(name, value) or t:take(mask); its columns', function() t:query "a" end)
    fails("expected rows: a vector or a table of positions, or a mask, got 5", function() return t:take(5) end)
    fails("a table is not a function: t:take(rows) gives", function() return t({1, 2}) end)
    fails("expected the name of a column, got a table; t.name is a column", function() return t[{1, 2}] end)
    fails("expected the name of a column; t:take(mask) gives the rows of a mask, got an array bool[1000]",
      function() return t:where(t.value:gt(1)) end)
    fails("[concat] expected tables alone, or arrays alone, got an array", function() return gpu.concat {t, gpu.ones(2)} end)
    fails("no column, property or method \"x\"; its columns are kind, side, value", function() return t.x end)
    fails("expected strings alone, or numbers alone, in column b, got \"x\"", gpu.table, {a = {1, 2, 3}, b = {1, "x", 3}})
    fails("expected strings alone, or numbers alone, in column b, got \"x\"", gpu.table, {b = {true, "x"}})
    fails("expected values in column b in a list without gaps", gpu.table, {b = {1, nil, 3}})
  end)
end)
