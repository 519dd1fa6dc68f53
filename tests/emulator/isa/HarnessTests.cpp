//===- HarnessTests.cpp - the harness finds what it is there to find -------===//
//
// Each comparison with a planted fault (a wrong model) and its clean twin, and
// the reference arithmetic against the host's.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Harness.h"
#include "tests/emulator/isa/Numeric.h"

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace isatest {
namespace {

Case addition() {
  Case c;
  c.mnemonic = "v_add_u32";
  c.text = "v_add_u32_e32 v14, v8, v10";
  c.memBytes = 64;
  c.expect = [](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        w.v(14, lane) = w.v(8, lane) + w.v(10, lane);
  };
  return c;
}

/// The clean case with one more change to its model.
std::vector<Case> planted(std::function<void(Wave &)> change) {
  Case c = addition();
  c.expect = [expect = c.expect, change](Wave &w) {
    expect(w);
    change(w);
  };
  return {c};
}

TEST(Harness, CleanCasePasses) { runCases("clean", {addition()}); }

TEST(Harness, WrongResultIsFound) {
  EXPECT_NONFATAL_FAILURE(
      runCases("planted", planted([](Wave &w) { w.v(14, 63) ^= w.active(63) ? 1 : 0; })),
      "lane 63 v14");
}

TEST(Harness, WriteToInactiveLaneIsFound) {
  // The model says that inactive lanes change: the unchanged ones are differences.
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) {
                                     if (w.index == 1)
                                       w.v(14, 0) += 1;
                                   })),
                          "wave 1 lane 0 v14");
}

TEST(Harness, UnexpectedScalarStateIsFound) {
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.s(45) ^= 4; })), "s45");
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.vcc ^= 2; })), "vcc");
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.exec ^= 2; })), "exec");
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.scc ^= true; })), "scc");
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.m0 ^= 1; })), "m0");
}

TEST(Harness, WrongMemoryIsFound) {
  EXPECT_NONFATAL_FAILURE(runCases("planted", planted([](Wave &w) { w.mem[7] ^= 1; })),
                          "memory byte 7");
}

TEST(Harness, ToleranceIsNotEquality) {
  Case c = addition();
  c.text = "v_add_f32_e32 v14, 1.0, v8";
  c.mnemonic = "v_add_f32";
  c.fill = [](Wave &w, Rng &) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(8, lane) = uint32_t(bitsOf(float(lane)));
  };
  auto offBy = [&c](uint32_t ulps, unsigned allowed) {
    c.compare[14] = {Compare::F32, allowed};
    c.expect = [ulps](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane))
          w.v(14, lane) = uint32_t(bitsOf(float(lane + 1))) + ulps;
    };
    return std::vector<Case>{c};
  };
  runCases("clean", offBy(0, 0));
  runCases("clean", offBy(1, 1));
  EXPECT_NONFATAL_FAILURE(runCases("planted", offBy(1, 0)), "v14");
  EXPECT_NONFATAL_FAILURE(runCases("planted", offBy(2, 1)), "v14");
}

TEST(Harness, CaseWithoutItsMnemonicIsRefused) {
  static std::vector<Case> cases;
  cases = {addition()};
  cases[0].mnemonic = "v_sub_u32";
  EXPECT_FATAL_FAILURE(runCases("planted", cases), "is not in its case");
}

TEST(Harness, TextThatDoesNotAssembleIsRefused) {
  static std::vector<Case> cases;
  cases = {addition()};
  cases[0].text = "v_add_u32_e32 v14, v8, s99999";
  EXPECT_FATAL_FAILURE(runCases("planted", cases), "");
}

//===--- reference arithmetic ---------------------------------------------------===//

TEST(Numeric, EveryCodeRoundTrips) {
  for (const Format *f :
       {&F16Format, &BF16Format, &FP8Format, &BF8Format, &FP6Format, &BF6Format, &FP4Format})
    for (uint32_t code = 0; code < 1u << f->bits(); ++code) {
      const Wide x = decode(*f, code);
      if (!isNan(x))
        EXPECT_EQ(encode(*f, x), code);
      else
        EXPECT_TRUE(isNan(decode(*f, encode(*f, x))));
    }
}

TEST(Numeric, KnownValues) {
  EXPECT_EQ(double(decode(FP4Format, 7)), 6.0);
  EXPECT_EQ(double(decode(FP4Format, 1)), 0.5);
  EXPECT_EQ(double(decode(FP6Format, 0x1f)), 7.5);
  EXPECT_EQ(double(decode(BF6Format, 0x1f)), 28.0);
  EXPECT_EQ(double(decode(FP8Format, 0x7e)), 448.0);
  EXPECT_EQ(double(decode(BF8Format, 0x7b)), 57344.0);
  EXPECT_EQ(double(decode(F16Format, 0x7bff)), 65504.0);
  EXPECT_EQ(double(decode(F16Format, 0x0001)), 0x1p-24);
  // Ties to even, saturation, overflow.
  const std::pair<double, uint32_t> fp4[] = {{0.25, 0}, {0.75, 2}, {1.25, 2}, {1.75, 4}, {2.5, 4},
                                             {3.5, 6},  {5.0, 6},  {7.0, 7},  {1e9, 7}};
  for (auto [x, code] : fp4) {
    EXPECT_EQ(encode(FP4Format, x), code) << x;
    EXPECT_EQ(encode(FP4Format, -x), code | 8) << x;
  }
  EXPECT_EQ(encode(FP8Format, 464), 0x7eu);
  EXPECT_EQ(encode(FP8Format, 465), 0x7fu);
  EXPECT_EQ(encode(FP8Format, 465, Round::NearestEven, true), 0x7eu);
  EXPECT_EQ(encode(BF8Format, 1e6), 0x7cu);
}

TEST(Numeric, RoundsLikeTheHost) {
  Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(double(int64_t(rng())), int(rng() % 330) - 200);
    EXPECT_EQ(encode(F32Format, x), bitsOf(float(x))) << x;
    // A float's upper half, rounded by adding, is its bf16.
    const uint32_t bits = uint32_t(bitsOf(float(x)));
    if (std::isfinite(float(x)))
      EXPECT_EQ(encode(BF16Format, asF32(bits)), (bits + 0x7fff + (bits >> 16 & 1)) >> 16) << x;
  }
}

} // namespace
} // namespace isatest
