//===- Hazards.h - pairs that are too close, on any path --------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_HAZARDS_H
#define NVFP4GEN_COMPILER_LINT_HAZARDS_H

#include "compiler/lint/Flow.h"
#include "compiler/lint/HazardRules.h"

#include <vector>

namespace nvfp4gen::lint {

/// Instructions met on all paths of a kernel; real ones are below a hundredth of it.
inline constexpr uint64_t kMaxVisits = uint64_t(1) << 26;

struct Hazard {
  const Rule *rule = nullptr;
  uint32_t first = 0, second = 0; ///< indices into Flow::code
  unsigned needed = 0, found = 0; ///< wait states; found on the shortest path between the two
};

/// For every instruction and rule the pair that lacks most wait states, by pc. From each
/// instruction all paths are followed backwards, across branches and around loops, as far as any
/// rule reaches; an instruction met again with nothing new ends a path. An error when the paths are
/// too many, as only files made for it have them.
llvm::Expected<std::vector<Hazard>> findHazards(const Flow &flow);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_HAZARDS_H
