# Writes SourceDigests.h: digests of the sources that decide what code a template becomes, and of
# the part of them that a kernel passes through after its template. Called with ROOT and OUT.
function(digest result)
  set(patterns)
  foreach(folder ${ARGN})
    list(APPEND patterns ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.def)
  endforeach()
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${patterns})
  list(SORT sources)
  set(text "")
  foreach(source ${sources})
    file(SHA256 ${ROOT}/${source} sha)
    string(APPEND text "${sha} ${source}\n")
  endforeach()
  string(SHA256 sha "${text}")
  set(${result} ${sha} PARENT_SCOPE)
endfunction()

# The lint is one of them: it inserts wait states.
digest(template_sources templates compiler/ir compiler/lowering compiler/lint)
digest(lowering_sources compiler/lowering compiler/lint)
file(WRITE ${OUT} "#pragma once
namespace nvfp4gen {
inline constexpr const char kTemplateSourcesSha256[] = \"${template_sources}\";
inline constexpr const char kLoweringSourcesSha256[] = \"${lowering_sources}\";
}
")
