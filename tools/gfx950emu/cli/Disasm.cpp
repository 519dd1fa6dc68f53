//===- Disasm.cpp - gfx950emu disasm ----------------------------------------===//

#include "tools/gfx950emu/cli/Commands.h"
#include "tools/gfx950emu/core/Program.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace gfx950emu::cli {

namespace {

void printHeader(const KernelInfo &kernel, const DecodedProgram &program) {
  llvm::outs() << kernel.name << ": " << kernel.codeBytes << " bytes of code at offset "
               << llvm::format_hex(kernel.entry - program.codeBase(), 1) << ", " << kernel.vgprs
               << " VGPRs (AGPRs from " << kernel.accumOffset << "), " << kernel.sgprs << " SGPRs, "
               << kernel.ldsBytes << " bytes LDS, " << kernel.scratchBytes
               << " bytes scratch a lane, at most " << kernel.maxWorkgroup
               << " work-items a workgroup\n";
  for (const KernelArg &arg : kernel.args)
    llvm::outs() << "  argument at " << arg.offset << ": " << arg.valueKind << ", " << arg.size
                 << " bytes\n";
}

void printCode(const KernelInfo &kernel, const DecodedProgram &program) {
  uint64_t end = kernel.entry + kernel.codeBytes;
  for (uint64_t address = kernel.entry; address < end;) {
    const Inst *inst = program.at(address);
    if (!inst) {
      // Inside of what the linear decoding took for a longer instruction.
      llvm::outs() << llvm::format_hex_no_prefix(address - kernel.entry, 6) << "  no instruction\n";
      address += 4;
      continue;
    }
    llvm::ArrayRef<uint8_t> bytes = program.encoding(inst);
    std::string words;
    llvm::raw_string_ostream os(words);
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4)
      os << (i ? " " : "")
         << llvm::format_hex_no_prefix(llvm::support::endian::read32le(&bytes[i]), 8);
    llvm::outs() << llvm::format_hex_no_prefix(address - kernel.entry, 6) << "  "
                 << llvm::left_justify(words, 26) << "  "
                 << llvm::StringRef(program.text(inst)).trim() << '\n';
    address += inst->size;
  }
}

} // namespace

int runDisasm(const DisasmCommand &command) {
  MemoryMap memory;
  llvm::Expected<LoadedObject> loaded = loadObject(command.object, command.kernel, memory);
  if (!loaded)
    return reportError(loaded.takeError());
  const DecodedProgram &program = loaded->object->program();
  bool first = true;
  for (const KernelInfo &kernel : loaded->object->kernels()) {
    if (loaded->kernel && loaded->kernel != &kernel)
      continue;
    if (!first)
      llvm::outs() << '\n';
    first = false;
    printHeader(kernel, program);
    printCode(kernel, program);
  }
  return exitDone;
}

} // namespace gfx950emu::cli
