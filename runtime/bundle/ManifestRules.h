//===- ManifestRules.h - what a well-formed manifest must also obey ---------===//
//
// Internal to the manifest parser: the check of the raw text before TOML is
// parsed, and the rules between entries after it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_MANIFESTRULES_H
#define NVFP4_RUNTIME_BUNDLE_MANIFESTRULES_H

#include "runtime/bundle/Manifest.h"

#include <optional>

namespace nvfp4rt::manifest {

/// Limits that no real bundle approaches; they bound the work that a hostile file can cause.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;
inline constexpr size_t kMaxEntries = 65536; ///< kernels, and variants

struct Position {
  uint32_t line = 0, column = 0; ///< 1-based
};

/// "manifest:LINE:COLUMN: KEY: expected EXPECTED, found FOUND".
Error badManifest(Position at, std::string_view key, std::string_view expected,
                  std::string_view found);

/// Size, and no dotted keys or multi-line strings: neither is ever printed, and the parser's memory
/// and stack use is bounded without them.
std::optional<Error> checkText(std::string_view text);

struct EntryPositions {
  std::vector<Position> kernels, variants; ///< of the [[kernel]] and [[variant]] entries
};

/// Sorted unique symbols, unique names, known families, variants that have their kernel, grid and
/// workspace rules that can be computed, and no two guards of a family that match one request.
std::optional<Error> checkRules(const Manifest &manifest, const EntryPositions &positions);

} // namespace nvfp4rt::manifest

#endif // NVFP4_RUNTIME_BUNDLE_MANIFESTRULES_H
