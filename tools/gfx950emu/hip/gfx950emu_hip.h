/*===- gfx950emu_hip.h - what libgfx950emu-hip.so adds to the HIP C API ------===
 *
 * The library implements a subset of the HIP C API on the gfx950 emulator; see
 * hip/hip_runtime_api.h for those functions. This header declares the only extra.
 *
 * Execution model: every operation runs to its end inside the call that enqueues it,
 * in stream order; "async" calls therefore return when the work is done. Captured
 * work runs only when its graph is launched. Operations of one stream never overlap;
 * the legacy null stream excludes every blocking stream of its device.
 *
 * Faults: a kernel that faults makes its launch fail, with hipErrorIllegalAddress for an
 * access outside of every allocation of the device (or of a peer whose access is enabled)
 * and hipErrorLaunchFailure for anything else; the full text goes to stderr. Unlike a real
 * device, the process and the device stay usable. As on a real device, who looks only at
 * synchronizations also learns of it: the first hipStreamSynchronize, hipStreamQuery,
 * hipEventSynchronize, hipEventQuery, hipDeviceSynchronize or synchronous copy or fill that
 * covers the stream returns the code once more.
 *
 * Semantics are those of the headers it is compiled against (ROCm 5.2 or later); clients
 * of newer headers also find hipGetDevicePropertiesR0600. Error codes are those of ROCm 6.
 *
 * Environment, read at the first call of the process; empty means unset. Numbers are plain
 * decimal. Anything else is reported on stderr and makes every call return
 * hipErrorInvalidValue:
 *   GFX950EMU_DEVICES           1..64 emulated devices, default 1
 *   GFX950EMU_THREADS           0..1024 CPU threads a dispatch, default 0 = one a core
 *   GFX950EMU_SEED              workgroup and wave order, default 0 = ascending
 *   GFX950EMU_ORDERS            1..64, default 1: run every launch in so many orders, from
 *                               GFX950EMU_SEED upwards and from the same memory; bytes that
 *                               differ go to stderr and fail the launch with
 *                               hipErrorLaunchFailure. Each order runs on one thread
 *   GFX950EMU_CHECK             1 or all: run every launch under the checker; 0, the default: do
 *                               not; or the checks to run, with commas between: bounds, alignment,
 *                               readonly, undefined, races, waits, hazards, barriers, progress.
 *                               Findings go to stderr and fail the launch with
 *                               hipErrorLaunchFailure. With "undefined", memory of hipMalloc is
 *                               undefined until a copy, a fill or a kernel wrote it
 *   GFX950EMU_MAX_INSTRUCTIONS  1.. wave instructions a dispatch, default 100000000000
 *
 *===------------------------------------------------------------------------===*/
#ifndef GFX950EMU_HIP_GFX950EMU_HIP_H
#define GFX950EMU_HIP_GFX950EMU_HIP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Why the calling thread's last kernel launch, graph launch or module load was refused by the
 * emulator: fault kind, kernel, workgroup, wave, lane, pc and disassembly where they apply.
 * Never null; "" when the last such call of this thread succeeded or none was made. The text
 * stays valid until the thread's next call of that kind, and is freed when the thread ends.
 * Thread-safe. */
__attribute__((visibility("default"))) const char *gfx950emu_last_fault(void);

#ifdef __cplusplus
}
#endif

#endif /* GFX950EMU_HIP_GFX950EMU_HIP_H */
