//===- Parts.h - what launches are made of ------------------------------------===//
//
// Owns: how the benches of the writers run a launch; what those of the block selectors
// and of attention share below the step: buffers of a launch, fields of a guard, the
// block table, id lists and the score scale.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_PARTS_H
#define NVFP4GEN_TOOLS_BENCH_PARTS_H

#include "tools/bench/Device.h"
#include "tools/bench/FamilyBenches.h"

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

template <typename T> tl::unexpected<Error> errorOf(Result<T> &result) {
  return tl::unexpected(std::move(result.error()));
}

/// Run a writer, which is measured by the row. `Launch` prepares the arguments and the demand of a
/// launch from what `configOf` reads of its variant.
template <typename Launch, typename ConfigOf>
Result<Outcome> runRows(Device &device, const Shape &shape, const char *family, ConfigOf configOf) {
  auto variant = device.select(family, shape);
  if (!variant)
    return errorOf(variant);
  auto config = configOf(**variant);
  if (!config)
    return errorOf(config);
  Launch launch(device, *config, shape);
  if (auto prepared = launch.prepare(); !prepared)
    return errorOf(prepared);
  auto measured = device.measure(**variant, launch.args);
  if (!measured)
    return errorOf(measured);
  launch.demand.units = static_cast<uint64_t>(shape.rows());
  return Outcome{launch.demand, std::move(*measured)};
}

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Buffers of a launch; they stay where they are when the container moves.
using Buffers = std::deque<Buffer>;

/// Allocates into `buffers` until the first error.
class Allocator {
public:
  Allocator(Device &device, Buffers &buffers) : device(device), buffers(buffers) {}

  /// Null after an error.
  Buffer *add(std::string name, uint64_t bytes);
  template <typename T> T *allocate(std::string name, uint64_t count) {
    const Buffer *buffer = add(std::move(name), count * sizeof(T));
    return buffer ? buffer->as<T>() : nullptr;
  }
  Result<void> result();

private:
  Device &device;
  Buffers &buffers;
  std::optional<Error> error; ///< the first
};

/// Read what a variant was specialized for.
Result<void> readFields(const nvfp4rt::Variant &variant,
                        std::initializer_list<std::pair<nvfp4rt::Field, int64_t *>> fields);

/// log2e times the usual scale of a score.
float usualScoreScale(int64_t headDim);

/// Page ids of every request. Its pages are scattered over a pool that has no others; entries past
/// its end are no pages.
struct BlockTable {
  const int32_t *entries = nullptr;
  int64_t stride = 0; ///< bytes
  int64_t pages = 0;  ///< of the pool

  static BlockTable create(Allocator &allocator, const std::vector<int64_t> &lens,
                           int64_t pageSize);
};

/// Ordered id lists of every row and head.
struct IdLists {
  int32_t *ids = nullptr;
  int64_t rowStride = 0, headStride = 0;
  uint64_t lists = 0;

  static IdLists create(Allocator &allocator, uint64_t rows, int64_t heads, int64_t topK);

  uint64_t bytes() const { return lists * static_cast<uint64_t>(headStride); }
  template <typename Args> void apply(Args &args) const {
    args.ids = ids;
    args.ids_row_stride = rowStride;
    args.ids_head_stride = headStride;
  }
};

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_PARTS_H
