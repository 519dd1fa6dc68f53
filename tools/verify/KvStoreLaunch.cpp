//===- KvStoreLaunch.cpp - one checked kv_store launch ----------------------===//
//
// Owns: buffers of a launch on both sides, the launch, and the comparison.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreLaunch.h"
#include "tools/verify/KvStoreGroups.h"
#include "tools/verify/KvStoreMismatch.h"

#include <cstring>
#include <fmt/format.h>

namespace verify::kv_store {

namespace {

/// Bytes that a launch reads and must not change.
struct ReadOnly {
  std::vector<std::byte> host;
  DeviceMemory memory;

  Result<void> upload(Target &target) {
    if (host.empty())
      return {};
    auto allocated = DeviceMemory::allocate(target, host.size());
    if (!allocated)
      return tl::unexpected(std::move(allocated.error()));
    memory = std::move(*allocated);
    return target.write(memory.get(), host.data(), host.size());
  }

  /// Whether the device still holds what was uploaded.
  Result<bool> unchanged(Target &target) const {
    if (host.empty())
      return true;
    std::vector<std::byte> now(host.size());
    if (auto read = target.read(now.data(), memory.get(), now.size()); !read)
      return tl::unexpected(std::move(read.error()));
    return now == host;
  }
};

ReadOnly slotBuffer(const std::vector<int64_t> &slots) {
  ReadOnly buffer;
  buffer.host.resize(slots.size() * sizeof(int64_t));
  if (!slots.empty())
    std::memcpy(buffer.host.data(), slots.data(), buffer.host.size());
  return buffer;
}

/// Buffers of a launch, on the host for the oracle and on the device for the kernel.
class Buffers {
public:
  Buffers(const Launch &launch)
      : launch(launch), pools(poolLayout(launch.shape, launch.layout, launch.order, launch.pages,
                                         launch.indexPages)),
        inputPlan(
            inputLayout(launch.shape, launch.layout, static_cast<int64_t>(launch.slots.size()))),
        slots(slotBuffer(launch.slots)), indexSlots(slotBuffer(launch.indexSlots)) {}

  Result<void> create(Target &target, uint64_t seed, Inputs &inputs) {
    const Placement placement{launch.shape,      pools,        launch.pages,
                              launch.indexPages, launch.slots, launch.indexSlots};
    for (size_t i = 0; i < pools.imageBytes.size(); ++i) {
      const uint64_t size = static_cast<uint64_t>(pools.imageBytes[i]);
      auto image = Image::create(
          target, size,
          launch.sparse ? sparseWindows(placement, i) : std::vector<Window>{{0, size}}, seed + i);
      if (!image)
        return tl::unexpected(std::move(image.error()));
      images.push_back(std::move(*image));
    }
    fillInputs(inputs);
    for (ReadOnly &buffer : rows)
      if (auto uploaded = buffer.upload(target); !uploaded)
        return uploaded;
    if (auto uploaded = slots.upload(target); !uploaded)
      return uploaded;
    return indexSlots.upload(target);
  }

  nvfp4rt_kv_store_args args(bool onDevice) const {
    nvfp4rt_kv_store_args args{};
    nvfp4rt_rows *const rowArgs[kTensors] = {&args.k, &args.v, &args.index_k};
    nvfp4rt_plane *const payloads[kTensors] = {&args.k_payload, &args.v_payload,
                                               &args.index_payload};
    nvfp4rt_plane *const scales[kTensors] = {&args.k_scale, &args.v_scale, &args.index_scale};
    for (Tensor tensor : {K, V, IndexK}) {
      if (!stores(launch.shape, tensor))
        continue;
      const RowsPlace &place = inputPlan.rows[tensor];
      *rowArgs[tensor] = {address(rows[place.buffer], onDevice, place.offset), place.rowStride,
                          tensor == IndexK ? kIgnoredStride : place.headStride};
      *payloads[tensor] = plane(pools.payload[tensor], tensor, onDevice);
      *scales[tensor] = plane(pools.scale[tensor], tensor, onDevice);
    }
    if (launch.shape.storesK || launch.shape.storesV)
      args.slots = static_cast<const int64_t *>(address(slots, onDevice, 0));
    if (launch.shape.storesIndex)
      args.index_slots = static_cast<const int64_t *>(address(indexSlots, onDevice, 0));
    args.pages = launch.pages;
    args.index_pages = launch.indexPages;
    args.rows = static_cast<uint32_t>(launch.slots.size());
    return args;
  }

  Result<void> readBack(Target &target) {
    for (Image &image : images)
      if (auto read = image.readBack(target); !read)
        return read;
    return {};
  }

  Result<bool> inputsUnchanged(Target &target) const {
    for (const ReadOnly &buffer : rows)
      if (auto same = buffer.unchanged(target); !same || !*same)
        return same;
    if (auto same = slots.unchanged(target); !same || !*same)
      return same;
    return indexSlots.unchanged(target);
  }

  Comparison comparison() const {
    Comparison result{launch, pools, images, {}};
    for (Tensor tensor : {K, V, IndexK})
      if (stores(launch.shape, tensor)) {
        const RowsPlace &place = inputPlan.rows[tensor];
        result.inputs[tensor] = {rows[place.buffer].host.data() + place.offset, place.rowStride,
                                 place.headStride};
      }
    return result;
  }

private:
  const Launch &launch;
  PoolLayout pools;
  InputLayout inputPlan;
  std::vector<Image> images;
  std::vector<ReadOnly> rows;
  ReadOnly slots, indexSlots;

  static const void *address(const ReadOnly &buffer, bool onDevice, int64_t offset) {
    if (buffer.host.empty())
      return nullptr;
    const auto *base =
        onDevice ? static_cast<const std::byte *>(buffer.memory.get()) : buffer.host.data();
    return base + offset;
  }

  nvfp4rt_plane plane(const PlanePlace &place, Tensor tensor, bool onDevice) const {
    const Image &image = images[place.image];
    return {(onDevice ? image.device() : image.expected()) + place.offset, place.pageStride,
            place.tokenStride, tensor == IndexK ? kIgnoredStride : place.headStride};
  }

  void fillInputs(Inputs &inputs) {
    for (int64_t bytes : inputPlan.bufferBytes) {
      // Elements around ours are NaN: reading them as data shows.
      rows.emplace_back();
      rows.back().host.assign(launch.slots.empty() ? 0 : static_cast<size_t>(bytes),
                              std::byte{0x7F});
    }
    for (Tensor tensor : {K, V, IndexK}) {
      if (!stores(launch.shape, tensor))
        continue;
      const RowsPlace &place = inputPlan.rows[tensor];
      for (size_t row = 0; row < launch.slots.size(); ++row)
        for (int64_t head = 0; head < headsOf(launch.shape, tensor); ++head) {
          std::byte *to = rows[place.buffer].host.data() + place.offset +
                          static_cast<int64_t>(row) * place.rowStride + head * place.headStride;
          for (int64_t g = 0; g < headDimOf(launch.shape, tensor) / 16; ++g)
            std::memcpy(to + g * 32, inputs[tensor].take().data(), 32);
        }
    }
  }
};

} // namespace

uint64_t poolBytes(const Launch &launch) {
  uint64_t bytes = 0;
  for (int64_t image :
       poolLayout(launch.shape, launch.layout, launch.order, launch.pages, launch.indexPages)
           .imageBytes)
    bytes += static_cast<uint64_t>(image);
  return bytes;
}

Result<void> runLaunch(Job &job, const Launch &launch, Inputs &inputs) {
  const std::string where = fmt::format(
      "{} ({} layout, {}, {} rows)", launch.what, kLayoutNames[static_cast<size_t>(launch.layout)],
      launch.order == Order::NHD ? "nhd" : "hnd", launch.slots.size());
  auto failed = [&](Error error) -> Result<void> {
    if (error.code != NVFP4RT_ERROR_OUT_OF_MEMORY)
      job.fault(fmt::format("{}: {}", where, error.message));
    return tl::unexpected(std::move(error));
  };
  Buffers buffers(launch);
  if (auto created = buffers.create(job.target, job.seed + job.report.launches, inputs); !created)
    return failed(std::move(created.error()));

  oracle::kvStore(launch.shape, buffers.args(/*onDevice=*/false));
  const nvfp4rt_kv_store_args args = buffers.args(/*onDevice=*/true);
  ++job.report.launches;
  if (auto done = job.target.launch(job.variant, launch.request, &args, sizeof(args)); !done)
    return failed(std::move(done.error()));

  if (auto read = buffers.readBack(job.target); !read)
    return failed(std::move(read.error()));
  const Outcome outcome = compare(buffers.comparison());
  job.report.values += outcome.values;
  job.report.bytesCompared += outcome.bytesCompared;
  job.report.mismatchingBytes += outcome.mismatchingBytes;
  job.report.worstError = std::max(job.report.worstError, outcome.worstError);
  if (outcome.mismatchingBytes)
    job.fault(fmt::format("{}: {}", where, outcome.first));

  auto same = buffers.inputsUnchanged(job.target);
  if (!same)
    return failed(std::move(same.error()));
  if (!*same)
    job.fault(
        fmt::format("{}: W1: expected inputs and slots as they were, found them changed", where));
  return {};
}

} // namespace verify::kv_store
