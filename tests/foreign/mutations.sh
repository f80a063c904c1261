#!/bin/bash
# tests/foreign/mutations.sh [count]
# Reads that many mutated CSV files, 10,000 without a count, with a reader under AddressSanitizer and UBSan.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -D_GLIBCXX_ASSERTIONS -I"$source" -o "$work/mutations" \
  "$source"/tests/foreign/mutations.cpp "$source"/src/files/csv_{column,hint,reader,value}.cpp "$source"/src/files/date_{text,writer}.cpp \
  "$source"/src/base/{dtype,error,near_name,utf8}.cpp
"$work/mutations" "${1:-10000}"
