#include "src/cli/edit_library.h"

#include "src/base/dynamic_library.h"

namespace gpulua {

EditLibrary::EditLibrary() {
  const OptionalLibrary library("repl", "the editing of lines needs libedit", {"libedit.so.2"},
                                "apt-get install libedit2");
#define GPULUA_EDIT_LOAD(symbol) library.find(symbol, #symbol);
  GPULUA_EDIT_SYMBOLS(GPULUA_EDIT_LOAD)
#undef GPULUA_EDIT_LOAD
}

}  // namespace gpulua
