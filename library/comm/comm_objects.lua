-- gpu.comm: values of Lua between ranks.
-- In sandboxes: none
local gpu, _, core, import = ...
local comm, shared = gpu.comm, import "comm"
local ranks, numbers, check_rank, begin, texts_of_all = shared.ranks, shared.numbers, shared.check_rank, shared.begin, shared.texts_of_all

local function encode(op, value)
  local ok, text = pcall(require("string.buffer").encode, value)
  if not ok then core.raise(("[%s] expected tables of numbers, strings and booleans, got other values: %s"):format(op, text)) end
  return text
end

--- gpu.comm.all_gather_object(value)
function comm.all_gather_object(value)
  local op = "all_gather_object"
  begin(op, "values")
  local texts = core.comm_texts(ranks(), op, encode(op, value))
  for i, text in ipairs(texts) do texts[i] = require("string.buffer").decode(text) end
  return texts
end

--- gpu.comm.broadcast_object(value [, root])
function comm.broadcast_object(value, root)
  local op = "broadcast_object"
  root = check_rank(op, root or 0)
  begin(op, "rank " .. root)
  local text = (numbers()) == root and encode(op, value) or ""
  return require("string.buffer").decode(texts_of_all(op, root, text)[root + 1])
end
