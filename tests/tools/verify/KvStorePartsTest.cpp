//===- KvStorePartsTest.cpp - layouts, slots, requests and windows ----------===//

#include "tests/tools/verify/FakeTarget.h"
#include "tools/verify/Image.h"
#include "tools/verify/KvStoreLayout.h"
#include "tools/verify/KvStoreSlots.h"
#include "tools/verify/Requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace verify;
using namespace verify::kv_store;

namespace {

const oracle::KvStoreShape kShape{oracle::DType::BF16, 3, 128, 64, 16, true, true, true};

/// A counter for each byte of each buffer.
std::vector<std::vector<int>> zeros(const std::vector<int64_t> &sizes) {
  std::vector<std::vector<int>> counters(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    counters[i].resize(static_cast<size_t>(sizes[i]));
  return counters;
}

// P1: planes of a layout never share a byte, and start and step by multiples of 4.
TEST(KvStoreLayout, PlanesAreDisjointAndAligned) {
  for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved})
    for (Order order : {Order::NHD, Order::HND}) {
      const PoolLayout pools = poolLayout(kShape, layout, order, 2, 3);
      auto owners = zeros(pools.imageBytes);
      for (Tensor tensor : {K, V, IndexK})
        for (const PlanePlace *plane : {&pools.payload[tensor], &pools.scale[tensor]}) {
          for (int64_t number :
               {plane->offset, plane->pageStride, plane->tokenStride, plane->headStride})
            EXPECT_EQ(number % 4, 0);
          for (int64_t page = 0; page < (tensor == IndexK ? 3 : 2); ++page)
            for (int64_t token = 0; token < 16; ++token)
              for (int64_t head = 0; head < headsOf(kShape, tensor); ++head)
                for (int64_t byte = 0; byte < plane->rowBytes; ++byte)
                  ++owners.at(plane->image)
                        .at(static_cast<size_t>(plane->at(page, token, head) + byte));
        }
      for (const auto &image : owners) {
        EXPECT_LE(*std::max_element(image.begin(), image.end()), 1);
        EXPECT_EQ(image.front() + image.back(), 0) << "no canary at an end";
      }
    }
}

TEST(KvStoreLayout, InputsAreDisjointAlignedAndEndWithTheLastElement) {
  for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved}) {
    const InputLayout inputs = inputLayout(kShape, layout, 5);
    auto owners = zeros(inputs.bufferBytes);
    for (Tensor tensor : {K, V, IndexK}) {
      const RowsPlace &place = inputs.rows[tensor];
      for (int64_t number : {place.offset, place.rowStride, place.headStride})
        EXPECT_EQ(number % 16, 0);
      for (int64_t row = 0; row < 5; ++row)
        for (int64_t head = 0; head < headsOf(kShape, tensor); ++head)
          for (int64_t byte = 0; byte < 2 * headDimOf(kShape, tensor); ++byte)
            ++owners.at(place.buffer)
                  .at(static_cast<size_t>(place.offset + row * place.rowStride +
                                          head * place.headStride + byte));
    }
    for (const auto &buffer : owners) {
      EXPECT_LE(*std::max_element(buffer.begin(), buffer.end()), 1);
      EXPECT_EQ(buffer.back(), 1);
    }
  }
}

// P2: every corner appears, live slots are distinct, and what a fault would wrap onto stays free.
TEST(KvStoreSlots, CornersAndSpareSlots) {
  for (int64_t rows : {1, 3, 8, 100}) {
    const int64_t pages = SlotLists::pagesFor(rows, 16), total = pages * 16;
    SlotLists lists(16, pages, 9, 0);
    std::set<int64_t> corners;
    do {
      const std::vector<int64_t> slots = lists.next(static_cast<size_t>(rows));
      ASSERT_EQ(slots.size(), static_cast<size_t>(rows));
      std::set<int64_t> live, wrapped;
      for (int64_t slot : slots) {
        corners.insert(slot);
        if (slot >= 0 && slot < total) {
          EXPECT_TRUE(live.insert(slot).second);
          continue;
        }
        if (slot > total && slot < 2 * total)
          wrapped.insert(slot % total);
        if (slot < -2 && slot > -total)
          wrapped.insert(slot + total);
        const int64_t low = static_cast<int32_t>(slot);
        if (low != slot && low > 0 && low < total)
          wrapped.insert(low);
      }
      for (int64_t slot : wrapped)
        EXPECT_FALSE(live.contains(slot));
    } while (!lists.complete());
    for (int64_t corner :
         {int64_t{0}, int64_t{-1}, int64_t{-2}, total - 1, total,
          std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
      EXPECT_TRUE(corners.contains(corner)) << corner;
    EXPECT_TRUE(std::any_of(corners.begin(), corners.end(),
                            [&](int64_t slot) { return slot > total && slot < 2 * total; }));
    EXPECT_TRUE(std::any_of(corners.begin(), corners.end(), [&](int64_t slot) {
      return slot >= int64_t{1} << 32 && slot < (int64_t{1} << 32) + total;
    }));
  }
}

// P1: some slot lies on each side of 2^31 and of 2^32 in both planes.
TEST(KvStoreSlots, BoundariesArePassed) {
  const int64_t pages = 12'000'000;
  const PoolLayout pools = poolLayout(kShape, Layout::Dense, Order::NHD, pages, pages);
  const std::vector<int64_t> slots = boundarySlots(pools, K, 16, pages);
  EXPECT_EQ(std::set<int64_t>(slots.begin(), slots.end()).size(), slots.size());
  for (const PlanePlace *plane : {&pools.payload[K], &pools.scale[K]})
    for (int64_t boundary : {int64_t{1} << 31, int64_t{1} << 32}) {
      auto distance = [&](int64_t slot) { return plane->at(slot / 16, slot % 16, 0) - boundary; };
      EXPECT_TRUE(std::any_of(slots.begin(), slots.end(), [&](int64_t slot) {
        return distance(slot) < 0 && distance(slot) > -2 * plane->pageStride;
      }));
      EXPECT_TRUE(std::any_of(slots.begin(), slots.end(), [&](int64_t slot) {
        return distance(slot) >= 0 && distance(slot) < 2 * plane->pageStride;
      }));
    }
}

// G1: each corner matches its guard.
TEST(Requests, CornersMatchTheGuard) {
  nvfp4rt::Guard guard = fake::manifest().variants[1].guard;
  guard.terms.push_back({nvfp4rt::Field::top_k, nvfp4rt::Relation::OneOf, {8, 16, 32}});
  const auto requests = cornerRequests(guard);
  EXPECT_EQ(requests.size(), 6u); // two ends of requests, three top_k
  std::set<std::string> texts;
  for (const auto &request : requests) {
    EXPECT_FALSE(nvfp4rt::mismatch(guard, request)) << request.text();
    texts.insert(request.text());
  }
  EXPECT_EQ(texts.size(), 6u);
}

TEST(Requests, Rows) {
  nvfp4rt::Request request;
  EXPECT_EQ(rowsOf(request), 0);
  request.set(nvfp4rt::Field::requests, 5);
  request.set(nvfp4rt::Field::query_len, 8);
  EXPECT_EQ(rowsOf(request), 40);
  EXPECT_EQ(mostRowsOf(request), 40);
  request.set(nvfp4rt::Field::query_len, 0);
  EXPECT_EQ(rowsOf(request), 16);
  EXPECT_EQ(mostRowsOf(request), 4096);
}

TEST(Image, WindowsMergeAndClip) {
  const auto merged = mergeWindows({{50, 10}, {0, 5}, {5, 5}, {55, 100}, {70, 2}, {200, 1}}, 100);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].offset, 0u);
  EXPECT_EQ(merged[0].size, 10u);
  EXPECT_EQ(merged[1].offset, 50u);
  EXPECT_EQ(merged[1].size, 50u);
}

TEST(Image, SeesEachWrongByteInItsWindows) {
  fake::FakeTarget target;
  auto image = Image::create(target, 1000, {{10, 20}, {500, 100}}, 3);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->windowBytes(), 120u);
  std::vector<uint64_t> wrong;
  auto look = [&] {
    wrong.clear();
    ASSERT_TRUE(image->readBack(target));
    image->forEachMismatch([&](uint64_t offset) { wrong.push_back(offset); });
  };
  look();
  EXPECT_TRUE(wrong.empty());
  for (uint64_t offset : {10, 29, 599, 600})
    image->device()[offset] ^= std::byte{1};
  look();
  EXPECT_EQ(wrong, (std::vector<uint64_t>{10, 29, 599}));
  EXPECT_EQ(image->found(599), image->device()[599]);
}

} // namespace
