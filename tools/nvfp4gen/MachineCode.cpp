//===- MachineCode.cpp ------------------------------------------------------===//

#include "tools/nvfp4gen/MachineCode.h"

#include "compiler/bundle/ObjectInfo.h"
#include "tools/gfx950emu/core/Disassembler.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"

#include <fmt/format.h>

namespace nvfp4gen {

namespace {

llvm::Error codeError(const std::string &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

} // namespace

llvm::Expected<const nvfp4rt::Kernel *>
findKernel(const nvfp4rt::Manifest &manifest, const std::string &file, const std::string &name) {
  std::string symbol = name;
  for (const nvfp4rt::Variant &variant : manifest.variants)
    if (variant.name == name)
      symbol = variant.symbol;
  for (const nvfp4rt::Kernel &kernel : manifest.kernels)
    if (kernel.symbol == symbol)
      return &kernel;
  return codeError(fmt::format("bundle {}: expected the name of one of its {} variants or of one "
                               "of its {} kernels, found '{}'",
                               file, manifest.variants.size(), manifest.kernels.size(), name));
}

llvm::Expected<std::vector<Instruction>> decodeKernel(llvm::StringRef elf,
                                                      const std::string &symbol) {
  llvm::Expected<SymbolContents> code = symbolContents(elf, symbol);
  if (!code)
    return code.takeError();
  auto disassembler = gfx950emu::Disassembler::create();
  if (!disassembler)
    return disassembler.takeError();
  llvm::ArrayRef<uint8_t> bytes(code->bytes.bytes_begin(), code->bytes.size());
  std::vector<Instruction> instructions;
  for (uint64_t address = code->address; !bytes.empty();) {
    llvm::MCInst inst;
    uint64_t size = (*disassembler)->decode(bytes, address, inst);
    if (size == 0)
      return codeError(fmt::format("kernel {}: no gfx950 instruction at offset {:#x}", symbol,
                                   address - code->address));
    instructions.push_back({address, bytes.take_front(size), (*disassembler)->text(inst, address),
                            (*disassembler)->mnemonic(inst)});
    bytes = bytes.drop_front(size);
    address += size;
  }
  return instructions;
}

llvm::Expected<std::vector<SourceLine>> sourceLines(llvm::StringRef elf,
                                                    llvm::ArrayRef<Instruction> instructions) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(elf, "bundle"));
  if (!object)
    return object.takeError();
  std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(**object);
  if (dwarf->getNumCompileUnits() == 0)
    return std::vector<SourceLine>();
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
                                   llvm::DILineInfoSpecifier::FunctionNameKind::None);
  std::vector<SourceLine> lines;
  for (const Instruction &instruction : instructions) {
    SourceLine &line = lines.emplace_back();
    std::optional<llvm::DILineInfo> info = dwarf->getLineInfoForAddress(
        {instruction.address, llvm::object::SectionedAddress::UndefSection}, wanted);
    if (info && info->Line)
      line = {info->FileName, info->Line};
  }
  return lines;
}

} // namespace nvfp4gen
