//===- IndexInputs.cpp - pinned inputs of the selectors ---------------------===//
//
// Owns: pinnedScores, scores on every corner of K2 and K3; queries and keys whose
// scores are exact.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Exact.h"
#include "tools/oracle/Index.h"
#include "tools/oracle/Random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oracle {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

struct Kind {
  const char *name;
  std::function<float(size_t block, size_t count, Random &)> score;
};

std::vector<Kind> kinds(size_t topK) {
  auto pick = [](std::vector<float> values) {
    return [values = std::move(values)](size_t, size_t, Random &random) {
      return values[random.below(values.size())];
    };
  };
  return {
      {"all ties at 0", pick({0.0f})},
      {"+-0", pick({0.0f, -0.0f})},
      {"+-0 and subnormals", pick({0.0f, -0.0f, kDenormal, -kDenormal})},
      {"all NaN", pick({kNaN})},
      {"NaN and values", pick({kNaN, -kNaN, -1.0f, 0.5f})},
      {"NaN and -inf", pick({kNaN, -kInf})},
      {"+-inf", pick({kInf, -kInf, 1.0f, -1.0f})},
      {"around the forced scores",
       pick({1e30f, std::nextafter(1e30f, kInf), std::nextafter(1e30f, 0.0f), 1e29f,
             std::nextafter(1e29f, kInf), std::nextafter(1e29f, 0.0f), kInf, 0.0f})},
      {"one ulp apart", pick({1.0f, std::nextafter(1.0f, 2.0f), std::nextafter(1.0f, 0.0f)})},
      {"ascending", [](size_t b, size_t count, Random &) { return float(b) - float(count) / 2; }},
      {"descending", [](size_t b, size_t count, Random &) { return float(count) / 2 - float(b); }},
      {"ties at the cutoff", // fewer larger ones than topK, then many alike
       [n = topK * 3 / 4](size_t b, size_t count, Random &) {
         return b * n / count != (b + 1) * n / count ? 2.0f + float(b) : 1.0f;
       }},
      {"random",
       [](size_t, size_t, Random &random) {
         return std::ldexp(float(int64_t(random.below(1 << 24)) - (1 << 23)), -18);
       }},
      {"few levels", [](size_t, size_t, Random &random) { return float(random.below(5)) - 2.0f; }},
  };
}

} // namespace

std::vector<PinnedScores> pinnedScores(int64_t topK) {
  std::vector<PinnedScores> result;
  Random random(0x73636F72);
  const uint32_t half = uint32_t(topK / 2);
  for (size_t count : {1, 2, 15, 16, 17, 127, 128, 129, 8192})
    for (const Kind &kind : kinds(size_t(topK)))
      for (Forced forced : {Forced{0, 0}, Forced{0, 1}, Forced{2, 2}, Forced{half, half}}) {
        PinnedScores pinned{std::to_string(count) + " blocks, " + kind.name + ", init " +
                                std::to_string(forced.initBlocks) + " local " +
                                std::to_string(forced.localBlocks),
                            {},
                            forced};
        for (size_t b = 0; b < count; ++b)
          pinned.scores.push_back(kind.score(b, count, random));
        result.push_back(std::move(pinned));
      }
  return result;
}

std::vector<uint16_t> exactQueries(DType dtype, size_t elements, uint64_t seed) {
  Random random(seed);
  std::vector<uint16_t> bits(elements);
  for (uint16_t &b : bits)
    b = roundBits(double(random.below(17)) - 8, dtype);
  return bits;
}

std::vector<uint8_t> exactPayload(size_t bytes, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> payload(bytes);
  for (uint8_t &byte : payload)
    for (int shift : {0, 4}) {
      const uint8_t code = static_cast<uint8_t>(random.below(16));
      byte = static_cast<uint8_t>(byte | (code == 8 ? 0 : code) << shift); // F6: no -0
    }
  return payload;
}

std::vector<uint8_t> exactScales(size_t bytes, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> scales(bytes);
  for (uint8_t &byte : scales)
    byte = std::array<uint8_t, 3>{0x30, 0x38, 0x40}[random.below(3)]; // 1/2, 1, 2
  return scales;
}

} // namespace oracle
