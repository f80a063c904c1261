# The ranges of a script reach a tool that NVTX loads, without a GPU too. $2: the tool, nvtx_tool.cpp.
source "$(dirname "$0")/check.sh"
export NVTX_INJECTION64_PATH=$2
newline=$'\n'

expected='a {
  b {
  }
  failing {
    inside {
    }
  }
  left open {
  }
}'
check 'ranges, from before the first device on' 0 "1${newline}false" "$expected" -e '
  gpu.range_push "a"
  gpu.annotate("b", function() print(gpu.ones(1)[1]) end)
  print((pcall(gpu.annotate, "failing", function() gpu.range_push "inside" error "oops" end)))
  gpu.range_push "left open"'
check 'no ranges' 0 '1' '' -e 'print(gpu.ones(1)[1])'
finish
