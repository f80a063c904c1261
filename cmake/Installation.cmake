# What `cmake --install` puts where. Every path inside is relative, so an installation can move as a whole. Components are the
# Debian packages (Packages.cmake); `rock` is LuaRocks' layout, which is installed only by its name.
include(CMakePackageConfigHelpers)

install(TARGETS gpulua COMPONENT gpulua)

# The documents, and the programs that they speak of.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT gpulua)
install(DIRECTORY docs scripts examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT gpulua
        PATTERN mkdocs.yml EXCLUDE PATTERN numpy.txt EXCLUDE)

# The man page: what the reference has about the command.
set(manual ${PROJECT_BINARY_DIR}/gpulua.1)
add_custom_command(OUTPUT ${manual}
  COMMAND gpulua ${PROJECT_SOURCE_DIR}/tools/manual.lua ${PROJECT_SOURCE_DIR} ${manual}
  DEPENDS gpulua ${PROJECT_SOURCE_DIR}/tools/manual.lua ${PROJECT_SOURCE_DIR}/docs/reference.md
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual})
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT gpulua)

# The notebooks' kernel, and the file by which Jupyter finds it: in the prefixes /usr, /usr/local and ~/.local by itself.
if(TARGET gpulua-kernel)
  install(TARGETS gpulua-kernel COMPONENT gpulua-kernel)
  set(program gpulua-kernel)
  set(arguments "")
  configure_file(src/cli/kernel.json.in kernel.json @ONLY)
  set(kernels_folder ${CMAKE_INSTALL_DATADIR}/jupyter/kernels/gpulua)
  install(FILES ${PROJECT_BINARY_DIR}/kernel.json DESTINATION ${kernels_folder} COMPONENT gpulua-kernel)
  install(FILES src/cli/kernel-logo.svg RENAME logo-svg.svg DESTINATION ${kernels_folder} COMPONENT gpulua-kernel)
endif()

# What lua-language-server shows of the module in an editor: made by the command, which knows all signatures.
set(annotations ${PROJECT_BINARY_DIR}/gpu.d.lua)
add_custom_command(OUTPUT ${annotations}
  COMMAND gpulua ${PROJECT_SOURCE_DIR}/tools/annotations.lua ${PROJECT_SOURCE_DIR} ${annotations}
  DEPENDS gpulua ${PROJECT_SOURCE_DIR}/tools/annotations.lua ${PROJECT_SOURCE_DIR}/docs/reference.md
  VERBATIM)
add_custom_target(annotations ALL DEPENDS ${annotations})
set(addon_folder ${CMAKE_INSTALL_DATADIR}/lua-language-server/gpulua)
install(FILES ${annotations} DESTINATION ${addon_folder}/library COMPONENT gpulua)
install(FILES tools/lua-language-server.json RENAME config.json DESTINATION ${addon_folder} COMPONENT gpulua)

install(TARGETS libgpulua EXPORT gpulua
  LIBRARY COMPONENT libgpulua0 NAMELINK_COMPONENT libgpulua-dev)
# A Lua module is found under its own name: package.cpath has lib/lua/5.1/?.so.
install(CODE "
  set(folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lua/5.1\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${folder}\")
  file(CREATE_LINK ../../$<TARGET_SONAME_FILE_NAME:libgpulua> \"\$ENV{DESTDIR}\${folder}/gpu.so\" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${folder}/gpu.so\")" COMPONENT libgpulua0)

# A build without one of the plugins installs the rest.
set(component_gpulua-cuda gpulua-cuda)
set(component_gpulua-cpu gpulua-cpu)
set(component_gpulua-cpu-compiler gpulua-cpu)
foreach(plugin IN ITEMS gpulua-cuda gpulua-cpu gpulua-cpu-compiler)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpulua COMPONENT ${component_${plugin}})
    install(TARGETS ${plugin} LIBRARY DESTINATION lib/gpulua COMPONENT rock EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(PROGRAMS $<TARGET_FILE:libgpulua> DESTINATION lib RENAME gpu.so COMPONENT rock EXCLUDE_FROM_ALL)

install(DIRECTORY include/gpulua DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libgpulua-dev)
# The library asks nothing of the program that links it.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/gpulua)
install(EXPORT gpulua NAMESPACE gpulua:: FILE gpulua-targets.cmake DESTINATION ${package_folder} COMPONENT libgpulua-dev)
set(plugins_folder ${CMAKE_INSTALL_LIBDIR}/gpulua)
configure_package_config_file(cmake/gpulua-config.cmake.in ${PROJECT_BINARY_DIR}/gpulua-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS plugins_folder CMAKE_INSTALL_BINDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/gpulua-config.cmake DESTINATION ${package_folder} COMPONENT libgpulua-dev)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpulua-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gpulua-config-version.cmake DESTINATION ${package_folder} COMPONENT libgpulua-dev)

set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/gpulua.pc.in gpulua.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gpulua.pc DESTINATION ${pkgconfig_folder} COMPONENT libgpulua-dev)
