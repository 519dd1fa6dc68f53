//===- MfmaTests.cpp - matrix instructions against a plain product ---------===//
//
// Each shape is described by where element e of a lane's packed operand lies in
// the matrix; the expected D is C + A * B computed on the matrices. Data are
// small integers or eighths, exact in every order of summation. EXEC must not
// matter, so the usual partial masks stay on.
//
// Registers: A v8.., B v16.., C v24.., D v40.., scales v56 (A), v57 (B).
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/MfmaShapes.h"

#include "fmt/format.h"

namespace isatest {
namespace {

constexpr unsigned A = 8, B = 16, C = 24, D = 40, ScaleA = 56, ScaleB = 57, Vgprs = 50;

std::string range(char file, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

/// One element of a lane's packed operand.
void put(Wave &w, unsigned first, unsigned lane, unsigned element, unsigned bits, uint32_t code) {
  for (unsigned b = 0; b < bits; ++b) {
    const unsigned position = element * bits + b;
    uint32_t &reg = w.v(first + position / 32, lane);
    reg = (reg & ~(1u << position % 32)) | (code >> b & 1) << position % 32;
  }
}
uint32_t get(const Wave &w, unsigned first, unsigned lane, unsigned element, unsigned bits) {
  uint32_t code = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const unsigned position = element * bits + b;
    code |= (w.v(first + position / 32, lane) >> position % 32 & 1) << b;
  }
  return code;
}

/// What the operands hold, as matrices: [block][row or column][k].
struct Matrix {
  Matrix(const Shape &s) : s(s), values(s.blocks * s.m * s.k) {}
  Wide &at(unsigned block, unsigned i, unsigned k) { return values[(block * s.m + i) * s.k + k]; }
  const Shape &s;
  std::vector<Wide> values;
};

Matrix unpack(const Wave &w, const Shape &s, const Element &element, unsigned first) {
  Matrix matrix(s);
  for (unsigned lane = 0; lane < Lanes; ++lane)
    for (unsigned e = 0; e < s.elements; ++e) {
      const Place place = s.place(s, element, lane, e);
      matrix.at(place.block, place.i, place.k) =
          element.value(get(w, first, lane, e, element.bits));
    }
  return matrix;
}

void fillOperand(Wave &w, const Shape &s, const Element &element, unsigned first, Rng &rng,
                 uint32_t (*draw)(const Element &, Rng &)) {
  for (unsigned lane = 0; lane < Lanes; ++lane)
    for (unsigned e = 0; e < s.elements; ++e)
      put(w, first, lane, e, element.bits, draw(element, rng));
}

/// Eighths up to 2 that the format holds exactly.
uint32_t drawExact(const Element &element, Rng &rng) {
  for (;;) {
    const Wide x = Wide(int(rng() % 33) - 16) / (element.integer ? 1 : 8);
    const uint32_t code = element.code(x);
    if (element.value(code) == x)
      return code;
  }
}

using Scale = std::function<Wide(const Wave &, unsigned i, unsigned k)>;

/// D = C + sum over k; `scaleA` and `scaleB` may be empty.
void multiply(Wave &w, const Shape &s, const Element &a, const Element &b, unsigned firstA,
              unsigned firstB, const std::function<Wide(unsigned lane, unsigned reg)> &c,
              unsigned firstD, const Scale &scaleA = {}, const Scale &scaleB = {}) {
  const Wave before = w;
  Matrix left = unpack(before, s, a, firstA), right = unpack(before, s, b, firstB);
  for (unsigned lane = 0; lane < Lanes; ++lane)
    for (unsigned r = 0; r < s.results; ++r) {
      const Cell cell = s.cell(s, lane, r);
      Wide sum = c(lane, r);
      for (unsigned k = 0; k < s.k; ++k) {
        Wide product = left.at(cell.block, cell.i, k) * right.at(cell.block, cell.j, k);
        if (scaleA)
          product *= scaleA(before, cell.i, k) * scaleB(before, cell.j, k);
        sum += product;
      }
      w.v(firstD + r, lane) = a.integer ? uint32_t(int64_t(sum)) : uint32_t(bitsOf(float(sum)));
    }
}

void fillAccumulator(Wave &w, const Shape &s, bool integer, Rng &rng, unsigned first) {
  for (unsigned lane = 0; lane < Lanes; ++lane)
    for (unsigned r = 0; r < s.results; ++r) {
      const int x = int(rng() % 4001) - 2000;
      w.v(first + r, lane) = integer ? uint32_t(x) : uint32_t(bitsOf(float(x) / 8));
    }
}

std::function<Wide(unsigned, unsigned)> accumulator(const Wave &w, bool integer, unsigned first) {
  const Wave before = w;
  return [before, integer, first](unsigned lane, unsigned r) -> Wide {
    const uint32_t bits = before.v(first + r, lane);
    return integer ? Wide(int32_t(bits)) : Wide(asF32(bits));
  };
}

Case base(const std::string &mnemonic, const Shape &s, const Element &a, const Element &b) {
  Case c;
  c.mnemonic = mnemonic;
  c.vgprs = Vgprs;
  c.waves = 4;
  c.fill = [&s, &a, &b](Wave &w, Rng &rng) {
    fillOperand(w, s, a, A, rng, drawExact);
    fillOperand(w, s, b, B, rng, drawExact);
    fillAccumulator(w, s, a.integer, rng, C);
  };
  return c;
}

unsigned registersOf(const Shape &s, const Element &element) {
  return s.elements * element.bits / 32;
}

/// The forms that every instruction has: C in registers, D over C, inline C, AGPRs.
void addForms(Suite &suite, const std::string &mnemonic, const std::string &tail, const Shape &s,
              const Element &a, const Element &b) {
  const std::string va = range('v', A, registersOf(s, a)), vb = range('v', B, registersOf(s, b));
  const std::string vc = range('v', C, s.results), vd = range('v', D, s.results);
  const bool integer = a.integer;

  Case plain = base(mnemonic, s, a, b);
  plain.text = fmt::format("{} {}, {}, {}, {}{}", mnemonic, vd, va, vb, vc, tail);
  plain.expect = [&s, &a, &b, integer](Wave &w) {
    multiply(w, s, a, b, A, B, accumulator(w, integer, C), D);
  };
  suite.add(plain);

  Case inPlace = base(mnemonic, s, a, b);
  inPlace.text = fmt::format("{} {}, {}, {}, {}{}", mnemonic, vc, va, vb, vc, tail);
  inPlace.expect = [&s, &a, &b, integer](Wave &w) {
    multiply(w, s, a, b, A, B, accumulator(w, integer, C), C);
  };
  suite.add(inPlace);

  for (bool zero : {true, false}) {
    Case inlineC = base(mnemonic, s, a, b);
    inlineC.text = fmt::format("{} {}, {}, {}, {}{}", mnemonic, vd, va, vb,
                               zero      ? "0"
                               : integer ? "-5"
                                         : "1.0",
                               tail);
    inlineC.expect = [&s, &a, &b, integer, zero](Wave &w) {
      const Wide c = zero ? 0 : integer ? -5 : 1;
      multiply(w, s, a, b, A, B, [c](unsigned, unsigned) { return c; }, D);
    };
    suite.add(inlineC);
  }

  Case inAgprs = base(mnemonic, s, a, b);
  inAgprs.agprs = 64;
  std::string text = "s_mov_b64 s[14:15], exec\ns_mov_b64 exec, -1\n";
  for (unsigned reg = 8; reg < 40; ++reg)
    text += fmt::format("v_accvgpr_write_b32 a{}, v{}\n", reg, reg);
  text += "s_mov_b64 exec, s[14:15]\ns_nop 15\n";
  text += fmt::format("{} {}, {}, {}, {}{}\n", mnemonic, range('a', D, s.results),
                      range('a', A, registersOf(s, a)), range('a', B, registersOf(s, b)),
                      range('a', C, s.results), tail);
  text += "s_nop 15\ns_nop 15\ns_mov_b64 exec, -1\n";
  for (unsigned r = 0; r < s.results; ++r)
    text += fmt::format("v_accvgpr_read_b32 v{}, a{}\n", D + r, D + r);
  inAgprs.text = text + "s_mov_b64 exec, s[14:15]";
  inAgprs.expect = plain.expect;
  suite.add(inAgprs);
}

//===--- rounding: random values within the bound ------------------------------===//

uint32_t drawUnit(const Element &element, Rng &rng) {
  return element.code(Wide(double(int64_t(rng() >> 11)) / 0x1p52 - 1));
}

/// |error| <= (2 K / 8 + 8) * 2^-24 * (sum |a b| + |c|), with all factors at most 1.
void addTolerance(Suite &suite, const std::string &mnemonic, const Shape &s, const Element &a) {
  Case c = base(mnemonic, s, a, a);
  c.text = fmt::format("{} {}, {}, {}, 0", mnemonic, range('v', D, s.results),
                       range('v', A, registersOf(s, a)), range('v', B, registersOf(s, a)));
  c.fill = [&s, &a](Wave &w, Rng &rng) {
    fillOperand(w, s, a, A, rng, drawUnit);
    fillOperand(w, s, a, B, rng, drawUnit);
  };
  c.expect = [&s, &a](Wave &w) {
    multiply(w, s, a, a, A, B, [](unsigned, unsigned) { return Wide(0); }, D);
  };
  for (unsigned r = 0; r < s.results; ++r)
    c.compare[D + r] = {Compare::F32, 0, (2.0 * s.k / 8 + 8) * 0x1p-24 * s.k};
  suite.add(c);
}

//===--- f8f6f4 -----------------------------------------------------------------===//

/// Scale of row (or column) i for logical k: lane k/32 * rows + i, in the byte that op_sel picks.
Scale scaleFrom(const Shape &s, unsigned reg, unsigned byte) {
  return [&s, reg, byte](const Wave &w, unsigned i, unsigned k) {
    const uint32_t code = w.v(reg, k / 32 * s.m + i) >> 8 * byte & 0xff;
    return code == 0xff ? Wide(NAN) : scale2(1, int(code) - 127);
  };
}

void addScaled(Suite &suite, const std::string &mnemonic, const Shape &s, unsigned formatA,
               unsigned formatB) {
  const Element &a = narrowElements()[formatA], &b = narrowElements()[formatB];
  for (unsigned bytes = 0; bytes < 16; ++bytes) {
    // All byte selections for one pair of formats, one selection for the others.
    const unsigned byteA = bytes & 3, byteB = bytes >> 2;
    if ((formatA != 4 || formatB != 4) && bytes != (formatA * 5 + formatB) % 16)
      continue;
    Case c = base(mnemonic, s, a, b);
    std::string select;
    if (bytes)
      select = fmt::format(" op_sel:[{},{},0] op_sel_hi:[{},{},0]", byteA & 1, byteB & 1,
                           byteA >> 1, byteB >> 1);
    else
      select = " op_sel_hi:[0,0,0]";
    c.text = fmt::format("{} {}, {}, {}, {}, v56, v57{} cbsz:{} blgp:{}", mnemonic,
                         range('v', D, s.results), range('v', A, registersOf(s, a)),
                         range('v', B, registersOf(s, b)), range('v', C, s.results), select,
                         formatA, formatB);
    c.fill = [&s, byteA, byteB, base = c.fill](Wave &w, Rng &rng) {
      base(w, rng);
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        put(w, ScaleA, lane, byteA, 8, 125 + uint32_t(rng() % 5));
        put(w, ScaleB, lane, byteB, 8, 125 + uint32_t(rng() % 5));
      }
      // Wave 3 has a NaN scale for a block of row 5, and the least scale for column 7.
      if (w.index == 3) {
        put(w, ScaleA, 5, byteA, 8, 0xff);
        for (unsigned lane = 7; lane < Lanes; lane += s.m)
          put(w, ScaleB, lane, byteB, 8, 0);
        for (unsigned lane = 0; lane < Lanes; ++lane)
          for (unsigned r = 0; r < s.results; ++r)
            w.v(C + r, lane) = 0; // or the small sums would drown
      }
    };
    c.expect = [&s, &a, &b, byteA, byteB](Wave &w) {
      multiply(w, s, a, b, A, B, accumulator(w, false, C), D, scaleFrom(s, ScaleA, byteA),
               scaleFrom(s, ScaleB, byteB));
    };
    for (unsigned r = 0; r < s.results; ++r)
      c.compare[D + r] = {Compare::F32};
    suite.add(c);
  }
}

//===--- broadcasts of the 4x4 shape --------------------------------------------===//

/// cbsz n: in every group of 2^n blocks the A of block abid goes to all.
void addBroadcast(Suite &suite, const std::string &mnemonic, const Shape &s, const Element &f16) {
  for (unsigned cbsz = 1; cbsz <= 4; ++cbsz)
    for (unsigned abid : {0u, (1u << cbsz) - 1}) {
      Case c = base(mnemonic, s, f16, f16);
      c.text =
          fmt::format("{} {}, {}, {}, {} cbsz:{} abid:{}", mnemonic, range('v', D, s.results),
                      range('v', A, 2), range('v', B, 2), range('v', C, s.results), cbsz, abid);
      c.expect = [&s, &f16, cbsz, abid](Wave &w) {
        Wave broadcast = w;
        for (unsigned lane = 0; lane < Lanes; ++lane)
          for (unsigned r = 0; r < 2; ++r) {
            const unsigned block = (lane / 4 >> cbsz << cbsz) + abid;
            broadcast.v(A + r, lane) = w.v(A + r, block * 4 + lane % 4);
          }
        multiply(broadcast, s, f16, f16, A, B, accumulator(w, false, C), D);
        for (unsigned lane = 0; lane < Lanes; ++lane)
          for (unsigned r = 0; r < s.results; ++r)
            w.v(D + r, lane) = broadcast.v(D + r, lane);
      };
      suite.add(c);
    }
}

const SuiteRegistrar registrar("Mfma", [](Suite &suite) {
  for (const Instruction &i : instructions()) {
    addForms(suite, i.name, "", i.shape, i.a, i.b);
    if (&i.a == &i.b && !i.a.integer)
      addTolerance(suite, i.name, i.shape, i.a);
    if (std::string(i.name) == "v_mfma_f32_4x4x4_16b_f16")
      addBroadcast(suite, i.name, i.shape, i.a);
  }
  for (unsigned a = 0; a < narrowElements().size(); ++a)
    for (unsigned b = 0; b < narrowElements().size(); ++b) {
      const std::string tail = fmt::format(" cbsz:{} blgp:{}", a, b);
      const Element &left = narrowElements()[a], &right = narrowElements()[b];
      addForms(suite, "v_mfma_f32_16x16x128_f8f6f4", tail, shape16x16x128(), left, right);
      addForms(suite, "v_mfma_f32_32x32x64_f8f6f4", tail, shape32x32x64(), left, right);
      addScaled(suite, "v_mfma_scale_f32_16x16x128_f8f6f4", shape16x16x128(), a, b);
      addScaled(suite, "v_mfma_scale_f32_32x32x64_f8f6f4", shape32x32x64(), a, b);
    }
});

} // namespace
} // namespace isatest
