-- What other libraries' names of a table's methods and properties are called here.
local matrix = "gpu.stack({t.a, t.b}, 2), a matrix of columns"
local meant = {
  to_numpy = matrix, to_table = matrix, to_dict = "t:values(name), a list of a column's values", cov = "gpu.cov(gpu.stack{t.a, t.b})",
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
  aggregate = 't:group_by(names):aggregate{name = "mean"}, or t.name:mean() of all rows', matrix = matrix,
  assign = "t.name = x", apply = "gpu.vectorize(f)(t.name)", map = "gpu.vectorize(f)(t.name)",
  drop_duplicates = "t:group_by(names):first()", nlargest = 't:sort_by("name", {descending = true}):head(n)', nsmallest = 't:sort_by("name"):head(n)',
  set_index = "t:where(name, value), which selects rows by any column", iterrows = "local x = t:values(name) of each column, and for i = 1, t.rows",
  isna = "t.name:isnan(); t:dropna() leaves rows out", plot = "gpu.plot.line(t.x, t.y)", boxplot = "gpu.plot.boxplot(t.name)",
  hist = "gpu.plot.histogram(t.name)", to_frame = "t itself: a column is t.name", melt = "gpu.concat{t, u} of a table for each column",
  ewm = "t.name:ewm {span = n}", rank = "gpu.stats.rankdata(t.name)", corr = "gpu.corrcoef(gpu.stack{t.a, t.b})", cumsum = "t.name:cumsum()",
}
for theirs, ours in pairs {concat = "append", query = "filter", loc = "filter", iloc = "take", sample = "take", slice = "take", isnull = "isna",
  distinct = "unique", nunique = "unique"} do
  meant[theirs] = meant[ours] or "t:take(rows)"
end

return meant
