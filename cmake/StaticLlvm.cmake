# link_static_llvm(<target>): links clang, LLVM and lld out of their archives instead of their shared libraries. The loader
# then has nothing to look up in 200 MB of symbols, which takes as long as to compile a small kernel, and no other LLVM in the
# process can be mistaken for this one.
function(link_static_llvm target)
  # lld names all of LLVM's targets, and would bring their code. Only the host's is wanted.
  set(text "// Generated: LLVM's targets that gpulua leaves out.\nextern \"C\" {\n")
  foreach(architecture IN LISTS LLVM_TARGETS_TO_BUILD)
    if(architecture STREQUAL LLVM_NATIVE_ARCH)
      continue()
    endif()
    foreach(part IN ITEMS Target TargetInfo TargetMC TargetMCA AsmPrinter AsmParser Disassembler)
      string(APPEND text "void LLVMInitialize${architecture}${part}() {}\n")
    endforeach()
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/other_targets.cpp)
  # lld's link-time optimisation, which is not used, names Polly.
  string(APPEND text "}\nvoid getPollyPluginInfo() { __builtin_trap(); }\n")
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${file})
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-Wno-missing-declarations" SKIP_UNITY_BUILD_INCLUSION ON)

  file(GLOB archives ${LLVM_LIBRARY_DIRS}/libclang[A-Z]*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${LLD_ELF} ${LLD_COMMON} ${archives} -Wl,--end-group z zstd)
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES WITHOUT_SHARED_LLVM ON)
  # It takes a second; others take ten.
  find_program(LLD_PROGRAM NAMES ld.lld)
  if(LLD_PROGRAM)
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
endfunction()
