//===- PackedTests.cpp - packed 16-bit and f32 instructions, v_fma_mix -----===//
//
// VOP3P: op_sel picks the half (or the dword of a pair) that feeds the low
// result, op_sel_hi the one that feeds the high result; neg_lo and neg_hi negate
// per result.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/VectorTable.h"

#include "fmt/format.h"

namespace isatest {
namespace {

struct Packed {
  const char *name;
  unsigned sources;
  bool isFloat;
  bool wide; ///< pairs of f32 instead of halves
  /// One result from one element of each source.
  uint64_t (*element)(Lane &l);
};

const Packed Rows[] = {
    {"v_pk_add_f16", 2, true, false,
     [](Lane &l) { return toF16(l, f16(in16(l, l.a)) + f16(in16(l, l.b))); }},
    {"v_pk_mul_f16", 2, true, false,
     [](Lane &l) { return toF16(l, f16(in16(l, l.a)) * f16(in16(l, l.b))); }},
    {"v_pk_fma_f16", 3, true, false,
     [](Lane &l) { return toF16(l, f16(in16(l, l.a)) * f16(in16(l, l.b)) + f16(in16(l, l.c))); }},
    {"v_pk_max_f16", 2, true, false,
     [](Lane &l) { return minMax(F16Format, l.a, l.b, true, l.mode.ieee); }},
    {"v_pk_min_f16", 2, true, false,
     [](Lane &l) { return minMax(F16Format, l.a, l.b, false, l.mode.ieee); }},
    {"v_pk_maximum3_f16", 3, true, false,
     [](Lane &l) {
       return minimumMaximum(F16Format, minimumMaximum(F16Format, l.a, l.b, true), l.c, true);
     }},
    {"v_pk_minimum3_f16", 3, true, false,
     [](Lane &l) {
       return minimumMaximum(F16Format, minimumMaximum(F16Format, l.a, l.b, false), l.c, false);
     }},
    {"v_pk_add_u16", 2, false, false, [](Lane &l) { return l.a + l.b & 0xffff; }},
    {"v_pk_sub_u16", 2, false, false, [](Lane &l) { return l.a - l.b & 0xffff; }},
    {"v_pk_add_i16", 2, false, false, [](Lane &l) { return l.a + l.b & 0xffff; }},
    {"v_pk_sub_i16", 2, false, false, [](Lane &l) { return l.a - l.b & 0xffff; }},
    {"v_pk_mul_lo_u16", 2, false, false, [](Lane &l) { return l.a * l.b & 0xffff; }},
    {"v_pk_mad_u16", 3, false, false, [](Lane &l) { return l.a * l.b + l.c & 0xffff; }},
    {"v_pk_mad_i16", 3, false, false, [](Lane &l) { return l.a * l.b + l.c & 0xffff; }},
    {"v_pk_lshlrev_b16", 2, false, false, [](Lane &l) { return l.b << (l.a & 15) & 0xffff; }},
    {"v_pk_lshrrev_b16", 2, false, false, [](Lane &l) { return l.b >> (l.a & 15); }},
    {"v_pk_ashrrev_i16", 2, false, false,
     [](Lane &l) { return uint64_t(uint16_t(int16_t(l.b) >> (l.a & 15))); }},
    {"v_pk_max_i16", 2, false, false,
     [](Lane &l) { return int16_t(l.a) >= int16_t(l.b) ? l.a : l.b; }},
    {"v_pk_min_i16", 2, false, false,
     [](Lane &l) { return int16_t(l.a) < int16_t(l.b) ? l.a : l.b; }},
    {"v_pk_max_u16", 2, false, false, [](Lane &l) { return std::max(l.a, l.b); }},
    {"v_pk_min_u16", 2, false, false, [](Lane &l) { return std::min(l.a, l.b); }},
    {"v_pk_add_f32", 2, true, true,
     [](Lane &l) { return f32x2([](float a, float b) { return a + b; })(l); }},
    {"v_pk_mul_f32", 2, true, true,
     [](Lane &l) { return f32x2([](float a, float b) { return a * b; })(l); }},
    {"v_pk_fma_f32", 3, true, true,
     [](Lane &l) { return f32x3([](float a, float b, float c) { return std::fma(a, b, c); })(l); }},
};

/// Modifiers as bit masks over the sources.
struct Selection {
  unsigned opSel = 0, opSelHi = 7, negLo = 0, negHi = 0;
  bool clamp = false;
  int scalar = -1;                    ///< source that is an SGPR
  const Constant *constant = nullptr; ///< replaces source 1, read from its low half for both
  Mode mode;
};

std::string bits(const char *name, unsigned mask, unsigned count) {
  std::string out = fmt::format(" {}:[", name);
  for (unsigned i = 0; i < count; ++i)
    out += (mask >> i & 1) ? (i ? ",1" : "1") : (i ? ",0" : "0");
  return out + "]";
}

constexpr unsigned VgprOf[3] = {8, 10, 12}, SgprOf[3] = {32, 34, 36};

Case packedCase(const Packed &row, const Selection &s) {
  Case c;
  c.mnemonic = row.name;
  c.mode = s.mode;
  auto reg = [&](char file, unsigned first) {
    return row.wide ? fmt::format("{}[{}:{}]", file, first, first + 1)
                    : fmt::format("{}{}", file, first);
  };
  c.text = std::string(row.name) + " " + reg('v', 14);
  for (unsigned i = 0; i < row.sources; ++i)
    c.text += ", " + (s.constant && i == 1 ? std::string(s.constant->text)
                      : s.scalar == int(i) ? reg('s', SgprOf[i])
                                           : reg('v', VgprOf[i]));
  const unsigned all = (1u << row.sources) - 1;
  if (s.opSel & all)
    c.text += bits("op_sel", s.opSel, row.sources);
  if ((s.opSelHi & all) != all)
    c.text += bits("op_sel_hi", s.opSelHi, row.sources);
  if (s.negLo & all)
    c.text += bits("neg_lo", s.negLo, row.sources);
  if (s.negHi & all)
    c.text += bits("neg_hi", s.negHi, row.sources);
  if (s.clamp)
    c.text += " clamp";

  const Type type = row.wide ? Type::F32x2 : row.isFloat ? Type::F16x2 : Type::B16x2;
  c.fill = [type, sources = row.sources](Wave &w, Rng &rng) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      for (unsigned i = 0; i < sources; ++i)
        w.setV64(VgprOf[i], lane, value(type, i, w.index * Lanes + lane, rng));
    for (unsigned i = 0; i < sources; ++i)
      w.setS64(SgprOf[i], scalarValue(type, rng));
  };
  c.expect = [row, s](Wave &w) {
    const unsigned width = row.wide ? 32 : 16;
    const uint64_t mask = (1ull << width) - 1, sign = 1ull << (width - 1);
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      uint64_t out = 0;
      for (unsigned half = 0; half < 2; ++half) {
        Lane l;
        l.mode = s.mode;
        uint64_t *values[3] = {&l.a, &l.b, &l.c};
        for (unsigned i = 0; i < row.sources; ++i) {
          const uint64_t source = s.constant && i == 1 ? s.constant->bits
                                  : s.scalar == int(i) ? w.s64(SgprOf[i])
                                                       : w.v64(VgprOf[i], lane);
          const unsigned select = (half ? s.opSelHi : s.opSel) >> i & 1;
          *values[i] = source >> width * select & mask;
          if ((half ? s.negHi : s.negLo) >> i & 1)
            *values[i] ^= sign;
        }
        uint64_t result = row.element(l);
        if (s.clamp && row.isFloat) {
          const double x = row.wide ? double(asF32(result)) : double(f16(result));
          if (x == 0 && std::signbit(x))
            w.ignore(14 + (row.wide ? half : 0), lane); // the sign of a clamped -0 is not said
          const double clamped = std::isnan(x) || x < 0 ? 0 : std::min(x, 1.0);
          result = row.wide ? bitsOf(float(clamped)) : encode(F16Format, clamped);
        }
        out |= result << width * half;
      }
      if (row.wide)
        w.setV64(14, lane, out);
      else
        w.v(14, lane) = uint32_t(out);
    }
  };
  if (row.wide)
    c.compare[14] = c.compare[15] = {Compare::F32};
  else if (row.isFloat)
    c.compare[14] = {Compare::F16x2};
  return c;
}

void addPacked(Suite &suite, const Packed &row) {
  auto add = [&](auto change) {
    Selection s;
    change(s);
    suite.add(packedCase(row, s));
  };
  add([](Selection &) {});
  for (unsigned mask = 1; mask < 1u << row.sources; ++mask) {
    add([&](Selection &s) { s.opSel = mask; });
    add([&](Selection &s) { s.opSelHi = 7 ^ mask; });
    add([&](Selection &s) { s.opSel = mask, s.opSelHi = 7 ^ mask; });
    if (row.isFloat) {
      add([&](Selection &s) { s.negLo = mask; });
      add([&](Selection &s) { s.negHi = mask; });
      add([&](Selection &s) { s.negLo = mask, s.negHi = 7 ^ mask, s.opSel = mask; });
    }
  }
  for (unsigned i = 0; i < row.sources; ++i)
    add([&](Selection &s) { s.scalar = int(i); });
  if (!row.isFloat)
    return;
  if (row.name != std::string("v_pk_maximum3_f16") && row.name != std::string("v_pk_minimum3_f16"))
    add([](Selection &s) { s.clamp = true; });
  add([](Selection &s) { s.mode.denorm32 = 0; });
  if (std::string(row.name).find("max") == std::string::npos &&
      std::string(row.name).find("min") == std::string::npos)
    add([](Selection &s) { s.mode.denorm16 = 0; });
  // An inline constant sits in the low half; op_sel_hi 0 makes both results read it.
  static const Constant half{"0.5", 0x3800}, two{"-2.0", 0xc0000000};
  add([&](Selection &s) {
    s.constant = row.wide ? &two : &half;
    s.opSelHi = 7 ^ 2;
  });
}

/// Saturation of packed integers with clamp.
void addPackedClamp(Suite &suite) {
  struct Row {
    const char *name;
    int64_t (*exact)(int64_t a, int64_t b);
    bool isSigned;
  };
  const Row rows[] = {
      {"v_pk_add_i16", [](int64_t a, int64_t b) { return a + b; }, true},
      {"v_pk_sub_i16", [](int64_t a, int64_t b) { return a - b; }, true},
      {"v_pk_add_u16", [](int64_t a, int64_t b) { return a + b; }, false},
      {"v_pk_sub_u16", [](int64_t a, int64_t b) { return a - b; }, false},
  };
  for (const Row &row : rows) {
    Case c;
    c.mnemonic = row.name;
    c.text = std::string(row.name) + " v14, v8, v10 clamp";
    c.fill = [](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        for (unsigned i = 0; i < 2; ++i)
          w.v(VgprOf[i], lane) = uint32_t(value(Type::B16x2, i, w.index * Lanes + lane, rng));
    };
    c.expect = [row](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        if (!w.active(lane))
          continue;
        uint32_t out = 0;
        for (unsigned shift : {0, 16}) {
          const uint16_t a = uint16_t(w.v(8, lane) >> shift), b = uint16_t(w.v(10, lane) >> shift);
          const int64_t exact = row.isSigned ? row.exact(int16_t(a), int16_t(b)) : row.exact(a, b);
          const int64_t low = row.isSigned ? -32768 : 0, high = row.isSigned ? 32767 : 65535;
          out |= uint32_t(uint16_t(std::max(low, std::min(high, exact)))) << shift;
        }
        w.v(14, lane) = out;
      }
    };
    suite.add(std::move(c));
  }
}

//===--- v_fma_mix, v_pk_mov --------------------------------------------------===//

/// Each source is an f32 (op_sel_hi 0) or a half of its register (op_sel_hi 1, op_sel the half).
Case mixCase(const std::string &name, unsigned opSel, unsigned opSelHi, unsigned neg,
             unsigned abs) {
  Case c;
  c.mnemonic = name;
  c.text = name + " v14";
  for (unsigned i = 0; i < 3; ++i) {
    std::string text = fmt::format("v{}", VgprOf[i]);
    if (abs >> i & 1)
      text = "|" + text + "|";
    c.text += (neg >> i & 1 ? ", -" : ", ") + text;
  }
  c.text += bits("op_sel", opSel, 3) + bits("op_sel_hi", opSelHi, 3);
  c.fill = [=](Wave &w, Rng &rng) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      for (unsigned i = 0; i < 3; ++i)
        w.v(VgprOf[i], lane) = uint32_t(
            value(opSelHi >> i & 1 ? Type::F16x2 : Type::F32, i, w.index * Lanes + lane, rng));
  };
  c.expect = [=](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      float in[3];
      for (unsigned i = 0; i < 3; ++i) {
        const uint32_t reg = w.v(VgprOf[i], lane);
        in[i] = opSelHi >> i & 1 ? float(f16(reg >> (opSel >> i & 1 ? 16 : 0))) : asF32(reg);
        if (abs >> i & 1)
          in[i] = std::fabs(in[i]);
        if (neg >> i & 1)
          in[i] = -in[i];
      }
      const float sum = std::fma(in[0], in[1], in[2]);
      const uint32_t old = w.v(14, lane);
      if (name == "v_fma_mix_f32")
        w.v(14, lane) = uint32_t(bitsOf(sum));
      else if (name == "v_fma_mixlo_f16")
        w.v(14, lane) = (old & 0xffff0000) | encode(F16Format, sum);
      else
        w.v(14, lane) = (old & 0xffff) | encode(F16Format, sum) << 16;
      // The f16 forms may round the exact sum or its f32: both are accepted where they differ.
      if (name != "v_fma_mix_f32") {
        const Wide exact = Wide(in[0]) * Wide(in[1]) + Wide(in[2]);
        if (encode(F16Format, exact) != encode(F16Format, sum))
          w.ignore(14, lane);
      }
    }
  };
  c.compare[14] = {name == "v_fma_mix_f32" ? Compare::F32 : Compare::F16x2};
  return c;
}

void addMix(Suite &suite) {
  for (const char *name : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
    for (unsigned opSelHi = 0; opSelHi < 8; ++opSelHi)
      for (unsigned opSel : {0u, opSelHi, opSelHi & 5})
        suite.add(mixCase(name, opSel, opSelHi, 0, 0));
    suite.add(mixCase(name, 0, 0, 5, 0));
    suite.add(mixCase(name, 1, 7, 2, 4));
    suite.add(mixCase(name, 4, 6, 7, 7));
  }
  // An inline 1.0 is an f32 where op_sel_hi is 0 and an f16 where it is 1.
  for (bool half : {false, true}) {
    Case c;
    c.mnemonic = "v_fma_mix_f32";
    c.text =
        std::string("v_fma_mix_f32 v14, v8, 1.0, v12 op_sel_hi:[0,") + (half ? "1" : "0") + ",0]";
    c.fill = [](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        for (unsigned reg : {8u, 12u})
          w.v(reg, lane) = uint32_t(value(Type::F32, reg == 12, w.index * Lanes + lane, rng));
    };
    c.expect = [](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane))
          w.v(14, lane) = uint32_t(bitsOf(asF32(w.v(8, lane)) + asF32(w.v(12, lane))));
    };
    c.compare[14] = {Compare::F32};
    suite.add(std::move(c));
  }
}

/// Low result: the dword of source 0 that op_sel[0] picks; high result: that of source 1.
void addPackedMove(Suite &suite) {
  for (unsigned opSel = 0; opSel < 4; ++opSel) {
    Case c;
    c.mnemonic = "v_pk_mov_b32";
    c.text = "v_pk_mov_b32 v[14:15], v[8:9], v[10:11]" + bits("op_sel", opSel, 2);
    c.expect = [opSel](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane)) {
          w.v(14, lane) = w.v(8 + (opSel & 1), lane);
          w.v(15, lane) = w.v(10 + (opSel >> 1), lane);
        }
    };
    suite.add(std::move(c));
  }
}

const SuiteRegistrar registrar("Packed", [](Suite &suite) {
  for (const Packed &row : Rows)
    addPacked(suite, row);
  addPackedClamp(suite);
  addMix(suite);
  addPackedMove(suite);
});

} // namespace
} // namespace isatest
