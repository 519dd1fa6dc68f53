//===- Decoder.cpp ------------------------------------------------------------===//

#include "tools/gfx950emu/core/Decoder.h"

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Wave.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <bit>
#include <new>

using namespace llvm;

namespace gfx950emu {

namespace {

/// AMDGPU::OPERAND_INPUT_MODS of LLVM 22: the operand holds source modifiers.
constexpr unsigned operandInputMods = 45;

/// Bits of MCRegisterInfo::getEncodingValue for AMDGPU.
constexpr unsigned encodingIndexMask = 0x3ff, encodingVgpr = 1u << 10, encodingAgpr = 1u << 11;

uint32_t bits(uint64_t value, unsigned low, unsigned count) {
  return uint32_t(value >> low) & ((1u << count) - 1);
}

bool isVop3(uint32_t w0) { return w0 >> 26 == 0x34 && w0 >> 23 != 0x1a7; }
bool isVop3p(uint32_t w0) { return w0 >> 23 == 0x1a7; }
bool isVopc(uint32_t w0) { return w0 >> 25 == 0x3e; }
bool isShortVop(uint32_t w0) { return w0 >> 31 == 0; }

const Inst *executeUnknown(Wave &wave, const Inst *in) {
  const DecodedProgram &p = *wave.program;
  std::string name = p.mnemonic(in);
  std::string what = name.empty() ? "bytes that are no gfx950 instruction"
                     : in->op     ? "an unsupported form of " + name
                                  : "no handler for " + name;
  return wave.fail(in, FaultKind::UnknownInstruction, -1,
                   what + ", encoding " + toHex(p.encoding(in), /*LowerCase=*/true));
}

const Inst *executeEnd(Wave &wave, const Inst *in) {
  return wave.fail(in, FaultKind::BadBranch, -1, "ran past the end of the code segment");
}

} // namespace

Error Decoder::run() {
  uint64_t size = program.code.size();
  std::vector<uint64_t> starts;
  for (const DecodedProgram::Symbol &s : program.symbols)
    if (s.address >= program.base && s.address - program.base < size)
      starts.push_back(s.address - program.base);
  starts.push_back(size);
  std::sort(starts.begin(), starts.end());

  program.indexByDword.assign(size / 4 + 1, 0);
  auto nextStart = starts.begin();
  for (uint64_t offset = 0; offset + 4 <= size;) {
    while (*nextStart <= offset && *nextStart != size)
      ++nextStart;
    uint64_t limit = std::max(*nextStart, offset + 4);
    Inst &in = program.insts.emplace_back();
    in.offset = uint32_t(offset);
    decodeOne(in, program.code.slice(offset, limit - offset));
    program.indexByDword[offset / 4] = uint32_t(program.insts.size());
    offset += in.size;
  }
  Inst &end = program.insts.emplace_back();
  end.offset = uint32_t(size);
  end.handler = executeEnd;
  resolveBranches();

  size_t dwords = std::max<size_t>(constantValues.size(), 1) * 2 * waveSize;
  program.constantPool = new (std::align_val_t(64), std::nothrow) uint32_t[dwords];
  if (!program.constantPool)
    return make_error<Fault>(FaultKind::BadCodeObject, "out of memory for its constants");
  for (size_t i = 0; i < constantValues.size(); ++i)
    for (unsigned half = 0; half < 2; ++half)
      std::fill_n(program.constantPool + (2 * i + half) * waveSize, waveSize,
                  constantValues[i][half]);
  return Error::success();
}

void Decoder::decodeOne(Inst &in, ArrayRef<uint8_t> bytes) {
  in.handler = executeUnknown;
  in.size = 4;
  MCInst mc;
  uint64_t size = program.disassembler->decode(bytes, program.base + in.offset, mc);
  if (size < 4 || size > 16 || size % 4)
    return;
  in.size = uint8_t(size);
  in.op = table.find(program.disassembler->mnemonic(mc));
  if (!in.op)
    return;
  Words words;
  for (unsigned i = 0; i < size / 4; ++i)
    words.w[i] = support::endian::read32le(bytes.data() + 4 * i);
  if (fill(in, mc, words))
    in.handler = in.op->handler;
  else // the register limits of a half-filled instruction mean nothing
    in.vgprEnd = in.agprEnd = 0;
}

bool Decoder::fill(Inst &in, const MCInst &mc, const Words &words) {
  switch (in.op->family) {
  case Family::Smem:
    return fillSmem(in, words);
  case Family::Flat:
    fillFlat(in, words);
    return true;
  case Family::Ds:
    return fillDs(in, words);
  case Family::Mubuf:
    return fillMubuf(in, words);
  default:
    break;
  }
  Operands operands = walk(mc);
  if (!operands.supported)
    return false;
  switch (in.op->family) {
  case Family::Salu:
  case Family::Control:
    return fillScalar(in, operands, words);
  case Family::Mfma:
    return fillMfma(in, operands, words);
  default:
    if (operands.sources.size() < size_t(in.op->sources - ((in.op->flags & OpAccumulates) ? 1 : 0)))
      return false;
    fillValu(in, operands, words);
    return true;
  }
}

Decoder::Operands Decoder::walk(const MCInst &mc) {
  Operands result;
  const MCInstrDesc &desc = program.disassembler->description(mc);
  for (unsigned i = 0; i < mc.getNumOperands() && i < desc.getNumOperands(); ++i) {
    const MCOperand &op = mc.getOperand(i);
    const MCOperandInfo &info = desc.operands()[i];
    if (desc.getOperandConstraint(i, MCOI::TIED_TO) >= 0 || info.OperandType == operandInputMods)
      continue;
    if (op.isReg()) {
      if (!op.getReg())
        continue;
      Operand o = registerOperand(op.getReg(), result.supported);
      if (i < desc.getNumDefs())
        result.defs.push_back(o);
      else
        result.sources.push_back(o);
    } else if (op.isImm() && info.OperandType >= MCOI::OPERAND_FIRST_TARGET) {
      result.sources.push_back(constant(uint64_t(op.getImm())));
    } else if (int64_t value; op.isExpr() && op.getExpr()->evaluateAsAbsolute(value)) {
      // A literal that an inline constant could express stays marked as lit().
      result.sources.push_back(constant(uint64_t(value)));
    } else if (op.isDFPImm()) {
      result.sources.push_back(constant(op.getDFPImm()));
    }
  }
  return result;
}

Operand Decoder::registerOperand(unsigned reg, bool &supported) {
  unsigned encoding = program.disassembler->registers().getEncodingValue(reg);
  Operand o;
  o.index = encoding & encodingIndexMask;
  o.dwords = 1;
  if (encoding & encodingAgpr)
    o.bank = BankAgpr;
  else if (encoding & encodingVgpr)
    o.bank = BankVgpr;
  else
    return scalarField(o.index, supported);
  return o;
}

Operand Decoder::scalarField(uint32_t field, bool &supported) {
  Operand o;
  if (field < 128 || field == SgprScc) {
    o.bank = BankScalar;
    o.index = field;
    o.dwords = 1;
    return o;
  }
  if (field <= 192)
    return constant(field - 128);
  if (field <= 208)
    return constant(uint64_t(-int64_t(field - 192)));
  switch (field) {
  case 235:
    return constant(sharedAperture);
  case 236:
    return constant(sharedAperture | 0xffffffff);
  case 237:
    return constant(privateAperture);
  case 238:
    return constant(privateAperture | 0xffffffff);
  default: // VCCZ, EXECZ, POPS, LDS_DIRECT: not used by compilers for this target
    supported = false;
    return o;
  }
}

Operand Decoder::constant(uint64_t value) {
  auto [it, fresh] = constantIndex.try_emplace(value, uint32_t(constantValues.size() * 2));
  if (fresh)
    constantValues.push_back({uint32_t(value), uint32_t(value >> 32)});
  Operand o;
  o.bank = BankConstant;
  o.index = it->second;
  o.dwords = 1;
  return o;
}

void Decoder::setWidths(Inst &in) {
  auto note = [&](Operand &o, unsigned dwords) {
    if (!o.present())
      return;
    o.dwords = dwords;
    if (o.bank == BankVgpr)
      in.vgprEnd = std::max<uint16_t>(in.vgprEnd, uint16_t(o.index + dwords));
    else if (o.bank == BankAgpr)
      in.agprEnd = std::max<uint16_t>(in.agprEnd, uint16_t(o.index + dwords));
  };
  note(in.dst, dwordsOf(in.op->dst));
  for (unsigned i = 0; i < 3; ++i)
    note(in.src[i], dwordsOf(in.op->src[i]));
  note(in.sdst, in.sdst.bank == BankScalar ? 2 : dwordsOf(in.op->dst));
}

void Decoder::fillValu(Inst &in, const Operands &operands, const Words &words) {
  const OpInfo &op = *in.op;
  uint32_t w0 = words.w[0];
  uint64_t w = words.first64();

  if (isVop3(w0)) {
    in.neg = bits(w, 61, 3);
    in.omod = bits(w, 59, 2);
    in.clamp = (op.flags & OpCompare) ? 0 : bits(w, 15, 1);
    if (!(op.flags & OpWritesMask) || (op.flags & OpCompare)) {
      in.abs = bits(w, 8, 3);
      in.opSel = (op.flags & OpCompare) ? 0 : bits(w, 11, 4);
    }
  } else if (isVop3p(w0)) {
    in.neg = bits(w, 61, 3);
    in.abs = bits(w, 8, 3);
    in.opSel = bits(w, 11, 3);
    in.opSelHi = bits(w, 59, 2) | bits(w, 14, 1) << 2;
    in.clamp = bits(w, 15, 1);
  } else if (isShortVop(w0)) {
    uint32_t src0 = w0 & 0x1ff, d = words.w[1];
    if (src0 == 0xf9) {
      in.form |= FormSdwa;
      in.extra = d;
      in.neg = bits(d, 20, 1) | bits(d, 28, 1) << 1;
      in.abs = bits(d, 21, 1) | bits(d, 29, 1) << 1;
      if (!isVopc(w0)) {
        in.clamp = bits(d, 13, 1);
        in.omod = bits(d, 14, 2);
      }
    } else if (src0 == 0xfa) {
      in.form |= FormDpp;
      in.extra = d;
      in.neg = bits(d, 20, 1) | bits(d, 22, 1) << 1;
      in.abs = bits(d, 21, 1) | bits(d, 23, 1) << 1;
    }
  }

  // Destinations: the vector result, then a mask or a second register.
  size_t def = 0;
  if (!(op.flags & OpCompare) && !operands.defs.empty())
    in.dst = operands.defs[def++];
  if (def < operands.defs.size())
    in.sdst = operands.defs[def];
  else if (op.flags & OpWritesMask)
    in.sdst = Operand{SgprVcc, 2, BankScalar};

  unsigned encoded = op.sources - ((op.flags & OpAccumulates) ? 1 : 0);
  for (unsigned i = 0; i < encoded; ++i)
    in.src[i] = operands.sources[i];
  if (op.flags & OpAccumulates)
    in.src[encoded] = in.dst;
  if (op.flags & OpReadsMask)
    in.smask = operands.sources.size() > encoded ? operands.sources[encoded]
                                                 : Operand{SgprVcc, 2, BankScalar};

  for (unsigned i = 0; i < encoded; ++i) {
    if (op.src[i] != ValueType::Mix || in.src[i].bank != BankConstant)
      continue;
    // MC widens an inline float of v_fma_mix to f16 even when the source is f32.
    static constexpr uint32_t single[] = {0x3f000000, 0xbf000000, 0x3f800000,
                                          0xbf800000, 0x40000000, 0xc0000000,
                                          0x40800000, 0xc0800000, 0x3e22f983};
    static constexpr uint32_t half[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                        0xc000, 0x4400, 0xc400, 0x3118};
    uint32_t field = bits(w, 32 + 9 * i, 9);
    if (field >= 240 && field <= 248)
      in.src[i] = constant((in.opSelHi >> i & 1) ? half[field - 240] : single[field - 240]);
  }
  setWidths(in);

  bool packed = op.src[0] == ValueType::Pk16 || op.src[0] == ValueType::PkF16 ||
                op.src[0] == ValueType::PkF32;
  uint32_t used = (1u << encoded) - 1;
  bool opSelMatters = (in.opSel && !(op.flags & OpRawOpSel)) ||
                      (packed && (in.opSelHi & used) != used) ||
                      (op.src[0] == ValueType::Mix && (in.opSelHi & used) != 0);
  // An integer operation uses these fields for itself (v_bitop3) or not at all.
  bool floats = isFloat(op.dst) || isFloat(op.src[0]) || isFloat(op.src[1]);
  if ((floats && (in.neg || in.abs || in.omod)) || in.clamp || opSelMatters ||
      (op.flags & OpKeepsHigh))
    in.form |= FormModifiers;
  if (op.flags & OpReadsOld)
    in.form |= FormAliased;
  for (unsigned i = 0; i < op.sources; ++i)
    if (in.dst.bank == in.src[i].bank && in.dst.index < in.src[i].index + in.src[i].dwords &&
        in.src[i].index < in.dst.index + in.dst.dwords)
      in.form |= FormAliased;
}

bool Decoder::fillScalar(Inst &in, const Operands &operands, const Words &words) {
  in.imm = int16_t(words.w[0] & 0xffff);
  in.extra = words.w[1];
  llvm::ArrayRef<Operand> sources = operands.sources;
  if (!operands.defs.empty()) {
    in.dst = operands.defs[0];
  } else if (in.op->dst != ValueType::None && !sources.empty()) {
    in.dst = sources[0]; // s_movreld: to MC the register that is named is only read
    sources = sources.drop_front();
  }
  if (sources.size() < in.op->sources || (in.op->dst != ValueType::None && !in.dst.present()))
    return false;
  for (unsigned i = 0; i < in.op->sources; ++i)
    in.src[i] = sources[i];
  auto scalar = [](Operand o) { return !o.present() || o.bank >= BankConstant; };
  if (!scalar(in.dst) || !scalar(in.src[0]) || !scalar(in.src[1]))
    return false;
  setWidths(in);
  return true;
}

bool Decoder::fillMfma(Inst &in, const Operands &operands, const Words &words) {
  uint64_t w = in.size == 16 ? words.w[2] | uint64_t(words.w[3]) << 32 : words.first64();
  unsigned encoded = (in.op->flags & OpAccumulates) ? 2 : 3;
  if (operands.defs.size() != 1 || operands.sources.size() < encoded)
    return false;
  in.dst = operands.defs[0];
  for (unsigned i = 0; i < encoded; ++i)
    in.src[i] = operands.sources[i];
  if (in.op->flags & OpAccumulates) {
    in.src[2] = in.dst;
    if (operands.sources.size() < 3) // smfmac: the index register
      return false;
    in.smask = operands.sources[2];
  }
  in.extra = bits(w, 8, 3) | bits(w, 11, 4) << 4 | bits(w, 61, 3) << 8;
  setWidths(in);
  if (in.size == 16) {
    // A, B, C, then the two scale registers; their byte is op_sel + 2 * op_sel_hi of the prefix.
    if (operands.sources.size() < 5)
      return false;
    in.sdst = operands.sources[3];
    in.smask = operands.sources[4];
    uint64_t prefix = words.first64();
    in.opSel = bits(prefix, 11, 2);
    in.opSelHi = bits(prefix, 59, 2);
  }
  if (in.op->param) { // f8f6f4: the widths of A and B depend on the formats
    static constexpr unsigned registers[] = {8, 8, 6, 6, 4};
    unsigned a = in.extra & 7, b = in.extra >> 8 & 7;
    if (a > 4 || b > 4)
      return false;
    in.src[0].dwords = registers[a];
    in.src[1].dwords = registers[b];
    for (Operand o : {in.src[0], in.src[1], in.sdst, in.smask}) {
      unsigned end = o.index + std::max<unsigned>(o.dwords, 1);
      if (o.bank == BankVgpr)
        in.vgprEnd = std::max<uint16_t>(in.vgprEnd, uint16_t(end));
      else if (o.bank == BankAgpr)
        in.agprEnd = std::max<uint16_t>(in.agprEnd, uint16_t(end));
    }
  }
  return true;
}

void Decoder::resolveBranches() {
  for (size_t i = 0; i < program.insts.size(); ++i) {
    Inst &in = program.insts[i];
    if (!in.op || in.op->param != paramBranch ||
        (in.op->family != Family::Control && in.op->family != Family::Salu))
      continue;
    int64_t target = int64_t(in.offset) + 4 + int64_t(in.imm) * 4;
    uint32_t index = target >= 0 && target < int64_t(program.code.size())
                         ? program.indexByDword[size_t(target) / 4]
                         : 0;
    in.extra = index == 0; // nothing starts there: a fault when taken
    in.imm = index ? int32_t(int64_t(index) - 1 - int64_t(i)) : in.imm;
  }
}

} // namespace gfx950emu
