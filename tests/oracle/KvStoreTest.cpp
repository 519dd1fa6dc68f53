//===- KvStoreTest.cpp - W1, P1 and P2 of the host reference ----------------===//

#include "tools/oracle/Oracle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

using oracle::DType;

namespace {

constexpr uint8_t kCanary = 0xA5;
constexpr int64_t kHeadDim = 128;

/// Host buffers of a launch, NHD or HND, with optional gaps between tokens and pages.
struct Launch {
  oracle::KvStoreShape shape;
  std::vector<uint16_t> k, v, index;
  std::vector<int64_t> slots, indexSlots;
  std::vector<uint8_t> kPayload, kScale, vPayload, vScale, indexPayload, indexScale;
  nvfp4rt_kv_store_args args{};

  Launch(int64_t heads, int64_t pageSize, int64_t pages, int64_t indexPages,
         std::vector<int64_t> slotList, std::vector<int64_t> indexSlotList, bool hnd = false,
         int64_t gap = 0)
      : slots(std::move(slotList)), indexSlots(std::move(indexSlotList)) {
    shape = {DType::BF16, heads, kHeadDim, kHeadDim, pageSize, true, true, true};
    const size_t rows = slots.size();
    k = values(rows * size_t(heads), 1);
    v = values(rows * size_t(heads), 2);
    index = values(rows, 3);
    args.k = {k.data(), heads * kHeadDim * 2, kHeadDim * 2};
    args.v = {v.data(), heads * kHeadDim * 2, kHeadDim * 2};
    args.index_k = {index.data(), kHeadDim * 2, -1}; // ignored
    args.k_payload = plane(kPayload, pages, heads, 64, hnd, gap);
    args.k_scale = plane(kScale, pages, heads, 8, hnd, gap);
    args.v_payload = plane(vPayload, pages, heads, 64, hnd, gap);
    args.v_scale = plane(vScale, pages, heads, 8, hnd, gap);
    args.index_payload = plane(indexPayload, indexPages, 1, 64, false, gap);
    args.index_scale = plane(indexScale, indexPages, 1, 8, false, gap);
    args.index_payload.head_stride = args.index_scale.head_stride = -1; // ignored
    args.slots = slots.data();
    args.index_slots = indexSlots.data();
    args.pages = pages;
    args.index_pages = indexPages;
    args.rows = static_cast<uint32_t>(rows);
  }

  void run() { oracle::kvStore(shape, args); }

  static std::vector<uint16_t> values(size_t rows, uint64_t seed) {
    std::vector<uint16_t> result;
    for (const auto &group : oracle::randomGroups(DType::BF16, rows * 8, seed))
      result.insert(result.end(), group.begin(), group.end());
    return result;
  }

  nvfp4rt_plane plane(std::vector<uint8_t> &bytes, int64_t pages, int64_t heads, int64_t rowBytes,
                      bool hnd, int64_t gap) const {
    int64_t token = (hnd ? rowBytes : heads * rowBytes) + gap;
    int64_t head = hnd ? shape.pageSize * token : rowBytes;
    int64_t page = (hnd ? heads * head : shape.pageSize * token) + gap;
    bytes.assign(size_t(pages * page), kCanary);
    return {bytes.data(), page, token, head};
  }
};

std::vector<uint8_t> expectedPayload(const uint16_t *row) {
  std::vector<uint8_t> result;
  for (size_t g = 0; g < 8; ++g) {
    auto group = oracle::quantize(std::span<const uint16_t, 16>(row + 16 * g, 16), DType::BF16);
    result.insert(result.end(), group.payload.begin(), group.payload.end());
  }
  return result;
}

std::vector<uint8_t> expectedScale(const uint16_t *row) {
  std::vector<uint8_t> result(8);
  for (size_t g = 0; g < 8; ++g)
    result[g] =
        oracle::quantize(std::span<const uint16_t, 16>(row + 16 * g, 16), DType::BF16).scale;
  return result;
}

/// Put `bytes` at `offset` of a canary image.
void put(std::vector<uint8_t> &image, size_t offset, const std::vector<uint8_t> &bytes) {
  std::copy(bytes.begin(), bytes.end(), image.begin() + ptrdiff_t(offset));
}

// P1, F1, F3: NHD, two heads, page 4; the offsets are worked out by hand.
TEST(KvStore, DenseNhdOffsets) {
  Launch launch(2, 4, 3, 2, {9, 0}, {7, 2}); // page 2 token 1, page 0 token 0
  launch.run();
  const uint16_t *k = launch.k.data(), *index = launch.index.data();
  std::vector<uint8_t> payload(3 * 4 * 2 * 64, kCanary), scale(3 * 4 * 2 * 8, kCanary);
  put(payload, 9 * 128, expectedPayload(k));            // row 0 head 0
  put(payload, 9 * 128 + 64, expectedPayload(k + 128)); // row 0 head 1
  put(payload, 0, expectedPayload(k + 256));
  put(payload, 64, expectedPayload(k + 384));
  put(scale, 9 * 16, expectedScale(k));
  put(scale, 9 * 16 + 8, expectedScale(k + 128));
  put(scale, 0, expectedScale(k + 256));
  put(scale, 8, expectedScale(k + 384));
  EXPECT_EQ(launch.kPayload, payload);
  EXPECT_EQ(launch.kScale, scale);

  std::vector<uint8_t> indexPayload(2 * 4 * 64, kCanary), indexScale(2 * 4 * 8, kCanary);
  put(indexPayload, 7 * 64, expectedPayload(index));
  put(indexPayload, 2 * 64, expectedPayload(index + 128));
  put(indexScale, 7 * 8, expectedScale(index));
  put(indexScale, 2 * 8, expectedScale(index + 128));
  EXPECT_EQ(launch.indexPayload, indexPayload);
  EXPECT_EQ(launch.indexScale, indexScale);

  std::vector<uint8_t> vPayload(payload.size(), kCanary);
  put(vPayload, 9 * 128, expectedPayload(launch.v.data()));
  put(vPayload, 9 * 128 + 64, expectedPayload(launch.v.data() + 128));
  put(vPayload, 0, expectedPayload(launch.v.data() + 256));
  put(vPayload, 64, expectedPayload(launch.v.data() + 384));
  EXPECT_EQ(launch.vPayload, vPayload);
}

// P1: HND with gaps; nothing but the rows changes.
TEST(KvStore, HndWithGaps) {
  Launch launch(3, 16, 2, 1, {17}, {5}, /*hnd=*/true, /*gap=*/4);
  launch.run();
  // Token stride 68, head stride 16 * 68, page stride 3 * 16 * 68 + 4.
  std::vector<uint8_t> payload(launch.vPayload.size(), kCanary);
  for (size_t head = 0; head < 3; ++head)
    put(payload, 3 * 16 * 68 + 4 + 68 + head * 16 * 68,
        expectedPayload(launch.v.data() + head * 128));
  EXPECT_EQ(launch.vPayload, payload);
}

// P2: pads and slots past the end write nothing, in either pool on its own.
TEST(KvStore, PadsAndSlotsPastTheEnd) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Launch launch(1, 4, 3, 2, {-1, -2, kMin, 12, 13, 12 + 5, (int64_t{1} << 32) + 1, kMax, 11},
                {7, 8, -1, kMin, kMax, 8 + 3, 9, (int64_t{1} << 32), 0});
  launch.run();
  std::vector<uint8_t> payload(12 * 64, kCanary), indexPayload(8 * 64, kCanary);
  put(payload, 11 * 64, expectedPayload(launch.k.data() + 8 * 128));
  put(indexPayload, 7 * 64, expectedPayload(launch.index.data()));
  put(indexPayload, 0, expectedPayload(launch.index.data() + 8 * 128));
  EXPECT_EQ(launch.kPayload, payload);
  EXPECT_EQ(launch.indexPayload, indexPayload);
}

TEST(KvStore, NoRowsTouchNothing) {
  Launch launch(2, 4, 1, 1, {}, {});
  launch.args.k = launch.args.v = launch.args.index_k = {};
  launch.args.slots = launch.args.index_slots = nullptr;
  launch.run();
  EXPECT_EQ(launch.kPayload, std::vector<uint8_t>(launch.kPayload.size(), kCanary));
}

// W1: any of the three may be absent; its pointers are not read.
TEST(KvStore, AbsentPlanesAreNotTouched) {
  Launch launch(1, 4, 1, 1, {2}, {3});
  launch.shape.storesV = launch.shape.storesIndex = false;
  launch.args.v = launch.args.index_k = {};
  launch.args.v_payload = launch.args.v_scale = {};
  launch.args.index_payload = launch.args.index_scale = {};
  launch.args.index_slots = nullptr;
  launch.run();
  EXPECT_NE(launch.kPayload[2 * 64], kCanary);
  EXPECT_EQ(launch.vPayload, std::vector<uint8_t>(4 * 64, kCanary));
  EXPECT_EQ(launch.indexPayload, std::vector<uint8_t>(4 * 64, kCanary));
}

// P1: row and head strides of the input, as in a packed qkv row.
TEST(KvStore, InputStrides) {
  Launch dense(2, 4, 2, 1, {1, 6}, {0, 1});
  dense.run();
  Launch packed(2, 4, 2, 1, {1, 6}, {0, 1});
  std::vector<uint16_t> rows(2 * 1000, 0x7FC0);
  for (size_t row = 0; row < 2; ++row)
    for (size_t head = 0; head < 2; ++head)
      std::copy_n(dense.k.data() + (row * 2 + head) * 128, 128,
                  rows.data() + row * 1000 + 40 + head * 160);
  packed.args.k = {rows.data() + 40, 2000, 320};
  packed.run();
  EXPECT_EQ(packed.kPayload, dense.kPayload);
  EXPECT_EQ(packed.kScale, dense.kScale);
}

} // namespace
