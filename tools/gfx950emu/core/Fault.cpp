//===- Fault.cpp --------------------------------------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"

#include "llvm/Support/raw_ostream.h"

namespace gfx950emu {

char Fault::ID = 0;

llvm::StringRef faultKindName(FaultKind kind) {
  switch (kind) {
  case FaultKind::BadCodeObject:
    return "bad code object";
  case FaultKind::WrongArch:
    return "wrong architecture";
  case FaultKind::BadDispatch:
    return "bad dispatch";
  case FaultKind::UnknownInstruction:
    return "unknown instruction";
  case FaultKind::OutOfBounds:
    return "out of bounds";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::BadBranch:
    return "bad branch";
  case FaultKind::BudgetExhausted:
    return "instruction budget exhausted";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::BadRegister:
    return "bad register";
  }
  return "unknown fault";
}

void Fault::log(llvm::raw_ostream &os) const { os << faultKindName(kind) << ": " << message; }

std::error_code Fault::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

} // namespace gfx950emu
