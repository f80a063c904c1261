-- Tables in the Arrow C data interface.
-- In sandboxes: none
local gpu, _, core = ...
core.load "table.lua"

--- gpu.from_arrow(schema, array [, {device}])
function gpu.from_arrow(schema, array, options)
  options = core.check_fields("from_arrow", options)
  return core.table_of(core.read_arrow(schema, array, {device = options.device}))
end

--- gpu.to_arrow(t, schema, array)
function gpu.to_arrow(t, schema, array)
  core.write_arrow(schema, array, core.columns_of("to_arrow", t))
end
