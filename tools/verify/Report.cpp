//===- Report.cpp - the two printed forms of a report -----------------------===//
//
// Owns: the table for people and the JSON of a verification.
//
//===------------------------------------------------------------------------===//
#include "tools/support/Table.h"
#include "tools/verify/Verify.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace verify {

namespace {

using support::Table;

/// Terms that every variant of a family has alike.
std::vector<nvfp4rt::Term> sharedTerms(const Report &report, std::string_view family) {
  std::vector<nvfp4rt::Term> shared;
  bool first = true;
  for (const VariantReport &variant : report.variants) {
    if (variant.family != family)
      continue;
    if (first)
      shared = variant.guard.terms;
    first = false;
    std::erase_if(shared, [&](const nvfp4rt::Term &term) {
      const nvfp4rt::Term *other = variant.guard.find(term.field);
      return !other || *other != term;
    });
  }
  return shared;
}

/// What the names of a family's variants begin with alike, whole parts only.
std::string sharedPrefix(const Report &report, std::string_view family) {
  const std::string *first = nullptr;
  size_t length = 0;
  for (const VariantReport &variant : report.variants) {
    if (variant.family != family)
      continue;
    if (!first) {
      first = &variant.name;
      length = first->size();
    }
    const size_t most = std::min(length, variant.name.size());
    length = static_cast<size_t>(std::mismatch(first->begin(),
                                               first->begin() + static_cast<ptrdiff_t>(most),
                                               variant.name.begin())
                                     .first -
                                 first->begin());
  }
  const size_t part = first->rfind("__", length - std::min<size_t>(length, 2));
  return part == std::string::npos ? std::string() : first->substr(0, part + 2);
}

std::string termsText(const std::vector<nvfp4rt::Term> &terms) {
  return nvfp4rt::Guard{terms}.text();
}

/// JSON has no infinity; a NaN scale makes one.
nlohmann::json errorJson(double error) {
  return std::isfinite(error) ? nlohmann::json(error) : nlohmann::json("infinity");
}

std::vector<std::string_view> familiesOf(const Report &report) {
  std::vector<std::string_view> families;
  for (const VariantReport &variant : report.variants)
    if (std::find(families.begin(), families.end(), variant.family) == families.end())
      families.push_back(variant.family);
  return families;
}

} // namespace

std::string reportTable(const Report &report) {
  std::string text =
      fmt::format("bundle {}\nspec   {}, build {}\nrun on {}, seed {}\n", report.bundle,
                  report.specName, report.buildId, report.device, report.seed);
  if (!report.checks.empty())
    text += fmt::format("checks {}, orders a launch {}\n", report.checks, report.orders);
  text += "\n";
  for (std::string_view family : familiesOf(report)) {
    const std::vector<nvfp4rt::Term> shared = sharedTerms(report, family);
    const std::string prefix = sharedPrefix(report, family);
    text += fmt::format("{}: every guard has {}\n", family, termsText(shared));
    if (!prefix.empty())
      text += fmt::format("names begin with {}\n", prefix);
    text += "\n";
    Table table({"variant", "guard", "VGPR", "SGPR", "LDS", "code", "values", "wrong bytes",
                 "worst error", "result"},
                {0, 1, 9});
    for (const VariantReport &variant : report.variants) {
      if (variant.family != family)
        continue;
      std::vector<nvfp4rt::Term> own = variant.guard.terms;
      std::erase_if(own, [&](const nvfp4rt::Term &term) {
        return std::find(shared.begin(), shared.end(), term) != shared.end();
      });
      const nvfp4rt::Resources &used = variant.resources;
      table.add({variant.name.substr(prefix.size()), termsText(own), fmt::to_string(used.vgprs),
                 fmt::to_string(used.sgprs), fmt::to_string(used.ldsBytes),
                 fmt::to_string(used.codeBytes), fmt::to_string(variant.values),
                 fmt::to_string(variant.mismatchingBytes), fmt::format("{:g}", variant.worstError),
                 !variant.passed()         ? "FAIL"
                 : variant.skipped.empty() ? "pass"
                                           : "pass, some skipped"});
    }
    text += table.text() + "\n";
  }
  text += "values: compared with the oracle; worst error: share of the bound, 0 or inf where the "
          "rule is exact; LDS and code in bytes\n";
  for (const KernelReport &kernel : report.kernels) {
    std::vector<std::string> parts;
    if (!kernel.pinnedSets.empty()) {
      uint64_t values = 0;
      for (const KernelReport::Set &set : kernel.pinnedSets)
        values += set.values;
      parts.push_back(fmt::format("{} pinned values in {} sets", values, kernel.pinnedSets.size()));
    }
    if (kernel.usesPools)
      parts.push_back(kernel.poolPages == 0
                          ? "no pool past 2^32 bytes"
                          : fmt::format("addresses in pools of {} pages, {} bytes",
                                        kernel.poolPages, kernel.poolBytes));
    if (!parts.empty())
      text += fmt::format("kernel {}, in launches of {}: {}\n", kernel.symbol, kernel.variant,
                          fmt::join(parts, "; "));
  }
  size_t failed = 0;
  uint64_t bytes = 0, launches = 0;
  for (const VariantReport &variant : report.variants) {
    for (const std::string &reason : variant.skipped)
      text += fmt::format("skipped in {}: {}\n", variant.name, reason);
    if (const auto &fault = variant.firstFault; fault.has_value()) {
      ++failed;
      text += fmt::format("FAIL {}: {}\n", variant.name, *fault);
    }
    bytes += variant.bytesCompared;
    launches += variant.launches;
  }
  text += fmt::format("{} variants, {} launches, {} bytes compared, {} failed, {:.1f} s\n",
                      report.variants.size(), launches, bytes, failed, report.seconds);
  return text;
}

nlohmann::json reportJson(const Report &report) {
  nlohmann::json kernels = nlohmann::json::array(), variants = nlohmann::json::array();
  for (const KernelReport &kernel : report.kernels) {
    nlohmann::json sets = nlohmann::json::array();
    for (const KernelReport::Set &set : kernel.pinnedSets)
      sets.push_back({{"name", set.name}, {"values", set.values}});
    kernels.push_back({{"symbol", kernel.symbol},
                       {"variant", kernel.variant},
                       {"pinned_sets", sets},
                       {"uses_pools", kernel.usesPools},
                       {"pool_pages", kernel.poolPages},
                       {"pool_bytes", kernel.poolBytes}});
  }
  for (const VariantReport &variant : report.variants) {
    const nvfp4rt::Resources &used = variant.resources;
    variants.push_back({{"name", variant.name},
                        {"family", variant.family},
                        {"symbol", variant.symbol},
                        {"guard", variant.guard.text()},
                        {"vgprs", used.vgprs},
                        {"sgprs", used.sgprs},
                        {"lds_bytes", used.ldsBytes},
                        {"code_bytes", used.codeBytes},
                        {"launches", variant.launches},
                        {"values", variant.values},
                        {"pinned_values", variant.pinnedValues},
                        {"bytes_compared", variant.bytesCompared},
                        {"mismatching_bytes", variant.mismatchingBytes},
                        {"worst_error", errorJson(variant.worstError)},
                        {"passed", variant.passed()},
                        {"first_fault", variant.firstFault ? nlohmann::json(*variant.firstFault)
                                                           : nlohmann::json()},
                        {"skipped", variant.skipped},
                        {"seconds", variant.seconds}});
  }
  return {{"bundle", report.bundle},   {"build_id", report.buildId}, {"spec", report.specName},
          {"arch", report.arch},       {"device", report.device},    {"seed", report.seed},
          {"checks", report.checks},   {"orders", report.orders},    {"passed", report.passed()},
          {"seconds", report.seconds}, {"kernels", kernels},         {"variants", variants}};
}

} // namespace verify
