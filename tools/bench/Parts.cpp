//===- Parts.cpp - what launches are made of ----------------------------------===//
//
// Owns: what Parts.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Parts.h"
#include "tools/bench/Inputs.h"

#include <algorithm>
#include <cmath>

namespace bench {

Buffer *Allocator::add(std::string name, uint64_t bytes) {
  if (error)
    return nullptr;
  auto buffer = device.allocate(std::move(name), bytes);
  if (!buffer) {
    error = std::move(buffer.error());
    return nullptr;
  }
  return &buffers.emplace_back(std::move(*buffer));
}

Result<void> Allocator::result() {
  if (error)
    return tl::unexpected(std::move(*error));
  return {};
}

Result<void> readFields(const nvfp4rt::Variant &variant,
                        std::initializer_list<std::pair<nvfp4rt::Field, int64_t *>> fields) {
  for (const auto &[field, to] : fields) {
    auto value = configOf(variant, field);
    if (!value)
      return errorOf(value);
    *to = *value;
  }
  return {};
}

float usualScoreScale(int64_t headDim) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(headDim))) * 1.4426950409f;
}

BlockTable BlockTable::create(Allocator &allocator, const std::vector<int64_t> &lens,
                              int64_t pageSize) {
  BlockTable table;
  int64_t longest = 0;
  for (int64_t len : lens) {
    table.pages += ceilDiv(len, pageSize);
    longest = std::max(longest, ceilDiv(len, pageSize));
  }
  table.stride = longest * static_cast<int64_t>(sizeof(int32_t));
  const uint64_t count = lens.size() * static_cast<uint64_t>(longest);
  auto *entries = allocator.allocate<int32_t>("block_table", count);
  table.entries = entries;
  if (!entries)
    return table;
  std::fill_n(entries, count, -1);
  const std::vector<int32_t> shuffled = permutation(table.pages, 1);
  size_t next = 0;
  for (size_t r = 0; r < lens.size(); ++r)
    for (int64_t page = 0; page < ceilDiv(lens[r], pageSize); ++page)
      entries[static_cast<int64_t>(r) * longest + page] = shuffled[next++];
  return table;
}

IdLists IdLists::create(Allocator &allocator, uint64_t rows, int64_t heads, int64_t topK) {
  IdLists lists;
  lists.headStride = topK * static_cast<int64_t>(sizeof(int32_t));
  lists.rowStride = heads * lists.headStride;
  lists.lists = rows * static_cast<uint64_t>(heads);
  lists.ids = allocator.allocate<int32_t>("ids", lists.bytes() / sizeof(int32_t));
  return lists;
}

} // namespace bench
