//===- ManifestFields.h - the keys of a manifest, once for both directions --===//
//
// describe() walks a manifest in the order of its text. The printer and the
// parser are two archives for it, so a key exists in both or in neither.
//
// An archive has:
//   text(key, string, rule)     number(key, integer, min, max)
//   table(key, callback(archive))                     a [key] table
//   entries(key, vector, callback(archive, element))  [[key]] tables
//   inlineTable(key, callback(archive))               key = { ... }
//   inlineArray(key, array, callback(archive, element))  key = [{ ... }, ...]
//   numbers(key, array, min, max)                     key = [1, 2, 3]
//   guard(key, guard)
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_MANIFESTFIELDS_H
#define NVFP4_RUNTIME_BUNDLE_MANIFESTFIELDS_H

#include "runtime/bundle/Manifest.h"

#include <limits>

namespace nvfp4rt::manifest {

enum class TextRule : uint8_t {
  Any,
  NonEmpty,
  Sha256, ///< 64 lower-case hex digits
};

inline constexpr int64_t kMaxU32 = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kMaxI64 = std::numeric_limits<int64_t>::max();
/// A workgroup has at most 1024 work-items, so no side of it is longer.
inline constexpr int64_t kMaxBlock = 1024;

template <typename Archive, typename K> void describeKernel(Archive &io, K &kernel) {
  io.text("symbol", kernel.symbol, TextRule::NonEmpty);
  io.text("family", kernel.family, TextRule::NonEmpty);
  io.text("args_hash", kernel.argsHash, TextRule::Sha256);
  io.number("args_size", kernel.argsSize, 0, kMaxU32);
  io.inlineArray("grid", kernel.grid, [](auto &axisIo, auto &axis) {
    axisIo.text("per", axis.per, TextRule::Any);
    axisIo.number("mul", axis.mul, 1, kMaxU32);
    axisIo.number("div", axis.div, 1, kMaxU32);
  });
  io.numbers("block", kernel.block, 1, kMaxBlock);
  auto &resources = kernel.resources;
  io.inlineTable("resources", [&](auto &resourceIo) {
    resourceIo.number("vgprs", resources.vgprs, 0, kMaxU32);
    resourceIo.number("agprs", resources.agprs, 0, kMaxU32);
    resourceIo.number("sgprs", resources.sgprs, 0, kMaxU32);
    resourceIo.number("lds_bytes", resources.ldsBytes, 0, kMaxU32);
    resourceIo.number("scratch_bytes", resources.scratchBytes, 0, kMaxU32);
    resourceIo.number("code_bytes", resources.codeBytes, 1, kMaxU32);
  });
  io.text("sha256", kernel.sha256, TextRule::Sha256);
}

template <typename Archive, typename V> void describeVariant(Archive &io, V &variant) {
  io.text("name", variant.name, TextRule::NonEmpty);
  io.text("family", variant.family, TextRule::NonEmpty);
  io.text("symbol", variant.symbol, TextRule::NonEmpty);
  io.guard("guard", variant.guard);
  auto &workspace = variant.workspace;
  io.inlineTable("workspace", [&](auto &workspaceIo) {
    workspaceIo.number("fixed", workspace.fixed, 0, kMaxI64);
    workspaceIo.number("per_request", workspace.perRequest, 0, kMaxI64);
  });
}

template <typename Archive, typename M> void describe(Archive &io, M &manifest) {
  io.number("format", manifest.format, 1, kMaxI64);
  io.text("build_id", manifest.buildId, TextRule::Sha256);
  io.text("generator", manifest.generator, TextRule::NonEmpty);
  io.text("toolchain", manifest.toolchain, TextRule::NonEmpty);
  io.text("flags", manifest.flags, TextRule::Any);
  io.text("arch", manifest.arch, TextRule::NonEmpty);
  io.number("code_object_version", manifest.codeObjectVersion, 0, kMaxU32);
  io.table("spec", [&](auto &specIo) {
    specIo.text("name", manifest.specName, TextRule::NonEmpty);
    specIo.text("sha256", manifest.specSha256, TextRule::Sha256);
  });
  auto &cacheBytes = manifest.cacheBytes;
  io.table("cache_bytes", [&](auto &cacheIo) {
    cacheIo.number("kv_per_block", cacheBytes.kvPerBlock, 0, kMaxI64);
    cacheIo.number("index_per_block", cacheBytes.indexPerBlock, 0, kMaxI64);
    cacheIo.number("layers", cacheBytes.layers, 1, kMaxU32);
    cacheIo.number("draft_per_block", cacheBytes.draftPerBlock, 0, kMaxI64);
    cacheIo.number("draft_layers", cacheBytes.draftLayers, 0, kMaxU32);
    cacheIo.number("fp8_kv_per_block", cacheBytes.fp8KvPerBlock, 0, kMaxI64);
    cacheIo.number("fp8_index_per_block", cacheBytes.fp8IndexPerBlock, 0, kMaxI64);
  });
  io.entries("kernel", manifest.kernels,
             [](auto &kernelIo, auto &kernel) { describeKernel(kernelIo, kernel); });
  io.entries("variant", manifest.variants,
             [](auto &variantIo, auto &variant) { describeVariant(variantIo, variant); });
}

/// Keys of a guard's terms: { field = "requests", range = [33, 48] }.
inline constexpr std::string_view kTermField = "field";
inline constexpr std::string_view kRelationKeys[] = {"equal", "one_of", "range"};

} // namespace nvfp4rt::manifest

#endif // NVFP4_RUNTIME_BUNDLE_MANIFESTFIELDS_H
