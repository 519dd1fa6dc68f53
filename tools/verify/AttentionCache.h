//===- AttentionCache.h - K and V pools for attention -----------------------===//
//
// Owns: K and V of a few requests in pools of a layout (P1), on the host and on a
// target; block tables with impossible pages (P4), and what lies past each request's
// tokens (P5). Two caches of one seed hold the same tokens, whatever their layout.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ATTENTIONCACHE_H
#define NVFP4GEN_TOOLS_VERIFY_ATTENTIONCACHE_H

#include "tools/verify/AttentionConfig.h"
#include "tools/verify/Image.h"
#include "tools/verify/Layout.h"

#include <array>
#include <string_view>

namespace verify::attention {

/// Bytes of tokens past the end of a request.
enum class Tail : uint8_t {
  Zeros,   ///< as kv_store writes zeros
  NaN,     ///< scale 0x7F
  NegNaN,  ///< scale 0xFF
  Largest, ///< finite: 6 * 448, either sign
};
inline constexpr std::string_view kTailNames[] = {"zeros", "NaN", "negative NaN", "large numbers"};

enum class Numbers : uint8_t {
  Random, ///< normal, element 0 of a key the same in all
  Large,  ///< under scales of 256 and more
  /// Every other block has the keys of the block before it and its V negated, and the last one a
  /// small V: sums cancel to what the order of additions makes of them (A4), and to the last one.
  Cancelling,
};

enum class Pages : uint8_t {
  Good,
  SomeBad, ///< every other one is no page of the pool
  AllBad,
};

struct CacheRequest {
  int64_t tokens = 0;
  Numbers numbers = Numbers::Random;
  Pages pages = Pages::Good;
  int64_t prefixOf = -1; ///< has the pages of this earlier request, but for the last one
};

struct CacheOptions {
  Layout layout = Layout::Dense;
  Order order = Order::NHD;
  Tail tail = Tail::NaN;
  /// A pool of this many pages, of which the requests have `pageIds` in turn. 0: as many as are
  /// used.
  int64_t pages = 0;
  std::vector<int64_t> pageIds;
};

enum PlaneOf : size_t { KPayload, KScale, VPayload, VScale, kPlanes };

struct Plane {
  size_t buffer = 0;
  int64_t offset = 0, pageStride = 0, tokenStride = 0, headStride = 0;
  int64_t rowBytes = 0; ///< of a (token, head)
};

struct CachePlan {
  std::array<Plane, kPlanes> planes;
  std::vector<uint64_t> sizes; ///< of the buffers
  std::vector<uint64_t> leads; ///< their alignment: they start at a multiple of 256, plus this
  uint64_t bytes() const;
};
CachePlan planCache(const Config &config, Layout layout, Order order, int64_t pages);

class Cache {
public:
  static nvfp4rt::Result<Cache> create(const Config &config, std::vector<CacheRequest> requests,
                                       const CacheOptions &options, uint64_t seed);

  const CacheOptions &options() const { return options_; }
  const std::vector<CacheRequest> &requests() const { return requests_; }
  int64_t pages() const { return pages_; }
  /// For the oracle.
  oracle::PagedTensor k() const { return tensor(KPayload, KScale); }
  oracle::PagedTensor v() const { return tensor(VPayload, VScale); }
  /// "gapped HND pools, NaN past the end"
  std::string text() const;

private:
  friend class PlacedCache;
  CacheOptions options_;
  std::vector<CacheRequest> requests_;
  CachePlan plan;
  int64_t pages_ = 0, pageSize = 0;
  std::vector<LazyBuffer> buffers;
  std::vector<std::vector<Window>> windows; ///< of the buffers, when sparse
  std::vector<int32_t> table;
  int64_t tableStride = 0;

  oracle::PagedTensor tensor(PlaneOf payload, PlaneOf scale) const;
  uint8_t *at(PlaneOf plane, int64_t page, int64_t token, int64_t head) const;
  void fill(const Config &config, uint64_t seed);
  void cancel(const Config &config, const CacheRequest &request, const std::vector<int64_t> &pages);
};

/// A cache on a target; many launches read it.
class PlacedCache {
public:
  static nvfp4rt::Result<PlacedCache> create(Target &target, const Cache &cache, uint64_t seed);
  const Cache &cache() const { return *source; }
  void setArgs(nvfp4rt_sparse_attention_args &args) const;
  /// No launch may have changed it; counts, and reports the first byte that has.
  bool unchanged(Job &job);

private:
  const Cache *source = nullptr;
  std::vector<Image> images; ///< of the buffers, then of the table
};

} // namespace verify::attention

#endif // NVFP4GEN_TOOLS_VERIFY_ATTENTIONCACHE_H
