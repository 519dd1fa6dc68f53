//===- Version.cpp - version and status names of the C interface ------------===//
//
// What the C interface says of itself; static storage only.
//
//===------------------------------------------------------------------------===//
#include "runtime/include/nvfp4rt.h"

#include <cstring>
#include <string_view>

#define NVFP4_TEXT(number) NVFP4_TEXT_OF(number)
#define NVFP4_TEXT_OF(number) #number
static_assert(std::string_view(NVFP4GEN_VERSION) ==
                  NVFP4_TEXT(NVFP4RT_VERSION_MAJOR) "." NVFP4_TEXT(
                      NVFP4RT_VERSION_MINOR) "." NVFP4_TEXT(NVFP4RT_VERSION_PATCH),
              "nvfp4rt_version.h has to say the version of the CMake project");
#undef NVFP4_TEXT_OF
#undef NVFP4_TEXT

extern "C" const char *nvfp4rt_version(void) { return NVFP4GEN_VERSION; }

extern "C" uint32_t nvfp4rt_version_number(void) { return NVFP4RT_VERSION_NUMBER; }

extern "C" const char *nvfp4rt_status_name(nvfp4rt_status status) {
  // A C caller may pass any int; in C++ an enum that holds one must not even be read.
  int value = 0;
  static_assert(sizeof(value) == sizeof(status));
  std::memcpy(&value, &status, sizeof(value));
  switch (value) {
#define NVFP4_STATUS(name)                                                                         \
  case name:                                                                                       \
    return #name;
    NVFP4_STATUS(NVFP4RT_OK)
    NVFP4_STATUS(NVFP4RT_ERROR_INVALID_ARGUMENT)
    NVFP4_STATUS(NVFP4RT_ERROR_IO)
    NVFP4_STATUS(NVFP4RT_ERROR_BAD_ELF)
    NVFP4_STATUS(NVFP4RT_ERROR_BAD_MANIFEST)
    NVFP4_STATUS(NVFP4RT_ERROR_VERSION)
    NVFP4_STATUS(NVFP4RT_ERROR_WRONG_ARCH)
    NVFP4_STATUS(NVFP4RT_ERROR_CHECKSUM)
    NVFP4_STATUS(NVFP4RT_ERROR_ARGS_LAYOUT)
    NVFP4_STATUS(NVFP4RT_ERROR_UNKNOWN_FIELD)
    NVFP4_STATUS(NVFP4RT_ERROR_NO_MATCH)
    NVFP4_STATUS(NVFP4RT_ERROR_NO_HIP_LIBRARY)
    NVFP4_STATUS(NVFP4RT_ERROR_NO_DEVICE)
    NVFP4_STATUS(NVFP4RT_ERROR_HIP)
    NVFP4_STATUS(NVFP4RT_ERROR_OUT_OF_MEMORY)
    NVFP4_STATUS(NVFP4RT_ERROR_INTERNAL)
    NVFP4_STATUS(NVFP4RT_ERROR_FROZEN)
    NVFP4_STATUS(NVFP4RT_ERROR_NOT_FROZEN)
    NVFP4_STATUS(NVFP4RT_ERROR_IN_USE)
    NVFP4_STATUS(NVFP4RT_ERROR_ENVIRONMENT)
#undef NVFP4_STATUS
  default:
    return "NVFP4RT_ERROR_UNKNOWN";
  }
}
