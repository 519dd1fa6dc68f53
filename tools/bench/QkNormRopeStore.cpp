//===- QkNormRopeStore.cpp - the bench of qk_norm_rope_store ------------------===//
//
// Owns: benchQkNormRopeStore (rule W2). Slots as in kv_store's bench: rows of a decode
// step go to a page each, those of a prefill chunk fill pages one after the other.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/FamilyBenches.h"
#include "tools/bench/Inputs.h"
#include "tools/bench/Parts.h"

#include "runtime/include/nvfp4rt_args.h"

#include <deque>

namespace bench {

using nvfp4rt::Field;
using nvfp4rt::Variant;

namespace {

constexpr int64_t kElementBytes = 2; // of the model dtypes

struct Config {
  int64_t dtype = 0, pageSize = 0, planes = 0;
  int64_t qHeads = 0, kvHeads = 0, headDim = 0, indexHeads = 0, indexHeadDim = 0, rotaryDim = 0;
  bool stores(char plane) const {
    return nvfp4rt::valueText(Field::planes, planes).find(plane) != std::string::npos;
  }
};

Result<Config> configOf(const Variant &variant) {
  Config config;
  for (auto [field, to] :
       {std::pair(Field::dtype, &config.dtype), std::pair(Field::page_size, &config.pageSize),
        std::pair(Field::planes, &config.planes), std::pair(Field::q_heads, &config.qHeads),
        std::pair(Field::kv_heads, &config.kvHeads), std::pair(Field::head_dim, &config.headDim),
        std::pair(Field::index_heads, &config.indexHeads),
        std::pair(Field::index_head_dim, &config.indexHeadDim),
        std::pair(Field::rotary_dim, &config.rotaryDim)}) {
    auto value = bench::configOf(variant, field);
    if (!value)
      return tl::unexpected(std::move(value.error()));
    *to = *value;
  }
  return config;
}

/// Buffers of one launch.
class Launch {
public:
  Launch(Device &device, const Config &config, const Shape &shape)
      : device(device), config(config), shape(shape), rows(shape.rows()) {}

  Result<void> prepare() {
    const int64_t perPage = shape.isPrefill() ? config.pageSize : 1;
    args.pages = args.index_pages = (rows + perPage - 1) / perPage;
    args.rows = static_cast<uint32_t>(rows);
    args.eps = 1e-6F;
    args.weight_offset = 1;
    args.index_branch = 1;

    const bool k = config.stores('k'), v = config.stores('v'), index = config.stores('i');
    const int64_t head = config.headDim * kElementBytes;
    const int64_t indexHead = config.indexHeadDim * kElementBytes;
    addPacked(head, indexHead, k, v, index);
    args.q_weight = addWeight("q_weight", config.headDim);
    args.index_q_weight = addWeight("index_q_weight", config.indexHeadDim);
    addPositions();
    args.q_out = addRows("q_out", config.qHeads * head);
    args.q_out_row_stride = config.qHeads * head;
    args.q_out_head_stride = head;
    args.index_q_out = addRows("index_q_out", config.indexHeads * indexHead);
    args.index_q_out_row_stride = config.indexHeads * indexHead;
    args.index_q_out_head_stride = indexHead;

    int64_t stagedPerRow = 0;
    if (k) {
      args.k_weight = addWeight("k_weight", config.headDim);
      addPlanes("k", config.kvHeads, config.headDim, args.k_payload, args.k_scale);
      stagedPerRow += config.kvHeads * head;
    }
    if (v)
      addPlanes("v", config.kvHeads, config.headDim, args.v_payload, args.v_scale);
    if (k || v)
      args.slots = addSlots("slots");
    if (index) {
      args.index_k_weight = addWeight("index_k_weight", config.indexHeadDim);
      addPlanes("index_k", 1, config.indexHeadDim, args.index_payload, args.index_scale);
      args.index_slots = addSlots("index_slots");
      stagedPerRow += indexHead;
    }
    demand.replaced =
        Replaced{"norm and RoPE into q, index_q and a staging buffer for K and the index key, then "
                 "kv_store, "
                 "each at its floor",
                 demand.floorBytes() + 2 * static_cast<uint64_t>(rows * stagedPerRow), 2};
    if (!error.message.empty())
      return tl::unexpected(std::move(error));
    return {};
  }

  nvfp4rt_qk_norm_rope_store_args args{};
  Demand demand;

private:
  Device &device;
  Config config;
  const Shape &shape;
  int64_t rows;
  std::deque<Buffer> buffers; ///< references into it stay valid
  Error error;                ///< the first; its message is empty until there is one

  /// A view of memory that `buffers` owns; empty after an error.
  Buffer &allocate(std::string name, int64_t bytes) {
    Buffer &buffer = buffers.emplace_back();
    if (!error.message.empty())
      return buffer;
    if (auto allocated = device.allocate(std::move(name), static_cast<uint64_t>(bytes)))
      buffer = std::move(*allocated);
    else
      error = std::move(allocated.error());
    return buffer;
  }

  /// The heads of a plane that is not stored need not be read.
  void addPacked(int64_t head, int64_t indexHead, bool k, bool v, bool index) {
    const int64_t kv = config.kvHeads * head;
    const int64_t always = config.qHeads * head + config.indexHeads * indexHead;
    args.packed_row_stride = always + 2 * kv + indexHead;
    const Buffer &packed = allocate("packed", rows * args.packed_row_stride);
    fillValues(packed, config.dtype);
    args.packed = packed.data();
    demand.floorRead += static_cast<uint64_t>(
        rows * (always + (k ? kv : 0) + (v ? kv : 0) + (index ? indexHead : 0)));
  }

  const void *addWeight(std::string name, int64_t dim) {
    const Buffer &weight = allocate(std::move(name), dim * kElementBytes);
    fillValues(weight, config.dtype);
    demand.floorRead += weight.size();
    return weight.data();
  }

  /// Each row at its own position: of a cache with as many rows, each is read once.
  void addPositions() {
    if (config.rotaryDim == 0)
      return;
    const Buffer &positions = allocate("positions", rows * int64_t{sizeof(int64_t)});
    const Buffer &cosSin = allocate("cos_sin", rows * config.rotaryDim * int64_t{sizeof(float)});
    demand.floorRead += positions.size() + cosSin.size();
    if (!error.message.empty())
      return;
    fillScores(cosSin);
    const std::vector<int32_t> order = permutation(rows, 2);
    for (size_t row = 0; row < order.size(); ++row)
      positions.as<int64_t>()[row] = shape.isPrefill() ? static_cast<int64_t>(row) : order[row];
    args.positions = positions.as<int64_t>();
    args.cos_sin = cosSin.as<float>();
  }

  void *addRows(std::string name, int64_t rowBytes) {
    const Buffer &out = allocate(std::move(name), rows * rowBytes);
    demand.floorWritten += out.size();
    return out.data();
  }

  void addPlanes(const std::string &name, int64_t heads, int64_t dim, nvfp4rt_plane &payload,
                 nvfp4rt_plane &scale) {
    for (auto [plane, suffix, bytes] :
         {std::tuple(&payload, "_payload", dim / 2), std::tuple(&scale, "_scale", dim / 16)}) {
      const int64_t page = config.pageSize * heads * bytes;
      const Buffer &pool = allocate(name + suffix, args.pages * page);
      *plane = {pool.data(), page, heads * bytes, bytes};
      demand.floorWritten += static_cast<uint64_t>(rows * heads * bytes);
    }
  }

  const int64_t *addSlots(std::string name) {
    const Buffer &slots = allocate(std::move(name), rows * int64_t{sizeof(int64_t)});
    demand.floorRead += slots.size();
    if (slots.size() > 0)
      fillSlots(slots, shape, config.pageSize, args.pages);
    return slots.as<int64_t>();
  }
};

Result<Outcome> run(Device &device, const Shape &shape) {
  return runRows<Launch>(device, shape, "qk_norm_rope_store", configOf);
}

} // namespace

const FamilyBench &benchQkNormRopeStore() {
  static const FamilyBench bench{"row",
                                 "packed rows, positions, cosines and sines, slots and each norm "
                                 "weight read once, q, index_q, "
                                 "payload and scale bytes written once",
                                 rowShapes(), run};
  return bench;
}

} // namespace bench
