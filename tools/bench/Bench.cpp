//===- Bench.cpp - walk over families and shapes ------------------------------===//
//
// Owns: the family table, the choice of rows, the walk, and the figures that are made
// of counts.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Bench.h"
#include "tools/bench/FamilyBenches.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace bench {

#define NVFP4_FAMILY(name, CamelName) const FamilyBench &bench##CamelName();
#include "templates/Families.def"

std::span<const FamilyEntry> familyEntries() {
  static const FamilyEntry kEntries[] = {
#define NVFP4_FAMILY(name, CamelName) {#name, &bench##CamelName()},
#include "templates/Families.def"
  };
  return kEntries;
}

bool Report::passed() const {
  const bool failed =
      std::any_of(rows.begin(), rows.end(), [](const Row &row) { return row.failed.has_value(); });
  const bool ran =
      std::any_of(rows.begin(), rows.end(), [](const Row &row) { return !row.skipped; });
  return ran && !failed;
}

namespace {

namespace count = gfx950emu::count;

tl::unexpected<Error> unknown(const BenchOptions &options, std::string_view what,
                              std::string_view found, const std::vector<std::string_view> &known) {
  return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                       fmt::format("{}: {}: expected one of {}; found '{}'", options.bundlePath,
                                   what, fmt::join(known, ", "), found));
}

/// The rows to fill, with nothing but names yet.
Result<std::vector<Row>> rowsOf(const nvfp4rt::Manifest &manifest, const BenchOptions &options) {
  std::vector<std::string_view> families, shapes;
  std::vector<Row> rows;
  for (const FamilyEntry &entry : familyEntries()) {
    const bool inBundle =
        std::any_of(manifest.variants.begin(), manifest.variants.end(),
                    [&](const nvfp4rt::Variant &variant) { return variant.family == entry.name; });
    if (!inBundle)
      continue;
    families.push_back(entry.name);
    if (!options.family.empty() && options.family != entry.name)
      continue;
    for (const Shape &shape : entry.bench->shapes) {
      if (std::find(shapes.begin(), shapes.end(), shape.name) == shapes.end())
        shapes.push_back(shape.name);
      if (!options.shape.empty() && options.shape != shape.name)
        continue;
      Row row;
      row.family = entry.name;
      row.unit = entry.bench->unit;
      row.floor = entry.bench->floor;
      row.shape = sampled(shape, options.sample);
      rows.push_back(std::move(row));
    }
  }
  if (shapes.empty())
    return unknown(options, "family", options.family, families);
  if (rows.empty())
    return unknown(options, "shape", options.shape, shapes);
  return rows;
}

const FamilyBench &benchOf(std::string_view family) {
  auto entries = familyEntries();
  return *std::find_if(entries.begin(), entries.end(), [&](const FamilyEntry &entry) {
            return entry.name == family;
          })->bench;
}

} // namespace

Result<Report> benchBundle(const BenchOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.sample < 1)
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                         fmt::format("sample: expected at least 1, found {}", options.sample));
  auto bundle = nvfp4rt::Bundle::openFile(options.bundlePath);
  if (!bundle)
    return tl::unexpected(std::move(bundle.error()));
  const nvfp4rt::Manifest &manifest = bundle->manifest();
  auto rows = rowsOf(manifest, options);
  if (!rows)
    return tl::unexpected(std::move(rows.error()));
  auto device = Device::open(*bundle);
  if (!device)
    return tl::unexpected(std::move(device.error()));

  Report report{options.bundlePath,
                manifest.buildId,
                manifest.specName,
                manifest.arch,
                {},
                std::move(*rows),
                0};
  for (size_t i = 0; i < report.rows.size(); ++i) {
    Row &row = report.rows[i];
    Progress progress{row.family, row.shape.name, i, report.rows.size(), 0, 0};
    if (options.onProgress) {
      options.onProgress(progress);
      (*device)->onProgress([&](uint64_t done, uint64_t workgroups) {
        progress.workgroup = done;
        progress.workgroups = workgroups;
        options.onProgress(progress);
      });
    }
    auto outcome = benchOf(row.family).run(**device, row.shape);
    if (outcome)
      row.outcome = std::move(*outcome);
    else if (outcome.error().code == NVFP4RT_ERROR_NO_MATCH)
      row.skipped = std::move(outcome.error().message);
    else
      row.failed = std::move(outcome.error().message);
  }
  for (const nvfp4rt::Kernel &kernel : manifest.kernels)
    if (std::any_of(report.rows.begin(), report.rows.end(), [&](const Row &row) {
          return row.outcome.measurement.symbol == kernel.symbol;
        }))
      report.kernels.push_back(kernel);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

double mfmaShare(const count::Counts &counts) {
  // A pass takes four cycles, and so does the issue of another VALU instruction.
  const double passes = static_cast<double>(counts.total.mfmaPasses);
  double others = 0;
  for (count::InstClass kind :
       {count::InstClass::Valu, count::InstClass::QuarterRate, count::InstClass::Transcendental})
    others += static_cast<double>(counts.of(kind).instructions);
  return passes == 0 ? 0 : passes / (passes + others);
}

double ldsConflictShare(const count::Counts &counts) {
  // A turn over 64 banks is twice as wide as one over 32.
  const count::InstCounts &lds = counts.total;
  const double conflicts = static_cast<double>(lds.ldsConflicts32 + 2 * lds.ldsConflicts64);
  const double turns = static_cast<double>(lds.ldsPhases32 + 2 * lds.ldsPhases64);
  return conflicts == 0 ? 0 : conflicts / (turns + conflicts);
}

double wavesPerSimd(const count::Cost &cost) {
  const count::Occupancy &o = cost.occupancy;
  const double byGroups =
      static_cast<double>(o.groups) * o.wavesPerGroup / count::CostModel{}.simds;
  return std::min(static_cast<double>(o.wavesPerSimd), byGroups);
}

} // namespace bench
