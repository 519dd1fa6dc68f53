//===- Extract.cpp - nvfp4gen extract ---------------------------------------===//

#include "compiler/bundle/Extract.h"

#include "compiler/support/AtomicFile.h"
#include "runtime/bundle/Bundle.h"
#include "tools/nvfp4gen/Commands.h"
#include "tools/nvfp4gen/MachineCode.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvfp4gen {

int runExtract(const ExtractOptions &options) {
  nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openFile(options.bundle);
  if (!bundle)
    return reportError(bundle.error().message);
  const nvfp4rt::Manifest &manifest = bundle->manifest();
  const nvfp4rt::Kernel *only = nullptr;
  if (!options.variant.empty()) {
    llvm::Expected<const nvfp4rt::Kernel *> kernel =
        findKernel(manifest, bundle->name(), options.variant);
    if (!kernel)
      return reportError(kernel.takeError());
    only = *kernel;
  }
  if (std::error_code code = llvm::sys::fs::create_directories(options.output))
    return reportError(
        fmt::format("cannot create folder '{}': {}", options.output, code.message()));

  llvm::StringRef file(reinterpret_cast<const char *>(bundle->bytes().data()),
                       bundle->bytes().size());
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const nvfp4rt::Kernel &kernel : manifest.kernels) {
    if (only && only != &kernel)
      continue;
    llvm::Expected<std::string> bytes = extractKernel(file, manifest, kernel);
    if (!bytes)
      return reportError(bytes.takeError());
    llvm::SmallString<128> path(options.output);
    llvm::sys::path::append(path, kernel.symbol + ".hsaco");
    if (llvm::Error error = writeFileAtomically(path, *bytes))
      return reportError(std::move(error));
    if (!options.json)
      fmt::print("{}\n", path.str().str());
    files.push_back(
        {{"symbol", kernel.symbol}, {"file", path.str().str()}, {"bytes", bytes->size()}});
  }
  if (options.json)
    fmt::print("{}\n", files.dump(2));
  return kExitDone;
}

} // namespace nvfp4gen
