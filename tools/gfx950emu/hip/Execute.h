//===- Execute.h - running stream work --------------------------------------===//
//
// Owns the order in which operations of streams run, their validation against the
// allocations, and the mapping from emulator faults to HIP error codes.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_EXECUTE_H
#define GFX950EMU_HIP_EXECUTE_H

#include "tools/gfx950emu/hip/Runtime.h"

#include "llvm/ADT/ArrayRef.h"

namespace gfx950emu::hip {

/// hipErrorInvalidValue when `operation` reaches outside of an allocation or fills memory that is
/// none, hipErrorInvalidHandle when its module is unloaded. Needs the mutex held; the answer lasts
/// while the caller also holds the gate.
hipError_t validate(const Runtime &runtime, const Operation &operation);

/// Run the operations one after another as work of `stream`, to the first that fails. Takes the
/// locks, so none may be held. A fault of a kernel goes to stderr, to gfx950emu_last_fault() and
/// to the stream's next synchronization.
hipError_t execute(Runtime &runtime, Stream &stream, llvm::ArrayRef<const Operation *> operations);

/// Validate the operation, then record it if the stream captures or else run it. `lock` holds the
/// mutex and is released before anything runs.
hipError_t submit(Runtime &runtime, Stream &stream, Operation operation,
                  std::unique_lock<std::mutex> lock);

/// Wait until no operation of `stream` runs (the null stream: of any blocking stream of its
/// device), then return and clear its pending fault. Takes the locks.
hipError_t synchronize(Runtime &runtime, Stream &stream);

/// Keep the text for gfx950emu_last_fault() and return the fault's HIP error code.
hipError_t reportFault(llvm::Error error);

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_EXECUTE_H
