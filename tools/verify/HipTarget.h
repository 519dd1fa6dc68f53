//===- HipTarget.h - verified kernels on HIP --------------------------------===//
//
// Owns: the target that launches through the public C interface of the runtime and
// moves data through the same HIP library.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_HIPTARGET_H
#define NVFP4GEN_TOOLS_VERIFY_HIPTARGET_H

#include "tools/verify/Target.h"

#include <string>

namespace verify {

/// Open and load the bundle on a device. A `hipLibrary` that is not empty is put in the environment
/// of this process, where the runtime looks for it.
nvfp4rt::Result<std::unique_ptr<Target>> makeHipTarget(const std::string &bundlePath,
                                                       const std::string &hipLibrary, int device);

/// Whether the HIP library of that name is the emulator's; false also when it cannot be opened.
bool isEmulator(const std::string &hipLibrary);

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_HIPTARGET_H
