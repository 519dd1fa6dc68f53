//===- Inspect.cpp - nvfp4gen inspect ---------------------------------------===//

#include "runtime/bundle/Bundle.h"
#include "tools/nvfp4gen/Commands.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvfp4gen {

namespace {

using nlohmann::ordered_json;

std::string gridText(const nvfp4rt::GridAxis &axis) {
  if (axis.per.empty())
    return fmt::format("{}", axis.mul);
  return fmt::format("ceil({} * {} / {})", axis.per, axis.mul, axis.div);
}

/// One list drives both forms: what a bundle's block of cache costs (P6).
std::vector<std::pair<const char *, uint64_t>> cacheRows(const nvfp4rt::CacheBytes &bytes) {
  uint64_t sparse = bytes.layers * (bytes.kvPerBlock + bytes.indexPerBlock);
  uint64_t fp8 = bytes.layers * (bytes.fp8KvPerBlock + bytes.fp8IndexPerBlock);
  uint64_t draft = bytes.draftLayers * bytes.draftPerBlock;
  return {{"kv_per_layer", bytes.kvPerBlock},
          {"index_per_layer", bytes.indexPerBlock},
          {"layers", bytes.layers},
          {"all_layers", sparse},
          {"draft_per_layer", bytes.draftPerBlock},
          {"draft_layers", bytes.draftLayers},
          {"total", sparse + draft},
          {"total_if_fp8_e4m3", fp8 + draft}};
}

void printText(const nvfp4rt::Bundle &bundle) {
  const nvfp4rt::Manifest &m = bundle.manifest();
  fmt::print("{}: {} bytes, bundle format {}, every check passed\n", bundle.name(),
             bundle.bytes().size(), m.format);
  fmt::print("  build id     {}\n", m.buildId);
  fmt::print("  made by      {}, {}\n", m.generator, m.toolchain);
  fmt::print("  flags        {}\n", m.flags);
  fmt::print("  spec         {} (SHA-256 {})\n", m.specName, m.specSha256);
  fmt::print("  target       {}, code object V{}\n", m.arch, m.codeObjectVersion);
  fmt::print("\ncache bytes of one sparse block on this rank\n");
  for (auto [name, value] : cacheRows(m.cacheBytes))
    fmt::print("  {:<18} {:>10}\n", name, value);
  for (const nvfp4rt::Kernel &k : m.kernels) {
    const nvfp4rt::Resources &r = k.resources;
    fmt::print("\nkernel {}\n", k.symbol);
    fmt::print("  family       {}\n", k.family);
    fmt::print("  grid         {}, {}, {}\n", gridText(k.grid[0]), gridText(k.grid[1]),
               gridText(k.grid[2]));
    fmt::print("  block        {}, {}, {}\n", k.block[0], k.block[1], k.block[2]);
    fmt::print("  registers    {} VGPR ({} of them AGPR), {} SGPR\n", r.vgprs, r.agprs, r.sgprs);
    fmt::print("  memory       {} B LDS, {} B scratch, {} B code\n", r.ldsBytes, r.scratchBytes,
               r.codeBytes);
    fmt::print("  arguments    {} B, layout {}\n", k.argsSize, k.argsHash);
    fmt::print("  SHA-256      {}\n", k.sha256);
  }
  fmt::print("\n{} variants\n", m.variants.size());
  for (const nvfp4rt::Variant &v : m.variants) {
    fmt::print("  {}\n    kernel {}\n    guard  {}\n", v.name, v.symbol, v.guard.text());
    if (v.workspace.fixed || v.workspace.perRequest)
      fmt::print("    workspace {} B + {} B a request\n", v.workspace.fixed,
                 v.workspace.perRequest);
  }
}

ordered_json guardJson(const nvfp4rt::Guard &guard) {
  constexpr const char *kRelations[] = {"equal", "one_of", "range"};
  ordered_json terms = ordered_json::array();
  for (const nvfp4rt::Term &term : guard.terms) {
    ordered_json values = ordered_json::array();
    for (int64_t value : term.values) {
      if (nvfp4rt::fieldSymbols(term.field).empty())
        values.push_back(value);
      else
        values.push_back(nvfp4rt::valueText(term.field, value));
    }
    terms.push_back({{"field", nvfp4rt::fieldName(term.field)},
                     {"relation", kRelations[size_t(term.relation)]},
                     {"values", std::move(values)}});
  }
  return terms;
}

void printJson(const nvfp4rt::Bundle &bundle) {
  const nvfp4rt::Manifest &m = bundle.manifest();
  ordered_json json = {
      {"bundle", bundle.name()},  {"bytes", bundle.bytes().size()},
      {"format", m.format},       {"build_id", m.buildId},
      {"generator", m.generator}, {"toolchain", m.toolchain},
      {"flags", m.flags},         {"spec", {{"name", m.specName}, {"sha256", m.specSha256}}},
      {"arch", m.arch},           {"code_object_version", m.codeObjectVersion}};
  for (auto [name, value] : cacheRows(m.cacheBytes))
    json["cache_bytes"][name] = value;
  json["kernels"] = ordered_json::array();
  for (const nvfp4rt::Kernel &k : m.kernels) {
    ordered_json grid = ordered_json::array();
    for (const nvfp4rt::GridAxis &axis : k.grid)
      grid.push_back({{"per", axis.per}, {"mul", axis.mul}, {"div", axis.div}});
    json["kernels"].push_back({{"symbol", k.symbol},
                               {"family", k.family},
                               {"grid", std::move(grid)},
                               {"block", k.block},
                               {"args_size", k.argsSize},
                               {"args_hash", k.argsHash},
                               {"vgprs", k.resources.vgprs},
                               {"agprs", k.resources.agprs},
                               {"sgprs", k.resources.sgprs},
                               {"lds_bytes", k.resources.ldsBytes},
                               {"scratch_bytes", k.resources.scratchBytes},
                               {"code_bytes", k.resources.codeBytes},
                               {"sha256", k.sha256}});
  }
  json["variants"] = ordered_json::array();
  for (const nvfp4rt::Variant &v : m.variants)
    json["variants"].push_back(
        {{"name", v.name},
         {"family", v.family},
         {"symbol", v.symbol},
         {"guard", guardJson(v.guard)},
         {"workspace", {{"fixed", v.workspace.fixed}, {"per_request", v.workspace.perRequest}}}});
  fmt::print("{}\n", json.dump(2));
}

} // namespace

int runInspect(const InspectOptions &options) {
  nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openFile(options.bundle);
  if (!bundle)
    return reportError(bundle.error().message);
  if (options.json)
    printJson(*bundle);
  else
    printText(*bundle);
  return kExitDone;
}

} // namespace nvfp4gen
