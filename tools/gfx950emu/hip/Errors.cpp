//===- Errors.cpp - error names, last error and last fault ------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/gfx950emu_hip.h"

using namespace gfx950emu::hip;

hipError_t hipGetLastError() { return std::exchange(thisThread().lastError, hipSuccess); }

hipError_t hipPeekAtLastError() { return thisThread().lastError; }

const char *hipGetErrorName(hipError_t code) {
  switch (rawValue(code)) {
#define HIP_ERROR(NAME, TEXT)                                                                      \
  case NAME:                                                                                       \
    return #NAME;
#include "tools/gfx950emu/hip/Errors.def"
  }
  return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t code) {
  switch (rawValue(code)) {
#define HIP_ERROR(NAME, TEXT)                                                                      \
  case NAME:                                                                                       \
    return TEXT;
#include "tools/gfx950emu/hip/Errors.def"
  }
  return "unknown error";
}

const char *gfx950emu_last_fault(void) { return thisThread().lastFault.c_str(); }
