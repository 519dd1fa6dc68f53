//===- FaultTest.cpp - every known way to be wrong is seen by the pinned sets ===//
//
// Each planted fault is a single change to an fp32 quantizer as one would write
// it for a device; without a fault it agrees with the oracle on every pinned set.
//
//===------------------------------------------------------------------------===//

#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using oracle::DType;
using oracle::Group;

namespace {

enum class Fault {
  None,
  ReciprocalMultiply, ///< x * (1 / s)
  TiesUp,             ///< code midpoints away from zero
  TiesDown,           ///< code midpoints towards zero
  ScaleTiesUp,        ///< scale midpoints up
  UnroundedScale,     ///< codes against amax / 6, not against the stored scale
  SwappedNibbles,     ///< element 2j in the high nibble
  ReversedPayload,    ///< byte order of a dword turned
  NoClamp,            ///< amax / 6 over 448 becomes NaN
  NoFloor,            ///< scale 0x00 for small groups
  FlushedScale,       ///< E4M3 subnormals flushed to the floor
  NegativeZero,       ///< sign kept on magnitude 0
  NaNIsSix,           ///< NaN converts to the largest code
  NaNPoisonsAmax,     ///< NaN in a group makes its amax the largest
  InfinityIgnored,    ///< infinities left out of amax
  NoSaturation,       ///< codes above 6 wrap to the next index
  BiasOfFnuz,         ///< scale encoded with bias 8
  LastElementDropped, ///< amax over 15 elements
};

Group faulty(std::span<const uint16_t, 16> bits, DType dtype, Fault fault) {
  std::array<float, 16> x;
  for (size_t i = 0; i < 16; ++i)
    x[i] = float(second::value(bits[i], dtype));
  float amax = 0;
  for (size_t i = 0; i < (fault == Fault::LastElementDropped ? 15u : 16u); ++i) {
    if (fault == Fault::NaNPoisonsAmax && std::isnan(x[i]))
      amax = std::numeric_limits<float>::infinity();
    if (fault == Fault::InfinityIgnored && std::isinf(x[i]))
      continue;
    amax = std::fmax(amax, std::fabs(x[i]));
  }
  float wanted = std::fmin(amax / 6, 448.0f);
  int byte = second::nearest(wanted, 0x7F, second::e4m3);
  if (fault == Fault::ScaleTiesUp)
    while (byte < 0x7E && float(second::e4m3(byte) + second::e4m3(byte + 1)) / 2 <= wanted)
      ++byte;
  if (fault == Fault::NoClamp && amax / 6 > 464)
    byte = 0x7F;
  if (fault == Fault::FlushedScale && byte < 8)
    byte = 0;
  if (fault != Fault::NoFloor)
    byte = std::max(byte, 1);
  float scale = byte ? float(second::e4m3(std::min(byte, 0x7E))) : std::ldexp(1.0f, -9);
  if (fault == Fault::UnroundedScale)
    scale = std::fmax(wanted, std::ldexp(1.0f, -9));

  std::array<uint8_t, 16> codes;
  for (size_t i = 0; i < 16; ++i) {
    if (std::isnan(x[i])) {
      codes[i] = fault == Fault::NaNIsSix ? 7 : 0;
      continue;
    }
    float magnitude = std::fabs(x[i]);
    float a = fault == Fault::ReciprocalMultiply ? magnitude * (1.0f / scale) : magnitude / scale;
    constexpr float kMidpoints[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    uint8_t index = 0;
    for (size_t m = 0; m < 7; ++m) {
      bool tieUp = fault == Fault::TiesUp || (fault != Fault::TiesDown && m % 2 == 1);
      index += tieUp ? a >= kMidpoints[m] : a > kMidpoints[m];
    }
    if (fault == Fault::NoSaturation && a > 7)
      index = 0;
    bool sign = std::signbit(x[i]) && (index || fault == Fault::NegativeZero);
    codes[i] = static_cast<uint8_t>(index | (sign ? 8 : 0));
  }

  Group group;
  group.scale = static_cast<uint8_t>(fault == Fault::BiasOfFnuz ? std::min(byte + 8, 0x7F) : byte);
  for (size_t j = 0; j < 8; ++j)
    group.payload[j] =
        static_cast<uint8_t>(fault == Fault::SwappedNibbles ? codes[2 * j] << 4 | codes[2 * j + 1]
                                                            : codes[2 * j] | codes[2 * j + 1] << 4);
  if (fault == Fault::ReversedPayload) {
    std::reverse(group.payload.begin(), group.payload.begin() + 4);
    std::reverse(group.payload.begin() + 4, group.payload.end());
  }
  return group;
}

class FaultTest : public testing::TestWithParam<std::tuple<DType, Fault>> {};

const char *faultName(Fault fault) {
  constexpr const char *kNames[] = {"None",           "ReciprocalMultiply", "TiesUp",
                                    "TiesDown",       "ScaleTiesUp",        "UnroundedScale",
                                    "SwappedNibbles", "ReversedPayload",    "NoClamp",
                                    "NoFloor",        "FlushedScale",       "NegativeZero",
                                    "NaNIsSix",       "NaNPoisonsAmax",     "InfinityIgnored",
                                    "NoSaturation",   "BiasOfFnuz",         "LastElementDropped"};
  return kNames[size_t(fault)];
}

std::vector<Fault> allFaults() {
  std::vector<Fault> all;
  for (int i = 0; i <= int(Fault::LastElementDropped); ++i)
    all.push_back(Fault(i));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultTest,
                         testing::Combine(testing::Values(DType::BF16, DType::FP16),
                                          testing::ValuesIn(allFaults())),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param) == DType::BF16 ? "bf16_"
                                                                                     : "fp16_") +
                                  faultName(std::get<1>(info.param));
                         });

TEST_P(FaultTest, PinnedSetsTellFaultFromTwin) {
  auto [dtype, fault] = GetParam();
  size_t wrong = 0;
  for (const auto &set : oracle::pinnedSets(dtype))
    for (const auto &group : set.groups)
      wrong += faulty(group, dtype, fault) != oracle::quantize(group, dtype);
  if (fault == Fault::None)
    EXPECT_EQ(wrong, 0u);
  else
    EXPECT_GT(wrong, 0u);
  std::cout << faultName(fault) << ": " << wrong << " pinned groups differ\n";
}

// F3: scales of a row in another order; the pinned sets hold rows whose scales all differ.
TEST(RowFault, SwappedScaleOrderIsSeen) {
  for (DType dtype : {DType::BF16, DType::FP16}) {
    size_t rows = 0, swapped = 0;
    for (const auto &set : oracle::pinnedSets(dtype))
      for (size_t g = 0; g + 8 <= set.groups.size(); g += 8, ++rows) {
        std::array<uint8_t, 8> scales, wrong;
        for (size_t i = 0; i < 8; ++i)
          scales[i] = oracle::quantize(set.groups[g + i], dtype).scale;
        for (size_t i = 0; i < 8; ++i)
          wrong[i] = scales[i % 2 * 4 + i / 2];
        swapped += scales != wrong;
      }
    EXPECT_GT(swapped, rows / 4);
  }
}

/// W1 with slots past the end wrapped onto live pages.
void wrappingStore(const oracle::KvStoreShape &shape, nvfp4rt_kv_store_args args) {
  std::vector<int64_t> slots(args.slots, args.slots + args.rows);
  for (int64_t &slot : slots)
    if (slot >= 0)
      slot %= args.pages * shape.pageSize;
  args.slots = slots.data();
  oracle::kvStore(shape, args);
}

// P2: never wrap by a modulo.
TEST(StoreFault, WrappedSlotIsSeen) {
  oracle::KvStoreShape shape{DType::BF16, 1, 128, 128, 16, true, false, false};
  std::vector<uint16_t> k(4 * 128, 0x3F80);
  for (bool pastTheEnd : {false, true}) {
    std::vector<int64_t> slots = {3, -1, 31, pastTheEnd ? 32 + 7 : 9};
    std::vector<uint8_t> payload(32 * 64, 0xA5), scale(32 * 8, 0xA5);
    nvfp4rt_kv_store_args args{};
    args.k = {k.data(), 256, 256};
    args.k_payload = {payload.data(), 16 * 64, 64, 64};
    args.k_scale = {scale.data(), 16 * 8, 8, 8};
    args.slots = slots.data();
    args.pages = 2;
    args.rows = 4;
    oracle::kvStore(shape, args);
    const auto right = payload;
    payload.assign(payload.size(), 0xA5);
    wrappingStore(shape, args);
    EXPECT_EQ(payload == right, !pastTheEnd);
  }
}

} // namespace
