#!/bin/bash
# Golden data is there, and is what its generators would write: make.py recorded digests of the inputs and outputs of each.
cd "$(dirname "$0")" || exit 1
status=0
complain() { echo "$*; run tests/golden/make.py" >&2; status=1; }

for generator in arrays/*.py files/make.py curand/make.cpp; do
  [[ $generator =~ ^arrays/(cases|rows).py$ ]] || [ -e "${generator%.*}.sums" ] || complain "$generator: its data was never recorded"
done
while read -r data; do
  grep -q "  $data\$" ./*/*.sums || complain "$data: no generator wrote it"
done < <(find arrays files curand -name '*.lua' -o -name '*.np[yz]' -o -name '*.png')
sha256sum --check --strict --quiet ./*/*.sums || complain "golden data is missing or stale"
exit $status
