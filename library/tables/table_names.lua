-- What other libraries' names of a table's methods and properties are called here.
local matrix = "t:matrix(names), a matrix of columns"
local meant = {
  to_numpy = matrix, to_table = matrix, to_dict = "t:values(name), a list of a column's values", cov = "gpu.cov(t:matrix(names).T)",
  filter = "t:where(name, value) or t:take(mask)", columns = "t.names", keys = "t.names", shape = "t.rows and #t.names", size = "t.rows",
  len = "t.rows", sort = 't:sort_by("name")', sort_values = 't:sort_by("name")', order_by = 't:sort_by("name")',
  groupby = 't:group_by("name")', drop = "t:select(names) of the others",
  tail = "t:take(gpu.range(t.rows - 4, t.rows))", rename = "t.new = t.old, and t:select(names)", value_counts = 't:group_by("name"):count()',
  unique = 't:texts("name") or t.name:unique()', to_csv = 'gpu.save("name.csv", t)', save = 'gpu.save("name.csv", t)',
  sum = "t.name:sum(), or t:group_by(...):sum()", mean = "t.name:mean(), or t:group_by(...):mean()",
  merge = "t:join(u, names)", merge_asof = "t:join_asof(u, name)", append = "gpu.concat{t, u}",
  pivot_table = "t:pivot(rows, column, values)", rolling = "t.name:rolling(n)", shift = "t.name:shift(n)", ffill = 't:fillna "forward"',
  bfill = 't:fillna "backward"', pct_change = "t.name:pct_change()", diff = "t.name - t.name:shift()",
  resample = 't.month = t.day:floor "month", and t:group_by "month"', agg = 't:group_by(names):aggregate{name = "mean"}',
  assign = "t.name = x", apply = "gpu.vectorize(f)(t.name)", map = "gpu.vectorize(f)(t.name)",
  drop_duplicates = "t:group_by(names):first()", nlargest = 't:sort_by("name", {descending = true}):head(n)', nsmallest = 't:sort_by("name"):head(n)',
  set_index = "t:where(name, value), which selects rows by any column", iterrows = "local x = t:values(name) of each column, and for i = 1, t.rows",
  isna = "t.name:isnan(); t:dropna() leaves rows out", plot = "gpu.plot.line(t.x, t.y)", boxplot = "gpu.plot.boxplot(t.name)",
  hist = "gpu.plot.histogram(t.name)", to_frame = "t itself: a column is t.name", melt = "gpu.concat{t, u} of a table for each column",
  ewm = "t.name:ewm {span = n}", rank = "gpu.stats.rankdata(t.name)", corr = "gpu.corrcoef(t:matrix(names).T)", cumsum = "t.name:cumsum()",
}
local aggregation = 't:group_by(names):aggregate{name = "mean"}, or t.name:sum(), t.name:max() and so on of all rows'
for _, name in ipairs {"aggregate", "summarize", "summarise", "std", "min", "max", "count", "quantile", "crosstab"} do meant[name] = aggregation end
for _, name in ipairs {"mutate", "with_column", "with_columns", "add_column", "transform", "set"} do meant[name] = "t.name = x" end
for _, name in ipairs {"between_time", "time_range", "between"} do
  meant[name] = "t:take(t.date:ge(first):logical_and(t.date:le(last)))"
end
for _, name in ipairs {"to_array", "to_matrix", "array", "numpy", "T", "transpose"} do meant[name] = matrix end
for _, name in ipairs {"ipairs", "itertuples", "each", "foreach", "rows_iter", "items"} do meant[name] = meant.iterrows end
for _, name in ipairs {"line", "scatter", "bar"} do meant[name] = "gpu.plot.line(t.x, t.y), gpu.plot.points or gpu.plot.bars" end
for _, name in ipairs {"print", "show", "display"} do meant[name] = "print(t)" end
for theirs, ours in pairs {
  order = 't:sort_by("name")', length = "#t", nrows = "#t", ncols = "#t.names", dtypes = "print(t), or t.name.dtype", schema = "print(t), or t.name.dtype",
  info = "print(t), or t:describe()", summary = "t:describe()", row = "t:take({i}), or t.name[i]", get = "t.name, or t:column(name)",
  get_column = "t:column(name)", drop_column = "t:select(names) of the others", write = 'gpu.save("name.csv", t)', export = 'gpu.save("name.csv", t)',
  to_list = "t:values(name), a list of a column's values", asof = "t:join_asof(u, name)", union = "gpu.concat{t, u}", intersect = 't:join(u, names, "semi")',
  duplicated = "t:group_by(names):count()", replace = "t.name = gpu.where(t.name:eq(a), b, t.name)", index = "t:where(name, value), which selects rows by any column",
  reset_index = "t itself: rows have no index", sort_index = 't:sort_by("name")', at = "t.name[i]", ix = "t.name[i]", has = "a loop over t.names",
  has_column = "a loop over t.names", contains = "t.name:eq(value):any():item()", limit = "t:head(n)", top = 't:sort_by("name", {descending = true}):head(n)',
  first = "t:head(1), or t:group_by(names):first()", last = "t:take({t.rows}), or t:group_by(names):last()", split = "t:where(name, value) of each value",
  partition = "t:where(name, value) of each value", cut = "gpu.digitize(t.name, edges)", bin = "gpu.digitize(t.name, edges)",
  qcut = "gpu.digitize(t.name, gpu.quantile(t.name, {0.25, 0.5, 0.75}))", histogram = "gpu.histogram(t.name, bins)", stack = matrix,
  unstack = "t:pivot(rows, column, values)", weighted_mean = "gpu.average(t.name, t.weight)", vwap = "gpu.average(t.price, t.volume)",
  ohlc = 't:group_by(name):aggregate{price = {"first", "max", "min", "last"}}', date = 't.name = gpu.dates(t.name)',
} do
  meant[theirs] = ours
end
for theirs, ours in pairs {concat = "append", query = "filter", loc = "filter", iloc = "take", sample = "take", slice = "take", isnull = "isna",
  distinct = "unique", nunique = "unique"} do
  meant[theirs] = meant[ours] or "t:take(rows)"
end

return meant
