-- Defines transcript(seed, count): what string.find, match, gmatch and gsub give for `count` random patterns and texts, as one text. LuaJIT's
-- own functions and those of a sandbox must agree.
local items = {"a", "b", "%a", "%d", "%s", "%w", "%A", "%W", ".", "[ab]", "[^a]", "[a-c]", "[%d_]", "[]]", "[^]]", "[a-]", "(a)", "()", "(",
  "%)", ")", "%1", "%b()", "%bab", "%f[%w]", "%f[a]", "$", "^", "%", "*", "+", "-", "?", "[", "]", "%z", "%g", "%p", "%x", "%u", "%l", "%c",
  "(.-)", "(%w+)", "(a*)", "%2", "[%w-]", "[^%s]"}
local characters = {"a", "b", "c", "(", ")", " ", "1", "_", "A", "\0", "-", "]", "%"}
local replacements = {"x", "%0%0", "%1", "<%2>", "%%", "%x", "%9", function(a, b) return b or a end, {a = "Z", b = false}, function() end,
  function() return {} end, 7}

local state
local function random(n)
  state = (state * 16807) % 2147483647
  return state % n + 1
end
local function pick(list) return list[random(#list)] end

local function text(good, ...)
  local texts = {tostring(good)}
  for i = 1, select("#", ...) do texts[#texts + 1] = tostring((select(i, ...))) end
  if not good then texts[2] = texts[2]:match "^[^:]*:%d+: (.*)$" or texts[2] end
  return table.concat(texts, "|")
end

local function all_matches(subject, pattern)
  local texts = {}
  for a, b, c in string.gmatch(subject, pattern) do
    texts[#texts + 1] = tostring(a) .. tostring(b) .. tostring(c)
    if #texts > 100 then break end
  end
  return table.concat(texts, ";")
end

function transcript(seed, count)
  state = seed
  local lines = {}
  for _ = 1, count do
    local pattern, subject = "", ""
    for _ = 1, random(5) do pattern = pattern .. pick(items) end
    for _ = 1, random(13) do subject = subject .. pick(characters) end
    local first, most = random(31) - 16, random(4) - 1
    lines[#lines + 1] = ("%q %q\n%s\n%s\n%s\n%s\n%s"):format(subject, pattern, text(pcall(string.find, subject, pattern, first)),
      text(pcall(string.find, subject, pattern, first, true)), text(pcall(string.match, subject, pattern, first)),
      text(pcall(all_matches, subject, pattern)),
      text(pcall(string.gsub, subject, pattern, pick(replacements), most > 0 and most or nil)))
  end
  for _, call in ipairs {
    function() return string.find() end, function() return string.find("a") end, function() return string.gsub("a", "b") end,
    function() return string.gsub("a", "b", true) end, function() return string.match({}, "a") end, function() return ("x"):gmatch() end,
    function() return string.find(12345, 34) end, function() return string.gsub(121, 2, 3) end, function() return ("a"):find("", 10) end,
    function() return ("a"):find("a", "x") end, function() return (("x"):rep(300)):match(("(x)"):rep(40)) end,
    function() return (("x"):rep(300)):match(("x?"):rep(300)) end,
  } do
    lines[#lines + 1] = text(pcall(call)):gsub(", got [^)]+%)$", ")")
  end
  return table.concat(lines, "\n")
end
