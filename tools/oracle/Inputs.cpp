//===- Inputs.cpp - pinned and random inputs of the quantizer ---------------===//
//
// Owns: pinnedSets, the groups that sit on every boundary of F4..F7;
// exhaustiveSets; and randomGroups, rows as a model makes them.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Exact.h"
#include "tools/oracle/Oracle.h"
#include "tools/oracle/Random.h"

#include <algorithm>
#include <cmath>

namespace oracle {

namespace {

using Bits16 = std::array<uint16_t, 16>;

class PinnedBuilder {
public:
  explicit PinnedBuilder(DType dtype) : dtype(dtype), t(traits(dtype)) {}

  std::vector<PinnedSet> build();
  PinnedSet everyPattern();
  PinnedSet everyValueUnderEveryScale();

private:
  DType dtype;
  DTypeTraits t;
  size_t turn = 0; ///< moves values through the positions from group to group

  uint16_t bitsOf(Dyadic value) const { return floorBits(value, dtype); }
  Dyadic dyadic(uint16_t bits) const { return decode(bits, dtype).magnitude; }

  /// Code magnitude `index` under `scale`.
  Dyadic candidate(size_t index, uint8_t scale) const {
    return {kTwiceMagnitude[index] * scaleUnits(scale), kScaleUnitExponent - 1};
  }

  /// Pattern and the finite patterns one ulp below and above it.
  std::vector<uint16_t> around(uint16_t bits) const {
    std::vector<uint16_t> result;
    if (bits > 0)
      result.push_back(static_cast<uint16_t>(bits - 1));
    result.push_back(bits);
    if (bits < t.maxFinite())
      result.push_back(static_cast<uint16_t>(bits + 1));
    return result;
  }

  /// Midpoints of F5 under `scale` with neighbours, both signs, none larger than `amax`.
  std::vector<uint16_t> ladder(uint8_t scale, uint16_t amax) const {
    std::vector<uint16_t> result;
    for (size_t i = 0; i < kFourMidpoint.size(); ++i)
      for (uint16_t bits : around(bitsOf(midpoint(i, scale))))
        if (bits <= amax) {
          result.push_back(bits);
          result.push_back(bits | kSignBit);
        }
    return result;
  }

  /// Groups that hold `values`, 15 at a time, each beside `amax`; their places turn.
  void pack(std::vector<Bits16> &groups, const std::vector<uint16_t> &values, uint16_t amax) {
    size_t next = 0;
    do {
      Bits16 group{};
      size_t place = turn % 16;
      group[place] = amax;
      for (size_t i = 1; i < 16 && next < values.size(); ++i)
        group[(place + i) % 16] = values[next++];
      groups.push_back(group);
      ++turn;
    } while (next < values.size());
  }

  /// `amax`, then -amax, with the ladder of the scale that they yield.
  void packLadder(std::vector<Bits16> &groups, uint16_t amax) {
    const std::vector<uint16_t> values = ladder(scaleOf(dyadic(amax)), amax);
    pack(groups, values, amax);
    pack(groups, values, amax | kSignBit);
  }

  /// The smallest and largest finite pattern that yields `scale`; scale bytes grow with amax.
  std::pair<uint16_t, uint16_t> amaxRange(uint8_t scale) const {
    auto firstAbove = [&](int limit) { // first pattern whose scale byte is > limit
      uint32_t low = 0, high = t.infinity();
      while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (scaleOf(dyadic(static_cast<uint16_t>(mid))) > limit)
          high = mid;
        else
          low = mid + 1;
      }
      return low;
    };
    return {static_cast<uint16_t>(firstAbove(scale - 1)),
            static_cast<uint16_t>(firstAbove(scale) - 1)};
  }

  PinnedSet codeMidpoints();
  PinnedSet scaleMidpoints();
  PinnedSet amaxCorners();
  PinnedSet specials();
  PinnedSet zeros();
  PinnedSet denormals();
  PinnedSet positions();
  PinnedSet mixtures();
};

PinnedSet PinnedBuilder::codeMidpoints() {
  PinnedSet set{"F5 midpoints and neighbours", {}};
  for (uint8_t scale = kMinScale; scale <= kMaxScale; ++scale) {
    auto [lowest, highest] = amaxRange(scale);
    if (lowest > highest)
      continue; // no amax of this dtype yields the scale
    uint16_t exact = bitsOf(candidate(7, scale));
    for (uint16_t amax : {lowest, exact, highest})
      if (amax >= lowest && amax <= highest)
        packLadder(set.groups, amax);
    // Under the floor of F4 the ladder can pass 6 s: amax itself walks the midpoints.
    if (scale == kMinScale)
      for (size_t i = 0; i < kFourMidpoint.size(); ++i)
        for (uint16_t amax : around(bitsOf(midpoint(i, scale))))
          packLadder(set.groups, amax);
  }
  return set;
}

PinnedSet PinnedBuilder::scaleMidpoints() {
  PinnedSet set{"F4 scale midpoints and neighbours", {}};
  for (uint8_t scale = 0; scale <= kMaxScale; ++scale) {
    // Above 448 the format ends: 464 is where an unclamped conversion would round to NaN.
    uint32_t above = scale < kMaxScale ? scaleUnits(static_cast<uint8_t>(scale + 1)) : 480u << 9;
    uint16_t amax = bitsOf({3 * (scaleUnits(scale) + above), kScaleUnitExponent});
    for (uint16_t bits : around(amax))
      packLadder(set.groups, bits);
  }
  return set;
}

PinnedSet PinnedBuilder::amaxCorners() {
  PinnedSet set{"F4 amax corners", {}};
  std::vector<uint16_t> corners = {0, 1, t.minNormal(), t.maxFinite()};
  for (uint32_t units : {3, 6, 9}) // 2^-9 * {3, 6, 9}
    corners.push_back(bitsOf({units, kScaleUnitExponent}));
  for (uint32_t whole : {448, 2688, 2700, 2784, 65504, 65536})
    corners.push_back(bitsOf({whole, 0}));
  for (uint16_t corner : corners)
    for (uint16_t amax : around(corner))
      packLadder(set.groups, amax);
  return set;
}

PinnedSet PinnedBuilder::specials() {
  PinnedSet set{"F7 NaN and infinities", {}};
  const uint16_t inf = t.infinity(), quiet = t.quietNaN();
  const std::vector<uint16_t> nans = {quiet, static_cast<uint16_t>(inf + 1), // signalling
                                      static_cast<uint16_t>(quiet | 1), uint16_t(0x7FFF)};
  std::vector<uint16_t> all = nans;
  all.push_back(inf);
  for (size_t i = 0, n = all.size(); i < n; ++i)
    all.push_back(all[i] | kSignBit);

  for (uint16_t special : all) {
    Bits16 alone;
    alone.fill(special);
    set.groups.push_back(alone);
    for (size_t place = 0; place < 16; ++place) {
      Bits16 amongZeros{};
      amongZeros[place] = special;
      set.groups.push_back(amongZeros);
      // Among finite values: the scale must come from them (NaN) or from the infinity.
      Bits16 amongValues;
      for (size_t i = 0; i < 16; ++i)
        amongValues[i] = bitsOf(candidate(1 + i % 7, 0x38)) | (i % 3 ? 0 : kSignBit);
      amongValues[place] = special;
      set.groups.push_back(amongValues);
    }
    pack(set.groups, ladder(kMaxScale, t.maxFinite()), special);
    for (uint16_t other : all) {
      Bits16 pair{};
      pair[turn % 16] = special;
      pair[(turn + 1 + turn / 16 % 15) % 16] = other;
      pair[(turn + 8) % 16] = bitsOf(candidate(5, 0x30));
      set.groups.push_back(pair);
      ++turn;
    }
  }
  return set;
}

PinnedSet PinnedBuilder::zeros() {
  PinnedSet set{"F6 zeros", {}};
  Bits16 plus{}, minus, mixed{};
  minus.fill(kSignBit);
  for (size_t i = 0; i < 16; i += 3)
    mixed[i] = kSignBit;
  set.groups = {plus, minus, mixed};
  // Negative values that round to zero, down to the first that does not.
  for (uint8_t scale : {uint8_t(0x01), uint8_t(0x08), uint8_t(0x38), uint8_t(0x7E)})
    for (size_t place = 0; place < 16; ++place) {
      uint16_t quarter = bitsOf(midpoint(0, scale));
      Bits16 group;
      group.fill(kSignBit);
      group[place] = bitsOf(candidate(7, scale));
      group[(place + 1) % 16] = quarter | kSignBit;
      group[(place + 2) % 16] = static_cast<uint16_t>(quarter - 1) | kSignBit;
      group[(place + 3) % 16] = static_cast<uint16_t>(quarter + 1) | kSignBit;
      group[(place + 5) % 16] = kSignBit | 1;
      group[(place + 7) % 16] = 0;
      set.groups.push_back(group);
    }
  return set;
}

PinnedSet PinnedBuilder::denormals() {
  PinnedSet set{"F4 denormals of the model dtype", {}};
  std::vector<uint16_t> values;
  for (uint16_t bits = 1; bits < t.minNormal(); bits = static_cast<uint16_t>(bits * 2))
    for (uint16_t near : around(bits)) {
      values.push_back(near);
      values.push_back(near | kSignBit);
    }
  for (uint16_t near : around(t.minNormal())) {
    values.push_back(near);
    values.push_back(near | kSignBit);
  }
  pack(set.groups, values, 1);
  pack(set.groups, values, static_cast<uint16_t>(t.minNormal() - 1));
  for (uint8_t scale : {uint8_t(0x01), uint8_t(0x02), uint8_t(0x08), uint8_t(0x38)})
    pack(set.groups, values, bitsOf(candidate(7, scale)));
  pack(set.groups, values, t.maxFinite());
  return set;
}

PinnedSet PinnedBuilder::positions() {
  PinnedSet set{"F2 positions", {}};
  for (uint8_t scale : {uint8_t(0x03), uint8_t(0x2F), uint8_t(0x38), uint8_t(0x7E)}) {
    const uint16_t six = bitsOf(candidate(7, scale));
    // Fifteen codes and a zero, turned through all sixteen places: no two elements are alike.
    for (size_t turned = 0; turned < 16; ++turned) {
      Bits16 group;
      for (size_t i = 0; i < 16; ++i) {
        size_t nibble = (i + turned) % 16;
        group[i] = bitsOf(candidate(nibble & 7, scale)) | (nibble & 8 ? kSignBit : 0);
      }
      set.groups.push_back(group);
    }
    // One code alone in each place, and amax in each other place.
    for (size_t nibble = 1; nibble < 16; ++nibble)
      for (size_t place = 0; place < 16; ++place) {
        Bits16 group{};
        group[place] = bitsOf(candidate(nibble & 7, scale)) | (nibble & 8 ? kSignBit : 0);
        group[(place + 1 + nibble % 15) % 16] = six;
        set.groups.push_back(group);
      }
    for (size_t place = 0; place < 16; ++place)
      for (uint16_t value : ladder(scale, six)) {
        Bits16 group{};
        group[place] = value;
        group[(place + 9) % 16] = six | kSignBit;
        set.groups.push_back(group);
      }
  }
  return set;
}

PinnedSet PinnedBuilder::mixtures() {
  PinnedSet set{"F4..F7 mixtures", {}};
  Random random(0x6D697874);
  const std::vector<uint16_t> corners = {0,
                                         kSignBit,
                                         1,
                                         t.minNormal(),
                                         t.maxFinite(),
                                         t.infinity(),
                                         t.quietNaN(),
                                         static_cast<uint16_t>(t.infinity() + 1)};
  for (size_t n = 0; n < 512; ++n) {
    uint8_t scale = static_cast<uint8_t>(kMinScale + random.below(kMaxScale));
    std::vector<uint16_t> steps = ladder(scale, bitsOf(candidate(7, scale)));
    Bits16 group;
    for (uint16_t &bits : group)
      switch (random.below(8)) {
      case 0: // half of the groups have no corner that would hide the ladder
        bits = n % 2 ? corners[random.below(corners.size())] : uint16_t{0};
        bits ^= random.below(2) ? kSignBit : 0;
        break;
      case 1: // any pattern up to 6 s
        bits = static_cast<uint16_t>(random.below(bitsOf(candidate(7, scale)) + 1u)) |
               (random.below(2) ? kSignBit : 0);
        break;
      default:
        bits = steps[random.below(steps.size())];
      }
    group[random.below(16)] = bitsOf(candidate(7, scale));
    set.groups.push_back(group);
  }
  return set;
}

PinnedSet PinnedBuilder::everyPattern() {
  PinnedSet set{"F4 every bit pattern", std::vector<Bits16>(0x10000)};
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    set.groups[bits][(bits >> 4) % 16] = static_cast<uint16_t>(bits);
  return set;
}

PinnedSet PinnedBuilder::everyValueUnderEveryScale() {
  PinnedSet set{"F5 every value under every scale", {}};
  for (uint8_t scale = kMinScale; scale <= kMaxScale; ++scale) {
    const auto [lowest, highest] = amaxRange(scale);
    if (lowest > highest)
      continue; // no amax of this dtype yields the scale
    std::vector<uint16_t> values;
    for (uint32_t bits = bitsOf({scaleUnits(scale), kScaleUnitExponent - 3}); bits <= highest;
         ++bits) {
      values.push_back(static_cast<uint16_t>(bits));
      values.push_back(static_cast<uint16_t>(bits | kSignBit));
    }
    pack(set.groups, values, highest);
  }
  return set;
}

std::vector<PinnedSet> PinnedBuilder::build() {
  return {codeMidpoints(), scaleMidpoints(), amaxCorners(), specials(),
          zeros(),         denormals(),      positions(),   mixtures()};
}

/// Round to nearest even; out of range becomes the largest finite value.
uint16_t roundToFinite(double value, DType dtype) {
  const uint16_t bits = roundBits(value, dtype), magnitude = bits & ~kSignBit;
  return static_cast<uint16_t>((bits & kSignBit) | std::min(magnitude, traits(dtype).maxFinite()));
}

} // namespace

std::vector<PinnedSet> pinnedSets(DType dtype) { return PinnedBuilder(dtype).build(); }

std::vector<PinnedSet> exhaustiveSets(DType dtype) {
  PinnedBuilder builder(dtype);
  return {builder.everyPattern(), builder.everyValueUnderEveryScale()};
}

std::vector<Bits16> randomGroups(DType dtype, size_t groups, uint64_t seed) {
  // Outliers stay in the same channels of a row of eight groups, as they do in a model.
  constexpr size_t kRowGroups = 8;
  constexpr size_t kChannels = kRowGroups * 16;
  Random random(seed);
  std::array<double, kChannels> gain;
  gain.fill(1);
  for (size_t n = 0; n < 5; ++n)
    gain[random.below(kChannels)] = double(8 << random.below(4));

  std::vector<Bits16> result(groups);
  double rowGain = 1;
  for (size_t g = 0; g < groups; ++g) {
    if (g % kRowGroups == 0)
      rowGain = std::ldexp(1, int(random.below(9)) - 4);
    for (size_t i = 0; i < 16; ++i) {
      // Twelve uniform values: normal to well past the range that matters, and exact arithmetic.
      int64_t sum = 0;
      for (size_t n = 0; n < 12; ++n)
        sum += int64_t(random.next() >> 40);
      double normal = std::ldexp(double(sum - 6 * (int64_t{1} << 24)), -24);
      result[g][i] = roundToFinite(normal * rowGain * gain[g % kRowGroups * 16 + i], dtype);
    }
  }
  return result;
}

} // namespace oracle
