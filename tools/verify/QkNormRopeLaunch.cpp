//===- QkNormRopeLaunch.cpp - one checked qk_norm_rope_store launch ---------===//
//
// Owns: buffers of a launch, the launch, and the comparison.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/QkNormRopeLaunch.h"
#include "tools/oracle/Exact.h"
#include "tools/verify/Arena.h"
#include "tools/verify/KvStoreGroups.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace verify::norm_rope {

using kv_store::Placement;
using kv_store::StoredGroup;

namespace {

constexpr uint64_t kWindow = 4096;

/// Rows of heads in a buffer.
struct Place {
  int64_t rowStride = 0, headStride = 0, bytes = 0; ///< up to the last byte that is used
  Arena::Margins margins;
  int64_t at(int64_t row, int64_t head) const { return row * rowStride + head * headStride; }
};

class Run {
public:
  Run(Job &job, const Launch &launch)
      : job(job), launch(launch), inputs(launch.inputs), dtype(inputs.shape.store.dtype),
        pools(kv_store::poolLayout(inputs.shape.store, launch.layout, launch.order, launch.pages,
                                   launch.indexPages)),
        placement{inputs.shape.store, pools,        launch.pages,
                  launch.indexPages,  launch.slots, launch.indexSlots},
        arena(job, where(launch), mayLackRoom()) {}

  Ran run(const Rounded *keysFrom, Rounded &rounded) {
    const Result<void> made = create();
    if (!made)
      return noRoom(made.error().message);
    const nvfp4rt_qk_norm_rope_store_args args = arguments();
    if (!arena.launch(job.variant, launch.request, args))
      return arena.lackedRoom() ? noRoom(*arena.lackedRoom()) : Ran::Wrong;
    bool right = compareHeads(Part::Q, q, qPlace, rounded.q);
    right = compareHeads(Part::IndexQ, indexQ, indexQPlace, rounded.indexQ) && right;
    if (keysFrom) {
      rounded.k = keysFrom->k;
      rounded.indexK = keysFrom->indexK;
    } else {
      rounded.k = firstHeads(rounded.q, inputs.shape.qHeads, inputs.headsOf(Part::K));
      rounded.indexK =
          firstHeads(rounded.indexQ, inputs.shape.indexHeads, inputs.headsOf(Part::IndexK));
    }
    if (right)
      right = compareCache(rounded);
    return right ? Ran::Right : Ran::Wrong;
  }

private:
  Job &job;
  const Launch &launch;
  const Inputs &inputs;
  const oracle::DType dtype;
  const kv_store::PoolLayout pools;
  const Placement placement;
  Arena arena;
  Place packedPlace, qPlace, indexQPlace;
  Arena::Buffer packed = 0, positions = 0, cosSin = 0, q = 0, indexQ = 0, slots = 0, indexSlots = 0;
  std::array<Arena::Buffer, kParts> weights{};
  std::vector<Arena::Buffer> images;
  std::vector<uint16_t> v; ///< dense rows

  bool mayLackRoom() const { return launch.hugePools || launch.strides != Strides::Small; }
  Ran noRoom(const std::string &why) {
    if (!mayLackRoom()) {
      arena.fault(why);
      return Ran::Wrong;
    }
    job.report.skipped.push_back(fmt::format("{}: {}", where(launch), why));
    return Ran::NoRoom;
  }
  bool inPlace() const { return launch.layout == Layout::Interleaved; }
  bool storesKv() const { return inputs.shape.store.storesK || inputs.shape.store.storesV; }
  int64_t headBytes() const { return 2 * inputs.headDim(); }
  int64_t rowBytes() const { return inputs.heads() * headBytes(); }

  static std::string where(const Launch &launch) {
    const oracle::NormRopeShape &shape = launch.inputs.shape;
    return fmt::format("{} ({} layout{}, {}, {} rows, {} norms{}{}{})", launch.what,
                       kLayoutNames[static_cast<size_t>(launch.layout)],
                       launch.layout == Layout::Interleaved ? " in place" : "",
                       launch.order == Order::NHD ? "nhd" : "hnd", launch.slots.size(),
                       shape.gemma ? "Gemma" : "plain", shape.indexHeads ? "" : ", no index branch",
                       shape.store.storesK || shape.store.storesV ? "" : ", no K and V",
                       shape.store.storesIndex ? "" : ", no index key");
  }

  /// Rows of `heads` heads: tight, or with unused bytes and no more alignment than needed.
  Place placeOf(int64_t heads, bool hasHeadGaps) const {
    Place place;
    const int64_t rows = inputs.rows();
    const bool gaps = launch.layout == Layout::Gapped;
    place.headStride = headBytes() + (gaps && hasHeadGaps ? 32 : 0);
    place.rowStride = heads * place.headStride + (gaps ? 48 : 0);
    if (launch.strides == Strides::HugeRows)
      place.rowStride = (int64_t{1} << 31) + 48;
    if (launch.strides == Strides::HugeHeads && hasHeadGaps && heads > 1) {
      place.rowStride = headBytes() + 16;
      place.headStride = (int64_t{1} << 32) / (heads - 1) / 16 * 16 + 16;
    }
    if (rows > 0 && heads > 0)
      place.bytes = place.at(rows - 1, heads - 1) + headBytes();
    // What is read ends with the buffer, so that a read past it shows.
    place.margins = {gaps ? uint64_t{16} : uint64_t{64}, hasHeadGaps ? uint64_t{64} : uint64_t{0}};
    return place;
  }

  /// Windows of a buffer that is huge: around its heads, and where 32 bits would take them.
  std::vector<Window> windowsOf(const Place &place, int64_t heads) const {
    std::vector<Window> windows;
    if (launch.strides != Strides::Small)
      for (int64_t row = 0; row < inputs.rows(); ++row)
        for (int64_t head = 0; head < heads; ++head)
          addWithWraps(windows, static_cast<uint64_t>(place.at(row, head)), kWindow);
    return windows;
  }

  Result<void> create() {
    packedPlace = placeOf(inputs.heads(), /*hasHeadGaps=*/false);
    if (auto made = createPacked(); !made)
      return made;
    positions = arena.input("positions", positionsOnDevice(), {64, 0});
    if (auto made = createCosSin(); !made)
      return made;
    for (Part part : {Part::Q, Part::K, Part::IndexQ, Part::IndexK})
      if (reads(part))
        weights[static_cast<size_t>(part)] =
            arena.input(fmt::format("weights of {}", kPartNames[static_cast<size_t>(part)]),
                        inputs.weights[static_cast<size_t>(part)], {64, 0});
    if (inPlace()) {
      qPlace = indexQPlace = packedPlace;
      q = indexQ = packed;
    } else {
      qPlace = placeOf(inputs.shape.qHeads, /*hasHeadGaps=*/true);
      indexQPlace = placeOf(inputs.shape.indexHeads, /*hasHeadGaps=*/true);
      q = output("q", qPlace, inputs.shape.qHeads);
      indexQ = output("index_q", indexQPlace, inputs.shape.indexHeads);
    }
    for (size_t i = 0; i < pools.imageBytes.size(); ++i) {
      std::vector<Window> windows;
      if (launch.hugePools) {
        windows = kv_store::sparseWindows(placement, i);
        windows.push_back({0, kWindow}); // no window at all would be the whole pool
      }
      images.push_back(arena.output(fmt::format("pool buffer {}", i),
                                    static_cast<uint64_t>(pools.imageBytes[i]), {64, 64},
                                    std::move(windows)));
    }
    if (storesKv())
      slots = arena.input("slots", launch.slots, {64, 0});
    if (inputs.shape.store.storesIndex)
      indexSlots = arena.input("index_slots", launch.indexSlots, {64, 0});
    for (int64_t row = 0; row < inputs.rows(); ++row)
      for (int64_t head = 0; head < inputs.headsOf(Part::V); ++head) {
        const auto from = inputs.head(row, Part::V, head);
        v.insert(v.end(), from.begin(), from.end());
      }
    return {};
  }

  Arena::Buffer output(const char *name, const Place &place, int64_t heads) {
    return arena.output(name, static_cast<uint64_t>(place.bytes), place.margins,
                        windowsOf(place, heads));
  }

  /// The packed rows, unused bytes NaN: reading them as data shows.
  Result<void> createPacked() {
    const auto bytes = static_cast<uint64_t>(packedPlace.bytes);
    if (bytes == 0) {
      packed = arena.input("packed rows", nullptr, 0);
      return {};
    }
    auto host = LazyBuffer::reserve(bytes);
    if (!host)
      return tl::unexpected(std::move(host.error()));
    const std::vector<Window> windows = windowsOf(packedPlace, inputs.heads());
    if (windows.empty())
      std::memset(host->data(), 0xFF, bytes);
    else
      for (const Window &window : mergeWindows(windows, bytes))
        std::memset(host->data() + window.offset, 0xFF, window.size);
    for (int64_t row = 0; row < inputs.rows(); ++row)
      std::memcpy(host->data() + packedPlace.at(row, 0),
                  inputs.packed.data() + row * inputs.heads() * inputs.headDim(),
                  static_cast<size_t>(rowBytes()));
    packed = arena.input("packed rows", host->data(), bytes, packedPlace.margins, windows);
    return {};
  }

  /// Rows of cos_sin on the device for one of the inputs: far apart with huge rows.
  int64_t turnRow(int64_t position) const {
    if (launch.strides != Strides::HugeRows || inputs.shape.rotaryDim == 0)
      return position;
    const int64_t rowBytes = inputs.shape.rotaryDim * static_cast<int64_t>(sizeof(float));
    return position * ((int64_t{1} << 31) / rowBytes / 30 + 1);
  }
  std::vector<int64_t> positionsOnDevice() const {
    std::vector<int64_t> result;
    for (int64_t position : inputs.positions)
      result.push_back(turnRow(position));
    return result;
  }
  Result<void> createCosSin() {
    if (launch.strides != Strides::HugeRows || inputs.cosSin.empty()) {
      cosSin = arena.input("cos_sin", inputs.cosSin, {64, 0});
      return {};
    }
    const auto width = static_cast<size_t>(inputs.shape.rotaryDim);
    const uint64_t turnBytes = width * sizeof(float);
    const auto turns = static_cast<int64_t>(inputs.cosSin.size() / width);
    const uint64_t bytes = static_cast<uint64_t>(turnRow(turns - 1) + 1) * turnBytes;
    auto host = LazyBuffer::reserve(bytes);
    if (!host)
      return tl::unexpected(std::move(host.error()));
    std::vector<Window> windows;
    for (int64_t position : inputs.positions) {
      const uint64_t offset = static_cast<uint64_t>(turnRow(position)) * turnBytes;
      std::memcpy(host->data() + offset,
                  inputs.cosSin.data() + static_cast<size_t>(position) * width, turnBytes);
      addWithWraps(windows, offset, kWindow);
    }
    cosSin = arena.input("cos_sin", host->data(), bytes, {64, 0}, windows);
    return {};
  }

  /// Whether the launch may read the weights of a part.
  bool reads(Part part) const {
    return part == Part::K        ? inputs.shape.store.storesK
           : part == Part::IndexQ ? inputs.shape.indexHeads > 0
           : part == Part::IndexK ? inputs.shape.store.storesIndex
                                  : true;
  }

  nvfp4rt_qk_norm_rope_store_args arguments() const {
    nvfp4rt_qk_norm_rope_store_args args{};
    args.packed = arena.device<const void>(packed);
    args.packed_row_stride = packedPlace.rowStride;
    args.positions = arena.device<const int64_t>(positions);
    args.cos_sin = arena.device<const float>(cosSin); // null without RoPE
    auto weight = [&](Part part) {
      return reads(part) ? arena.device<const void>(weights[static_cast<size_t>(part)]) : nullptr;
    };
    args.q_weight = weight(Part::Q);
    args.k_weight = weight(Part::K);
    args.index_q_weight = weight(Part::IndexQ);
    args.index_k_weight = weight(Part::IndexK);
    args.q_out = arena.device<std::byte>(q);
    args.q_out_row_stride = qPlace.rowStride;
    args.q_out_head_stride = qPlace.headStride;
    if (inputs.shape.indexHeads) {
      auto *base = arena.device<std::byte>(indexQ);
      args.index_q_out = base && inPlace() ? base + firstByte(Part::IndexQ) : base;
      args.index_q_out_row_stride = indexQPlace.rowStride;
      args.index_q_out_head_stride = indexQPlace.headStride;
    }
    const nvfp4rt_kv_store_args cache = cacheArguments(/*onDevice=*/true);
    args.k_payload = cache.k_payload;
    args.k_scale = cache.k_scale;
    args.v_payload = cache.v_payload;
    args.v_scale = cache.v_scale;
    args.index_payload = cache.index_payload;
    args.index_scale = cache.index_scale;
    if (storesKv()) {
      args.slots = arena.device<const int64_t>(slots);
      args.pages = launch.pages;
    }
    if (inputs.shape.store.storesIndex) {
      args.index_slots = arena.device<const int64_t>(indexSlots);
      args.index_pages = launch.indexPages;
    }
    args.eps = inputs.eps;
    args.weight_offset = inputs.shape.gemma ? 1.0f : 0.0f;
    args.rows = static_cast<uint32_t>(inputs.rows());
    args.index_branch = inputs.shape.indexHeads > 0;
    return args;
  }

  /// Planes, for this family or for the oracle.
  nvfp4rt_kv_store_args cacheArguments(bool onDevice) const {
    nvfp4rt_kv_store_args args{};
    nvfp4rt_plane *const payloads[] = {&args.k_payload, &args.v_payload, &args.index_payload};
    nvfp4rt_plane *const scales[] = {&args.k_scale, &args.v_scale, &args.index_scale};
    for (kv_store::Tensor tensor : {kv_store::K, kv_store::V, kv_store::IndexK})
      if (kv_store::stores(inputs.shape.store, tensor)) {
        *payloads[tensor] = plane(pools.payload[tensor], tensor, onDevice);
        *scales[tensor] = plane(pools.scale[tensor], tensor, onDevice);
      }
    return args;
  }
  nvfp4rt_plane plane(const kv_store::PlanePlace &place, kv_store::Tensor tensor,
                      bool onDevice) const {
    const Arena::Buffer image = images[place.image];
    std::byte *base = onDevice ? arena.device<std::byte>(image) : arena.expected<std::byte>(image);
    return {base ? base + place.offset : nullptr, place.pageStride, place.tokenStride,
            tensor == kv_store::IndexK ? kIgnoredStride : place.headStride};
  }

  /// Where a part begins in a packed row.
  int64_t firstByte(Part part) const { return inputs.firstHead(part) * headBytes(); }

  /// q or index_q of every row, padded ones too, with float64.
  bool compareHeads(Part part, Arena::Buffer buffer, const Place &place,
                    std::vector<uint16_t> &found) {
    bool right = true;
    found.clear();
    for (int64_t row = 0; row < inputs.rows(); ++row)
      for (int64_t head = 0; head < inputs.headsOf(part); ++head) {
        const auto begin =
            static_cast<uint64_t>(place.at(row, head) + (inPlace() ? firstByte(part) : 0));
        const std::vector<oracle::NormRopeValue> values = inputs.normed(row, part, head);
        for (size_t d = 0; d < values.size(); ++d) {
          const auto got = arena.found<uint16_t>(buffer, begin + 2 * d);
          found.push_back(got);
          const bool rounds = oracle::rounds(values[d], got, dtype);
          job.report.worstError =
              std::max(job.report.worstError,
                       rounds ? shareOf(values[d], got) : std::numeric_limits<double>::infinity());
          if (rounds)
            continue;
          job.report.mismatchingBytes += 2;
          if (right)
            arena.fault(headText(part, row, head, d, values[d], got));
          right = false;
        }
        arena.accept(buffer, begin, static_cast<uint64_t>(headBytes()));
        job.report.values += values.size();
      }
    return right;
  }

  /// The error as a share of 2^-8 (bf16) or 2^-10 (fp16) of the value, and what fp32 and the
  /// smallest step of the dtype add to it.
  double shareOf(const oracle::NormRopeValue &value, uint16_t got) const {
    const double error = std::fabs(oracle::value(got, dtype) - value.value);
    if (!std::isfinite(error)) // right, and infinite or NaN
      return 0;
    const oracle::DTypeTraits traits = oracle::traits(dtype);
    const double step = std::ldexp(1, 1 - traits.bias - traits.mantissaBits);
    return error / (std::ldexp(std::fabs(value.value), dtype == oracle::DType::BF16 ? -8 : -10) +
                    std::ldexp(value.magnitude, -20) + 4 * value.underflow + step);
  }

  std::string headText(Part part, int64_t row, int64_t head, size_t d,
                       const oracle::NormRopeValue &value, uint16_t got) const {
    const bool padded = storesKv() && (launch.slots[static_cast<size_t>(row)] < 0 ||
                                       launch.slots[static_cast<size_t>(row)] >=
                                           launch.pages * inputs.shape.store.pageSize);
    return fmt::format("{} of row {}{} (position {}), head {}, element {}: expected {:.9g} rounded "
                       "once, 0x{:04x}; found 0x{:04x} ({:.9g}); input 0x{:04x}; rule W2",
                       kPartNames[static_cast<size_t>(part)], row, padded ? ", padded" : "",
                       inputs.positions[static_cast<size_t>(row)], head, d, value.value,
                       oracle::roundBits(value.value, dtype), got, oracle::value(got, dtype),
                       inputs.head(row, part, head)[d]);
  }

  /// The first heads of every row.
  std::vector<uint16_t> firstHeads(const std::vector<uint16_t> &rows, int64_t heads,
                                   int64_t count) const {
    std::vector<uint16_t> result;
    for (int64_t row = 0; row < inputs.rows(); ++row) {
      const auto begin = rows.begin() + row * heads * inputs.headDim();
      result.insert(result.end(), begin, begin + count * inputs.headDim());
    }
    return result;
  }

  const std::vector<uint16_t> &staged(kv_store::Tensor tensor, const Rounded &rounded) const {
    return tensor == kv_store::K ? rounded.k : tensor == kv_store::V ? v : rounded.indexK;
  }

  /// All other bytes: the cache with kv_store of the rounded values, and what nobody may write.
  bool compareCache(const Rounded &rounded) {
    nvfp4rt_kv_store_args cache = cacheArguments(/*onDevice=*/false);
    const int64_t kvBytes = inputs.headsOf(Part::K) * headBytes();
    cache.k = {rounded.k.data(), kvBytes, headBytes()};
    cache.v = {v.data(), kvBytes, headBytes()};
    cache.index_k = {rounded.indexK.data(), headBytes(), 0};
    cache.slots = launch.slots.data();
    cache.index_slots = launch.indexSlots.data();
    cache.pages = launch.pages;
    cache.index_pages = launch.indexPages;
    cache.rows = static_cast<uint32_t>(inputs.rows());
    oracle::kvStore(inputs.shape.store, cache);

    const bool same = arena.compare([&](Arena::Buffer buffer, uint64_t offset) {
      const auto image = std::find(images.begin(), images.end(), buffer);
      return image == images.end()
                 ? std::string()
                 : cacheText(static_cast<size_t>(image - images.begin()), offset, rounded);
    });
    kv_store::forEachStored(placement, [&](const StoredGroup &group) {
      job.report.values += 16;
      if (!same && expectedGroup(group) != foundGroup(group))
        job.report.worstError = std::numeric_limits<double>::infinity();
    });
    return same;
  }

  oracle::Group expectedGroup(const StoredGroup &group) const {
    return kv_store::groupAt(group, [&](size_t image, uint64_t byte) {
      return arena.expected<uint8_t>(images[image])[byte];
    });
  }
  oracle::Group foundGroup(const StoredGroup &group) const {
    return kv_store::groupAt(group, [&](size_t image, uint64_t byte) {
      return arena.found<uint8_t>(images[image], byte);
    });
  }

  std::string cacheText(size_t image, uint64_t offset, const Rounded &rounded) const {
    std::string text;
    kv_store::forEachStored(placement, [&](const StoredGroup &group) {
      if (!text.empty() || !group.holds(image, offset))
        return;
      const int64_t heads = kv_store::headsOf(inputs.shape.store, group.tensor);
      const auto first = static_cast<size_t>(
          (static_cast<int64_t>(group.row) * heads + group.head) * inputs.headDim() +
          group.group * 16);
      text = kv_store::storedText(
          group, group.isScale(image, offset), offset, expectedGroup(group), foundGroup(group),
          std::span<const uint16_t, 16>(staged(group.tensor, rounded).data() + first, 16), dtype);
    });
    if (text.empty())
      return kv_store::strayText(placement, image, offset);
    return text + ", W2: of the rounded values";
  }
};

} // namespace

Ran runLaunch(Job &job, const Launch &launch, const Rounded *keysFrom, Rounded &rounded) {
  return Run(job, launch).run(keysFrom, rounded);
}

bool runStaged(Job &job, const Launch &launch, const Rounded &rounded) {
  const auto sibling = findSibling(job.manifest, "kv_store", launch.request);
  if (!sibling) {
    const std::string why = "kv_store on the rounded rows: the bundle has no variant for it";
    if (std::ranges::find(job.report.skipped, why) == job.report.skipped.end())
      job.report.skipped.push_back(why);
    return true;
  }
  const Inputs &inputs = launch.inputs;
  auto groupsOf = [&](const std::vector<uint16_t> &rows) {
    std::vector<kv_store::Bits16> groups(std::max<size_t>(rows.size() / 16, 1));
    std::memcpy(groups.data(), rows.data(), rows.size() * sizeof(uint16_t));
    return groups;
  };
  std::vector<uint16_t> v;
  for (int64_t row = 0; row < inputs.rows(); ++row)
    for (int64_t head = 0; head < inputs.headsOf(Part::V); ++head)
      v.insert(v.end(), inputs.head(row, Part::V, head).begin(),
               inputs.head(row, Part::V, head).end());
  const auto k = groupsOf(rounded.k), values = groupsOf(v), indexK = groupsOf(rounded.indexK);
  kv_store::Inputs streams = {kv_store::GroupStream(k, 0), kv_store::GroupStream(values, 0),
                              kv_store::GroupStream(indexK, 0)};
  const kv_store::Launch staged{.request = sibling->request,
                                .shape = inputs.shape.store,
                                .layout = launch.layout,
                                .order = launch.order,
                                .pages = launch.pages,
                                .indexPages = launch.indexPages,
                                .slots = launch.slots,
                                .indexSlots = launch.indexSlots,
                                .sparse = launch.hugePools,
                                .what = "kv_store on the rounded rows"};
  Job kvStore{job.target, job.manifest, *sibling->variant, job.seed, job.report};
  const uint64_t before = job.report.mismatchingBytes;
  return kv_store::runLaunch(kvStore, staged, streams).has_value() &&
         job.report.mismatchingBytes == before;
}

} // namespace verify::norm_rope
