//===- Program.cpp ------------------------------------------------------------===//

#include "tools/gfx950emu/core/Program.h"

#include "tools/gfx950emu/core/Decoder.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <new>

using namespace llvm;

namespace gfx950emu {

DecodedProgram::~DecodedProgram() { ::operator delete[](constantPool, std::align_val_t(64)); }

Expected<std::unique_ptr<DecodedProgram>> DecodedProgram::decode(ArrayRef<uint8_t> code,
                                                                 uint64_t base,
                                                                 std::vector<Symbol> symbols,
                                                                 SimdLevel level) {
  std::unique_ptr<DecodedProgram> result(new DecodedProgram);
  result->code = code;
  result->base = base;
  result->symbols = std::move(symbols);
  std::sort(result->symbols.begin(), result->symbols.end(),
            [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
  Expected<std::unique_ptr<Disassembler>> disassembler = Disassembler::create();
  if (!disassembler)
    return disassembler.takeError();
  result->disassembler = std::move(*disassembler);
  if (Error error = Decoder(*result, opTable(level)).run())
    return std::move(error);
  return result;
}

const Inst *DecodedProgram::at(uint64_t address) const {
  uint64_t offset = address - base;
  if (offset >= code.size() || offset % 4)
    return nullptr;
  uint32_t index = indexByDword[offset / 4];
  return index ? &insts[index - 1] : nullptr;
}

std::string DecodedProgram::text(const Inst *in) const {
  MCInst mc;
  if (!in->size || !disassembler->decode(encoding(in), address(in), mc))
    return in->size ? "<no instruction>" : "<end of code>";
  return disassembler->text(mc, address(in));
}

std::string DecodedProgram::mnemonic(const Inst *in) const {
  MCInst mc;
  if (!in->size || !disassembler->decode(encoding(in), address(in), mc))
    return "";
  return disassembler->mnemonic(mc);
}

std::string DecodedProgram::location(uint64_t address) const {
  auto it = std::upper_bound(symbols.begin(), symbols.end(), address,
                             [](uint64_t a, const Symbol &s) { return a < s.address; });
  if (it == symbols.begin())
    return "0x" + utohexstr(address, true);
  --it;
  return it->name + "+0x" + utohexstr(address - it->address, true);
}

} // namespace gfx950emu
