//===- AttentionCache.cpp - K and V pools for attention ---------------------===//
//
// Owns: what AttentionCache.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/AttentionCache.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace verify::attention {

namespace {

constexpr uint8_t kNaNScale = 0x7F, kNegativeNaNScale = 0xFF;
constexpr uint8_t kSmallScale = 0x02; ///< 2^-8
constexpr uint64_t kTableLead = 4;
/// Groups that rows are made of.
constexpr size_t kGroups = 4096;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// About normal, in 2^-16 steps: the same on every machine.
double normal(oracle::Random &random) {
  int64_t sum = 0;
  for (int n = 0; n < 12; ++n)
    sum += static_cast<int64_t>(random.below(1 << 16));
  return std::ldexp(double(sum - 6 * (1 << 16)), -16);
}

/// Rows of K or V, token after token.
class RowSource {
public:
  RowSource(const Config &config, bool keys, uint64_t seed) : keys(keys), random(seed) {
    for (size_t g = 0; g < kGroups; ++g) {
      // Scales within two binary orders: no channel outweighs all others.
      const double gain = std::ldexp(1, static_cast<int>(random.below(3)) - 1);
      std::array<uint16_t, 16> bits;
      for (uint16_t &element : bits)
        element = oracle::roundBits(normal(random) * gain, config.shape.dtype);
      groups.push_back(oracle::quantize(bits, config.shape.dtype));
    }
  }

  void write(Numbers numbers, int64_t rowGroups, uint8_t *payload, uint8_t *scale) {
    for (int64_t g = 0; g < rowGroups; ++g) {
      oracle::Group group = groups[random.below(groups.size())];
      if (numbers == Numbers::Large) {
        for (uint8_t &pair : group.payload)
          pair = static_cast<uint8_t>(random.next() >> 56);
        group.scale = static_cast<uint8_t>(oracle::kMaxScale - random.below(7));
      }
      if (keys && g == 0) { // a channel that gives every token the same share of z
        group.payload[0] |= 7;
        group.payload[0] &= 0xF7;
        group.scale = numbers == Numbers::Large ? oracle::kMaxScale : 0x38;
      }
      std::copy(group.payload.begin(), group.payload.end(), payload + g * 8);
      scale[g] = group.scale;
    }
  }

private:
  bool keys;
  oracle::Random random;
  std::vector<oracle::Group> groups;
};

void writeTail(Tail tail, int64_t turn, int64_t rowGroups, uint8_t *payload, uint8_t *scale) {
  uint8_t pair = 0, byte = oracle::kMinScale;
  switch (tail) {
  case Tail::Zeros:
    break;
  case Tail::NaN:
    pair = 0x5A;
    byte = kNaNScale;
    break;
  case Tail::NegNaN: // 0 * NaN too
    pair = 0x00;
    byte = kNegativeNaNScale;
    break;
  case Tail::Largest:
    pair = turn % 2 ? 0xFF : 0x77;
    byte = oracle::kMaxScale;
    break;
  }
  std::memset(payload, pair, static_cast<size_t>(rowGroups * 8));
  std::memset(scale, byte, static_cast<size_t>(rowGroups));
}

/// Ids near `page` that are none of the pool's, of which a kernel must not make one.
std::vector<int32_t> badIds(const CachePlan &plan, int64_t pages, int64_t page) {
  std::vector<int64_t> ids = {-1,        page + pages, INT32_MAX,       pages,
                              INT32_MIN, page + 65536, page + INT32_MIN};
  for (const Plane &plane : plan.planes) {
    // After this many pages, offsets repeat modulo 2^32.
    const int64_t period = (int64_t{1} << 32) / std::gcd(plane.pageStride, int64_t{1} << 32);
    ids.push_back(page + period);
    ids.push_back(page - period);
  }
  std::vector<int32_t> result;
  for (int64_t id : ids)
    if ((id < 0 || id >= pages) && id >= INT32_MIN && id <= INT32_MAX)
      result.push_back(static_cast<int32_t>(id));
  return result;
}

} // namespace

uint64_t CachePlan::bytes() const { return std::accumulate(sizes.begin(), sizes.end(), 0ull); }

CachePlan planCache(const Config &config, Layout layout, Order order, int64_t pages) {
  CachePlan plan;
  const int64_t heads = config.shape.kvHeads;
  const bool gapped = layout == Layout::Gapped;
  int64_t block = 0;
  for (size_t p = 0; p < kPlanes; ++p) {
    Plane &plane = plan.planes[p];
    const bool scale = p == KScale || p == VScale;
    plane.rowBytes = config.shape.headDim / (scale ? 16 : 2);
    // Payload planes are 16-byte aligned, scale planes 8: gaps give them just that.
    const int64_t gap = gapped ? (scale ? 8 : 16) : 0;
    const int64_t row = plane.rowBytes + gap;
    int64_t page = 0;
    if (order == Order::NHD) {
      plane.headStride = row;
      plane.tokenStride = heads * row + gap;
      page = config.pageSize * plane.tokenStride;
    } else {
      plane.tokenStride = row;
      plane.headStride = config.pageSize * row + gap;
      page = heads * plane.headStride;
    }
    plane.pageStride = page + 3 * gap;
    if (layout == Layout::Interleaved) {
      plane.offset = block;
      block += ceilDiv(page, 16) * 16 + 16;
    } else {
      plane.buffer = p;
      plan.sizes.push_back(static_cast<uint64_t>(pages * plane.pageStride));
      plan.leads.push_back(gapped ? (scale ? 8 : 16) : 64);
    }
  }
  if (layout == Layout::Interleaved) {
    for (Plane &plane : plan.planes)
      plane.pageStride = block;
    plan.sizes = {static_cast<uint64_t>(pages * block)};
    plan.leads = {64};
  }
  return plan;
}

nvfp4rt::Result<Cache> Cache::create(const Config &config, std::vector<CacheRequest> requests,
                                     const CacheOptions &options, uint64_t seed) {
  Cache cache;
  cache.options_ = options;
  cache.requests_ = std::move(requests);
  cache.pageSize = config.pageSize;
  int64_t used = 2; // one that no request has, and one of nothing
  for (const CacheRequest &request : cache.requests_)
    used += request.prefixOf >= 0 ? 1 : ceilDiv(request.tokens, config.pageSize);
  cache.pages_ = options.pages ? options.pages : used;
  cache.plan = planCache(config, options.layout, options.order, cache.pages_);
  cache.windows.resize(cache.plan.sizes.size());
  for (uint64_t size : cache.plan.sizes) {
    auto buffer = LazyBuffer::reserve(size);
    if (!buffer)
      return tl::unexpected(std::move(buffer.error()));
    if (options.pageIds.empty())
      std::memset(buffer->data(), kNaNScale, size); // what lies between tokens and pages
    cache.buffers.push_back(std::move(*buffer));
  }
  cache.fill(config, seed);
  return cache;
}

uint8_t *Cache::at(PlaneOf of, int64_t page, int64_t token, int64_t head) const {
  const Plane &plane = plan.planes[of];
  return reinterpret_cast<uint8_t *>(buffers[plane.buffer].data()) + plane.offset +
         page * plane.pageStride + token * plane.tokenStride + head * plane.headStride;
}

void Cache::fill(const Config &config, uint64_t seed) {
  const bool sparse = !options_.pageIds.empty();
  std::vector<int64_t> ids = options_.pageIds;
  if (!sparse) {
    ids.resize(static_cast<size_t>(pages_));
    std::iota(ids.begin(), ids.end(), 0);
    oracle::Random random(seed);
    for (size_t i = ids.size() - 1; i > 0; --i)
      std::swap(ids[i], ids[random.below(i + 1)]);
  }
  const int64_t groups = config.shape.headDim / 16, heads = config.shape.kvHeads;
  RowSource keys(config, true, seed + 1), values(config, false, seed + 2);
  auto fillPage = [&](int64_t page, int64_t first, const CacheRequest &request) {
    for (int64_t t = 0; t < pageSize; ++t)
      for (int64_t h = 0; h < heads; ++h)
        if (first + t < request.tokens) {
          keys.write(request.numbers, groups, at(KPayload, page, t, h), at(KScale, page, t, h));
          values.write(request.numbers, groups, at(VPayload, page, t, h), at(VScale, page, t, h));
        } else {
          writeTail(options_.tail, t, groups, at(KPayload, page, t, h), at(KScale, page, t, h));
          writeTail(options_.tail, t + 1, groups, at(VPayload, page, t, h), at(VScale, page, t, h));
        }
    // Where an address in 32 bits, or in 31, would lie instead.
    for (const Plane &plane : plan.planes)
      for (uint64_t mask : {~uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{0x7FFFFFFF}})
        if (sparse)
          windows[plane.buffer].push_back(
              {static_cast<uint64_t>(plane.offset + page * plane.pageStride) & mask,
               static_cast<uint64_t>(plane.pageStride)});
  };

  size_t next = 0;
  auto own = [&] { return ids[next++ % ids.size()]; };
  std::vector<int32_t> stale = {-1, INT32_MAX, static_cast<int32_t>(pages_)};
  if (!sparse) { // a page that no request has
    stale.push_back(static_cast<int32_t>(own()));
    fillPage(stale.back(), 0, {});
  }
  int64_t width = 1;
  for (const CacheRequest &request : requests_)
    width = std::max(width, ceilDiv(request.tokens, pageSize));
  width += options_.layout == Layout::Dense ? 0 : 3;
  tableStride = width * 4;
  for (size_t i = 0; i < requests_.size() * static_cast<size_t>(width); ++i)
    table.push_back(stale[i % stale.size()]);
  std::vector<std::vector<int64_t>> pagesOf(requests_.size());
  size_t turn = 0;
  for (size_t r = 0; r < requests_.size(); ++r) {
    const CacheRequest &request = requests_[r];
    const int64_t count = ceilDiv(request.tokens, pageSize);
    for (int64_t i = 0; i < count; ++i) {
      const bool shared = request.prefixOf >= 0 && i + 1 < count;
      const int64_t page =
          shared ? pagesOf[static_cast<size_t>(request.prefixOf)][static_cast<size_t>(i)] : own();
      pagesOf[r].push_back(page);
      if (!shared)
        fillPage(page, i * pageSize, request);
      int32_t &entry = table[r * static_cast<size_t>(width) + static_cast<size_t>(i)];
      entry = static_cast<int32_t>(page);
      if (request.pages == Pages::AllBad || (request.pages == Pages::SomeBad && i % 2 == 1)) {
        const std::vector<int32_t> bad = badIds(plan, pages_, page);
        entry = bad[turn++ % bad.size()];
      }
    }
    if (request.numbers == Numbers::Cancelling)
      cancel(config, request, pagesOf[r]);
  }
}

void Cache::cancel(const Config &config, const CacheRequest &request,
                   const std::vector<int64_t> &pages) {
  const int64_t block = config.shape.blockSize, last = (request.tokens - 1) / block;
  for (int64_t pos = block; pos < request.tokens; ++pos)
    for (int64_t h = 0; h < config.shape.kvHeads; ++h) {
      auto row = [&](PlaneOf of, int64_t position) {
        return at(of, pages[static_cast<size_t>(position / pageSize)], position % pageSize, h);
      };
      auto copy = [&](PlaneOf of) {
        std::copy_n(row(of, pos - block), plan.planes[of].rowBytes, row(of, pos));
      };
      if (pos / block == last)
        std::fill_n(row(VScale, pos), plan.planes[VScale].rowBytes, kSmallScale);
      if (pos / block == last || pos / block % 2 == 0)
        continue;
      for (PlaneOf of : {KPayload, KScale, VPayload, VScale})
        copy(of);
      uint8_t *pairs = row(VPayload, pos);
      for (int64_t i = 0; i < plan.planes[VPayload].rowBytes; ++i)
        for (uint8_t sign : {0x80, 0x08}) // of a code that is not 0 (F6)
          if (pairs[i] & (sign - (sign >> 3)))
            pairs[i] ^= sign;
    }
}

oracle::PagedTensor Cache::tensor(PlaneOf payload, PlaneOf scale) const {
  auto plane = [&](PlaneOf of) {
    const Plane &p = plan.planes[of];
    return nvfp4rt_plane{at(of, 0, 0, 0), p.pageStride, p.tokenStride, p.headStride};
  };
  return {plane(payload), plane(scale), pages_, pageSize, table.data(), tableStride};
}

std::string Cache::text() const {
  return fmt::format(
      "{} {} pools, {} past the end", kLayoutNames[static_cast<size_t>(options_.layout)],
      options_.order == Order::NHD ? "NHD" : "HND", kTailNames[static_cast<size_t>(options_.tail)]);
}

nvfp4rt::Result<PlacedCache> PlacedCache::create(Target &target, const Cache &cache,
                                                 uint64_t seed) {
  PlacedCache placed;
  placed.source = &cache;
  auto add = [&](const void *data, uint64_t size, uint64_t lead,
                 std::vector<Window> windows) -> nvfp4rt::Result<void> {
    if (windows.empty())
      windows.push_back({0, size});
    windows = mergeWindows(std::move(windows), size);
    std::vector<Window> moved = windows;
    for (Window &window : moved)
      window.offset += lead;
    auto image = Image::create(target, lead + size, std::move(moved), seed + placed.images.size());
    if (!image)
      return tl::unexpected(std::move(image.error()));
    for (const Window &window : windows)
      std::memcpy(image->expected() + lead + window.offset,
                  static_cast<const std::byte *>(data) + window.offset, window.size);
    if (auto written = image->upload(target); !written)
      return written;
    placed.images.push_back(std::move(*image));
    return {};
  };
  for (size_t b = 0; b < cache.buffers.size(); ++b)
    if (auto added = add(cache.buffers[b].data(), cache.plan.sizes[b], cache.plan.leads[b],
                         cache.windows[b]);
        !added)
      return tl::unexpected(std::move(added.error()));
  if (auto added = add(cache.table.data(), cache.table.size() * 4, kTableLead, {}); !added)
    return tl::unexpected(std::move(added.error()));
  return placed;
}

void PlacedCache::setArgs(nvfp4rt_sparse_attention_args &args) const {
  nvfp4rt_plane *planes[] = {&args.k_payload, &args.k_scale, &args.v_payload, &args.v_scale};
  for (size_t p = 0; p < kPlanes; ++p) {
    const Plane &plane = source->plan.planes[p];
    *planes[p] = {images[plane.buffer].device() + source->plan.leads[plane.buffer] + plane.offset,
                  plane.pageStride, plane.tokenStride, plane.headStride};
  }
  args.block_table = reinterpret_cast<const int32_t *>(images.back().device() + kTableLead);
  args.table_stride = source->tableStride;
  args.pages = source->pages_;
}

bool PlacedCache::unchanged(Job &job) {
  bool same = true;
  for (size_t i = 0; i < images.size(); ++i) {
    if (auto read = images[i].readBack(job.target); !read) {
      job.fault(fmt::format("{}: {}", source->text(), read.error().message));
      return false;
    }
    job.report.bytesCompared += images[i].windowBytes();
    images[i].forEachMismatch([&](uint64_t offset) {
      ++job.report.mismatchingBytes;
      if (std::exchange(same, false))
        job.fault(fmt::format("{}: {} {}, byte {}: a launch has changed its input", source->text(),
                              i + 1 < images.size() ? "buffer" : "block table", i, offset));
    });
  }
  return same;
}

} // namespace verify::attention
