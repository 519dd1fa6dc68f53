//===- Disassembler.cpp -------------------------------------------------------===//

#include "tools/gfx950emu/core/Disassembler.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <cstring>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

using namespace llvm;

namespace gfx950emu {

namespace {

/// v_mfma_scale_*; the decoder looks at no more.
constexpr size_t longestInstruction = 20;

} // namespace

struct Disassembler::Impl {
  Triple triple{"amdgcn-amd-amdhsa"};
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> asmInfo;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  std::unique_ptr<MCInstPrinter> printer;
  mutable std::mutex mutex; ///< the decoder and the printer keep state between calls
};

Disassembler::Disassembler() : impl(std::make_unique<Impl>()) {}
Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>> Disassembler::create() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::unique_ptr<Disassembler> result(new Disassembler);
  Impl &i = *result->impl;
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(i.triple, error);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + error);
  i.registers.reset(target->createMCRegInfo(i.triple));
  if (i.registers)
    i.asmInfo.reset(target->createMCAsmInfo(*i.registers, i.triple, i.options));
  i.subtarget.reset(target->createMCSubtargetInfo(i.triple, "gfx950", ""));
  i.instructions.reset(target->createMCInstrInfo());
  if (!i.registers || !i.asmInfo || !i.subtarget || !i.instructions)
    return createStringError("LLVM's AMDGPU target lacks its MC layer");
  i.context =
      std::make_unique<MCContext>(i.triple, i.asmInfo.get(), i.registers.get(), i.subtarget.get());
  i.decoder.reset(target->createMCDisassembler(*i.subtarget, *i.context));
  i.printer.reset(target->createMCInstPrinter(i.triple, i.asmInfo->getAssemblerDialect(),
                                              *i.asmInfo, *i.instructions, *i.registers));
  if (!i.decoder || !i.printer)
    return createStringError("LLVM's AMDGPU target lacks a disassembler");
  return result;
}

uint64_t Disassembler::decode(ArrayRef<uint8_t> bytes, uint64_t address, MCInst &inst) const {
  // LLVM 22's AMDGPU decoder crashes where an instruction needs a literal and the bytes end: it
  // gets zeros behind them, and an instruction that reached into those is refused.
  uint8_t padded[longestInstruction] = {};
  memcpy(padded, bytes.data(), std::min<size_t>(bytes.size(), longestInstruction));
  std::lock_guard lock(impl->mutex);
  uint64_t size = 0;
  MCDisassembler::DecodeStatus status =
      impl->decoder->getInstruction(inst, size, padded, address, nulls());
  return status == MCDisassembler::Success && size <= bytes.size() ? size : 0;
}

std::string Disassembler::mnemonic(const MCInst &inst) const {
  std::lock_guard lock(impl->mutex);
  const char *text = impl->printer->getMnemonic(inst).first;
  // The first word only: some names continue with a literal operand ("scratch_load_dword off,").
  StringRef name =
      text ? StringRef(text).ltrim().take_while([](char c) { return c > ' '; }) : StringRef();
  for (StringRef suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (name.consume_back(suffix))
      break;
  return name.str();
}

std::string Disassembler::text(const MCInst &inst, uint64_t address) const {
  std::lock_guard lock(impl->mutex);
  std::string result;
  raw_string_ostream os(result);
  impl->printer->printInst(&inst, address, "", *impl->subtarget, os);
  StringRef trimmed = StringRef(result).trim();
  std::string out;
  for (char c : trimmed)
    out += c == '\t' ? ' ' : c;
  return out;
}

const MCInstrDesc &Disassembler::description(const MCInst &inst) const {
  return impl->instructions->get(inst.getOpcode());
}

const MCRegisterInfo &Disassembler::registers() const { return *impl->registers; }

} // namespace gfx950emu
