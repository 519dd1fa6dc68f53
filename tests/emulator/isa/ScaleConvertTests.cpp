//===- ScaleConvertTests.cpp - v_cvt_scalef32_*: narrow floats with a scale -===//
//
// The scale is the exponent field of an f32; narrow to wide multiplies by
// 2^(e-127), wide to narrow divides. Scales 0 and 255 are not specified and not
// drawn.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/VectorTable.h"

#include "fmt/format.h"

namespace isatest {
namespace {

struct Wider {
  const char *name;
  const Format &format;
  unsigned registers; ///< of a pair of values
};
struct Narrower {
  const char *name;
  const Format &format;
  unsigned positions; ///< bytes (fp4 pairs) or words (fp8 pairs) of a register
};

const Wider Wides[] = {{"f16", F16Format, 1}, {"bf16", BF16Format, 1}, {"f32", F32Format, 2}};
const Narrower Narrows[] = {{"fp4", FP4Format, 4}, {"fp8", FP8Format, 2}, {"bf8", BF8Format, 2}};

int scaleOf(uint32_t bits) { return int(bits >> 23 & 255) - 127; }

/// Mostly scales near 1, some far out, with mantissa and sign that must not matter.
uint32_t drawScale(Rng &rng) {
  const uint32_t random = uint32_t(rng());
  const uint32_t exponent = random & 7 ? 127 - 6 + (random >> 8) % 13 : 1 + (random >> 8) % 254;
  return (uint32_t(rng()) & 0x807fffff) | exponent << 23;
}

/// Values that a narrow format resolves after division by the scale: codes, halfway points and
/// their neighbours, out-of-range values.
Wide drawValue(const Format &narrow, int scale, Rng &rng) {
  const uint64_t random = rng();
  const uint32_t code = uint32_t(random >> 8) % narrow.largest;
  const Wide low = decode(narrow, code), high = decode(narrow, code + 1);
  Wide x = 0;
  switch (random & 7) {
  case 0:
    x = low;
    break;
  case 1:
    x = (low + high) / 2;
    break;
  case 2:
    x = low + (high - low) * 33 / 64;
    break;
  case 3:
    x = low + (high - low) * 31 / 64;
    break;
  case 4:
    x = decode(narrow, narrow.largest) * 8;
    break;
  default:
    x = low + (high - low) * Wide(int(random >> 40 & 127)) / 128;
    break;
  }
  return scale2(random >> 63 ? -x : x, scale);
}

/// `value` of the wide format into element `element` of v8.. (f32: one register an element, as the
/// instruction has it; 16 bits: halves of v8).
void putWide(Wave &w, unsigned lane, const Wider &wide, unsigned element, Wide x, bool separate) {
  const uint32_t code = encode(wide.format, x);
  if (wide.registers == 2) {
    w.v(separate ? 8 + 2 * element : 8 + element, lane) = code;
  } else {
    const unsigned shift = 16 * element;
    w.v(8, lane) = (w.v(8, lane) & ~(0xffffu << shift)) | code << shift;
  }
}
Wide getWide(const Wave &w, unsigned lane, const Wider &wide, unsigned element, bool separate) {
  if (wide.registers == 2)
    return decode(wide.format, w.v(separate ? 8 + 2 * element : 8 + element, lane));
  return decode(wide.format, w.v(8, lane) >> 16 * element & 0xffff);
}

/// v_cvt_scalef32_pk_<wide>_<narrow> vD, v8, v12
void addWidening(Suite &suite, const Wider &wide, const Narrower &narrow) {
  const std::string name = fmt::format("v_cvt_scalef32_pk_{}_{}", wide.name, narrow.name);
  for (unsigned position = 0; position < narrow.positions; ++position) {
    Case c;
    c.mnemonic = name;
    const char *select[4] = {"", " op_sel:[1,0,0]", " op_sel:[0,1,0]", " op_sel:[1,1,0]"};
    c.text = fmt::format("{} {}, v8, v12{}", name, wide.registers == 2 ? "v[14:15]" : "v14",
                         select[position]);
    c.fill = [](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.v(12, lane) = drawScale(rng);
    };
    const unsigned bits = narrow.positions == 4 ? 4 : 8;
    c.expect = [&wide, &narrow, position, bits](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        if (!w.active(lane))
          continue;
        const uint32_t pair = w.v(8, lane) >> 2 * bits * position;
        uint32_t out[2];
        for (unsigned i = 0; i < 2; ++i)
          out[i] = encode(wide.format,
                          scale2(decode(narrow.format, pair >> bits * i & ((1u << bits) - 1)),
                                 scaleOf(w.v(12, lane))));
        if (wide.registers == 2) {
          w.v(14, lane) = out[0];
          w.v(15, lane) = out[1];
        } else {
          w.v(14, lane) = out[0] | out[1] << 16;
        }
      }
    };
    if (wide.registers == 2)
      c.compare[14] = c.compare[15] = {Compare::F32};
    else
      c.compare[14] = {&wide.format == &F16Format ? Compare::F16x2 : Compare::BF16x2};
    suite.add(std::move(c));
  }
}

/// v_cvt_scalef32_pk_<narrow>_<wide>: f32 sources are v8 and v10 with the scale in v12, 16-bit ones
/// the halves of v8. Other bits of the destination stay.
void addNarrowing(Suite &suite, const Wider &wide, const Narrower &narrow) {
  const std::string name = fmt::format("v_cvt_scalef32_pk_{}_{}", narrow.name, wide.name);
  const bool f32 = wide.registers == 2;
  for (unsigned position = 0; position < narrow.positions; ++position) {
    Case c;
    c.mnemonic = name;
    // A byte is op_sel[3:2], a word op_sel[3].
    const unsigned opSel = narrow.positions == 4 ? position : position * 2;
    const char *wordSelect =
        narrow.positions == 2 && !f32 ? (position ? " op_sel:[0,0,1]" : "") : nullptr;
    std::string select = opSel ? fmt::format(" op_sel:[0,0,{},{}]", opSel & 1, opSel >> 1) : "";
    if (wordSelect)
      select = wordSelect;
    c.text = fmt::format("{} v14, v8, {}v12{}", name, f32 ? "v10, " : "", select);
    c.fill = [&wide, &narrow](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        w.v(12, lane) = drawScale(rng);
        for (unsigned i = 0; i < 2; ++i)
          putWide(w, lane, wide, i, drawValue(narrow.format, scaleOf(w.v(12, lane)), rng), true);
      }
    };
    const unsigned bits = narrow.positions == 4 ? 4 : 8;
    c.expect = [&wide, &narrow, position, bits](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        if (!w.active(lane))
          continue;
        uint32_t pair = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const Wide x = getWide(w, lane, wide, i, true);
          // What an infinity of the source format becomes is only said for fp4.
          if (isInf(x) && bits == 8)
            w.ignore(14, lane);
          const Wide scaled = isInf(x) ? x : scale2(x, -scaleOf(w.v(12, lane)));
          const Wide magnitude = signOf(scaled) ? -scaled : scaled;
          if (&narrow.format == &FP8Format && magnitude > 448 && magnitude <= 464)
            w.ignore(14, lane);
          pair |= encode(narrow.format, scaled) << bits * i;
        }
        const unsigned shift = 2 * bits * position;
        const uint32_t mask = ((1u << 2 * bits) - 1) << shift;
        w.v(14, lane) = (w.v(14, lane) & ~mask) | pair << shift;
      }
    };
    suite.add(std::move(c));
  }
}

/// Stochastic rounding of values that the narrow format holds exactly: no random word may change
/// them. How the random bits enter for others is not specified.
void addStochastic(Suite &suite, const Wider &wide, const Narrower &narrow) {
  const std::string name = fmt::format("v_cvt_scalef32_sr_pk_{}_{}", narrow.name, wide.name);
  Case c;
  c.mnemonic = name;
  c.text = fmt::format("{} v14, {}, v10, v12", name, wide.registers == 2 ? "v[8:9]" : "v8");
  c.fill = [&wide, &narrow](Wave &w, Rng &rng) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      w.v(12, lane) = (127 - 6 + uint32_t(rng() % 13)) << 23;
      for (unsigned i = 0; i < 2; ++i) {
        const Wide exact = decode(narrow.format, uint32_t(rng() & (2 * narrow.format.largest + 1)));
        putWide(w, lane, wide, i, scale2(exact, scaleOf(w.v(12, lane))), false);
      }
    }
  };
  c.expect = [&wide, &narrow](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      uint32_t pair = 0;
      for (unsigned i = 0; i < 2; ++i)
        pair |=
            encode(narrow.format, scale2(getWide(w, lane, wide, i, false), -scaleOf(w.v(12, lane))))
            << 4 * i;
      w.v(14, lane) = (w.v(14, lane) & ~0xffu) | pair;
    }
  };
  suite.add(std::move(c));
}

/// Between two codes, the result of stochastic rounding is one of them, and over all random words
/// both occur about as often as the distance says (here: halfway).
void addStochasticSpread(Suite &suite) {
  Case c;
  c.mnemonic = "v_cvt_scalef32_sr_pk_fp4_f32";
  // 2.5 lies halfway between codes 4 (2.0) and 5 (3.0); lane l counts bit 0 of the low nibble over
  // 64 random words that differ in their high bits.
  c.text = "  v_mov_b32_e32 v24, 0x40200000\n  v_mov_b32_e32 v25, 0x40200000\n"
           "  v_mov_b32_e32 v26, 0\n  v_mov_b32_e32 v14, 0\n  s_movk_i32 s14, 64\n.Lspread:\n"
           "  v_cvt_scalef32_sr_pk_fp4_f32 v14, v[24:25], v26, 1.0\n"
           "  v_and_b32_e32 v27, 15, v14\n"
           "  v_cmp_ne_u32_e32 vcc, 4, v27\n  v_cndmask_b32_e64 v28, 0, 1, vcc\n"
           "  v_cmp_ne_u32_e32 vcc, 5, v27\n  v_cndmask_b32_e32 v28, 0, v28, vcc\n"
           "  v_or_b32_e32 v15, v15, v28\n"
           "  v_and_b32_e32 v27, 1, v27\n  v_add_u32_e32 v16, v16, v27\n"
           "  v_add_u32_e32 v26, 0x04000000, v26\n"
           "  s_add_u32 s14, s14, -1\n  s_cmp_lg_u32 s14, 0\n  s_cbranch_scc1 .Lspread\n"
           "  v_cmp_lt_u32_e32 vcc, 23, v16\n  v_cmp_gt_u32_e64 s[16:17], 41, v16\n"
           "  s_and_b64 s[40:41], vcc, s[16:17]\n"
           "  v_mov_b32_e32 v14, 0\n  v_mov_b32_e32 v16, 0\n  s_mov_b64 vcc, s[60:61]\n"
           "  s_cmp_lg_u32 s62, 0";
  c.waves = 1;
  c.fill = [](Wave &w, Rng &) {
    w.exec = ~0ull;
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(15, lane) = w.v(16, lane) = 0; // v15: something else than the neighbours came out
  };
  c.expect = [](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(14, lane) = 0;
    w.setS64(40, ~0ull); // between 24 and 40 of 64 rounded up
  };
  suite.add(std::move(c));
}

const SuiteRegistrar registrar("ScaleConvert", [](Suite &suite) {
  for (const Wider &wide : Wides)
    for (const Narrower &narrow : Narrows) {
      addWidening(suite, wide, narrow);
      addNarrowing(suite, wide, narrow);
    }
  for (const Wider &wide : Wides)
    addStochastic(suite, wide, Narrows[0]);
  addStochasticSpread(suite);
});

} // namespace
} // namespace isatest
