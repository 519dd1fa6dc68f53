//===- VectorTable.cpp - tables of per-lane vector instructions ------------===//
#include "tests/emulator/isa/VectorTable.h"

#include "tests/emulator/isa/DppSdwa.h"

#include "fmt/format.h"

namespace isatest {
namespace {

struct Source {
  enum Kind : uint8_t { Vgpr, Sgpr, Const } kind = Vgpr;
  Constant constant{};
  bool neg = false, abs = false, sext = false;
  bool high = false;    ///< op_sel: the high half of a 16-bit operand
  Sel sel = Sel::DWord; ///< SDWA
};

struct Variant {
  std::string encoding; ///< mnemonic suffix
  std::string tail;
  Source src[3];
  bool dstHigh = false, clamp = false;
  unsigned omod = 0; ///< 1 x2, 2 x4, 3 /2
  std::optional<DppControl> dpp;
  std::optional<SdwaDst> sdwaDst;
  Mode mode;
};

constexpr unsigned VgprOf[3] = {8, 10, 12}, SgprOf[3] = {32, 34, 36};
constexpr unsigned Dst = 14, MaskOut = 40, MaskIn = 42;

std::string range(char file, unsigned first, bool wide) {
  return wide ? fmt::format("{}[{}:{}]", file, first, first + 1) : fmt::format("{}{}", file, first);
}

std::string operandText(const Source &s, unsigned i, Type type) {
  std::string text = s.kind == Source::Vgpr   ? range('v', VgprOf[i], isWide(type))
                     : s.kind == Source::Sgpr ? range('s', SgprOf[i], isWide(type))
                                              : s.constant.text;
  if (s.sext)
    text = "sext(" + text + ")";
  if (s.abs)
    text = "|" + text + "|";
  return s.neg ? "-" + text : text;
}

std::string variantText(const Row &row, const Variant &v) {
  const bool e32 = v.encoding != "_e64";
  std::string dst = range('v', Dst, isWide(row.dst));
  std::string src[3];
  for (size_t i = 0; i < row.src.size(); ++i)
    src[i] = operandText(v.src[i], unsigned(i), row.src[i]);
  const std::string maskOut = e32 ? "vcc" : "s[40:41]", maskIn = e32 ? "vcc" : "s[42:43]";
  std::string operands;
  if (row.operands) {
    operands =
        fmt::format(fmt::runtime(row.operands), dst, src[0], src[1], src[2], maskOut, maskIn);
  } else {
    operands = row.forms & NODST ? maskOut : dst;
    if ((row.forms & MASKOUT) && !(row.forms & NODST))
      operands += ", " + maskOut;
    for (size_t i = 0; i < row.src.size(); ++i)
      operands += ", " + src[i];
    if ((row.forms & MASKIN) && !(row.forms & VCCIN))
      operands += ", " + maskIn;
  }
  // A format that begins with an encoding's name replaces the suffix.
  if (row.operands && std::string_view(row.operands).starts_with("sdwa "))
    return std::string(row.name) + "_" + operands + v.tail;
  // VOP3-only instructions have no suffix.
  const bool suffix = v.encoding != "_e64" || (row.forms & E32);
  return row.name + (suffix ? v.encoding : "") + " " + operands + v.tail;
}

/// The bits that reach the operation, of the lane that DPP picked.
uint64_t readSource(const Wave &w, const Source &s, unsigned i, Type type, unsigned lane,
                    bool zero) {
  const bool wide = isWide(type);
  uint64_t bits = 0;
  switch (s.kind) {
  case Source::Vgpr:
    bits = wide ? w.v64(VgprOf[i], lane) : w.v(VgprOf[i], lane);
    break;
  case Source::Sgpr:
    bits = wide ? w.s64(SgprOf[i]) : w.s(SgprOf[i]);
    break;
  case Source::Const:
    bits = s.constant.bits;
    break;
  }
  if (zero)
    bits = 0;
  if (s.sel != Sel::DWord)
    bits = selectSource(uint32_t(bits), s.sel, s.sext);
  if (s.high)
    bits >>= 16;
  if (widthOf(type) == 16)
    bits &= 0xffff;
  if (s.abs)
    bits &= ~signMask(type);
  if (s.neg)
    bits ^= signMask(type);
  return bits;
}

/// Apply omod and clamp; false where the text leaves the result open (a tiny result under omod, a
/// negative zero under clamp).
bool finish(Type type, const Variant &v, uint64_t &bits) {
  if (!v.omod && !v.clamp)
    return true;
  const bool half = type == Type::F16;
  double x = half ? double(f16(bits)) : type == Type::F64 ? asF64(bits) : double(asF32(bits));
  if (v.omod) {
    if (std::fabs(x) < (half ? 1e-3 : 1e-30)) // flushed before or after the scaling?
      return false;
    x *= v.omod == 1 ? 2.0 : v.omod == 2 ? 4.0 : 0.5;
  }
  if (v.clamp) {
    if (x == 0 && std::signbit(x))
      return false;
    x = std::isnan(x) ? (v.mode.dx10Clamp ? 0 : x) : x < 0 ? 0 : x > 1 ? 1 : x;
  }
  bits = half                ? encode(F16Format, x, Round(v.mode.round16))
         : type == Type::F64 ? bitsOf(x)
                             : bitsOf(float(x));
  return true;
}

void expectVariant(Wave &w, const Row &row, const Variant &v) {
  const Wave before = w;
  const bool e32 = v.encoding != "_e64";
  uint64_t maskIn = e32 || (row.forms & VCCIN) ? before.vcc : before.s64(MaskIn);
  uint64_t maskOut = 0, maskUnspecified = 0;
  for (unsigned lane = 0; lane < Lanes; ++lane) {
    if (!before.active(lane))
      continue;
    DppRead read{lane, false, true};
    if (v.dpp)
      read = dppRead(*v.dpp, lane, before.exec);
    if (!read.enabled)
      continue;
    Lane l;
    l.lane = lane;
    l.mode = v.mode;
    l.mask = maskIn >> lane & 1;
    uint64_t *values[3] = {&l.a, &l.b, &l.c};
    for (size_t i = 0; i < row.src.size(); ++i)
      *values[i] = readSource(before, v.src[i], unsigned(i), row.src[i], i == 0 ? read.lane : lane,
                              i == 0 && read.zero);
    l.d = isWide(row.dst) ? before.v64(Dst, lane) : before.v(Dst, lane);
    uint64_t result = row.fn(l);
    maskOut |= uint64_t(l.mask) << lane;
    maskUnspecified |= uint64_t(l.unspecified) << lane;
    if (row.forms & NODST)
      continue;
    if (l.unspecified || !finish(row.dst, v, result)) {
      w.ignore(Dst, lane);
      w.ignore(Dst + 1, lane);
      continue;
    }
    if (v.sdwaDst) {
      w.v(Dst, lane) = selectDestination(before.v(Dst, lane), uint32_t(result), *v.sdwaDst);
    } else if (widthOf(row.dst) == 16 && (v.dstHigh || (row.forms & KEEPHIGH))) {
      const uint32_t old = before.v(Dst, lane);
      w.v(Dst, lane) = v.dstHigh ? (old & 0xffff) | uint32_t(result) << 16
                                 : (old & 0xffff0000) | (uint32_t(result) & 0xffff);
    } else if (isWide(row.dst)) {
      w.setV64(Dst, lane, result);
    } else {
      w.v(Dst, lane) = uint32_t(result);
    }
  }
  if (row.forms & MASKOUT) {
    if (e32) {
      w.vcc = maskOut;
      w.ignoredVcc = maskUnspecified;
    } else {
      w.setS64(MaskOut, maskOut);
      w.ignoredSgprBits[MaskOut] = uint32_t(maskUnspecified);
      w.ignoredSgprBits[MaskOut + 1] = uint32_t(maskUnspecified >> 32);
    }
    if (row.forms & EXECOUT)
      w.exec = maskOut;
  }
}

class Expander {
public:
  Expander(Suite &suite, const Row &row) : suite(suite), row(row) {}

  void expand() {
    plain();
    constants();
    modifiers();
    modes();
    if (row.forms & DPP)
      for (const DppControl &control : representativeDpp()) {
        Variant v = start("_dpp");
        v.dpp = control;
        v.tail = " " + control.text();
        add(v);
      }
    if (row.forms & SDWA)
      sdwa();
  }

private:
  Variant start(const char *encoding) const {
    Variant v;
    v.encoding = encoding;
    return v;
  }

  void plain() {
    if (row.forms & E32)
      add(start("_e32"));
    if (row.forms & E64)
      add(start("_e64"));
  }

  void constants() {
    if (row.forms & NOCONST)
      return;
    const bool scalarFree = !(row.forms & MASKIN); // the mask takes the constant bus
    auto with = [&](const char *encoding, size_t i, Source::Kind kind, Constant constant = {}) {
      Variant v = start(encoding);
      v.src[i].kind = kind;
      v.src[i].constant = constant;
      add(v);
    };
    for (size_t i = 0; i < row.src.size(); ++i) {
      if (i > 0 && (row.forms & FIXEDB))
        break;
      const char *encoding = i == 0 && (row.forms & E32) ? "_e32" : "_e64";
      if (!(row.forms & E64) && i > 0)
        break;
      if (scalarFree)
        with(encoding, i, Source::Sgpr);
      for (const Constant &constant : inlineConstants(row.src[i]))
        with(encoding, i, Source::Const, constant);
    }
    const Constant *lit = literal(row.src[0]);
    if (scalarFree && lit && (row.forms & E32))
      with("_e32", 0, Source::Const, *lit);
  }

  void modifiers() {
    const size_t count = row.src.size();
    if (row.forms & NEG) {
      for (size_t i = 0; i < count; ++i)
        for (unsigned bits = 1; bits < 4; ++bits) {
          if (!isFloat(row.src[i]))
            continue;
          Variant v = start("_e64");
          v.src[i].neg = bits & 1;
          v.src[i].abs = bits & 2;
          add(v);
        }
      if (count > 1 && isFloat(row.src[1])) {
        Variant v = start("_e64");
        v.src[0].neg = v.src[1].neg = v.src[1].abs = true;
        if (count > 2 && isFloat(row.src[2]))
          v.src[2].abs = true;
        add(v);
      }
    }
    if (row.forms & CLAMP) {
      Variant v = start("_e64");
      v.clamp = true;
      v.tail = " clamp";
      add(v);
      v.mode.dx10Clamp = false;
      add(v);
    }
    if (row.forms & OMOD) {
      constexpr const char *Text[] = {"", " mul:2", " mul:4", " div:2"};
      for (unsigned omod = 1; omod < 4; ++omod) {
        Variant v = start("_e64");
        v.omod = omod;
        v.tail = Text[omod];
        v.mode.ieee = false;
        v.mode.denorm32 = v.mode.denorm16 = 0;
        add(v);
        v.clamp = true;
        v.tail = " clamp" + std::string(Text[omod]);
        add(v);
      }
    }
    if (row.forms & OPSEL)
      for (unsigned bits = 1; bits < (widthOf(row.dst) == 16 ? 2u : 1u) << count; ++bits) {
        Variant v = start("_e64");
        v.tail = " op_sel:[";
        for (size_t i = 0; i < count; ++i) {
          v.src[i].high = bits >> i & 1;
          v.tail += v.src[i].high ? "1," : "0,";
        }
        v.dstHigh = bits >> count & 1;
        v.tail += v.dstHigh ? "1]" : "0]";
        add(v);
      }
  }

  void modes() {
    const char *encoding = row.forms & E32 ? "_e32" : "_e64";
    auto with = [&](auto change) {
      Variant v = start(encoding);
      change(v.mode);
      add(v);
    };
    if (row.forms & FTZ) {
      with([](Mode &m) { m.denorm32 = 0; });
      with([](Mode &m) { m.denorm16 = 0; });
    }
    if (row.forms & NOIEEE)
      with([](Mode &m) { m.ieee = false; });
    if (row.forms & ROUNDS)
      for (unsigned round = 1; round < 4; ++round)
        with([round](Mode &m) { m.round32 = m.round16 = round; });
  }

  void sdwa() {
    const bool narrow = widthOf(row.src[0]) == 16;
    for (const SdwaForm &form : representativeSdwa(narrow, isFloat(row.src[0]))) {
      Variant v = start("_sdwa");
      v.tail = form.text(row.src.size(), !(row.forms & NODST));
      for (size_t i = 0; i < row.src.size(); ++i) {
        v.src[i].sel = form.src[i].sel;
        v.src[i].sext = form.src[i].sext && !(row.forms & NOSEXT);
        v.src[i].neg = form.src[i].neg && isFloat(row.src[i]);
        v.src[i].abs = form.src[i].abs && isFloat(row.src[i]);
      }
      v.sdwaDst = form.dst;
      add(v);
    }
  }

  void add(const Variant &v) {
    Case c;
    c.mnemonic = row.name;
    c.text = variantText(row, v);
    c.mode = v.mode;
    const Row r = row;
    c.fill = [r](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const unsigned index = w.index * Lanes + lane;
        for (size_t i = 0; i < r.src.size(); ++i)
          w.setV64(VgprOf[i], lane, value(r.src[i], unsigned(i), index, rng));
        if (r.forms & ADDS)
          w.setV64(Dst, lane, value(r.old, 2, index, rng));
      }
      for (size_t i = 0; i < r.src.size(); ++i)
        w.setS64(SgprOf[i], scalarValue(r.src[i], rng));
    };
    c.expect = [r, v](Wave &w) { expectVariant(w, r, v); };
    if (!(row.forms & NODST)) {
      Compare compare = row.compare;
      if (compare.kind == Compare::Bits)
        switch (row.dst) {
        case Type::F32:
          compare.kind = Compare::F32;
          break;
        case Type::F64:
          compare.kind = Compare::F64;
          break;
        case Type::F16:
          compare.kind = v.dstHigh || v.sdwaDst ? Compare::F16x2 : Compare::F16;
          break;
        case Type::F16x2:
          compare.kind = Compare::F16x2;
          break;
        case Type::BF16x2:
          compare.kind = Compare::BF16x2;
          break;
        default:
          break;
        }
      c.compare[Dst] = compare;
      if (row.dst == Type::F32x2)
        c.compare[Dst] = c.compare[Dst + 1] = Compare{Compare::F32};
    }
    suite.add(std::move(c));
  }

  Suite &suite;
  const Row &row;
};

bool isNanOf(const Format &f, uint64_t bits) { return (bits & (f.signBit() - 1)) > f.largest + 1; }
bool isSignallingOf(const Format &f, uint64_t bits) {
  return isNanOf(f, bits) && !(bits >> (f.mantissaBits - 1) & 1);
}

} // namespace

void addRows(Suite &suite, const std::vector<Row> &rows) {
  for (const Row &row : rows)
    Expander(suite, row).expand();
}

uint64_t minMax(const Format &f, uint64_t a, uint64_t b, bool max, bool ieee) {
  if (ieee && isSignallingOf(f, a))
    return f.nan;
  if (ieee && isSignallingOf(f, b))
    return f.nan;
  if (isNanOf(f, a))
    return b;
  if (isNanOf(f, b))
    return a;
  const Wide x = decode(f, uint32_t(a)), y = decode(f, uint32_t(b));
  if (x == 0 && y == 0)
    return (signOf(x) == max) ? b : a;
  return (max ? x >= y : x < y) ? a : b;
}

uint64_t minMax64(uint64_t a, uint64_t b, bool max, bool ieee) {
  const double x = asF64(a), y = asF64(b);
  constexpr uint64_t Quiet = 1ull << 51;
  if (ieee && ((std::isnan(x) && !(a & Quiet)) || (std::isnan(y) && !(b & Quiet))))
    return 0x7ff8000000000000;
  if (std::isnan(x))
    return b;
  if (std::isnan(y))
    return a;
  if (x == 0 && y == 0)
    return std::signbit(x) == max ? b : a;
  return (max ? x >= y : x < y) ? a : b;
}

uint64_t minimumMaximum(const Format &f, uint64_t a, uint64_t b, bool max) {
  if (isNanOf(f, a) || isNanOf(f, b))
    return f.nan;
  return minMax(f, a, b, max, true);
}

} // namespace isatest
