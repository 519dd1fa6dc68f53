//===- Audit.cpp - gfx950emu audit ------------------------------------------===//

#include "tools/gfx950emu/audit/Audit.h"

#include "tools/gfx950emu/cli/Commands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace gfx950emu::cli {

int runAudit(const AuditCommand &command) {
  if (command.table) {
    llvm::outs() << audit::markdown();
    return exitDone;
  }
  MemoryMap memory;
  llvm::Expected<LoadedObject> loaded = loadObject(command.object, command.kernel, memory);
  if (!loaded)
    return reportError(loaded.takeError());
  std::vector<audit::KernelAudit> kernels = audit::audit(*loaded->object);
  // Code outside of the kernels may be called by any of them, so it stays.
  if (loaded->kernel)
    llvm::erase_if(kernels, [&](const audit::KernelAudit &k) {
      return !k.kernel.empty() && k.kernel != command.kernel;
    });
  if (command.json)
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(audit::toJson(kernels))) << '\n';
  else
    audit::printAudit(kernels, llvm::outs());
  bool open = llvm::any_of(kernels, [](const audit::KernelAudit &k) { return !k.uses.empty(); });
  return open ? exitOpen : exitDone;
}

} // namespace gfx950emu::cli
