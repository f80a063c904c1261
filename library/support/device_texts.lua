-- Functions for a device whose text the library writes around functions of the script.
local texts = {}

--- What a function gave, of an error where the library's text has used it as a number; nil for another error.
local function given(message)
  if message:find("returns nothing", 1, true) then return "nothing" end
  return message:match "got (a boolean)" or message:match 'got the string (".*")'
end

--- Which of the functions the text uses in the line; where it has one function alone, that one, as the line may use its result later.
local function use_in(uses, line)
  local at, count, only = 0, 0, nil
  for name, use in pairs(uses.functions) do
    count, only = count + 1, use
    use.pattern = "%f[%w_]" .. name .. "%f[^%w_]"
  end
  for text in (uses.text .. "\n"):gmatch "(.-)\n" do
    at = at + 1
    for _, use in pairs(at == line and uses.functions or {}) do
      if text:find(use.pattern) then return use end
    end
  end
  return count == 1 and only or nil
end

--- "script.lua:3", where the script's function f is defined; "the function" without one.
local function place_of(f)
  local info = type(f) == "function" and debug.getinfo(f, "S")
  return info and ("%s:%d"):format(info.short_src, info.linedefined) or "the function"
end

--- "script.lua:3: the event gives a boolean; ...": `gave` is what f gave, as a text; `what` and `advice` are those of `uses` below.
function texts.gives(f, what, gave, advice) return ("%s: %s gives %s; %s"):format(place_of(f), what, gave, advice) end

--- A message with its place once: that of a function on the line of its call is there already.
local function once(message) return (message:gsub("^(.-:%d+: )(%[[%w_.]+%] )%1", "%1%2")) end

--- A message, of a function that runs for each of many problems: about an array in the place of a number it says how the function gets an
--- element for each problem.
function texts.with_args(message)
  local about, name = message:match "^(.-; an index in brackets gives an element, ([%w_.]+)%[i%])"
  return about and ("%s, and an array with an element for each problem goes into args: function(..., q) ... end, {args = {%s}}"):format(about, name)
    or message
end

--- The message of an error in such a text: it names where the script's function f is defined in place of the text. `uses`, where what
--- functions give is to be said: {text = the text, functions = for the name of each in the text {f =, what = "the event", advice = what
--- its number is for, of_boolean = more advice for one that gives a boolean}}.
function texts.message(message, f, uses)
  local line = tonumber(message:match "%[string 'local .-'%]:(%d+)")
  local use = line and uses and use_in(uses, line)
  local gave = use and given(message)
  if gave then
    return once(message:match "^(.-)%[string 'local .-'%]:%d+: " ..
      texts.gives(use.f, use.what, gave, use.advice .. (gave == "a boolean" and use.of_boolean or "")))
  end
  local place = place_of(f)
  return once((message:gsub("%[string 'local .-'%]:%d+", (place:gsub("%%", "%%%%")))))
end

return texts
