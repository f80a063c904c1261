#pragma once

#include "include/gpulua/gpulua.h"
#include "src/base/config.h"
#include "src/runtime/script_rights.h"

namespace gpulua::embed {

/// The options as this version of the library knows them: fields that an older caller's struct lacks are 0. Throws
/// Error for what makes no sense. Null: the defaults.
gpulua_options read_options(const gpulua_options* given);

/// What the scripts of the state may do.
void set_rights(const gpulua_options& options, ScriptRights& rights);

/// Whether options are set that a context takes from its beginning on.
bool configures_context(const gpulua_options& options);
/// The environment's configuration with the options put over it.
Config configure(const gpulua_options& options);

}  // namespace gpulua::embed
