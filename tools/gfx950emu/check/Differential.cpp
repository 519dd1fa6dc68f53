//===- Differential.cpp -------------------------------------------------------===//

#include "tools/gfx950emu/check/Differential.h"

#include "llvm/ADT/ArrayRef.h"

#include <iterator>
#include <new>

using namespace llvm;

namespace gfx950emu::check {

RegisterBuffer::RegisterBuffer()
    : store(new (std::align_val_t(64)) uint32_t[size_t(capacity) * waveSize]()) {}

namespace {

/// Extremes of every type, so that an ordering or a saturation decides both ways.
constexpr uint32_t patterns[] = {0,          ~0u,        0x7fffffff, 0x80000000, 0x7fff7fff,
                                 0x80008000, 0x7f7fffff, 0xff7fffff, 0x7bff7bff, 0xfbfffbff};
constexpr unsigned equalFill = std::size(patterns); ///< the bits of the other source
constexpr unsigned fills = equalFill + 4;           ///< the last three are random

uint32_t randomFill(uint32_t fill, uint32_t reg, uint32_t lane) {
  uint64_t x = (uint64_t(fill) << 40 | uint64_t(reg) << 8 | lane) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return uint32_t(x ^ x >> 31);
}

enum class Spread : uint8_t { Bits, Carry, Whole };

Spread spreadOf(const Inst &in) {
  const OpInfo &op = *in.op;
  if (op.family == Family::Lane || op.family == Family::Ds)
    return Spread::Bits;
  if (op.family == Family::Mfma)
    return Spread::Whole;
  static constexpr StringLiteral bits[] = {
      "s_mov",     "s_and",     "s_or",     "s_xor",     "s_not",     "s_nand",    "s_nor",
      "s_xnor",    "s_cselect", "s_lshl_b", "s_lshr_b",  "s_ashr",    "s_bfe",     "s_bfm",
      "s_brev",    "s_pack",    "s_sext",   "s_bitset",  "s_cmov",    "s_wqm",     "s_quadmask",
      "s_bitrep",  "v_mov",     "v_and",    "v_or",      "v_xor",     "v_not",     "v_xnor",
      "v_bfi",     "v_perm",    "v_alignb", "v_lshlrev", "v_lshrrev", "v_ashrrev", "v_lshl_or",
      "v_bfe",     "v_cndmask", "v_bfrev",  "v_bitop3",  "v_pack",    "v_accvgpr", "v_pk_lshl",
      "v_pk_lshr", "v_pk_ashr", "v_pk_mov"};
  static constexpr StringLiteral carry[] = {
      "s_add_",     "s_addc",      "s_addk",     "s_sub",         "s_mul_i32",     "s_mulk",
      "s_lshl1_",   "s_lshl2_",    "s_lshl3_",   "s_lshl4_",      "v_add_u",       "v_add_i",
      "v_add_co",   "v_addc",      "v_sub_u",    "v_sub_i",       "v_sub_co",      "v_subb",
      "v_subrev_u", "v_subrev_co", "v_mul_lo",   "v_mul_u32_u24", "v_mul_i32_i24", "v_mad_u",
      "v_mad_i",    "v_lshl_add",  "v_add_lshl", "v_add3",        "v_xad",         "v_pk_add_u",
      "v_pk_add_i", "v_pk_sub_",   "v_pk_mul_lo"};
  auto listed = [&](ArrayRef<StringLiteral> names) {
    return any_of(names, [&](StringRef prefix) { return op.mnemonic.starts_with(prefix); });
  };
  bool saturates = in.clamp;
  if (listed(bits))
    return Spread::Bits;
  return listed(carry) && !saturates ? Spread::Carry : Spread::Whole;
}

/// Bits of an element that its own undefined bits reach.
uint64_t widen(Spread spread, uint64_t bits, unsigned width) {
  uint64_t all = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  if (spread == Spread::Bits || bits == 0)
    return bits;
  return spread == Spread::Carry ? all & ~((bits & -bits) - 1) : all;
}

/// Bits of an element of the destination.
unsigned elementBits(const Inst &in) {
  const OpInfo &op = *in.op;
  if (in.form & FormSdwa)
    return 8;
  switch (op.dst) {
  case ValueType::F16:
  case ValueType::I16:
  case ValueType::U16:
  case ValueType::Pk16:
  case ValueType::PkF16:
    return 16;
  case ValueType::B64:
  case ValueType::I64:
  case ValueType::U64:
  case ValueType::F64:
    return 64;
  default:
    return op.flags & OpKeepsHigh ? 16 : op.mnemonic.starts_with("v_mfma_f64") ? 64 : 32;
  }
}

/// An operand of the copy, in the buffer.
struct Region {
  Operand original;
  unsigned at;
};

class Experiment {
public:
  Experiment(Wave &wave, const Inst *in, const Uses &uses, const Shadow &shadow,
             RegisterBuffer &buffer)
      : wave(wave), in(in), uses(uses), shadow(shadow), buffer(buffer), copy(*in) {}

  Differential::Result run() {
    Differential::Result result;
    if (!relocate())
      return result;
    uint32_t sgpr[SgprFileSize];
    memcpy(sgpr, wave.sgpr, sizeof sgpr);
    uint32_t *agprs = wave.banks[BankAgpr];
    uint32_t gprIdxMode = std::exchange(wave.gprIdxMode, 0), mode = wave.mode;
    const Inst *pc = wave.pc;
    wave.banks[BankAgpr] = buffer.at(0);
    result.known = true;
    prepare(result);
    for (unsigned fill = 0; fill < fills && result.known; ++fill) {
      memcpy(wave.sgpr, sgpr, sizeof sgpr);
      fillScalars(fill, sgpr);
      fillVectors(fill, agprs);
      if (!copy.handler(wave, &copy))
        result.known = false;
      else
        compare(result, fill == 0);
    }
    memcpy(wave.sgpr, sgpr, sizeof sgpr);
    wave.banks[BankAgpr] = agprs;
    wave.gprIdxMode = gprIdxMode;
    wave.setMode(mode);
    wave.pc = pc;
    wave.stop = Stop::None;
    if (result.known)
      spread(result);
    return result;
  }

private:
  static bool isVector(Operand o) { return o.bank == BankVgpr || o.bank == BankAgpr; }

  bool relocate() {
    auto indexed = [&](Operand o, uint32_t bit) {
      if ((wave.gprIdxMode & bit) && o.bank == BankVgpr)
        o.index = o.index + (wave.sgpr[SgprM0] & 0xff);
      return o;
    };
    bool valu = in->op->family == Family::Valu, indexes = valu || in->op->family == Family::Lane;
    Operand dst = valu ? indexed(in->dst, GprIdxDst) : in->dst;
    for (unsigned i = 0; i < 3; ++i) {
      bool accumulator = (in->op->flags & OpAccumulates) && valu && i + 1 == in->op->sources;
      copy.src[i] = place(accumulator ? dst
                          : indexes   ? indexed(in->src[i], GprIdxSrc0 << i)
                                      : in->src[i]);
    }
    copy.dst = place(dst);
    copy.sdst = place(in->sdst);
    copy.smask = place(in->smask);
    return used <= RegisterBuffer::capacity;
  }
  Operand place(Operand o) {
    if (!isVector(o))
      return o;
    unsigned dwords = std::max<unsigned>(o.dwords, 1);
    for (const Region &r : regions)
      if (r.original.bank == o.bank && r.original.index == o.index && r.original.dwords >= dwords)
        return Operand{r.at, dwords, BankAgpr};
    Operand original = o;
    original.dwords = dwords;
    regions.push_back({original, used});
    Operand moved{used, dwords, BankAgpr};
    used += dwords;
    return moved;
  }
  unsigned positionOf(Operand o) const {
    for (const Region &r : regions)
      if (r.original.bank == o.bank && r.original.index == o.index)
        return r.at;
    return 0; // every vector operand of uses was placed
  }

  void fillScalars(unsigned fill, const uint32_t *real) {
    auto one = [&](unsigned index) {
      uint32_t undefined = shadow.scalar(index);
      if (!undefined || index == SgprExec || index == SgprExec + 1)
        return;
      uint32_t value = fill < equalFill ? patterns[fill] : randomFill(fill, 0x1000 + index, 0);
      if (index == SgprScc)
        wave.sgpr[index] = fill & 1;
      else
        wave.sgpr[index] = (real[index] & ~undefined) | (value & undefined);
    };
    auto all = [&](ArrayRef<Use> list) {
      for (const Use &use : list)
        for (unsigned d = 0; use.reg.bank == BankScalar && d < use.reg.dwords; ++d)
          one((use.reg.index + d) % SgprFileSize);
    };
    all(uses.reads);
    all(uses.writes);
    if (in->op->family == Family::Salu) {
      one(SgprScc);
      if (fill == equalFill)
        equalScalars(real);
    }
  }
  /// Make two scalar sources as equal as their undefined bits allow.
  void equalScalars(const uint32_t *real) {
    Operand a = in->src[0], b = in->src[1];
    for (unsigned i = 0; i < 2; ++i, std::swap(a, b)) {
      if (a.bank != BankScalar || !b.present() || b.bank < BankConstant)
        continue;
      for (unsigned d = 0; d < a.dwords; ++d) {
        uint32_t other =
            b.bank == BankScalar ? wave.sgpr[b.index + d] : wave.lanes(b)[d * waveSize];
        uint32_t undefined = shadow.scalar(a.index + d);
        if (undefined && a.index + d != SgprExec && a.index + d != SgprExec + 1)
          wave.sgpr[a.index + d] = (real[a.index + d] & ~undefined) | (other & undefined);
      }
    }
  }

  void fillVectors(unsigned fill, uint32_t *agprs) {
    for (const Region &r : regions)
      for (unsigned d = 0; d < r.original.dwords; ++d) {
        Operand o = r.original;
        const uint32_t *real =
            (o.bank == BankAgpr ? agprs : wave.banks[BankVgpr]) + size_t(o.index + d) * waveSize;
        uint32_t *out = buffer.at(r.at + d);
        memcpy(out, real, waveSize * 4);
        const uint32_t *undefined = shadow.vector(o, d);
        uint32_t key = o.index + d + (o.bank == BankAgpr ? vgprFile : 0);
        for (uint64_t m = shadow.dirty(o, d); m; m &= m - 1) {
          unsigned l = unsigned(std::countr_zero(m));
          uint32_t value = fill < equalFill ? patterns[fill] : randomFill(fill, key, l);
          if (fill == equalFill)
            value = partner(r, d, l, value);
          out[l] = (real[l] & ~undefined[l]) | (value & undefined[l]);
        }
      }
  }
  /// What the other of the first two sources has there (its defined bits).
  uint32_t partner(const Region &r, unsigned d, unsigned lane, uint32_t otherwise) {
    bool first = copy.src[0].bank == BankAgpr && copy.src[0].index == r.at;
    bool second = copy.src[1].bank == BankAgpr && copy.src[1].index == r.at;
    if (first == second)
      return otherwise;
    Operand o = first ? in->src[1] : in->src[0];
    if (!o.present() || o.dwords <= d)
      return otherwise;
    if (o.bank == BankScalar)
      return wave.sgpr[o.index + d];
    if (isVector(o)) {
      uint32_t undefined = shadow.vector(o, d)[lane];
      return buffer.at((first ? copy.src[1] : copy.src[0]).index + d)[lane] & ~undefined;
    }
    return wave.lanes(o)[d * waveSize + lane];
  }

  void prepare(Differential::Result &result) {
    auto scalar = [&](unsigned index) { result.scalars.push_back({index % SgprFileSize, 0}); };
    for (const Use &use : uses.writes) {
      if (isVector(use.reg))
        result.vectors.push_back({use.reg, std::vector<uint32_t>(use.reg.dwords * waveSize)});
      for (unsigned d = 0; use.reg.bank == BankScalar && d < use.reg.dwords; ++d)
        scalar(use.reg.index + d);
    }
    if (in->op->family == Family::Salu)
      scalar(SgprScc);
    for (const auto &v : result.vectors)
      first.push_back(v.bits);
    firstScalar.assign(result.scalars.size(), 0);
  }
  void compare(Differential::Result &result, bool baseline) {
    for (size_t i = 0; i < result.vectors.size(); ++i) {
      auto &v = result.vectors[i];
      const uint32_t *out = buffer.at(positionOf(v.reg));
      for (size_t j = 0; j < v.bits.size(); ++j) {
        if (baseline)
          first[i][j] = out[j];
        v.bits[j] |= out[j] ^ first[i][j];
      }
    }
    for (size_t i = 0; i < result.scalars.size(); ++i) {
      uint32_t value = wave.sgpr[result.scalars[i].first];
      if (baseline)
        firstScalar[i] = value;
      result.scalars[i].second |= value ^ firstScalar[i];
    }
  }

  void spread(Differential::Result &result) const {
    Spread how = spreadOf(*in);
    if (how == Spread::Bits)
      return;
    unsigned width = elementBits(*in);
    uint64_t exec = in->op->family == Family::Mfma ? ~uint64_t(0) : wave.exec();
    for (auto &v : result.vectors)
      for (unsigned d = 0; d < v.reg.dwords; d += width == 64 ? 2 : 1)
        for (uint64_t m = exec; m; m &= m - 1)
          widenLane(how, width, &v.bits[d * waveSize + unsigned(std::countr_zero(m))]);
    if (in->op->family != Family::Salu)
      return; // lane masks are bits
    for (size_t i = 0; i < result.scalars.size(); ++i) {
      auto &[index, bits] = result.scalars[i];
      if (index == SgprScc)
        continue;
      bool pair = in->dst.dwords == 2 && i == 0 && result.scalars.size() > 1;
      if (!pair) {
        bits = uint32_t(widen(how, bits, 32));
        continue;
      }
      uint32_t &high = result.scalars[i + 1].second;
      uint64_t both = widen(how, bits | uint64_t(high) << 32, 64);
      bits = uint32_t(both);
      high = uint32_t(both >> 32);
      ++i;
    }
  }
  static void widenLane(Spread how, unsigned width, uint32_t *low) {
    if (width == 64) {
      uint32_t &high = low[waveSize];
      uint64_t both = widen(how, *low | uint64_t(high) << 32, 64);
      *low = uint32_t(both);
      high = uint32_t(both >> 32);
      return;
    }
    uint32_t out = 0;
    for (unsigned at = 0; at < 32; at += width)
      out |= uint32_t(widen(how, *low >> at & ((uint64_t(1) << width) - 1), width)) << at;
    *low = out;
  }

  Wave &wave;
  const Inst *in;
  const Uses &uses;
  const Shadow &shadow;
  RegisterBuffer &buffer;
  Inst copy;
  SmallVector<Region, 6> regions;
  unsigned used = 0;
  SmallVector<std::vector<uint32_t>, 2> first;
  SmallVector<uint32_t, 6> firstScalar;
};

} // namespace

Differential::Result Differential::run(Wave &wave, const Inst *in, const Uses &uses,
                                       const Shadow &shadow) {
  return Experiment(wave, in, uses, shadow, buffer).run();
}

} // namespace gfx950emu::check
