//===- Assembler.cpp --------------------------------------------------------===//

#include "compiler/lint/Assembler.h"

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
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace nvfp4gen::lint {

namespace {

constexpr const char *kTriple = "amdgcn-amd-amdhsa";

const Target *findTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  return TargetRegistry::lookupTarget(Triple(kTriple), error);
}

} // namespace

Expected<std::string> assemble(StringRef text) {
  std::string diagnostics;
  const Target *target = findTarget(diagnostics);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + diagnostics);
  Triple triple(kTriple);
  SourceMgr sources;
  raw_string_ostream messages(diagnostics);
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *out) {
        diagnostic.print(nullptr, *static_cast<raw_string_ostream *>(out), /*ShowColors=*/false);
      },
      &messages);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "assembly"), SMLoc());

  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, "gfx950", ""));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<MCObjectFileInfo> objectInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());

  SmallVector<char, 0> object;
  raw_svector_ostream out(object);
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(out);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<MCCodeEmitter>(target->createMCCodeEmitter(*instructions, context)),
      *subtarget));
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false))
    return createStringError("LLVM's assembler refuses the text: " + diagnostics);
  return std::string(object.begin(), object.end());
}

Expected<ObjectCode> readObjectCode(StringRef object, StringRef kernel) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(object, kernel));
  if (!file)
    return file.takeError();
  for (const object::ELFSymbolRef symbol : cast<object::ELFObjectFileBase>(**file).symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (*name != kernel || symbol.getELFType() != ELF::STT_FUNC)
      continue;
    Expected<object::section_iterator> section = symbol.getSection();
    if (!section)
      return section.takeError();
    Expected<uint64_t> value = symbol.getValue();
    if (!value)
      return value.takeError();
    if (*section == (*file)->section_end())
      break;
    Expected<StringRef> contents = (*section)->getContents();
    if (!contents)
      return contents.takeError();
    if (*value > contents->size() || symbol.getSize() > contents->size() - *value)
      return createStringError("kernel '" + kernel + "': its code is not inside its section");
    return ObjectCode{contents->str(), *value, symbol.getSize()};
  }
  return createStringError("kernel '" + kernel + "': the object does not define it");
}

} // namespace nvfp4gen::lint
