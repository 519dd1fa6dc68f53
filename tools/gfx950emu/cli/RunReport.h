//===- RunReport.h - what gfx950emu run prints --------------------------------===//
//
// Owns the two forms, text and JSON, of what a run gave: sums, buffers, findings of the
// checks, differences between orders, counts and estimate.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CLI_RUNREPORT_H
#define GFX950EMU_CLI_RUNREPORT_H

#include "tools/gfx950emu/check/Checker.h"
#include "tools/gfx950emu/check/Orders.h"
#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"
#include "tools/gfx950emu/count/Counts.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gfx950emu::cli {

struct RunReport {
  RunReport(const RunCommand &command, const Dispatch &dispatch, const Arguments &arguments)
      : command(command), dispatch(dispatch), arguments(arguments) {}

  const RunCommand &command;
  const Dispatch &dispatch;
  const Arguments &arguments;

  std::optional<RunStats> stats;         ///< none when the kernel faulted
  std::string fault;                     ///< then
  const count::Counts *counts = nullptr; ///< null unless they were asked for

  /// A buffer whose file was written.
  struct Result {
    std::string file;
    uint64_t bytes = 0;
    /// Half-open; none when it was not looked for.
    std::optional<std::vector<std::pair<uint64_t, uint64_t>>> unwritten;
  };
  std::vector<Result> results;

  std::vector<check::Finding> findings;
  uint64_t droppedFindings = 0;     ///< places beyond the checker's limit
  uint64_t skippedRaceAccesses = 0; ///< beyond the checker's memory
  std::vector<uint64_t> seeds;      ///< whose orders were compared; empty for a plain run
  std::vector<check::OrderDifference> differences;

  /// exitFinding, exitOrder or exitDone.
  int exitCode() const;
  void printText() const;
  void printJson() const;
};

} // namespace gfx950emu::cli

#endif // GFX950EMU_CLI_RUNREPORT_H
