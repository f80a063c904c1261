-- Tables in the Arrow C data interface.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local tables = import "table"
local columns_of, table_of = tables.columns_of, tables.table_of

--- gpu.from_arrow(schema, array [, {device}])
function gpu.from_arrow(schema, array, options)
  options = checks.fields("from_arrow", options)
  return table_of(core.read_arrow(schema, array, {device = options.device}))
end

--- gpu.to_arrow(t, schema, array)
function gpu.to_arrow(t, schema, array)
  core.write_arrow(schema, array, columns_of("to_arrow", t))
end
