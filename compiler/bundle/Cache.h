//===- Cache.h - compiled kernels kept between builds -----------------------===//
//
// A folder of files named by the digest of everything that decides their
// contents. Entries are written whole or not at all and carry their own digest,
// so any number of builds may share a folder and any of them may be killed; a
// damaged entry is removed, counted and never used.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_CACHE_H
#define NVFP4GEN_COMPILER_BUNDLE_CACHE_H

#include "runtime/support/Sha256.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nvfp4gen {

using CacheKey = nvfp4rt::Sha256Digest;

/// Digest of parts, each with its length, so that no two lists of parts are alike.
CacheKey cacheKey(std::initializer_list<std::string_view> parts);

/// NVFP4GEN_CACHE_DIR, else XDG_CACHE_HOME/nvfp4gen, else HOME/.cache/nvfp4gen; empty when none of
/// the three is set.
std::string defaultCacheDirectory();

inline constexpr uint64_t kDefaultCacheBytes = uint64_t(1) << 30;

/// What a folder holds.
struct CacheUsage {
  uint64_t entries = 0, bytes = 0;
  uint64_t unfinished = 0; ///< temporary files of builds that run or were killed
};

/// What one build found and left.
struct CacheCounters {
  uint64_t hits = 0, misses = 0, stored = 0;
  uint64_t damaged = 0; ///< entries whose digest is wrong; removed
  uint64_t evicted = 0; ///< entries removed to keep the size
};

/// Thread-safe. A folder that cannot be read or written never fails a build: it is a warning.
class Cache {
public:
  /// Make the folder when it is missing.
  static llvm::Expected<std::unique_ptr<Cache>> open(std::string directory, uint64_t maxBytes);

  /// The payload stored under `key`; marks it as used now.
  std::optional<std::string> load(const CacheKey &key);
  void store(const CacheKey &key, llvm::StringRef payload);
  /// Remove the entries used longest ago until the size is kept, and temporary files that no
  /// running build can own. A build calls it once, after its stores.
  void trim();

  const std::string &directory() const { return folder; }
  CacheCounters counters() const;
  /// The first things that went wrong, a sentence each.
  std::vector<std::string> warnings() const;

  // For people, on a folder that builds may be using.
  static llvm::Expected<CacheUsage> usage(const std::string &directory);
  /// Remove all entries and temporary files and nothing else; says what there was.
  static llvm::Expected<CacheUsage> clear(const std::string &directory);

private:
  Cache(std::string directory, uint64_t maxBytes)
      : folder(std::move(directory)), maxBytes(maxBytes) {}
  void warn(std::string text);

  std::string folder;
  uint64_t maxBytes;
  mutable std::mutex mutex;
  CacheCounters counted;
  std::vector<std::string> warned;
};

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_CACHE_H
