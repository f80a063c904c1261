# Sourced by the scripts that run a staged build (tools/stage.sh) on a machine with a GPU.
stage=$(cd "${GPULUA_STAGE:-stage}" && pwd)
export LD_LIBRARY_PATH="$stage/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LUA_PATH="$stage/lua/?.lua;$stage/lua/?/init.lua;;"
export LUA_CPATH="$stage/lua/?.so;;"
export GPULUA_DEVICE="${GPULUA_DEVICE:-cuda:0}"
export PATH="$stage/bin:$PATH"
