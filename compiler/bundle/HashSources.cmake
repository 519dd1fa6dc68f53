# Writes TemplateSources.h: a digest of the sources that decide what code a template becomes.
# Called with ROOT and OUT.
file(GLOB_RECURSE sources RELATIVE ${ROOT}
  ${ROOT}/templates/*.cpp ${ROOT}/templates/*.h ${ROOT}/templates/*.def
  ${ROOT}/compiler/ir/*.cpp ${ROOT}/compiler/ir/*.h
  ${ROOT}/compiler/lowering/*.cpp ${ROOT}/compiler/lowering/*.h)
list(SORT sources)
set(text "")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND text "${digest} ${source}\n")
endforeach()
string(SHA256 digest "${text}")
file(WRITE ${OUT} "#pragma once\nnamespace nvfp4gen {\ninline constexpr const char kTemplateSourcesSha256[] = \"${digest}\";\n}\n")
