# nvfp4gen_add_bundle: a bundle of kernels as a target of a user's build.
#
#   nvfp4gen_add_bundle(<target> SPEC <file> [OUTPUT <file>] [JOBS <n>] [EXCLUDE_FROM_ALL])
#
# Adds the target <target>, built by default unless EXCLUDE_FROM_ALL is given, which runs
# `nvfp4gen build <SPEC> -o <OUTPUT>` when the spec or the generator is newer than the bundle.
#   SPEC    a TOML spec, relative to the current source directory; it may be the output of another
#           custom command. Those that come with the generator are in ${nvfp4rt_SPECS_DIR}.
#   OUTPUT  the bundle, relative to the current binary directory; <target>.hsaco by default
#   JOBS    kernels that are built at once; one a core by default
# The bundle's path is the property NVFP4GEN_BUNDLE of the target, for example
#   install(FILES $<TARGET_PROPERTY:<target>,NVFP4GEN_BUNDLE> DESTINATION share/app)
include_guard(GLOBAL)

function(nvfp4gen_add_bundle TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCLUDE_FROM_ALL" "SPEC;OUTPUT;JOBS" "")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nvfp4gen_add_bundle(${TARGET}): expected SPEC, OUTPUT, JOBS or "
                        "EXCLUDE_FROM_ALL, found ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "nvfp4gen_add_bundle(${TARGET}): expected a value after "
                        "${ARG_KEYWORDS_MISSING_VALUES}, found none")
  endif()
  if(NOT ARG_SPEC)
    message(FATAL_ERROR "nvfp4gen_add_bundle(${TARGET}): expected SPEC <file>, found none")
  endif()
  if(DEFINED ARG_JOBS AND NOT ARG_JOBS MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "nvfp4gen_add_bundle(${TARGET}): JOBS: expected a positive number, found "
                        "${ARG_JOBS}")
  endif()
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${TARGET}.hsaco)
  endif()
  get_filename_component(spec "${ARG_SPEC}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(output "${ARG_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")

  set(jobs)
  if(ARG_JOBS)
    set(jobs --jobs ${ARG_JOBS})
  endif()
  add_custom_command(
    OUTPUT "${output}"
    COMMAND nvfp4rt::nvfp4gen build "${spec}" -o "${output}" ${jobs}
    DEPENDS "${spec}" nvfp4rt::nvfp4gen "$<TARGET_FILE:nvfp4rt::nvfp4gen>"
    COMMENT "Generating the kernels of ${ARG_SPEC}"
    VERBATIM)
  set(all ALL)
  if(ARG_EXCLUDE_FROM_ALL)
    set(all)
  endif()
  add_custom_target(${TARGET} ${all} DEPENDS "${output}")
  set_target_properties(${TARGET} PROPERTIES NVFP4GEN_BUNDLE "${output}")
endfunction()
