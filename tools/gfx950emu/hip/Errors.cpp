//===- Errors.cpp - error names, last error and last fault ------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/gfx950emu_hip.h"

using namespace gfx950emu::hip;

namespace {

struct ErrorText {
  int code;
  const char *name, *text;
};

constexpr ErrorText errorTexts[] = {
#define HIP_ERROR(NAME, TEXT) {NAME, #NAME, TEXT},
#include "tools/gfx950emu/hip/Errors.def"
};

/// Codes that are none read like hipErrorUnknown.
const ErrorText &errorText(int code) {
  static constexpr ErrorText unknown{hipErrorUnknown, "hipErrorUnknown", "unknown error"};
  for (const ErrorText &known : errorTexts)
    if (known.code == code)
      return known;
  return unknown;
}

} // namespace

hipError_t hipGetLastError() { return std::exchange(thisThread().lastError, hipSuccess); }

hipError_t hipPeekAtLastError() { return thisThread().lastError; }

const char *hipGetErrorName(hipError_t code) { return errorText(rawValue(code)).name; }

const char *hipGetErrorString(hipError_t code) { return errorText(rawValue(code)).text; }

const char *gfx950emu_last_fault(void) { return thisThread().lastFault.c_str(); }
