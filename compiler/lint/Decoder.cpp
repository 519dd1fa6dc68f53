//===- Decoder.cpp ----------------------------------------------------------===//

#include "compiler/lint/Decoder.h"

#include "compiler/lint/Opcodes.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace llvm;

namespace nvfp4gen::lint {

namespace {

/// The longest, v_mfma_scale_*, has 16 bytes; LLVM looks at up to 20.
constexpr size_t kDecoderWindow = 20;

/// Place of the third source among MC operands when each source has its modifiers before it.
constexpr unsigned kThirdSourceVop3 = 6;

/// A register of LLVM's in the lint's numbering; empty for what no rule looks at (MODE and such).
Registers registersOf(const MCRegisterInfo &info, MCRegister reg) {
  StringRef name = info.getName(reg);
  auto number = uint16_t(info.getEncodingValue(reg));
  auto tuple = [&](StringRef unit, uint16_t base) {
    return Registers{uint16_t(base + (number & 0xff)), uint16_t(name.count(unit))};
  };
  // The 16-bit halves that LLVM also names do not occur on this processor.
  if (name.starts_with("VGPR"))
    return tuple("VGPR", 0);
  if (name.starts_with("AGPR"))
    return tuple("AGPR", kAgprs);
  if (name.starts_with("SGPR"))
    return tuple("SGPR", kScalars);
  if (name.starts_with("TTMP"))
    return tuple("TTMP", kScalars);
  if (name == "SCC" || name == "SRC_SCC")
    return kScc;
  if (name.starts_with("M0"))
    return kM0;
  if (name == "SRC_VCCZ")
    return kVccz;
  if (name == "SRC_EXECZ")
    return kExecz;
  if (name.starts_with("VCC") || name.starts_with("EXEC") || name.starts_with("FLAT_SCR") ||
      name.starts_with("XNACK_MASK")) {
    bool half = name.contains("_LO") || name.contains("_HI");
    return {uint16_t(kScalars + (number & 0x7f)), uint16_t(half ? 1 : 2)};
  }
  return {};
}

/// Whether the printed form says that the result does not start at bit 0 of its register: SDWA with
/// a dst_sel, or the last op_sel bit, or the last two where the result is a byte.
bool selectsDestination(StringRef mnemonic, StringRef text) {
  if (auto at = text.find("dst_sel:"); at != StringRef::npos)
    return !text.substr(at).starts_with("dst_sel:DWORD");
  // The hardware treats these so for every op_sel.
  if (mnemonic.starts_with("v_cvt_scalef32_sr_pk_fp4_"))
    return true;
  auto at = text.find("op_sel:[");
  if (at == StringRef::npos)
    return false;
  SmallVector<StringRef, 4> bits;
  text.substr(at + 8).split(']').first.split(bits, ',');
  bool bytes = mnemonic.starts_with("v_cvt_sr_") || mnemonic.starts_with("v_cvt_scalef32_sr_") ||
               mnemonic.starts_with("v_cvt_scalef32_pk_fp4_");
  return bits.back() == "1" || (bytes && bits.size() == 4 && bits[2] == "1");
}

} // namespace

struct Decoder::Impl {
  Triple triple{"amdgcn-amd-amdhsa"};
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> asmInfo;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  std::unique_ptr<MCInstPrinter> printer;
  std::vector<std::unique_ptr<OpcodeInfo>> opcodes; ///< by opcode, made when first met
  std::vector<std::optional<Registers>> ranges;     ///< by LLVM's register, made when first met

  bool decodeAt(ArrayRef<uint8_t> code, uint64_t pc, MCInst &inst, uint64_t &size);
  std::string print(const MCInst &inst, uint64_t pc);
  const OpcodeInfo &infoOf(const MCInst &inst);
  Registers rangeOf(MCRegister reg);
  void addOperands(const MCInst &inst, Instruction &result);
};

Decoder::Decoder() : impl(std::make_unique<Impl>()) {}
Decoder::Decoder(Decoder &&) = default;
Decoder::~Decoder() = default;

Expected<Decoder> Decoder::create() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  Decoder result;
  Impl &i = *result.impl;
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(i.triple, error);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + error);
  i.registers.reset(target->createMCRegInfo(i.triple));
  i.instructions.reset(target->createMCInstrInfo());
  i.subtarget.reset(target->createMCSubtargetInfo(i.triple, "gfx950", ""));
  if (i.registers)
    i.asmInfo.reset(target->createMCAsmInfo(*i.registers, i.triple, i.options));
  if (!i.asmInfo || !i.instructions || !i.subtarget)
    return createStringError("LLVM's AMDGPU target lacks its MC layer");
  i.context =
      std::make_unique<MCContext>(i.triple, i.asmInfo.get(), i.registers.get(), i.subtarget.get());
  i.decoder.reset(target->createMCDisassembler(*i.subtarget, *i.context));
  i.printer.reset(target->createMCInstPrinter(i.triple, i.asmInfo->getAssemblerDialect(),
                                              *i.asmInfo, *i.instructions, *i.registers));
  if (!i.decoder || !i.printer)
    return createStringError("LLVM's AMDGPU target lacks a disassembler");
  i.opcodes.resize(i.instructions->getNumOpcodes());
  i.ranges.resize(i.registers->getNumRegs());
  return result;
}

bool Decoder::Impl::decodeAt(ArrayRef<uint8_t> code, uint64_t pc, MCInst &inst, uint64_t &size) {
  // LLVM 22's decoder reads past the end when the bytes stop inside an instruction: it gets zeros
  // there, and an instruction that would need them does not count.
  uint8_t window[kDecoderWindow] = {};
  if (pc >= code.size())
    return false;
  size_t left = code.size() - size_t(pc);
  memcpy(window, code.data() + pc, std::min(left, kDecoderWindow));
  return decoder->getInstruction(inst, size, window, pc, nulls()) == MCDisassembler::Success &&
         size > 0 && size <= left;
}

std::string Decoder::Impl::print(const MCInst &inst, uint64_t pc) {
  std::string text;
  raw_string_ostream os(text);
  printer->printInst(&inst, pc, "", *subtarget, os);
  std::string result = StringRef(text).trim().str();
  std::replace(result.begin(), result.end(), '\t', ' ');
  return result;
}

const OpcodeInfo &Decoder::Impl::infoOf(const MCInst &inst) {
  std::unique_ptr<OpcodeInfo> &info = opcodes[inst.getOpcode()];
  if (!info) {
    const char *printed = printer->getMnemonic(inst).first;
    // The first word: some names continue with an operand.
    StringRef name =
        StringRef(printed ? printed : "").ltrim().take_while([](char c) { return c > ' '; });
    for (StringRef suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
      if (name.consume_back(suffix))
        break;
    info = std::make_unique<OpcodeInfo>(
        describeOpcode(name, instructions->getName(inst.getOpcode()),
                       instructions->get(inst.getOpcode()).mayStore()));
  }
  return *info;
}

Registers Decoder::Impl::rangeOf(MCRegister reg) {
  if (!reg)
    return {};
  std::optional<Registers> &range = ranges[reg.id()];
  if (!range)
    range = registersOf(*registers, reg);
  return *range;
}

void Decoder::Impl::addOperands(const MCInst &inst, Instruction &result) {
  const MCInstrDesc &desc = instructions->get(inst.getOpcode());
  const OpcodeInfo &info = *result.info;
  bool sparse = StringRef(info.mnemonic).starts_with("v_smfmac_");
  auto add = [&](Registers registers, Role role, bool implicit) {
    if (registers.count)
      result.operands.push_back({registers, role, implicit});
  };
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    if (!inst.getOperand(i).isReg())
      continue;
    Registers registers = rangeOf(inst.getOperand(i).getReg());
    bool vector = registers.first < kScalars;
    bool tied = desc.getOperandConstraint(i, MCOI::TIED_TO) >= 0;
    Role role = Role::Use;
    if (i < desc.getNumDefs())
      role = Role::Definition;
    else if (info.traits & Matrix)
      // D, A, B, C; a sparse one has its index in the place of C and accumulates in D.
      role = tied || (i == 3 && !sparse) ? Role::Accumulator : Role::MatrixAB;
    else if (info.traits & Dot && (tied || i == kThirdSourceVop3))
      role = Role::Accumulator;
    else if (info.traits & LaneSelect && i == 2)
      role = Role::LaneNumber;
    else if (info.traits & Vmem && info.traits & Store && vector && registers.count > 2)
      role = Role::StoreWide; // addresses have at most 64 bits
    if (info.traits & Buffer && !vector && registers.count == 1)
      result.scalarOffset = true;
    add(registers, role, false);
  }
  for (MCPhysReg reg : desc.implicit_defs())
    add(rangeOf(reg), Role::Definition, true);
  for (MCPhysReg reg : desc.implicit_uses())
    add(rangeOf(reg), Role::Use, true);
}

std::optional<Instruction> Decoder::decode(ArrayRef<uint8_t> code, uint64_t pc) {
  MCInst inst;
  uint64_t size = 0;
  if (!impl->decodeAt(code, pc, inst, size))
    return std::nullopt;
  Instruction result;
  result.pc = pc;
  result.size = uint8_t(size);
  result.info = &impl->infoOf(inst);
  impl->addOperands(inst, result);

  auto lastImmediate = [&]() -> int64_t {
    for (unsigned i = inst.getNumOperands(); i-- > 0;)
      if (inst.getOperand(i).isImm())
        return inst.getOperand(i).getImm();
    return 0;
  };
  if (result.is(Nop))
    result.waitStates = uint8_t((lastImmediate() & 0xf) + 1);
  if (result.is(SetReg | GetReg))
    result.hardwareRegister = uint8_t(lastImmediate() & 0x3f);
  if (result.info->control == Control::Branch || result.info->control == Control::Conditional)
    result.target = int64_t(pc + size) + 4 * int64_t(int16_t(lastImmediate()));
  if (result.info->maySelectDestination)
    result.selectsDestination = selectsDestination(result.info->mnemonic, impl->print(inst, pc));
  return result;
}

std::string Decoder::text(ArrayRef<uint8_t> code, uint64_t pc) {
  MCInst inst;
  uint64_t size = 0;
  return impl->decodeAt(code, pc, inst, size) ? impl->print(inst, pc) : "";
}

} // namespace nvfp4gen::lint
