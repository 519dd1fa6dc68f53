//===- Assembler.cpp - gfx950 assembly text to a loadable code object ------===//
//
// One MC context for each text.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Assembler.h"

#include "tests/emulator/Linker.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

namespace isatest {
namespace {

const llvm::Target *amdgpuTarget(std::string &error) {
  static const bool once = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  (void)once;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("amdgcn-amd-amdhsa"), error);
}

/// The relocatable object, or empty with `error` set.
llvm::SmallVector<char, 0> toObject(const std::string &text, std::string &error) {
  llvm::SmallVector<char, 0> object;
  const llvm::Target *target = amdgpuTarget(error);
  if (!target)
    return object;

  llvm::Triple triple("amdgcn-amd-amdhsa");
  llvm::SourceMgr sources;
  llvm::raw_string_ostream diagnostics(error);
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diag, void *out) {
        diag.print(nullptr, *static_cast<llvm::raw_string_ostream *>(out), false);
      },
      &diagnostics);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "snippet.s"), llvm::SMLoc());

  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "gfx950", ""));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  llvm::MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources,
                          &options);
  std::unique_ptr<llvm::MCObjectFileInfo> objectInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());

  llvm::raw_svector_ostream out(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(out);
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<llvm::MCCodeEmitter>(target->createMCCodeEmitter(*instructions, context)),
      *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) && error.empty())
    error = "the assembly parser failed without a diagnostic";
  if (!error.empty())
    object.clear();
  return object;
}

} // namespace

Assembled assemble(const std::string &text) {
  Assembled result;
  llvm::SmallVector<char, 0> object = toObject(text, result.error);
  if (!result.error.empty())
    return result;

  gfx950emu::test::Linked linked = gfx950emu::test::linkCodeObject(object);
  result.image = std::move(linked.image);
  result.error = std::move(linked.error);
  return result;
}

} // namespace isatest
