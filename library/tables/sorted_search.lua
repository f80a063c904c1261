-- Searches in parts of a sorted array.
local _, _, core = ...

local operation

--- For each value, the number of elements of sorted[first + 1] to sorted[last] that are less than it, or with `inclusive` not greater,
--- plus `first`. `first` and `last` are arrays or numbers, counted from 0, of ascending parts.
return function(sorted, first, last, values, inclusive)
  operation = operation or core.elementwise {
    name = "search_part", inputs = "int64 first, int64 last, T value, bool inclusive, raw T sorted", outputs = "int64 y",
    body = [[
      long long low = first, high = last;
      while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (inclusive ? sorted[middle] <= value : sorted[middle] < value) low = middle + 1;
        else high = middle;
      }
      y = low;
    ]],
  }
  return (operation(first, last, values, inclusive or false, sorted))
end
