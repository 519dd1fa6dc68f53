//===- DppSdwa.cpp - what DPP and SDWA do to operands ----------------------===//
#include "tests/emulator/isa/DppSdwa.h"

#include "fmt/format.h"

namespace isatest {
namespace {

using Source = std::optional<unsigned>;

// Rows are 16 lanes, banks 4 lanes of a row.
Source quadPerm(unsigned l, unsigned perm) { return (l & ~3u) | (perm >> 2 * (l & 3) & 3); }
Source rowShl(unsigned l, unsigned n) { return (l & 15) + n < 16 ? Source(l + n) : std::nullopt; }
Source rowShr(unsigned l, unsigned n) { return (l & 15) >= n ? Source(l - n) : std::nullopt; }
Source rowRor(unsigned l, unsigned n) { return (l & ~15u) | ((l - n) & 15); }
Source waveShl(unsigned l, unsigned) { return l < 63 ? Source(l + 1) : std::nullopt; }
Source waveRol(unsigned l, unsigned) { return (l + 1) & 63; }
Source waveShr(unsigned l, unsigned) { return l > 0 ? Source(l - 1) : std::nullopt; }
Source waveRor(unsigned l, unsigned) { return (l - 1) & 63; }
Source rowMirror(unsigned l, unsigned) { return (l & ~15u) | (15 - (l & 15)); }
Source rowHalfMirror(unsigned l, unsigned) { return (l & ~7u) | (7 - (l & 7)); }
Source rowBcast15(unsigned l, unsigned) { return l >= 16 ? Source((l & ~15u) - 1) : std::nullopt; }
Source rowBcast31(unsigned l, unsigned) { return l >= 32 ? Source(31) : std::nullopt; }
Source rowNewbcast(unsigned l, unsigned n) { return (l & ~15u) | n; }

DppControl control(std::string name, Source (*source)(unsigned, unsigned), unsigned argument = 0) {
  return {std::move(name), source, argument};
}

DppControl quad(unsigned a, unsigned b, unsigned c, unsigned d) {
  return control(fmt::format("quad_perm:[{},{},{},{}]", a, b, c, d), quadPerm,
                 a | b << 2 | c << 4 | d << 6);
}

} // namespace

std::string DppControl::text() const {
  return fmt::format("{} row_mask:{:#x} bank_mask:{:#x}{}", name, rowMask, bankMask,
                     boundCtrl ? " bound_ctrl:0" : "");
}

DppRead dppRead(const DppControl &control, unsigned lane, uint64_t exec) {
  DppRead read{lane, false, true};
  if (!(control.rowMask >> lane / 16 & 1) || !(control.bankMask >> (lane & 15) / 4 & 1)) {
    read.enabled = false;
    return read;
  }
  Source source = control.source(lane, control.argument);
  if (source && (exec >> *source & 1))
    read.lane = *source;
  else if (control.boundCtrl)
    read.zero = true;
  else
    read.enabled = false;
  return read;
}

std::vector<DppControl> allDpp() {
  std::vector<DppControl> all{
      quad(0, 1, 2, 3),
      quad(3, 2, 1, 0),
      quad(1, 1, 3, 0),
      quad(2, 2, 2, 2),
      control("wave_shl:1", waveShl),
      control("wave_rol:1", waveRol),
      control("wave_shr:1", waveShr),
      control("wave_ror:1", waveRor),
      control("row_mirror", rowMirror),
      control("row_half_mirror", rowHalfMirror),
      control("row_bcast:15", rowBcast15),
      control("row_bcast:31", rowBcast31),
  };
  for (unsigned n = 1; n < 16; ++n) {
    all.push_back(control(fmt::format("row_shl:{}", n), rowShl, n));
    all.push_back(control(fmt::format("row_shr:{}", n), rowShr, n));
    all.push_back(control(fmt::format("row_ror:{}", n), rowRor, n));
  }
  for (unsigned n = 0; n < 16; ++n)
    all.push_back(control(fmt::format("row_newbcast:{}", n), rowNewbcast, n));
  return all;
}

std::vector<DppControl> representativeDpp() {
  DppControl shift = control("row_shr:3", rowShr, 3);
  DppControl swap = quad(1, 0, 3, 2);
  swap.rowMask = 0xb;
  swap.bankMask = 0xd;
  DppControl zero = control("row_shl:1", rowShl, 1);
  zero.boundCtrl = true;
  return {shift, swap, zero};
}

const char *selName(Sel sel) {
  constexpr const char *Names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                   "WORD_0", "WORD_1", "DWORD"};
  return Names[unsigned(sel)];
}

namespace {
unsigned shiftOf(Sel sel) {
  return sel <= Sel::Byte3 ? 8 * unsigned(sel) : sel == Sel::Word1 ? 16 : 0;
}
unsigned bitsOfSel(Sel sel) { return sel <= Sel::Byte3 ? 8 : sel == Sel::DWord ? 32 : 16; }
} // namespace

uint32_t selectSource(uint32_t bits, Sel sel, bool sext) {
  const unsigned width = bitsOfSel(sel);
  if (width == 32)
    return bits;
  const uint32_t field = bits >> shiftOf(sel) & ((1u << width) - 1);
  return sext && (field >> (width - 1)) ? field | ~0u << width : field;
}

uint32_t selectDestination(uint32_t old, uint32_t result, SdwaDst dst) {
  const unsigned width = bitsOfSel(dst.sel), shift = shiftOf(dst.sel);
  if (width == 32)
    return result;
  const uint32_t mask = ((1u << width) - 1) << shift;
  const uint32_t field = result << shift & mask;
  switch (dst.unused) {
  case Unused::Pad:
    return field;
  case Unused::Preserve:
    return (old & ~mask) | field;
  case Unused::Sext:
    break;
  }
  // The bits above the field repeat its sign, those below are zero.
  return uint32_t(int32_t(field << (32 - width - shift)) >> (32 - width - shift));
}

std::string SdwaForm::text(size_t sources, bool hasDst) const {
  constexpr const char *Names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  std::string out;
  if (hasDst)
    out += fmt::format(" dst_sel:{} dst_unused:{}", selName(dst.sel), Names[unsigned(dst.unused)]);
  for (size_t i = 0; i < sources; ++i)
    out += fmt::format(" src{}_sel:{}", i, selName(src[i].sel));
  return out;
}

std::vector<SdwaForm> representativeSdwa(bool narrow, bool isFloat) {
  using S = SdwaForm::Source;
  if (isFloat && !narrow)
    return {{{S{Sel::DWord, false, true}, S{Sel::DWord, false, false, true}}, {}},
            {{S{Sel::DWord}, S{Sel::DWord, false, true, true}}, {}}};
  if (isFloat)
    return {{{S{Sel::Word1}, S{Sel::Word0, false, true}}, {Sel::DWord, Unused::Pad}},
            {{S{Sel::Word0, false, false, true}, S{Sel::Word1}}, {Sel::Word1, Unused::Preserve}},
            {{S{Sel::Word1, false, true}, S{Sel::Word1}}, {Sel::Word0, Unused::Pad}}};
  std::vector<SdwaForm> forms{
      {{S{Sel::Byte0}, S{Sel::Byte3}}, {Sel::DWord, Unused::Pad}},
      {{S{Sel::Byte1, true}, S{Sel::Word1, true}}, {Sel::DWord, Unused::Pad}},
      {{S{Sel::Byte2, true}, S{Sel::Word0}}, {Sel::Word1, Unused::Preserve}},
      {{S{Sel::Word0}, S{Sel::Byte1}}, {Sel::Byte2, Unused::Preserve}},
      {{S{Sel::Word1}, S{Sel::DWord}}, {Sel::Word0, Unused::Sext}},
      {{S{Sel::Byte3}, S{Sel::Word0, true}}, {Sel::Byte1, Unused::Sext}},
      {{S{Sel::DWord}, S{Sel::Byte2}}, {Sel::Byte3, Unused::Pad}},
      {{S{Sel::Word0, true}, S{Sel::DWord}}, {Sel::Byte0, Unused::Preserve}},
  };
  return forms;
}

} // namespace isatest
