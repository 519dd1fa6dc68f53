//===- Bench.h - count every family of a bundle on the emulator ---------------===//
//
// Owns: the entry point of `nvfp4gen bench`, what it reports, and the two printed
// forms of the report. Everything is emulated: counts are exact for the run that was
// emulated, cycles are the estimate of tools/gfx950emu/count/Cost.h, nothing is measured.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_BENCH_H
#define NVFP4GEN_TOOLS_BENCH_BENCH_H

#include "tools/bench/Device.h"
#include "tools/bench/Shapes.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a fused family is used instead of.
struct Replaced {
  std::string_view what;
  uint64_t bytes = 0; ///< that it reads and writes
  uint64_t launches = 0;
};

/// What a launch had to do, known without running it.
struct Demand {
  uint64_t units = 0; ///< of the family's unit
  /// Bytes that no implementation of the family's contract avoids.
  uint64_t floorRead = 0, floorWritten = 0;
  /// Wave instructions a unit that no implementation avoids, where one was counted by hand.
  std::optional<double> floorInstructions;
  /// Pages of the workgroup with the most less those of the one with the fewest; where the waves
  /// that read pages are known, of these.
  std::optional<uint64_t> imbalance;
  std::optional<Replaced> replaced = std::nullopt;
  /// Waves that read any page.
  std::optional<uint64_t> readingWaves = std::nullopt;
  uint64_t floorBytes() const { return floorRead + floorWritten; }
};

/// What a family's bench gives back for a shape.
struct Outcome {
  Demand demand;
  Measurement measurement;
};

/// A family on a shape.
struct Row {
  std::string_view family, unit, floor; ///< see FamilyBench
  Shape shape;
  std::optional<std::string> skipped; ///< why the bundle cannot serve the shape
  std::optional<std::string> failed;  ///< why there are no numbers
  Outcome outcome;                    ///< when neither
};

struct Report {
  std::string bundle, buildId, specName, arch;
  std::vector<nvfp4rt::Kernel> kernels; ///< those in rows
  std::vector<Row> rows;                ///< family by family, in registry order
  double seconds = 0;
  bool passed() const; ///< no row failed, and not all were skipped
};

struct Progress {
  std::string_view family, shape;
  size_t row = 0, rows = 0;               ///< from 0
  uint64_t workgroup = 0, workgroups = 0; ///< of the counted launch; 0 while it is prepared
};

struct BenchOptions {
  std::string bundlePath;
  std::string family; ///< only this family; empty = all
  std::string shape;  ///< only this shape; empty = all
  int64_t sample = 1; ///< prefill shapes: one row in so many, see sampled()
  std::function<void(const Progress &)> onProgress; ///< may be empty
};

/// An error means that nothing could be run: the bundle, or a family or shape that is not known.
Result<Report> benchBundle(const BenchOptions &options);

// Figures that are made of counts.

/// MFMA passes x 4 cycles / (those + 4 cycles for each other VALU instruction); 0 without any.
double mfmaShare(const gfx950emu::count::Counts &counts);
/// Cycles of bank conflicts in all cycles of the LDS, by the cost model's widths; 0 without any.
double ldsConflictShare(const gfx950emu::count::Counts &counts);
/// Waves a SIMD holds of the kernel, by registers and LDS.
double wavesPerSimd(const gfx950emu::count::Cost &cost);

std::string reportTable(const Report &report);
nlohmann::json reportJson(const Report &report);
/// What the figures mean, a line each; printed with every table and in the help.
std::string_view definitions();

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_BENCH_H
