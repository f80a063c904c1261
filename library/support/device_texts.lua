-- Functions for a device whose text the library writes around a function of the script.
local texts = {}

--- The message of an error in such a text: it names where f, the script's function, is defined in place of the text.
function texts.message(message, f)
  local info = type(f) == "function" and debug.getinfo(f, "S")
  local place = info and ("%s:%d"):format(info.short_src, info.linedefined) or "the function"
  return (message:gsub("%[string 'local .-'%]:%d+", (place:gsub("%%", "%%%%"))))
end

return texts
