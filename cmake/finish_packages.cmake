# CPack runs this between the installation into its folders and the making of packages.

# Debian's LuaJIT looks for modules in the folder of the machine's architecture, so libgpulua0 has the link there.
execute_process(COMMAND dpkg-architecture -qDEB_HOST_MULTIARCH OUTPUT_VARIABLE architecture
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(lib ${CPACK_TEMPORARY_DIRECTORY}/libgpulua0${CPACK_PACKAGING_INSTALL_PREFIX}/lib)
if(EXISTS ${lib}/lua/5.1/gpu.so AND NOT EXISTS ${lib}/${architecture}/libgpulua.so.0)
  file(MAKE_DIRECTORY ${lib}/${architecture}/lua/5.1)
  file(CREATE_LINK ../../../libgpulua.so.0 ${lib}/${architecture}/lua/5.1/gpu.so SYMBOLIC)
  file(REMOVE_RECURSE ${lib}/lua)
endif()

file(GLOB manuals ${CPACK_TEMPORARY_DIRECTORY}/*${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/man1/*.1)
foreach(manual IN LISTS manuals)
  execute_process(COMMAND gzip -9nf ${manual} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Every package has its licence and its changes.
file(GLOB packages ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(package IN LISTS packages)
  get_filename_component(name ${package} NAME)
  set(folder ${package}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${name})
  file(MAKE_DIRECTORY ${folder})
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${folder}/copyright)
  file(COPY_FILE ${CPACK_GPULUA_CHANGELOG} ${folder}/changelog)
  execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  # Those of the sources are as their umask was.
  file(CHMOD ${folder}/copyright ${folder}/changelog.gz PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
