-- The module for scripts that are not trusted: each C++ function that reaches beyond arrays is replaced by one that raises an error.
-- The library's own files keep those that they use in `core`. Each Lua file says which of its functions such
-- scripts may call. Kernels from source, other devices and x.pointer are refused in C++, by the context's ScriptRights.
local gpu, methods, core = ...

local reach = {
  ["reads or writes files"] = {"save", "load"},
  ["gives the host's memory"] = {"host", "pinned", "copy_from", "copy_to", "In", "Out", "InOut", "view", "dlpack", "from_dlpack", "ipc_handle", "from_ipc"},
  ["runs machine code"] = {"load_module"},
  ["changes what the host program has set"] = {"set_memory_limit", "check"},
}

for what, names in pairs(reach) do
  local function refusal(name)
    return function()
      core.raise(("[%s] expected a function for scripts in a sandbox, got gpu.%s, which %s"):format(name, name, what))
    end
  end
  for _, name in ipairs(names) do
    gpu[name] = refusal(name)
    if methods[name] then methods[name] = gpu[name] end
    if name == "load" or name == "save" then gpu.image[name] = refusal("image." .. name) end
  end
end

core.restricted = true -- for the library's files
