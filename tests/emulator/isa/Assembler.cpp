//===- Assembler.cpp - gfx950 assembly text to a loadable code object ------===//
//
// One MC context for each text. lld only reads and writes files, so both ends
// of the link go through temporary files that are removed at once.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Assembler.h"

#include "lld/Common/Driver.h"
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
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

LLD_HAS_DRIVER(elf)

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

/// A file of the temporary directory that is gone when this object is.
struct TemporaryFile {
  explicit TemporaryFile(const char *suffix) {
    failure = llvm::sys::fs::createTemporaryFile("gfx950-isa-test", suffix, path);
  }
  ~TemporaryFile() {
    if (!failure)
      llvm::sys::fs::remove(path);
  }
  llvm::SmallString<128> path;
  std::error_code failure;
};

} // namespace

Assembled assemble(const std::string &text) {
  Assembled result;
  llvm::SmallVector<char, 0> object = toObject(text, result.error);
  if (!result.error.empty())
    return result;

  TemporaryFile relocatable("o"), linked("hsaco");
  if (relocatable.failure || linked.failure) {
    result.error = "cannot create a temporary file for lld";
    return result;
  }
  {
    std::error_code failure;
    llvm::raw_fd_ostream out(relocatable.path, failure);
    out.write(object.data(), object.size());
  }
  llvm::raw_string_ostream diagnostics(result.error);
  const char *arguments[] = {"ld.lld", "-shared", relocatable.path.c_str(), "-o",
                             linked.path.c_str()};
  lld::Result status =
      lld::lldMain(arguments, diagnostics, diagnostics, {{lld::Gnu, &lld::elf::link}});
  if (status.retCode != 0 || !status.canRunAgain) {
    if (result.error.empty())
      result.error = "lld failed without a diagnostic";
    return result;
  }
  auto buffer = llvm::MemoryBuffer::getFile(linked.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    result.error = "lld wrote no code object";
    return result;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  result.image.assign(bytes.bytes_begin(), bytes.bytes_end());
  result.error.clear();
  return result;
}

} // namespace isatest
