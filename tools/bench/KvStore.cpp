//===- KvStore.cpp - the bench of kv_store ------------------------------------===//
//
// Owns: benchKvStore (rule W1). Rows of a decode step go to a page each, those of a
// prefill chunk fill pages one after the other.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/FamilyBenches.h"
#include "tools/bench/Inputs.h"
#include "tools/bench/Parts.h"

#include "runtime/include/nvfp4rt_args.h"

namespace bench {

using nvfp4rt::Field;
using nvfp4rt::Variant;

namespace {

struct Config {
  int64_t dtype = 0, pageSize = 0;
  int64_t kvHeads = 0, headDim = 0, indexHeadDim = 0; ///< 0 where nothing of it is stored
  bool k = false, v = false, index = false;
};

Result<Config> configOf(const Variant &variant) {
  Config config;
  Error error;
  auto read = [&](Field field, int64_t &to) {
    auto value = bench::configOf(variant, field);
    if (value)
      to = *value;
    else
      error = std::move(value.error());
    return value.has_value();
  };
  int64_t planes = 0;
  if (!read(Field::dtype, config.dtype) || !read(Field::page_size, config.pageSize) ||
      !read(Field::planes, planes))
    return tl::unexpected(std::move(error));
  const std::string stored = nvfp4rt::valueText(Field::planes, planes);
  config.k = stored.find('k') != std::string::npos;
  config.v = stored.find('v') != std::string::npos;
  config.index = stored.find('i') != std::string::npos;
  if ((config.k || config.v) &&
      (!read(Field::kv_heads, config.kvHeads) || !read(Field::head_dim, config.headDim)))
    return tl::unexpected(std::move(error));
  if (config.index && !read(Field::index_head_dim, config.indexHeadDim))
    return tl::unexpected(std::move(error));
  return config;
}

/// Buffers of one launch.
class Launch {
public:
  Launch(Device &device, const Config &config, const Shape &shape)
      : device(device), config(config), shape(shape) {}

  Result<void> prepare() {
    const int64_t rows = shape.rows();
    const int64_t perPage = shape.isPrefill() ? config.pageSize : 1;
    args.pages = args.index_pages = (rows + perPage - 1) / perPage;
    args.rows = static_cast<uint32_t>(rows);
    if (config.k)
      add("k", config.kvHeads, config.headDim, args.k, args.k_payload, args.k_scale);
    if (config.v)
      add("v", config.kvHeads, config.headDim, args.v, args.v_payload, args.v_scale);
    if (config.k || config.v)
      args.slots = addSlots("slots");
    if (config.index) {
      add("index_k", 1, config.indexHeadDim, args.index_k, args.index_payload, args.index_scale);
      args.index_slots = addSlots("index_slots");
    }
    if (!error.message.empty())
      return tl::unexpected(std::move(error));
    return {};
  }

  nvfp4rt_kv_store_args args{};
  Demand demand;

private:
  Device &device;
  Config config;
  const Shape &shape;
  std::vector<Buffer> buffers;
  Error error; ///< the first; its message is empty until there is one

  /// A view of memory that `buffers` owns; empty after an error.
  Buffer &allocate(std::string name, uint64_t bytes) {
    Buffer &buffer = buffers.emplace_back();
    if (!error.message.empty())
      return buffer;
    if (auto allocated = device.allocate(std::move(name), bytes))
      buffer = std::move(*allocated);
    else
      error = std::move(allocated.error());
    return buffer;
  }

  void add(const std::string &name, int64_t heads, int64_t dim, nvfp4rt_rows &rows,
           nvfp4rt_plane &payload, nvfp4rt_plane &scale) {
    const int64_t rowBytes = heads * dim * 2;
    Buffer &input = allocate(name, static_cast<uint64_t>(shape.rows() * rowBytes));
    fillValues(input, config.dtype);
    rows = {input.data(), rowBytes, dim * 2};
    demand.floorRead += input.size();
    for (auto [plane, suffix, bytes] :
         {std::tuple(&payload, "_payload", dim / 2), std::tuple(&scale, "_scale", dim / 16)}) {
      const int64_t page = config.pageSize * heads * bytes;
      Buffer &pool = allocate(name + suffix, static_cast<uint64_t>(args.pages * page));
      *plane = {pool.data(), page, heads * bytes, bytes};
      demand.floorWritten += static_cast<uint64_t>(shape.rows() * heads * bytes);
    }
  }

  const int64_t *addSlots(std::string name) {
    const auto rows = static_cast<size_t>(shape.rows());
    Buffer &slots = allocate(std::move(name), rows * sizeof(int64_t));
    demand.floorRead += slots.size();
    if (slots.size() == 0)
      return nullptr;
    fillSlots(slots, shape, config.pageSize, args.pages);
    return slots.as<int64_t>();
  }
};

Result<Outcome> run(Device &device, const Shape &shape) {
  return runRows<Launch>(device, shape, "kv_store", configOf);
}

} // namespace

const FamilyBench &benchKvStore() {
  static const FamilyBench bench{
      "row", "rows and slots read once, payload and scale bytes written once", rowShapes(), run};
  return bench;
}

} // namespace bench
