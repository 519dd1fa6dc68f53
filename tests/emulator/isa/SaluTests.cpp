//===- SaluTests.cpp - scalar instructions ---------------------------------===//
//
// Operands a = s[32:33], b = s[34:35]; destination s[40:41]. Each wave draws one
// tuple of operands and an SCC.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Operands.h"

#include "fmt/format.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

#include <bit>

namespace isatest {
namespace {

struct Scalar {
  uint64_t a, b; ///< zero-extended for 32-bit operands
  uint64_t d;    ///< destination before; the function leaves the result here
  bool scc;
  uint64_t exec;
};

struct Row {
  const char *name;
  const char *operands; ///< "d a b": d, a, b 32-bit, D, A, B 64-bit; "k": a 16-bit immediate as b
  void (*fn)(Scalar &s);
  Type bType = Type::B32;
};

int32_t i32(uint64_t x) { return int32_t(uint32_t(x)); }
void set(Scalar &s, uint64_t value) {
  s.d = value;
  s.scc = value != 0;
}
void set32(Scalar &s, uint32_t value) { set(s, value); }

uint64_t field64(uint64_t x, uint32_t offset, uint32_t width) {
  x = offset < 64 ? x >> offset : 0;
  return width >= 64 ? x : x & ((1ull << width) - 1);
}
int64_t signExtend(uint64_t x, uint32_t width) {
  return width == 0 || width >= 64 ? int64_t(x) : int64_t(x << (64 - width)) >> (64 - width);
}

const Row Rows[] = {
    {"s_add_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = s.a + s.b;
       s.d = uint32_t(sum);
       s.scc = sum >> 32;
     }},
    {"s_addc_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = s.a + s.b + s.scc;
       s.d = uint32_t(sum);
       s.scc = sum >> 32;
     }},
    {"s_sub_u32", "d a b",
     [](Scalar &s) {
       s.d = uint32_t(s.a - s.b);
       s.scc = s.b > s.a;
     }},
    {"s_subb_u32", "d a b",
     [](Scalar &s) {
       s.d = uint32_t(s.a - s.b - s.scc);
       s.scc = s.b + s.scc > s.a;
     }},
    {"s_add_i32", "d a b",
     [](Scalar &s) {
       const int64_t sum = int64_t(i32(s.a)) + i32(s.b);
       s.d = uint32_t(sum);
       s.scc = sum != i32(uint64_t(sum));
     }},
    {"s_sub_i32", "d a b",
     [](Scalar &s) {
       const int64_t difference = int64_t(i32(s.a)) - i32(s.b);
       s.d = uint32_t(difference);
       s.scc = difference != i32(uint64_t(difference));
     }},
    {"s_min_i32", "d a b", [](Scalar &s) { s.d = (s.scc = i32(s.a) < i32(s.b)) ? s.a : s.b; }},
    {"s_min_u32", "d a b", [](Scalar &s) { s.d = (s.scc = s.a < s.b) ? s.a : s.b; }},
    {"s_max_i32", "d a b", [](Scalar &s) { s.d = (s.scc = i32(s.a) >= i32(s.b)) ? s.a : s.b; }},
    {"s_max_u32", "d a b", [](Scalar &s) { s.d = (s.scc = s.a >= s.b) ? s.a : s.b; }},
    {"s_cselect_b32", "d a b", [](Scalar &s) { s.d = s.scc ? s.a : s.b; }},
    {"s_cselect_b64", "D A B", [](Scalar &s) { s.d = s.scc ? s.a : s.b; }},
    {"s_and_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a & s.b)); }},
    {"s_and_b64", "D A B", [](Scalar &s) { set(s, s.a & s.b); }},
    {"s_or_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a | s.b)); }},
    {"s_or_b64", "D A B", [](Scalar &s) { set(s, s.a | s.b); }},
    {"s_xor_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a ^ s.b)); }},
    {"s_xor_b64", "D A B", [](Scalar &s) { set(s, s.a ^ s.b); }},
    {"s_andn2_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a & ~s.b)); }},
    {"s_andn2_b64", "D A B", [](Scalar &s) { set(s, s.a & ~s.b); }},
    {"s_orn2_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a | ~s.b)); }},
    {"s_orn2_b64", "D A B", [](Scalar &s) { set(s, s.a | ~s.b); }},
    {"s_nand_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(~(s.a & s.b))); }},
    {"s_nand_b64", "D A B", [](Scalar &s) { set(s, ~(s.a & s.b)); }},
    {"s_nor_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(~(s.a | s.b))); }},
    {"s_nor_b64", "D A B", [](Scalar &s) { set(s, ~(s.a | s.b)); }},
    {"s_xnor_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(~(s.a ^ s.b))); }},
    {"s_xnor_b64", "D A B", [](Scalar &s) { set(s, ~(s.a ^ s.b)); }},
    {"s_lshl_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a) << (s.b & 31)); }, Type::Shift},
    {"s_lshl_b64", "D A b", [](Scalar &s) { set(s, s.a << (s.b & 63)); }, Type::Shift},
    {"s_lshr_b32", "d a b", [](Scalar &s) { set32(s, uint32_t(s.a) >> (s.b & 31)); }, Type::Shift},
    {"s_lshr_b64", "D A b", [](Scalar &s) { set(s, s.a >> (s.b & 63)); }, Type::Shift},
    {"s_ashr_i32", "d a b", [](Scalar &s) { set32(s, uint32_t(i32(s.a) >> (s.b & 31))); },
     Type::Shift},
    {"s_ashr_i64", "D A b", [](Scalar &s) { set(s, uint64_t(int64_t(s.a) >> (s.b & 63))); },
     Type::Shift},
    {"s_bfm_b32", "d a b",
     [](Scalar &s) { s.d = uint32_t(((1u << (s.a & 31)) - 1) << (s.b & 31)); }, Type::Shift},
    {"s_bfm_b64", "D a b", [](Scalar &s) { s.d = ((1ull << (s.a & 63)) - 1) << (s.b & 63); },
     Type::Shift},
    {"s_mul_i32", "d a b", [](Scalar &s) { s.d = uint32_t(s.a * s.b); }},
    {"s_mul_hi_u32", "d a b", [](Scalar &s) { s.d = uint32_t(s.a * s.b >> 32); }},
    {"s_mul_hi_i32", "d a b",
     [](Scalar &s) { s.d = uint32_t(int64_t(i32(s.a)) * i32(s.b) >> 32); }},
    // Offset in the low bits of S1, width in [22:16].
    {"s_bfe_u32", "d a b",
     [](Scalar &s) { set32(s, uint32_t(field64(s.a, s.b & 31, s.b >> 16 & 127))); }},
    {"s_bfe_i32", "d a b",
     [](Scalar &s) {
       const uint32_t width = s.b >> 16 & 127;
       const uint64_t shifted = uint32_t(i32(s.a) >> (s.b & 31));
       set32(s, width >= 32 ? uint32_t(shifted)
                            : uint32_t(signExtend(field64(shifted, 0, width), width)));
     }},
    {"s_bfe_u64", "D A b", [](Scalar &s) { set(s, field64(s.a, s.b & 63, s.b >> 16 & 127)); }},
    {"s_absdiff_i32", "d a b",
     [](Scalar &s) {
       const int32_t difference = i32(s.a - s.b);
       set32(s, difference < 0 ? 0u - uint32_t(difference) : uint32_t(difference));
     }},
    {"s_lshl1_add_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = (s.a << 1) + s.b;
       s.d = uint32_t(sum);
       s.scc = sum >> 32;
     }},
    {"s_lshl2_add_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = (s.a << 2) + s.b;
       s.d = uint32_t(sum);
       s.scc = sum >> 32 != 0;
     }},
    {"s_lshl3_add_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = (s.a << 3) + s.b;
       s.d = uint32_t(sum);
       s.scc = sum >> 32 != 0;
     }},
    {"s_lshl4_add_u32", "d a b",
     [](Scalar &s) {
       const uint64_t sum = (s.a << 4) + s.b;
       s.d = uint32_t(sum);
       s.scc = sum >> 32 != 0;
     }},
    {"s_pack_ll_b32_b16", "d a b", [](Scalar &s) { s.d = uint32_t(s.b << 16 | (s.a & 0xffff)); }},
    {"s_pack_lh_b32_b16", "d a b",
     [](Scalar &s) { s.d = uint32_t((s.b & 0xffff0000) | (s.a & 0xffff)); }},
    {"s_pack_hh_b32_b16", "d a b",
     [](Scalar &s) { s.d = uint32_t((s.b & 0xffff0000) | s.a >> 16); }},

    {"s_mov_b32", "d a", [](Scalar &s) { s.d = s.a; }},
    {"s_mov_b64", "D A", [](Scalar &s) { s.d = s.a; }},
    {"s_cmov_b32", "d a", [](Scalar &s) { s.d = s.scc ? s.a : s.d; }},
    {"s_cmov_b64", "D A", [](Scalar &s) { s.d = s.scc ? s.a : s.d; }},
    {"s_not_b32", "d a", [](Scalar &s) { set32(s, uint32_t(~s.a)); }},
    {"s_not_b64", "D A", [](Scalar &s) { set(s, ~s.a); }},
    {"s_brev_b32", "d a", [](Scalar &s) { s.d = __builtin_bitreverse32(uint32_t(s.a)); }},
    {"s_brev_b64", "D A", [](Scalar &s) { s.d = __builtin_bitreverse64(s.a); }},
    {"s_bcnt0_i32_b32", "d a", [](Scalar &s) { set32(s, 32 - uint32_t(std::popcount(s.a))); }},
    {"s_bcnt1_i32_b32", "d a", [](Scalar &s) { set32(s, uint32_t(std::popcount(s.a))); }},
    {"s_bcnt1_i32_b64", "d A", [](Scalar &s) { set32(s, uint32_t(std::popcount(s.a))); }},
    {"s_ff1_i32_b32", "d a", [](Scalar &s) { s.d = s.a ? uint32_t(std::countr_zero(s.a)) : ~0u; }},
    {"s_ff1_i32_b64", "d A", [](Scalar &s) { s.d = s.a ? uint32_t(std::countr_zero(s.a)) : ~0u; }},
    {"s_ff0_i32_b32", "d a",
     [](Scalar &s) { s.d = uint32_t(s.a) != ~0u ? uint32_t(std::countr_one(s.a)) : ~0u; }},
    {"s_flbit_i32_b32", "d a",
     [](Scalar &s) { s.d = s.a ? uint32_t(std::countl_zero(uint32_t(s.a))) : ~0u; }},
    {"s_flbit_i32_b64", "d A",
     [](Scalar &s) { s.d = s.a ? uint32_t(std::countl_zero(s.a)) : ~0u; }},
    {"s_flbit_i32", "d a",
     [](Scalar &s) {
       const uint32_t x = uint32_t(i32(s.a) < 0 ? ~s.a : s.a);
       s.d = x ? uint32_t(std::countl_zero(x)) : ~0u;
     }},
    {"s_sext_i32_i8", "d a", [](Scalar &s) { s.d = uint32_t(int32_t(int8_t(s.a))); }},
    {"s_sext_i32_i16", "d a", [](Scalar &s) { s.d = uint32_t(int32_t(int16_t(s.a))); }},
    {"s_abs_i32", "d a",
     [](Scalar &s) { set32(s, i32(s.a) < 0 ? 0u - uint32_t(s.a) : uint32_t(s.a)); }},
    {"s_bitset0_b32", "d a", [](Scalar &s) { s.d &= ~(1ull << (s.a & 31)); }},
    {"s_bitset1_b32", "d a", [](Scalar &s) { s.d |= 1ull << (s.a & 31); }},
    {"s_bitset0_b64", "D a", [](Scalar &s) { s.d &= ~(1ull << (s.a & 63)); }},
    {"s_bitset1_b64", "D a", [](Scalar &s) { s.d |= 1ull << (s.a & 63); }},

    {"s_cmp_eq_i32", "a b", [](Scalar &s) { s.scc = s.a == s.b; }},
    {"s_cmp_lg_i32", "a b", [](Scalar &s) { s.scc = s.a != s.b; }},
    {"s_cmp_gt_i32", "a b", [](Scalar &s) { s.scc = i32(s.a) > i32(s.b); }},
    {"s_cmp_ge_i32", "a b", [](Scalar &s) { s.scc = i32(s.a) >= i32(s.b); }},
    {"s_cmp_lt_i32", "a b", [](Scalar &s) { s.scc = i32(s.a) < i32(s.b); }},
    {"s_cmp_le_i32", "a b", [](Scalar &s) { s.scc = i32(s.a) <= i32(s.b); }},
    {"s_cmp_eq_u32", "a b", [](Scalar &s) { s.scc = s.a == s.b; }},
    {"s_cmp_lg_u32", "a b", [](Scalar &s) { s.scc = s.a != s.b; }},
    {"s_cmp_gt_u32", "a b", [](Scalar &s) { s.scc = s.a > s.b; }},
    {"s_cmp_ge_u32", "a b", [](Scalar &s) { s.scc = s.a >= s.b; }},
    {"s_cmp_lt_u32", "a b", [](Scalar &s) { s.scc = s.a < s.b; }},
    {"s_cmp_le_u32", "a b", [](Scalar &s) { s.scc = s.a <= s.b; }},
    {"s_cmp_eq_u64", "A B", [](Scalar &s) { s.scc = s.a == s.b; }},
    {"s_cmp_lg_u64", "A B", [](Scalar &s) { s.scc = s.a != s.b; }},
    {"s_bitcmp0_b32", "a b", [](Scalar &s) { s.scc = !(s.a >> (s.b & 31) & 1); }, Type::Shift},
    {"s_bitcmp1_b32", "a b", [](Scalar &s) { s.scc = s.a >> (s.b & 31) & 1; }, Type::Shift},
    {"s_bitcmp0_b64", "A b", [](Scalar &s) { s.scc = !(s.a >> (s.b & 63) & 1); }, Type::Shift},
    {"s_bitcmp1_b64", "A b", [](Scalar &s) { s.scc = s.a >> (s.b & 63) & 1; }, Type::Shift},
};

/// 16-bit immediate forms: b is the immediate, sign- or zero-extended by the function.
const Row ImmediateRows[] = {
    {"s_movk_i32", "d k", [](Scalar &s) { s.d = uint32_t(int32_t(int16_t(s.b))); }},
    {"s_cmovk_i32", "d k", [](Scalar &s) { s.d = s.scc ? uint32_t(int32_t(int16_t(s.b))) : s.d; }},
    {"s_addk_i32", "d k",
     [](Scalar &s) {
       const int64_t sum = int64_t(i32(s.d)) + int16_t(s.b);
       s.d = uint32_t(sum);
       s.scc = sum != i32(uint64_t(sum));
     }},
    {"s_mulk_i32", "d k", [](Scalar &s) { s.d = uint32_t(int64_t(i32(s.d)) * int16_t(s.b)); }},
    {"s_cmpk_eq_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) == int16_t(s.b); }},
    {"s_cmpk_lg_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) != int16_t(s.b); }},
    {"s_cmpk_gt_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) > int16_t(s.b); }},
    {"s_cmpk_ge_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) >= int16_t(s.b); }},
    {"s_cmpk_lt_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) < int16_t(s.b); }},
    {"s_cmpk_le_i32", "a k", [](Scalar &s) { s.scc = i32(s.a) <= int16_t(s.b); }},
    {"s_cmpk_eq_u32", "a k", [](Scalar &s) { s.scc = s.a == uint16_t(s.b); }},
    {"s_cmpk_lg_u32", "a k", [](Scalar &s) { s.scc = s.a != uint16_t(s.b); }},
    {"s_cmpk_gt_u32", "a k", [](Scalar &s) { s.scc = s.a > uint16_t(s.b); }},
    {"s_cmpk_ge_u32", "a k", [](Scalar &s) { s.scc = s.a >= uint16_t(s.b); }},
    {"s_cmpk_lt_u32", "a k", [](Scalar &s) { s.scc = s.a < uint16_t(s.b); }},
    {"s_cmpk_le_u32", "a k", [](Scalar &s) { s.scc = s.a <= uint16_t(s.b); }},
};

struct Choice {
  std::string text;
  int64_t constant = 0;
  bool isConstant = false;
};

Case scalarCase(const Row &row, const Choice &a, const Choice &b) {
  Case c;
  c.mnemonic = row.name;
  c.waves = b.isConstant || a.isConstant ? 24 : 96;
  c.text = std::string(row.name) + " ";
  bool first = true;
  for (const char *p = row.operands; *p; ++p) {
    if (*p == ' ')
      continue;
    c.text += first ? "" : ", ";
    first = false;
    switch (*p) {
    case 'd':
      c.text += "s40";
      break;
    case 'D':
      c.text += "s[40:41]";
      break;
    case 'a':
      c.text += a.isConstant ? a.text : "s32";
      break;
    case 'A':
      c.text += a.isConstant ? a.text : "s[32:33]";
      break;
    case 'b':
      c.text += b.isConstant ? b.text : "s34";
      break;
    case 'B':
      c.text += b.isConstant ? b.text : "s[34:35]";
      break;
    default:
      c.text += b.text;
      break;
    }
  }
  const std::string kinds = row.operands;
  auto has = [kinds](char kind) { return kinds.find(kind) != std::string::npos; };
  const Row r = row;
  c.fill = [r, has](Wave &w, Rng &rng) {
    const Type type = has('A') ? Type::B64 : Type::B32;
    w.setS64(32, value(type, 0, w.index * 5 + unsigned(rng() % 3), rng));
    w.setS64(34, w.index % 6 == 0 ? w.s64(32) : scalarValue(has('B') ? type : r.bType, rng));
    w.setS64(40, scalarValue(Type::B64, rng));
  };
  c.expect = [r, has, a, b](Wave &w) {
    Scalar s{w.s64(32), w.s64(34), w.s64(40), w.scc, w.exec};
    if (a.isConstant)
      s.a = uint64_t(a.constant);
    if (b.isConstant)
      s.b = uint64_t(b.constant);
    if (!has('A'))
      s.a = uint32_t(s.a);
    if (!has('B'))
      s.b = uint32_t(s.b);
    const bool wide = has('D');
    if (!wide)
      s.d = uint32_t(s.d);
    r.fn(s);
    w.scc = s.scc;
    if (wide)
      w.setS64(40, s.d);
    else if (has('d'))
      w.s(40) = uint32_t(s.d);
  };
  return c;
}

void addScalar(Suite &suite, const Row &row) {
  const std::string kinds = row.operands;
  const bool wideA = kinds.find('A') != std::string::npos;
  const bool hasA = wideA || kinds.find('a') != std::string::npos;
  const bool hasB = kinds.find_first_of("bB") != std::string::npos;
  suite.add(scalarCase(row, {}, {}));
  auto constant = [](const char *text, int64_t value) { return Choice{text, value, true}; };
  // A literal is zero-extended to 64 bits, an inline constant sign-extended.
  if (hasA) {
    suite.add(scalarCase(row, constant("-16", -16), {}));
    suite.add(scalarCase(row, constant("64", 64), {}));
    suite.add(scalarCase(
        row, constant(wideA ? "0x7eadbeef" : "0xdeadbeef", wideA ? 0x7eadbeef : 0xdeadbeef), {}));
  }
  if (hasB) {
    suite.add(scalarCase(row, {}, constant("-1", -1)));
    suite.add(scalarCase(row, {}, constant("5", 5)));
    suite.add(scalarCase(row, {}, constant("0x50003", 0x50003)));
  }
}

//===--- registers indexed with M0 -------------------------------------------===//

/// A move of `dwords` whose source (destination) has M0 added to its register number. M0 counts
/// registers, for pairs as well.
Case indexedMove(bool toIndexed, unsigned dwords, unsigned firstIndex, unsigned step) {
  Case c;
  c.mnemonic = fmt::format("s_movrel{}_b{}", toIndexed ? 'd' : 's', dwords * 32);
  c.waves = 8;
  auto registers = [=](unsigned first) {
    return dwords == 1 ? fmt::format("s{}", first) : fmt::format("s[{}:{}]", first, first + 1);
  };
  c.text =
      c.mnemonic + " " + registers(toIndexed ? 34 : 54) + ", " + registers(toIndexed ? 56 : 32);
  c.fill = [=](Wave &w, Rng &) { w.m0 = firstIndex + w.index * step; };
  c.expect = [=](Wave &w) {
    for (unsigned i = 0; i < dwords; ++i)
      w.s((toIndexed ? 34 + w.m0 : 54) + i) = w.s((toIndexed ? 56 : 32 + w.m0) + i);
  };
  return c;
}

void addIndexedMoves(Suite &suite) {
  for (bool toIndexed : {false, true}) {
    suite.add(indexedMove(toIndexed, 1, 0, 1));
    suite.add(indexedMove(toIndexed, 1, 8, 1));
    suite.add(indexedMove(toIndexed, 2, 0, 2));
  }
}

TEST(IndexedMove, FaultsAtAnOddPairAndBeyondTheRegisters) {
  for (bool toIndexed : {false, true}) {
    const std::vector<Case> odd{indexedMove(toIndexed, 2, 3, 0)};
    EXPECT_NONFATAL_FAILURE(runCases("odd", odd), toIndexed ? "pair at s37" : "pair at s35");
    const std::vector<Case> beyond{indexedMove(toIndexed, 1, 0x80000000, 0)};
    EXPECT_NONFATAL_FAILURE(runCases("beyond", beyond), "indexes s21474836");
  }
}

const SuiteRegistrar registrar("Salu", [](Suite &suite) {
  for (const Row &row : Rows)
    addScalar(suite, row);
  addIndexedMoves(suite);
  for (const Row &row : ImmediateRows) {
    const bool isUnsigned = std::string(row.name).ends_with("_u32");
    for (int k : {0, 1, 77, 0x7fff, -1, -32768, 0x8000, 0xffff}) {
      if (isUnsigned == (k < 0) && k != 0)
        continue;
      suite.add(scalarCase(row, {}, {fmt::format("{}", k), k, true}));
    }
  }
});

} // namespace
} // namespace isatest
