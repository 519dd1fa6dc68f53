//===- Vop3FloatTests.cpp - three-operand and f64 float instructions -------===//
#include "tests/emulator/isa/VectorTable.h"

namespace isatest {
namespace {

const std::vector<Type> FF{Type::F32, Type::F32}, FFF{Type::F32, Type::F32, Type::F32},
    DD{Type::F64, Type::F64}, DDD{Type::F64, Type::F64, Type::F64},
    HHH{Type::F16, Type::F16, Type::F16};

const std::vector<Row> FmaRows{
    {"v_fma_f32", Type::F32, FFF, E64 | FloatMods | FTZ | ROUNDS, f32x3(std::fma)},
    {"v_fma_f64", Type::F64, DDD, E64 | FloatMods | FTZ | ROUNDS, f64x3(std::fma)},
    {"v_fma_f16", Type::F16, HHH, E64 | NEG | CLAMP | OPSEL | KEEPHIGH | FTZ,
     f16x3([](Wide a, Wide b, Wide c) { return a * b + c; })},
    {"v_add_f64", Type::F64, DD, E64 | FloatMods | FTZ | ROUNDS,
     f64x2([](double a, double b) { return a + b; })},
    {"v_mul_f64", Type::F64, DD, E64 | FloatMods | FTZ | ROUNDS,
     f64x2([](double a, double b) { return a * b; })},
    {"v_mul_legacy_f32", Type::F32, FF, E64 | FloatMods,
     f32x2([](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; })},
};

float ldexpOnce(float a, int32_t exponent) {
  const int clamped = std::max(-600, std::min(600, exponent));
  return float(std::ldexp(double(a), clamped));
}

const std::vector<Row> LdexpRows{
    {"v_ldexp_f32",
     Type::F32,
     {Type::F32, Type::B32},
     E64 | NEG | CLAMP | OMOD,
     [](Lane &l) { return in32(l, bitsOf(ldexpOnce(asF32(in32(l, l.a)), int32_t(l.b)))); }},
    // Exponents that matter: the edges of B32 are mostly far out.
    {"v_ldexp_f32",
     Type::F32,
     {Type::F32, Type::Shift},
     E64 | NOCONST,
     [](Lane &l) { return in32(l, bitsOf(ldexpOnce(asF32(in32(l, l.a)), int32_t(l.b)))); }},
    {"v_ldexp_f64",
     Type::F64,
     {Type::F64, Type::Shift},
     E64 | NEG,
     [](Lane &l) {
       return bitsOf(std::ldexp(asF64(l.a), std::max(-3000, std::min(3000, int(int32_t(l.b))))));
     }},
};

template <bool Max> LaneFunction chained32() {
  return [](Lane &l) {
    const uint64_t first = minMax(F32Format, in32(l, l.a), in32(l, l.b), Max, l.mode.ieee);
    return minMax(F32Format, first, in32(l, l.c), Max, l.mode.ieee);
  };
}

uint64_t med3(const Format &f, uint64_t a, uint64_t b, uint64_t c, bool ieee) {
  auto min = [&](uint64_t x, uint64_t y) { return minMax(f, x, y, false, ieee); };
  auto max = [&](uint64_t x, uint64_t y) { return minMax(f, x, y, true, ieee); };
  const Wide x = decode(f, uint32_t(a)), y = decode(f, uint32_t(b)), z = decode(f, uint32_t(c));
  if (isNan(x) || isNan(y) || isNan(z))
    return min(min(a, b), c);
  const Wide largest = decode(f, uint32_t(max(max(a, b), c)));
  if (largest == x)
    return max(b, c);
  return largest == y ? max(a, c) : max(a, b);
}

/// The text compares with ==, under which zeros of both signs are the largest: which of them comes
/// out is left open.
uint64_t med3Lane(const Format &f, Lane &l) {
  const uint64_t result = med3(f, l.a, l.b, l.c, l.mode.ieee);
  l.unspecified = decode(f, uint32_t(result)) == 0;
  return result;
}

const std::vector<Row> MinMaxRows{
    {"v_max_f64", Type::F64, DD, E64 | FloatMods | NOIEEE,
     [](Lane &l) { return minMax64(l.a, l.b, /*max=*/true, l.mode.ieee); }},
    {"v_min_f64", Type::F64, DD, E64 | FloatMods | NOIEEE,
     [](Lane &l) { return minMax64(l.a, l.b, /*max=*/false, l.mode.ieee); }},
    {"v_max3_f32", Type::F32, FFF, E64 | FloatMods | NOIEEE, chained32<true>()},
    {"v_min3_f32", Type::F32, FFF, E64 | FloatMods | NOIEEE, chained32<false>()},
    {"v_med3_f32", Type::F32, FFF, E64 | FloatMods | NOIEEE,
     [](Lane &l) { return med3Lane(F32Format, l); }},
    {"v_med3_f16", Type::F16, HHH, E64 | NEG | OPSEL | KEEPHIGH,
     [](Lane &l) { return med3Lane(F16Format, l); }},
    {"v_maximum3_f32", Type::F32, FFF, E64 | NEG,
     [](Lane &l) {
       return minimumMaximum(F32Format, minimumMaximum(F32Format, l.a, l.b, true), l.c, true);
     }},
    {"v_minimum3_f32", Type::F32, FFF, E64 | NEG,
     [](Lane &l) {
       return minimumMaximum(F32Format, minimumMaximum(F32Format, l.a, l.b, false), l.c, false);
     }},
};

//===--- division ------------------------------------------------------------===//

/// v_div_fixup of any format: a = quotient, b = denominator, c = numerator, as exact values.
struct FixupBits {
  uint64_t a, b, c, sign, infinity, nan;
};
uint64_t fixup(const FixupBits &f) {
  const uint64_t sign = (f.b ^ f.c) & f.sign, magnitude = f.sign - 1;
  const uint64_t den = f.b & magnitude, num = f.c & magnitude;
  if (num > f.infinity || den > f.infinity)
    return f.nan;
  if ((den == 0 && num == 0) || (den == f.infinity && num == f.infinity))
    return f.nan;
  if (den == 0 || num == f.infinity)
    return sign | f.infinity;
  if (den == f.infinity || num == 0)
    return sign;
  return sign | (f.a & magnitude);
}

const std::vector<Row> FixupRows{
    {"v_div_fixup_f32", Type::F32, FFF, E64 | NEG,
     [](Lane &l) {
       const bool special = std::isfinite(asF32(l.b)) && std::isfinite(asF32(l.c)) &&
                            asF32(l.b) != 0 && asF32(l.c) != 0;
       if (special && isNan32(l.a)) // Newton steps that overflowed
         l.a = 0x7f800000;
       if (special && int(l.c >> 23 & 255) - int(l.b >> 23 & 255) < -150)
         l.a = 0;
       return fixup({l.a, l.b, l.c, 1u << 31, 0x7f800000, 0x7fc00000});
     }},
    {"v_div_fixup_f64", Type::F64, DDD, E64 | NEG,
     [](Lane &l) {
       const bool special = std::isfinite(asF64(l.b)) && std::isfinite(asF64(l.c)) &&
                            asF64(l.b) != 0 && asF64(l.c) != 0;
       if (special && std::isnan(asF64(l.a)))
         l.a = 0x7ffull << 52;
       if (special && int(l.c >> 52 & 2047) - int(l.b >> 52 & 2047) < -1075)
         l.a = 0;
       return fixup({l.a, l.b, l.c, 1ull << 63, 0x7ffull << 52, 0x7ff8ull << 48});
     }},
    {"v_div_fixup_f16", Type::F16, HHH, E64 | NEG | OPSEL | KEEPHIGH,
     [](Lane &l) { return fixup({l.a & 0xffff, l.b, l.c, 0x8000, 0x7c00, 0x7e00}); }},
    // With the mask set the result is scaled by a power of two whose sign the sources disagree on:
    // the division sequences below need it up for a large estimate c, else down. Its rounding is
    // left to them where the scaled result is denormal.
    {"v_div_fmas_f32", Type::F32, FFF, E64 | NEG | MASKIN | VCCIN,
     [](Lane &l) {
       const float sum = std::fma(asF32(l.a), asF32(l.b), asF32(l.c));
       if (!l.mask || !std::isfinite(asF32(l.a)) || !std::isfinite(asF32(l.b)) ||
           !std::isfinite(asF32(l.c)))
         return bitsOf(sum);
       const float scaled = std::ldexp(sum, (l.c >> 23 & 255) > 127 ? 64 : -64);
       l.unspecified = !std::isnormal(sum) || !std::isnormal(scaled);
       return bitsOf(scaled);
     }},
    {"v_div_fmas_f64", Type::F64, DDD, E64 | NEG | MASKIN | VCCIN,
     [](Lane &l) {
       const double sum = std::fma(asF64(l.a), asF64(l.b), asF64(l.c));
       if (!l.mask || !std::isfinite(asF64(l.a)) || !std::isfinite(asF64(l.b)) ||
           !std::isfinite(asF64(l.c)))
         return bitsOf(sum);
       const double scaled = std::ldexp(sum, (l.c >> 52 & 2047) > 1023 ? 128 : -128);
       l.unspecified = !std::isnormal(sum) || !std::isnormal(scaled);
       return bitsOf(scaled);
     }},
};

/// v_div_scale with S0 = S1 = b (the denominator) or S0 = S2 = c: the power of two that scales it,
/// by the exponent fields, and the mask.
struct ScaleLimits {
  int mantissa, last, apart, power, tiny;
};
constexpr ScaleLimits Scale32{23, 255, 96, 64, 24}, Scale64{52, 2047, 768, 128, 53};
int scalePower(Lane &l, const ScaleLimits &f, bool denominator) {
  const int den = l.b >> f.mantissa & f.last, num = l.c >> f.mantissa & f.last;
  denominator |= l.b == l.c;
  l.mask = std::abs(num - den) >= f.apart;
  if (num - den >= f.apart) // the quotient may overflow
    return denominator ? f.power : 0;
  if (den == 0)
    return f.power;
  if (den >= f.last - 2) // the reciprocal is denormal, and the quotient perhaps too
    return !l.mask || denominator ? -f.power : 0;
  if (l.mask) // the quotient is denormal or zero
    return denominator ? 0 : f.power;
  return num <= f.tiny ? f.power : 0; // the remainder would be denormal
}
uint64_t divScale32(Lane &l, bool denominator) {
  const float den = asF32(l.b), num = asF32(l.c), source = denominator ? den : num;
  const int power = scalePower(l, Scale32, denominator);
  if (num == 0 || den == 0) {
    l.mask = false;
    return 0xffc00000;
  }
  if (std::isnan(source))
    return l.unspecified = true; // v_div_fixup replaces the result
  return bitsOf(std::ldexp(source, power));
}
uint64_t divScale64(Lane &l, bool denominator) {
  const double den = asF64(l.b), num = asF64(l.c), source = denominator ? den : num;
  const int power = scalePower(l, Scale64, denominator);
  if (num == 0 || den == 0) {
    l.mask = false;
    return 0xfffull << 51;
  }
  if (std::isnan(source))
    return l.unspecified = true;
  return bitsOf(std::ldexp(source, power));
}

constexpr unsigned ScaleForms = E64 | MASKOUT | NOCONST;
constexpr const char *OfDenominator = "{0}, {4}, {2}, {2}, {3}",
                     *OfNumerator = "{0}, {4}, {3}, {2}, {3}";
const std::vector<Row> ScaleRows{
    {"v_div_scale_f32",
     Type::F32,
     FFF,
     ScaleForms,
     [](Lane &l) { return divScale32(l, true); },
     {},
     OfDenominator},
    {"v_div_scale_f32",
     Type::F32,
     FFF,
     ScaleForms,
     [](Lane &l) { return divScale32(l, false); },
     {},
     OfNumerator},
    {"v_div_scale_f64",
     Type::F64,
     DDD,
     ScaleForms,
     [](Lane &l) { return divScale64(l, true); },
     {},
     OfDenominator},
    {"v_div_scale_f64",
     Type::F64,
     DDD,
     ScaleForms,
     [](Lane &l) { return divScale64(l, false); },
     {},
     OfNumerator},
};

void fillDivision(Wave &w, Rng &rng, Type type) {
  w.exec = ~0ull;
  for (unsigned lane = 0; lane < Lanes; ++lane) {
    const unsigned index = w.index * Lanes + lane;
    w.setV64(8, lane, value(type, 0, index, rng));
    w.setV64(10, lane, value(type, 1, index, rng));
  }
}

/// The sequences that LLVM emits for a correctly rounded division, against the host's.
void addDivisions(Suite &suite) {
  for (const char *mnemonic : {"v_div_scale_f32", "v_div_fmas_f32", "v_div_fixup_f32"}) {
    Case c;
    c.mnemonic = mnemonic;
    c.waves = 24;
    c.text = "  v_div_scale_f32 v24, s[14:15], v10, v10, v8\n"
             "  v_div_scale_f32 v25, vcc, v8, v10, v8\n"
             "  v_rcp_f32_e32 v26, v24\n"
             "  v_fma_f32 v27, -v24, v26, 1.0\n"
             "  v_fmac_f32_e32 v26, v27, v26\n"
             "  v_mul_f32_e32 v27, v25, v26\n"
             "  v_fma_f32 v28, -v24, v27, v25\n"
             "  v_fmac_f32_e32 v27, v28, v26\n"
             "  v_fma_f32 v24, -v24, v27, v25\n"
             "  v_div_fmas_f32 v24, v24, v26, v27\n"
             "  v_div_fixup_f32 v14, v24, v10, v8\n"
             "  s_mov_b64 vcc, s[60:61]\n  ; " +
             std::string(mnemonic) + "\n";
    c.fill = [](Wave &w, Rng &rng) { fillDivision(w, rng, Type::F32); };
    c.expect = [](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.v(14, lane) = uint32_t(bitsOf(asF32(w.v(8, lane)) / asF32(w.v(10, lane))));
    };
    c.compare[14] = {Compare::F32};
    suite.add(c);
  }
  for (const char *mnemonic : {"v_div_scale_f64", "v_div_fmas_f64", "v_div_fixup_f64"}) {
    Case c;
    c.mnemonic = mnemonic;
    c.waves = 24;
    c.text = "  v_div_scale_f64 v[24:25], s[14:15], v[10:11], v[10:11], v[8:9]\n"
             "  v_rcp_f64_e32 v[26:27], v[24:25]\n"
             "  v_fma_f64 v[28:29], -v[24:25], v[26:27], 1.0\n"
             "  v_fmac_f64_e32 v[26:27], v[26:27], v[28:29]\n"
             "  v_fma_f64 v[28:29], -v[24:25], v[26:27], 1.0\n"
             "  v_fmac_f64_e32 v[26:27], v[26:27], v[28:29]\n"
             "  v_div_scale_f64 v[28:29], vcc, v[8:9], v[10:11], v[8:9]\n"
             "  v_mul_f64 v[30:31], v[28:29], v[26:27]\n"
             "  v_fma_f64 v[24:25], -v[24:25], v[30:31], v[28:29]\n"
             "  v_div_fmas_f64 v[24:25], v[24:25], v[26:27], v[30:31]\n"
             "  v_div_fixup_f64 v[14:15], v[24:25], v[10:11], v[8:9]\n"
             "  s_mov_b64 vcc, s[60:61]\n  ; " +
             std::string(mnemonic) + "\n";
    c.fill = [](Wave &w, Rng &rng) { fillDivision(w, rng, Type::F64); };
    c.expect = [](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.setV64(14, lane, bitsOf(asF64(w.v64(8, lane)) / asF64(w.v64(10, lane))));
    };
    c.compare[14] = {Compare::F64};
    suite.add(c);
  }
}

//===--- dot products ---------------------------------------------------------===//

/// Two products added to an accumulator. The order and the rounding inside are not said: inputs are
/// small integers, so that every order gives the same.
void addDot2(Suite &suite, const char *mnemonic, const Format &format, const char *operands,
             bool accumulates) {
  Case c;
  c.mnemonic = mnemonic;
  c.text = std::string(mnemonic) + operands;
  const Format f = format;
  c.fill = [f](Wave &w, Rng &rng) {
    auto pair = [&] {
      auto half = [&] { return encode(f, Wide(int(rng() % 33) - 16)); };
      const uint32_t low = half();
      return low | half() << 16;
    };
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      w.v(8, lane) = pair();
      w.v(10, lane) = pair();
      w.v(12, lane) = w.v(14, lane) = uint32_t(bitsOf(float(int(rng() % 2001) - 1000)));
    }
  };
  c.expect = [f, accumulates](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      Wide sum = asF32(w.v(accumulates ? 14 : 12, lane));
      for (unsigned half = 0; half < 2; ++half)
        sum += decode(f, w.v(8, lane) >> 16 * half & 0xffff) *
               decode(f, w.v(10, lane) >> 16 * half & 0xffff);
      w.v(14, lane) = uint32_t(bitsOf(float(sum)));
    }
  };
  c.compare[14] = {Compare::F32};
  suite.add(std::move(c));
}

const SuiteRegistrar registrar("Vop3Float", [](Suite &suite) {
  for (const auto *rows : {&FmaRows, &LdexpRows, &MinMaxRows, &FixupRows, &ScaleRows})
    addRows(suite, *rows);
  addDivisions(suite);
  addDot2(suite, "v_dot2c_f32_f16", F16Format, "_e32 v14, v8, v10", true);
  addDot2(suite, "v_dot2c_f32_bf16", BF16Format, "_e32 v14, v8, v10", true);
  addDot2(suite, "v_dot2_f32_f16", F16Format, " v14, v8, v10, v12", false);
  addDot2(suite, "v_dot2_f32_bf16", BF16Format, " v14, v8, v10, v12", false);
});

} // namespace
} // namespace isatest
