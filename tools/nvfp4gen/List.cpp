//===- List.cpp - nvfp4gen list and nvfp4gen explain ------------------------===//

#include "runtime/plan/Select.h"
#include "tools/nvfp4gen/Commands.h"
#include "tools/nvfp4gen/LoadedSpec.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace nvfp4gen {

namespace {

using nlohmann::ordered_json;
using nvfp4rt::Field;
using nvfp4rt::Variant;

/// One row of the coverage table, in both its forms.
ordered_json coverageRow(const Spec &spec, const Variant &variant) {
  const Variant &v = variant;
  const std::vector<int64_t> &requests = v.guard.find(Field::requests)->values;
  return {{"spec", spec.name},
          {"family", v.family},
          {"phase", nvfp4rt::valueText(Field::phase, v.guard.find(Field::phase)->values[0])},
          {"query_len", v.guard.find(Field::query_len)->values[0]},
          {"requests_from", requests[0]},
          {"requests_to", requests[1]},
          {"variant", v.name},
          {"kernel", v.symbol}};
}

void printCsv(const ordered_json &rows) {
  // No field of a row has a comma, a quote or a line break in it: names are identifiers.
  std::vector<std::string> header;
  for (const auto &[key, value] : rows.front().items())
    header.push_back(key);
  fmt::print("{}\n", fmt::join(header, ","));
  for (const ordered_json &row : rows) {
    std::vector<std::string> fields;
    for (const auto &[key, value] : row.items())
      fields.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    fmt::print("{}\n", fmt::join(fields, ","));
  }
}

int printCoverage(const std::vector<LoadedSpec> &specs, bool csv) {
  ordered_json rows = ordered_json::array();
  for (const LoadedSpec &loaded : specs)
    for (const Variant &variant : loaded.list.variants)
      rows.push_back(coverageRow(loaded.spec, variant));
  if (csv)
    printCsv(rows);
  else
    fmt::print("{}\n", rows.dump(2));
  return kExitDone;
}

} // namespace

int runList(const ListOptions &options) {
  std::vector<LoadedSpec> specs;
  bool failed = false;
  for (const std::string &path : options.specs) {
    llvm::Expected<LoadedSpec> loaded = loadWithVariants(path);
    if (!loaded) {
      reportError(loaded.takeError());
      failed = true;
      continue;
    }
    specs.push_back(std::move(*loaded));
  }
  if (failed)
    return kExitFailed;
  if (!options.coverage.empty())
    return printCoverage(specs, options.coverage == "csv");
  if (options.json) {
    llvm::json::Array lists;
    for (const LoadedSpec &loaded : specs)
      lists.push_back(listJson(loaded.spec, loaded.list));
    // One spec is an object, a list of them an array.
    llvm::json::Value json =
        lists.size() == 1 ? std::move(lists.front()) : llvm::json::Value(std::move(lists));
    llvm::outs() << llvm::formatv("{0:2}\n", json);
    return kExitDone;
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (i)
      llvm::outs() << '\n';
    printList(specs[i].spec, specs[i].list, llvm::outs());
  }
  return kExitDone;
}

int runExplain(const ExplainOptions &options) {
  llvm::Expected<LoadedSpec> loaded = loadWithVariants(options.spec);
  if (!loaded)
    return reportError(loaded.takeError());
  std::vector<const Variant *> variants;
  std::set<std::string> known;
  for (const Variant &variant : loaded->list.variants) {
    known.insert(variant.family);
    if (variant.family == options.family)
      variants.push_back(&variant);
  }
  if (variants.empty())
    return reportError(fmt::format("spec {}: family: expected one of {}, found {}",
                                   loaded->spec.name, fmt::join(known, ", "), options.family));

  // The request that a caller of this deployment makes: the spec's side of it and the step's.
  nvfp4rt::Request request;
  for (const nvfp4rt::Term &term : variants.front()->guard.terms)
    if (std::optional<int64_t> value = configValue(loaded->spec, term.field))
      request.set(term.field, *value);
  std::string phase = options.phase;
  if (phase.empty())
    phase = options.queryLen == 0 ? "prefill" : options.queryLen == 1 ? "decode" : "verify";
  request.set(Field::phase, *nvfp4rt::symbolValue(Field::phase, phase));
  request.set(Field::query_len, options.queryLen);
  request.set(Field::requests, options.requests);

  ordered_json lines = ordered_json::array();
  const Variant *serves = nullptr;
  nvfp4rt::Nearest nearest;
  for (const Variant *variant : variants) {
    std::optional<nvfp4rt::Mismatch> miss = nvfp4rt::mismatch(variant->guard, request);
    if (miss)
      nearest.consider(variant->name, *miss);
    else
      serves = variant;
    if (!options.json) // the runtime's words (nvfp4rt_explain)
      fmt::print("{}: {}\n", variant->name, miss ? miss->text() : "match");
    lines.push_back({{"variant", variant->name},
                     {"match", !miss},
                     {"why_not", miss ? ordered_json(miss->text()) : ordered_json()}});
  }
  if (options.json) {
    ordered_json json = {{"request", request.text()},
                         {"serves", serves ? ordered_json(serves->name) : ordered_json()},
                         {"kernel", serves ? ordered_json(serves->symbol) : ordered_json()},
                         {"nearest", serves ? ordered_json() : ordered_json(nearest.variant())},
                         {"variants", std::move(lines)}};
    fmt::print("{}\n", json.dump(2));
  }
  if (serves)
    return kExitDone;
  return reportError(fmt::format("spec {}: no variant of {} serves the step ({}); {}",
                                 loaded->spec.name, options.family, request.text(),
                                 nearest.text()));
}

} // namespace nvfp4gen
