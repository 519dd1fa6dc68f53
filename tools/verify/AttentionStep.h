//===- AttentionStep.h - a whole step of the sparse path --------------------===//
//
// Owns: step_map, index_topk, its merge and attention of one bundle in turn, each on
// what the one before left on the device, against dense attention in float64.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ATTENTIONSTEP_H
#define NVFP4GEN_TOOLS_VERIFY_ATTENTIONSTEP_H

#include "tools/verify/AttentionRuns.h"

namespace verify::attention {

/// `own` is a variant of sparse_attention; its siblings are found in the bundle. What cannot run is
/// in job.report.skipped. False after a fault.
bool runStep(Job &job, const Launchee &own);

} // namespace verify::attention

#endif // NVFP4GEN_TOOLS_VERIFY_ATTENTIONSTEP_H
