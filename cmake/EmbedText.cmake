# embed_text(<target> <function> [BYTECODE] FILES <file>...)
#
# Makes the contents of the files available to C++ in <target>: a generated header "<function>.h" declares
#   std::string_view <function>(std::string_view name);
# which gives the content of the file with that name (its last path component), and an empty view for another name. The
# assembler includes the files as they are, text or not. A zero follows each.
#
# With BYTECODE, each file "name.lua" is there as "name.luac", too: LuaJIT's bytecode, which loads without parsing.
function(embed_text target function)
  cmake_parse_arguments(ARG "BYTECODE" "" "FILES" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function})
  set(sources "")
  foreach(file IN LISTS ARG_FILES)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    list(APPEND sources ${file})
  endforeach()
  if(ARG_BYTECODE)
    foreach(source IN LISTS sources)
      if(NOT source MATCHES "/([^/]*)[.]lua$")
        continue()
      endif()
      set(bytecode ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_MATCH_1}.luac)
      add_custom_command(
        OUTPUT ${bytecode}
        COMMAND ${LUAJIT_PROGRAM} ${PROJECT_SOURCE_DIR}/cmake/bytecode.lua ${source} ${bytecode}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/bytecode.lua
        VERBATIM)
      list(APPEND sources ${bytecode})
    endforeach()
  endif()
  add_custom_command(
    OUTPUT ${out}.cpp
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${function} -DOUT=${out}.cpp "-DFILES=${sources}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    VERBATIM)
  file(CONFIGURE OUTPUT ${out}.h CONTENT
       "#pragma once\n#include <string_view>\nnamespace gpulua {\nstd::string_view @function@(std::string_view name);\n}\n" @ONLY)
  target_sources(${target} PRIVATE ${out}.cpp)
  # The compiler does not see the files: a change of one makes the generated source anew.
  set_source_files_properties(${out}.cpp PROPERTIES OBJECT_DEPENDS "${sources}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
