# What `cmake --install` puts where: the libraries, headers, tools and specs, and what lets CMake,
# pkg-config and Python find them. Every path in it is relative, so a prefix can be moved.
#
# Components, for images that need only a part: runtime (the shared library: all that serving
# needs), python, development, generator, emulator.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(dir BINDIR LIBDIR INCLUDEDIR DATADIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${dir}: expected a path relative to the prefix, so that the "
                        "prefix can be moved, found ${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()

set(NVFP4RT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nvfp4rt)
set(NVFP4RT_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(NVFP4RT_SPECS_DIR ${CMAKE_INSTALL_DATADIR}/nvfp4gen/specs)
set(NVFP4RT_PACKAGE_BUILD ${PROJECT_BINARY_DIR}/package)

# relative_dir(OUT FROM TO): the path from one folder of the prefix to another.
function(relative_dir OUT FROM TO)
  file(RELATIVE_PATH path /prefix/${FROM} /prefix/${TO})
  string(REGEX REPLACE "/$" "" path "${path}")
  set(${OUT} ${path} PARENT_SCOPE)
endfunction()

# The libraries and what a compiler needs.
install(TARGETS nvfp4rt nvfp4rt_static EXPORT nvfp4rtTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT nvfp4rtTargets NAMESPACE nvfp4rt::
        DESTINATION ${NVFP4RT_CMAKE_DIR} COMPONENT development)

# The emulator.
install(TARGETS gfx950emu-hip gfx950emu-tool EXPORT nvfp4rtEmulatorTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emulator
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT emulator
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/tools/gfx950emu/hip/gfx950emu_hip.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT emulator)
install(EXPORT nvfp4rtEmulatorTargets NAMESPACE nvfp4rt::
        DESTINATION ${NVFP4RT_CMAKE_DIR} COMPONENT emulator)

# The generator.
if(NVFP4GEN_GENERATOR)
  add_executable(nvfp4rt::nvfp4gen ALIAS nvfp4gen) # as nvfp4genAddBundle.cmake calls it
  install(TARGETS nvfp4gen nvfp4gen_library EXPORT nvfp4rtGeneratorTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT generator
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT generator
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/compiler/include/nvfp4gen.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT generator)
  set(NVFP4GEN_DOCUMENTS_DIR ${PROJECT_BINARY_DIR}/tools/nvfp4gen) # target nvfp4gen_documents
  install(FILES ${NVFP4GEN_DOCUMENTS_DIR}/nvfp4gen.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT generator)
  install(FILES ${NVFP4GEN_DOCUMENTS_DIR}/nvfp4gen.bash RENAME nvfp4gen
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT generator)
  install(FILES ${NVFP4GEN_DOCUMENTS_DIR}/_nvfp4gen
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT generator)
  install(EXPORT nvfp4rtGeneratorTargets NAMESPACE nvfp4rt::
          DESTINATION ${NVFP4RT_CMAKE_DIR} COMPONENT generator)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/nvfp4genAddBundle.cmake
          DESTINATION ${NVFP4RT_CMAKE_DIR} COMPONENT generator)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/specs/ DESTINATION ${NVFP4RT_SPECS_DIR}
          COMPONENT generator FILES_MATCHING PATTERN "*.toml")
endif()

# All that is installed, without the tests.
add_custom_target(nvfp4rt_package
  DEPENDS nvfp4rt nvfp4rt_static gfx950emu-hip gfx950emu-tool $<TARGET_NAME_IF_EXISTS:nvfp4gen>
          $<TARGET_NAME_IF_EXISTS:nvfp4gen_library> $<TARGET_NAME_IF_EXISTS:nvfp4gen_documents>)

# Debian keeps LLVM's libraries outside of the loader's path; nothing else gets a run path.
foreach(target gfx950emu-hip gfx950emu-tool nvfp4gen nvfp4gen_library)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  endif()
endforeach()

# The Python package, where the interpreters of a virtual environment of this prefix look.
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
set(NVFP4RT_PYTHON_DIR lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages
    CACHE STRING "Where the Python package goes, relative to the prefix")
relative_dir(NVFP4RT_LIBDIR_FROM_PYTHON ${NVFP4RT_PYTHON_DIR}/nvfp4rt ${CMAKE_INSTALL_LIBDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/_installed.py.in ${NVFP4RT_PACKAGE_BUILD}/_installed.py
               @ONLY)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/python/nvfp4rt DESTINATION ${NVFP4RT_PYTHON_DIR}
        COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
        PATTERN "__pycache__" EXCLUDE)
install(FILES ${NVFP4RT_PACKAGE_BUILD}/_installed.py DESTINATION ${NVFP4RT_PYTHON_DIR}/nvfp4rt
        COMPONENT python)

# find_package(nvfp4rt). Below 1.0 a minor version may change the interface.
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/nvfp4rtConfig.cmake.in ${NVFP4RT_PACKAGE_BUILD}/nvfp4rtConfig.cmake
  INSTALL_DESTINATION ${NVFP4RT_CMAKE_DIR}
  PATH_VARS NVFP4RT_SPECS_DIR NVFP4RT_PYTHON_DIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${NVFP4RT_PACKAGE_BUILD}/nvfp4rtConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${NVFP4RT_PACKAGE_BUILD}/nvfp4rtConfig.cmake
              ${NVFP4RT_PACKAGE_BUILD}/nvfp4rtConfigVersion.cmake
        DESTINATION ${NVFP4RT_CMAKE_DIR} COMPONENT development)

# pkg-config. A static link needs the C++ library that the archive was compiled against, and libm.
relative_dir(NVFP4RT_PREFIX_FROM_PKGCONFIG ${NVFP4RT_PKGCONFIG_DIR} "")
set(NVFP4RT_PRIVATE_LIBS)
foreach(library stdc++ c++ m)
  if(library IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(APPEND NVFP4RT_PRIVATE_LIBS " -l${library}")
  endif()
endforeach()
foreach(library ${CMAKE_DL_LIBS})
  string(APPEND NVFP4RT_PRIVATE_LIBS " -l${library}")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/nvfp4rt.pc.in ${NVFP4RT_PACKAGE_BUILD}/nvfp4rt.pc @ONLY)
install(FILES ${NVFP4RT_PACKAGE_BUILD}/nvfp4rt.pc DESTINATION ${NVFP4RT_PKGCONFIG_DIR}
        COMPONENT development)
