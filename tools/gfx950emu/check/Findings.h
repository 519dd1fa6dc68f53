//===- Findings.h - the list that all checks report to ---------------------------===//
//
// Owns de-duplication and the description of an instruction in a finding.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_FINDINGS_H
#define GFX950EMU_CHECK_FINDINGS_H

#include "tools/gfx950emu/check/Checker.h"
#include "tools/gfx950emu/core/Wave.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <mutex>
#include <tuple>

namespace gfx950emu::check {

/// Thread-safe.
class Findings {
public:
  explicit Findings(size_t limit) : limit(limit) {}

  /// `detail` is called only for the first occurrence of a place.
  void report(CheckKind kind, const WorkgroupInfo &group, const Wave &wave, const Inst *in,
              int lane, llvm::function_ref<std::string()> detail);
  std::vector<Finding> list() const;
  uint64_t dropped() const;
  void clear();

private:
  size_t limit;
  mutable std::mutex mutex;
  std::map<std::tuple<std::string, uint64_t, CheckKind>, Finding> places;
  uint64_t beyond = 0;
};

/// "`v_mov_b32 v1, v2` at kernel+0x10"
std::string describe(const DecodedProgram &program, const Inst *in);
std::string hexText(uint64_t value);

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_FINDINGS_H
