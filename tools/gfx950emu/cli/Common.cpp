//===- Common.cpp - what the commands of gfx950emu share --------------------===//

#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace gfx950emu::cli {

llvm::Expected<std::array<uint32_t, 3>> parseExtents(llvm::StringRef option, llvm::StringRef text) {
  std::array<uint32_t, 3> extents{1, 1, 1};
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, ',');
  bool ok = parts.size() <= extents.size();
  for (size_t i = 0; ok && i < parts.size(); ++i)
    ok = llvm::all_of(parts[i], llvm::isDigit) && !parts[i].getAsInteger(10, extents[i]) &&
         extents[i] != 0;
  if (!ok)
    return llvm::make_error<UsageError>(
        (option + ": expected one to three positive numbers X,Y,Z, found '" + text + "'").str());
  return extents;
}

llvm::Expected<LoadedObject> loadObject(const std::string &path, const std::string &kernel,
                                        MemoryMap &memory) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createFileError(path, file.getError());
  llvm::Expected<std::unique_ptr<CodeObject>> object =
      CodeObject::load(llvm::arrayRefFromStringRef((*file)->getBuffer()), memory);
  if (!object)
    return object.takeError();
  LoadedObject loaded{std::move(*object), nullptr};
  if (kernel.empty())
    return loaded;
  loaded.kernel = loaded.object->find(kernel);
  if (loaded.kernel)
    return loaded;
  std::string names;
  for (const KernelInfo &known : loaded.object->kernels())
    names += "\n  " + known.name;
  return llvm::make_error<UsageError>("'" + path + "' has no kernel '" + kernel +
                                      "'; its kernels are:" + names);
}

int reportError(llvm::Error error) {
  int code = exitFile;
  handleAllErrors(
      std::move(error),
      [&](const UsageError &usage) {
        code = exitUsage;
        llvm::errs() << "gfx950emu: error: " << usage.text << '\n';
      },
      [&](const Fault &fault) {
        bool object = fault.kind == FaultKind::BadCodeObject || fault.kind == FaultKind::WrongArch;
        code = object ? exitObject : fault.kind == FaultKind::BadDispatch ? exitUsage : exitFault;
        llvm::errs() << "gfx950emu: error: " << faultKindName(fault.kind) << ": " << fault.message
                     << '\n';
      },
      [&](const llvm::ErrorInfoBase &other) {
        llvm::errs() << "gfx950emu: error: " << other.message() << '\n';
      });
  return code;
}

} // namespace gfx950emu::cli
