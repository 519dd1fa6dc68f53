//===- DecoderMemory.cpp - fields of SMEM, FLAT, DS and MUBUF --------------------===//
//
// These encodings are decoded from their bits alone: MCInst orders their operands
// differently a mnemonic.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/core/Decoder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace gfx950emu {

namespace {

uint32_t bits(uint64_t value, unsigned low, unsigned count) {
  return uint32_t(value >> low) & ((1u << count) - 1);
}

Operand vector(uint32_t index, bool acc = false) {
  return Operand{index, 1, acc ? BankAgpr : BankVgpr};
}

} // namespace

bool Decoder::fillSmem(Inst &in, const Words &words) {
  uint64_t w = words.first64();
  bool supported = true;
  in.src[0] = scalarField(bits(w, 0, 6) * 2, supported);
  in.dst = scalarField(bits(w, 6, 7), supported);
  bool hasImm = bits(w, 17, 1), hasSoffset = bits(w, 14, 1);
  if (hasImm)
    in.imm = SignExtend32<21>(bits(w, 32, 21));
  if (hasSoffset)
    in.smask = scalarField(bits(w, 57, 7), supported);
  else if (!hasImm)
    in.smask = scalarField(bits(w, 32, 7), supported);
  return supported;
}

void Decoder::fillFlat(Inst &in, const Words &words) {
  uint64_t w = words.first64();
  enum { SegFlat, SegScratch, SegGlobal };
  uint32_t segment = bits(w, 14, 2), saddr = bits(w, 48, 7);
  bool acc = bits(w, 55, 1), scalarAddress = segment != SegFlat && saddr != 0x7f;
  in.imm = segment == SegFlat ? int32_t(bits(w, 0, 12)) : SignExtend32<13>(bits(w, 0, 13));
  in.cpol = bits(w, 16, 2) | bits(w, 25, 1) << 4;
  in.dst = vector(bits(w, 56, 8), acc);
  in.src[1] = vector(bits(w, 40, 8), acc);
  if (segment != SegScratch || bits(w, 13, 1))
    in.src[0] = vector(bits(w, 32, 8));
  if (scalarAddress)
    in.smask = Operand{saddr, 1, BankScalar};
  in.extra = segment;
  if (in.op->dst == ValueType::None || (in.op->src[1] != ValueType::None && !(in.cpol & 1)))
    in.dst = Operand{}; // a store, or an atomic that returns nothing
  if (in.op->src[1] == ValueType::None)
    in.src[1] = Operand{};
  setWidths(in);
  if (in.src[0].present()) {
    in.src[0].dwords = segment == SegScratch || scalarAddress ? 1 : 2;
    in.vgprEnd = std::max<uint16_t>(in.vgprEnd, uint16_t(in.src[0].index + in.src[0].dwords));
  }
}

bool Decoder::fillDs(Inst &in, const Words &words) {
  uint64_t w = words.first64();
  bool gds = bits(w, 16, 1), acc = bits(w, 25, 1);
  in.imm = int32_t(bits(w, 0, 16));
  in.src[0] = vector(bits(w, 32, 8));
  if (in.op->src[1] != ValueType::None)
    in.src[1] = vector(bits(w, 40, 8), acc);
  if (in.op->src[2] != ValueType::None)
    in.src[2] = vector(bits(w, 48, 8), acc);
  if (in.op->dst != ValueType::None)
    in.dst = vector(bits(w, 56, 8), acc);
  setWidths(in);
  return !gds;
}

bool Decoder::fillMubuf(Inst &in, const Words &words) {
  uint64_t w = words.first64();
  bool offen = bits(w, 12, 1), idxen = bits(w, 13, 1), lds = bits(w, 16, 1), acc = bits(w, 55, 1);
  bool supported = true;
  in.imm = int32_t(bits(w, 0, 12));
  in.cpol = bits(w, 14, 1) | bits(w, 17, 1) << 1 | bits(w, 15, 1) << 4;
  in.extra = (offen ? 1 : 0) | (idxen ? 2 : 0) | (lds ? 4 : 0);
  if (offen || idxen)
    in.src[0] = vector(bits(w, 32, 8));
  in.sdst = Operand{bits(w, 48, 5) * 4, 4, BankScalar};
  in.smask = scalarField(bits(w, 56, 8), supported);
  Operand data = vector(bits(w, 40, 8), acc);
  if (in.op->src[1] != ValueType::None)
    in.src[1] = data;
  if (in.op->dst != ValueType::None && !lds && (in.op->src[1] == ValueType::None || (in.cpol & 1)))
    in.dst = data;
  setWidths(in);
  in.sdst.dwords = 4;
  if (in.src[0].present()) {
    in.src[0].dwords = offen && idxen ? 2 : 1;
    in.vgprEnd = std::max<uint16_t>(in.vgprEnd, uint16_t(in.src[0].index + in.src[0].dwords));
  }
  return supported;
}

} // namespace gfx950emu
