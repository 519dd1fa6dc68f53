//===- Vop1Tests.cpp - one-operand vector instructions ---------------------===//
#include "tests/emulator/isa/VectorTable.h"

namespace isatest {
namespace {

const std::vector<Type> F{Type::F32}, H{Type::F16}, D{Type::F64}, B{Type::B32};
constexpr unsigned Float1 = Vop1 | FloatMods;

/// Not more than one unit in the last place from the correctly rounded value.
constexpr Compare OneUlp{Compare::F32, 1}, OneUlp16{Compare::F16, 1};

uint32_t reverse(uint32_t x) {
  uint32_t out = 0;
  for (unsigned i = 0; i < 32; ++i)
    out |= (x >> i & 1) << (31 - i);
  return out;
}

float fract(float x) {
  // LLVM takes fract for min(x - floor(x), largest below 1), so the result never rounds up to 1.
  const float f = x - std::floor(x);
  return f == 1.0f ? 0x1.fffffep-1f : f;
}

const std::vector<Row> MoveRows{
    {"v_mov_b32", Type::B32, B, Vop1 | SDWA, u32x1([](uint32_t a) { return a; })},
    {"v_mov_b64", Type::B64, {Type::B64}, E32 | E64, [](Lane &l) { return l.a; }},
    {"v_not_b32", Type::B32, B, Vop1 | SDWA, u32x1([](uint32_t a) { return ~a; })},
    {"v_bfrev_b32", Type::B32, B, Vop1, u32x1(reverse)},
    {"v_ffbh_u32", Type::B32, B, Vop1,
     u32x1([](uint32_t a) { return a ? uint32_t(std::countl_zero(a)) : ~0u; })},
    {"v_ffbl_b32", Type::B32, B, Vop1,
     u32x1([](uint32_t a) { return a ? uint32_t(std::countr_zero(a)) : ~0u; })},
    {"v_ffbh_i32", Type::B32, B, Vop1, u32x1([](uint32_t a) {
       const uint32_t x = int32_t(a) < 0 ? ~a : a;
       return x ? uint32_t(std::countl_zero(x)) : ~0u;
     })},
    {"v_prng_b32", Type::B32, B, Vop1,
     u32x1([](uint32_t a) { return (a << 1) ^ (a >> 31 ? 197u : 0u); })},
};

const std::vector<Row> RoundingRows{
    {"v_trunc_f32", Type::F32, F, Float1, f32x1(std::trunc)},
    {"v_ceil_f32", Type::F32, F, Float1, f32x1(std::ceil)},
    {"v_floor_f32", Type::F32, F, Float1, f32x1(std::floor)},
    {"v_rndne_f32", Type::F32, F, Float1, f32x1(std::nearbyint)},
    {"v_fract_f32", Type::F32, F, Float1, f32x1(fract)},
    {"v_trunc_f64", Type::F64, D, E32 | E64 | NEG, f64x1(std::trunc)},
    {"v_ceil_f64", Type::F64, D, E32 | E64 | NEG, f64x1(std::ceil)},
    {"v_floor_f64", Type::F64, D, E32 | E64 | NEG, f64x1(std::floor)},
    {"v_rndne_f64", Type::F64, D, E32 | E64 | NEG, f64x1(std::nearbyint)},
    {"v_floor_f16", Type::F16, H, Float1,
     f16x1([](Wide a) { return Wide(std::floor(double(a))); })},
    {"v_ceil_f16", Type::F16, H, Float1, f16x1([](Wide a) { return Wide(std::ceil(double(a))); })},
    {"v_trunc_f16", Type::F16, H, Float1,
     f16x1([](Wide a) { return Wide(std::trunc(double(a))); })},
    {"v_rndne_f16", Type::F16, H, Float1,
     f16x1([](Wide a) { return Wide(std::nearbyint(double(a))); })},
};

const std::vector<Row> FrexpRows{
    {"v_frexp_mant_f32", Type::F32, F, Float1, f32x1([](float a) {
       int exponent = 0;
       return std::isfinite(a) ? std::frexp(a, &exponent) : a;
     })},
    {"v_frexp_exp_i32_f32", Type::B32, F, Vop1 | NEG,
     [](Lane &l) {
       int exponent = 0;
       if (std::isfinite(asF32(l.a)))
         std::frexp(asF32(l.a), &exponent);
       return uint64_t(uint32_t(exponent));
     }},
    {"v_frexp_mant_f64", Type::F64, D, E32 | E64 | NEG, f64x1([](double a) {
       int exponent = 0;
       return std::isfinite(a) ? std::frexp(a, &exponent) : a;
     })},
    {"v_frexp_exp_i32_f64", Type::B32, D, E32 | E64 | NEG,
     [](Lane &l) {
       int exponent = 0;
       if (std::isfinite(asF64(l.a)))
         std::frexp(asF64(l.a), &exponent);
       return uint64_t(uint32_t(exponent));
     }},
};

/// The approximate f32 instructions take and give no denormals, whatever MODE says.
LaneFunction approximate(double (*f)(double)) {
  return [f](Lane &l) { return flush32(bitsOf(float(f(double(asF32(flush32(l.a))))))); };
}
LaneFunction approximate16(double (*f)(double)) {
  return [f](Lane &l) { return toF16(l, Wide(f(double(f16(in16(l, l.a)))))); };
}

double rcp(double x) { return 1 / x; }
double rsq(double x) { return 1 / std::sqrt(x); }
double exp2Of(double x) { return std::exp2(x); }
double log2Of(double x) { return std::log2(x); }
double sqrtOf(double x) { return std::sqrt(x); }

/// sin/cos take revolutions and hold for |x| <= 256; far outside they give sin 0 and cos 0.
LaneFunction trigonometric(double (*f)(double), float farOut) {
  return [f, farOut](Lane &l) {
    const double x = asF32(flush32(l.a));
    if (std::fabs(x) == double(0x1.fffffep127f))
      return bitsOf(farOut);
    l.unspecified = std::fabs(x) > 256 && std::isfinite(x);
    return bitsOf(float(f((x - std::nearbyint(x)) * 2 * M_PI)));
  };
}
constexpr Compare Trig{Compare::F32, 2, 0x1p-22};
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }

const std::vector<Row> ApproximateRows{
    {"v_rcp_f32", Type::F32, F, Vop1 | NEG, approximate(rcp), OneUlp},
    {"v_rcp_iflag_f32", Type::F32, F, Vop1 | NEG, approximate(rcp), OneUlp},
    {"v_rsq_f32", Type::F32, F, Vop1 | NEG, approximate(rsq), OneUlp},
    {"v_sqrt_f32", Type::F32, F, Vop1 | NEG, approximate(sqrtOf), OneUlp},
    {"v_exp_f32", Type::F32, F, Vop1 | NEG, approximate(exp2Of), OneUlp},
    {"v_log_f32", Type::F32, F, Vop1 | NEG, approximate(log2Of), OneUlp},
    {"v_sin_f32", Type::F32, F, E32 | E64 | NEG, trigonometric(sine, 0), Trig},
    {"v_cos_f32", Type::F32, F, E32 | E64 | NEG, trigonometric(cosine, 1), Trig},
    {"v_rcp_f16", Type::F16, H, Vop1 | NEG, approximate16(rcp), OneUlp16},
    {"v_rsq_f16", Type::F16, H, Vop1 | NEG, approximate16(rsq), OneUlp16},
    {"v_sqrt_f16", Type::F16, H, Vop1 | NEG, approximate16(sqrtOf), OneUlp16},
    {"v_exp_f16", Type::F16, H, Vop1 | NEG, approximate16(exp2Of), OneUlp16},
    {"v_log_f16", Type::F16, H, Vop1 | NEG, approximate16(log2Of), OneUlp16},
    // Seeds of Newton iterations: about 2^-23 relative.
    {"v_rcp_f64",
     Type::F64,
     D,
     E32 | E64 | NEG,
     [](Lane &l) {
       const uint64_t result = bitsOf(1 / asF64(l.a));
       l.unspecified = flush64(l.a) != l.a || flush64(result) != result;
       return result;
     },
     {Compare::F64, 1u << 29}},
    {"v_rsq_f64",
     Type::F64,
     D,
     E32 | E64 | NEG,
     [](Lane &l) {
       l.unspecified = flush64(l.a) != l.a;
       return bitsOf(1 / std::sqrt(asF64(l.a)));
     },
     {Compare::F64, 1u << 29}},
};

// What the ISA's text gives as examples, to the bit, NaNs as well. It has none for f64: there -1
// and -inf give the NaN of the other formats.
const std::vector<Row> ExactExampleRows = [] {
  struct Example {
    const char *name;
    uint32_t in;
    uint64_t out;
  };
  constexpr uint32_t NaN = 0xffc00000, NaN16 = 0xfe00;
  constexpr uint64_t NaN64 = 0xfff8000000000000;
  const std::vector<Example> examples{
      {"v_exp_f32", 0xff800000, 0},
      {"v_exp_f32", 0x80000000, 0x3f800000},
      {"v_exp_f32", 0x7f800000, 0x7f800000},
      {"v_exp_f32", 0x40400000, 0x41000000},
      {"v_log_f32", 0xff800000, NaN},
      {"v_log_f32", 0xbf800000, NaN},
      {"v_log_f32", 0x80000000, 0xff800000},
      {"v_log_f32", 0, 0xff800000},
      {"v_log_f32", 0x3f800000, 0},
      {"v_log_f32", 0x7f800000, 0x7f800000},
      {"v_rcp_f32", 0xff800000, 0x80000000},
      {"v_rcp_f32", 0xc0000000, 0xbf000000},
      {"v_rcp_f32", 0x80000000, 0xff800000},
      {"v_rcp_f32", 0, 0x7f800000},
      {"v_rcp_f32", 0x7f800000, 0},
      {"v_rsq_f32", 0xff800000, NaN},
      {"v_rsq_f32", 0x80000000, 0xff800000},
      {"v_rsq_f32", 0, 0x7f800000},
      {"v_rsq_f32", 0x40800000, 0x3f000000},
      {"v_rsq_f32", 0x7f800000, 0},
      {"v_sqrt_f32", 0xff800000, NaN},
      {"v_sqrt_f32", 0x80000000, 0x80000000},
      {"v_sqrt_f32", 0x40800000, 0x40000000},
      {"v_sqrt_f32", 0x7f800000, 0x7f800000},
      {"v_sin_f32", 0xff800000, NaN},
      {"v_sin_f32", 0x80000000, 0x80000000},
      {"v_sin_f32", 0x7f800000, NaN},
      {"v_sin_f32", 0xff7fffff, 0},
      {"v_sin_f32", 0x3e800000, 0x3f800000},
      {"v_cos_f32", 0x80000000, 0x3f800000},
      {"v_cos_f32", 0x3e800000, 0},
      {"v_cos_f32", 0x7f800000, NaN},
      {"v_cos_f32", 0xff800000, NaN},
      {"v_cos_f32", 0xff7fffff, 0x3f800000},
      {"v_exp_f16", 0xfc00, 0},
      {"v_exp_f16", 0x8000, 0x3c00},
      {"v_exp_f16", 0x7c00, 0x7c00},
      {"v_log_f16", 0xfc00, NaN16},
      {"v_log_f16", 0xbc00, NaN16},
      {"v_log_f16", 0x8000, 0xfc00},
      {"v_log_f16", 0, 0xfc00},
      {"v_log_f16", 0x3c00, 0},
      {"v_log_f16", 0x7c00, 0x7c00},
      {"v_rcp_f16", 0xfc00, 0x8000},
      {"v_rcp_f16", 0xc000, 0xb800},
      {"v_rcp_f16", 0x8000, 0xfc00},
      {"v_rcp_f16", 0, 0x7c00},
      {"v_rcp_f16", 0x7c00, 0},
      {"v_rsq_f16", 0xfc00, NaN16},
      {"v_rsq_f16", 0x8000, 0xfc00},
      {"v_rsq_f16", 0, 0x7c00},
      {"v_rsq_f16", 0x4400, 0x3800},
      {"v_rsq_f16", 0x7c00, 0},
      {"v_sqrt_f16", 0xfc00, NaN16},
      {"v_sqrt_f16", 0x8000, 0x8000},
      {"v_sqrt_f16", 0, 0},
      {"v_sqrt_f16", 0x4400, 0x4000},
      {"v_sqrt_f16", 0x7c00, 0x7c00},
      {"v_sin_f16", 0xfc00, NaN16},
      {"v_sin_f16", 0xfbff, 0},
      {"v_sin_f16", 0x8000, 0x8000},
      {"v_sin_f16", 0x3400, 0x3c00},
      {"v_sin_f16", 0x7bff, 0},
      {"v_sin_f16", 0x7c00, NaN16},
      {"v_cos_f16", 0xfc00, NaN16},
      {"v_cos_f16", 0xfbff, 0x3c00},
      {"v_cos_f16", 0x8000, 0x3c00},
      {"v_cos_f16", 0x3400, 0},
      {"v_cos_f16", 0x7bff, 0x3c00},
      {"v_cos_f16", 0x7c00, NaN16},
      {"v_sqrt_f64", 0xfff00000, NaN64},
      {"v_sqrt_f64", 0xbff00000, NaN64},
      {"v_rsq_f64", 0xfff00000, NaN64},
      {"v_rsq_f64", 0xbff00000, NaN64},
  };
  std::vector<Row> rows;
  static std::vector<std::string> texts; // the rows keep pointers
  texts.reserve(examples.size());
  for (const Example &e : examples) {
    const bool wide = std::string_view(e.name).ends_with("f64");
    const bool half = std::string_view(e.name).ends_with("f16");
    texts.push_back("{0}, " + hex(e.in)); // the upper half of an f64
    rows.push_back({e.name,
                    wide ? Type::B64 : Type::B32,
                    wide   ? std::vector{Type::F64}
                    : half ? H
                           : F,
                    E32 | NOCONST,
                    [out = e.out](Lane &) { return out; },
                    {},
                    texts.back().c_str()});
  }
  return rows;
}();

const SuiteRegistrar registrar("Vop1", [](Suite &suite) {
  for (const auto *rows :
       {&MoveRows, &RoundingRows, &FrexpRows, &ApproximateRows, &ExactExampleRows})
    addRows(suite, *rows);
});

} // namespace
} // namespace isatest
