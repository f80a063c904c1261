#!/bin/sh
# tools/rock.sh FOLDER: makes FOLDER/gpulua-VERSION-REVISION.src.rock of the last commit, a rockspec with the sources, which
# `luarocks install` builds where the packages of tools/install-dependencies.sh are.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
rockspec=$(ls ./*.rockspec)
rock=$(basename "$rockspec" .rockspec)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="${rock%-*}/" -o "$work/${rock%-*}.tar.gz" HEAD
cp "$rockspec" "$work"
rm -f "$folder/$rock.src.rock"
(cd "$work" && zip -q "$folder/$rock.src.rock" ./*)
echo "$folder/$rock.src.rock"
