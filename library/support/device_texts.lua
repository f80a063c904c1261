-- Functions for a device whose text the library writes around functions of the script.
local texts = {}

--- What a function gave, of an error where the library's text has used it as a number; nil for another error.
local function given(message)
  if message:find("returns nothing", 1, true) then return "nothing" end
  return message:match "got (a boolean)" or message:match 'got the string (".*")'
end

--- The message of an error in such a text: it names where the script's function is defined in place of the text. f: that function.
--- `uses`, where the text calls several, or what their results are for is to be said: the text as `text`, and for the name of each
--- function there {f =, what = "the event", advice = what its number is for, of_boolean = more advice for one that gives a boolean}.
function texts.message(message, f, uses)
  local line, use = tonumber(message:match "%[string 'local .-'%]:(%d+)"), nil
  if line and uses then
    local at = 0
    for text in (uses.text .. "\n"):gmatch "(.-)\n" do
      at = at + 1
      if at == line then
        for name, of in pairs(uses) do
          if type(of) == "table" and text:find("%f[%w_]" .. name .. "%f[^%w_]") then use = of end
        end
      end
    end
  end
  local info = debug.getinfo(use and use.f or f, "S")
  local place = info and ("%s:%d"):format(info.short_src, info.linedefined) or "the function"
  local gave = use and given(message)
  if gave then
    return ("%s%s: %s gives %s; %s%s"):format(message:match "^(.-)%[string 'local .-'%]:%d+: ", place, use.what, gave, use.advice,
      gave == "a boolean" and use.of_boolean or "")
  end
  return (message:gsub("%[string 'local .-'%]:%d+", (place:gsub("%%", "%%%%"))))
end

return texts
