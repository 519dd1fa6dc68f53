//===- Capture.h - what is refused or recorded while streams capture --------===//
//
// Owns the rules of stream capture. Which call is refused, with which code, and what
// that invalidates follows ROCm 6; where ROCm leaves a documented rule unchecked, the
// error that the HIP headers document for it is used.
//
// Everything here needs the runtime's mutex held.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_CAPTURE_H
#define GFX950EMU_HIP_CAPTURE_H

#include "tools/gfx950emu/hip/Runtime.h"

namespace gfx950emu::hip {

/// Allocation, free and module load: hipErrorStreamCaptureUnsupported, invalidating, while a
/// capture forbids them to this thread, as its own and the capture's mode decide.
hipError_t refuseUnsafeCall(Runtime &runtime);

/// Synchronous copies and fills: hipErrorStreamCaptureImplicit, invalidating, while anything
/// captures, whatever the mode.
hipError_t refuseSynchronousWork(Runtime &runtime);

/// hipDeviceSynchronize: hipErrorStreamCaptureUnsupported, invalidating, while anything captures.
hipError_t refuseDeviceSynchronize(Runtime &runtime);

/// Waiting for, or asking after, `stream`: hipErrorStreamCaptureUnsupported when it captures, or
/// when another capture forbids unsafe calls to this thread. The null stream is never refused.
hipError_t refuseStreamSynchronize(Runtime &runtime, const Stream &stream);

/// If `stream` captures, make `operation` a node (or say why not) and return the answer of the
/// API call; nullopt when it does not capture and the caller is to run the operation.
std::optional<hipError_t> captureOperation(Stream &stream, Operation &operation);

/// End the capture that `stream` takes part in, if any, dropping its nodes; for hipStreamDestroy.
void abandonCapture(Runtime &runtime, Stream &stream);

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_CAPTURE_H
