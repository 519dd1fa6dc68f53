//===- Verify.cpp - walk the variants of a bundle ---------------------------===//
//
// Owns: the family table, the choice of the variant that carries a kernel's
// once-only checks, and the walk.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Verify.h"
#include "tools/verify/FamilyChecks.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>

namespace verify {

#define NVFP4_FAMILY(name, CamelName) void verify##CamelName(Job &job);
#include "templates/Families.def"

std::span<const FamilyEntry> familyEntries() {
  static constexpr FamilyEntry kEntries[] = {
#define NVFP4_FAMILY(name, CamelName) {#name, &verify##CamelName},
#include "templates/Families.def"
  };
  return kEntries;
}

bool Report::passed() const {
  return std::all_of(variants.begin(), variants.end(),
                     [](const VariantReport &variant) { return variant.passed(); });
}

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const FamilyEntry *findFamily(std::string_view name) {
  auto entries = familyEntries();
  auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const auto &e) { return e.name == name; });
  return entry == entries.end() ? nullptr : &*entry;
}

/// Most rows that a launch of the variant may have.
int64_t capacity(const nvfp4rt::Variant &variant) {
  int64_t rows = 0;
  for (const nvfp4rt::Request &request : cornerRequests(variant.guard))
    rows = std::max(rows, mostRowsOf(request));
  return rows;
}

/// For each kernel symbol the variant with the largest launches.
std::map<std::string_view, const nvfp4rt::Variant *>
carriers(const std::vector<const nvfp4rt::Variant *> &variants) {
  std::map<std::string_view, const nvfp4rt::Variant *> result;
  for (const nvfp4rt::Variant *variant : variants) {
    auto &carrier = result[variant->symbol];
    if (!carrier || capacity(*variant) > capacity(*carrier))
      carrier = variant;
  }
  return result;
}

Result<std::vector<const nvfp4rt::Variant *>> selected(const nvfp4rt::Manifest &manifest,
                                                       const VerifyOptions &options) {
  std::vector<const nvfp4rt::Variant *> result;
  std::set<std::string_view> families;
  for (const nvfp4rt::Variant &variant : manifest.variants) {
    families.insert(variant.family);
    if (options.family.empty() || variant.family == options.family)
      result.push_back(&variant);
  }
  if (result.empty())
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("{}: expected variants of family '{}', found families: {}", options.bundlePath,
                    options.family.empty() ? "any" : options.family,
                    families.empty() ? "none" : fmt::to_string(fmt::join(families, ", "))));
  return result;
}

} // namespace

Result<Report> verifyManifest(const nvfp4rt::Manifest &manifest, Target &target,
                              const VerifyOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  auto variants = selected(manifest, options);
  if (!variants)
    return tl::unexpected(std::move(variants.error()));
  const auto carrier = carriers(*variants);

  Report report;
  report.bundle = options.bundlePath;
  report.buildId = manifest.buildId;
  report.specName = manifest.specName;
  report.arch = manifest.arch;
  report.device = target.description();
  report.seed = options.seed;
  report.checks = options.checks;
  report.orders = options.orders;
  for (size_t i = 0; i < variants->size(); ++i) {
    const nvfp4rt::Variant &variant = *(*variants)[i];
    const auto variantStart = std::chrono::steady_clock::now();
    VariantReport result;
    result.name = variant.name;
    result.family = variant.family;
    result.symbol = variant.symbol;
    result.guard = variant.guard;
    for (const nvfp4rt::Kernel &kernel : manifest.kernels)
      if (kernel.symbol == variant.symbol)
        result.resources = kernel.resources;

    KernelReport kernelReport;
    kernelReport.symbol = variant.symbol;
    kernelReport.variant = variant.name;
    const bool carries = carrier.at(variant.symbol) == &variant;
    Job job{target, manifest, variant, options.seed, result, carries ? &kernelReport : nullptr};
    if (const FamilyEntry *family = findFamily(variant.family))
      family->check(job);
    else
      job.fault(fmt::format("family '{}' has no check in this build", variant.family));
    if (carries)
      report.kernels.push_back(std::move(kernelReport));
    result.seconds = secondsSince(variantStart);
    if (options.onVariant)
      options.onVariant(result, i + 1, variants->size());
    report.variants.push_back(std::move(result));
  }
  report.seconds = secondsSince(start);
  return report;
}

} // namespace verify
