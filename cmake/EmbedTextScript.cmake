# Run by embed_text(): FUNCTION, OUT, FILES.
set(assembly "")
set(declarations "")
set(cases "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  set(symbol gpulua_${FUNCTION}_${index})
  # A zero after each text, and the alignment that LLVM's bitcode needs.
  string(APPEND assembly "  \".balign 16\\n${symbol}: .incbin \\\"${file}\\\"\\n${symbol}_end: .byte 0\\n\"\n")
  string(APPEND declarations "[[gnu::visibility(\"hidden\")]] extern const char ${symbol}[], ${symbol}_end[];\n")
  string(APPEND cases "  if (name == \"${name}\") return {${symbol}, ${symbol}_end};\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUT} "#include \"${FUNCTION}.h\"

__asm__(\".section .rodata\\n\"
${assembly}  \".previous\\n\");
extern \"C\" {
${declarations}}

namespace gpulua {

std::string_view ${FUNCTION}(std::string_view name) {
${cases}  return {};
}

}  // namespace gpulua
")
