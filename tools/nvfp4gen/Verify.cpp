//===- Verify.cpp - nvfp4gen verify -----------------------------------------===//

#include "tools/verify/Verify.h"

#include "tools/nvfp4gen/Commands.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace nvfp4gen {

namespace {

/// The emulator's HIP library of this installation: ../lib beside the program's folder.
std::string emulatorLibrary() {
  std::error_code code;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code)
    return {};
  std::filesystem::path library = self.parent_path().parent_path() / "lib" / "libgfx950emu-hip.so";
  return std::filesystem::exists(library, code) ? library.string() : std::string();
}

} // namespace

int runVerify(const VerifyCommandOptions &options) {
  verify::VerifyOptions verifyOptions;
  verifyOptions.bundlePath = options.bundle;
  verifyOptions.family = options.family;
  verifyOptions.seed = options.seed;
  verifyOptions.hipLibrary = options.hipLibrary.empty() ? emulatorLibrary() : options.hipLibrary;
  if (verifyOptions.hipLibrary.empty())
    return reportError(
        "the emulator's library ../lib/libgfx950emu-hip.so was not found beside this "
        "program; name a HIP library with --hip");
  // The emulator reads its switches once, when it is loaded; other libraries know nothing of this
  // one. A finding fails its launch.
  ::setenv("GFX950EMU_CHECK", options.check ? "1" : "0", /*overwrite=*/1);
  if (::isatty(STDERR_FILENO))
    verifyOptions.onVariant = [](const verify::VariantReport &variant, size_t done, size_t total) {
      fmt::print(stderr, "\r\x1b[K[{}/{}] {}{}", done, total, variant.name,
                 done == total ? "\n" : "");
    };

  verify::Result<verify::Report> report = verify::verifyBundle(verifyOptions);
  if (!report)
    return reportError(report.error().message);
  if (options.json)
    fmt::print("{}\n", verify::reportJson(*report).dump(2));
  else
    fmt::print("{}", verify::reportTable(*report));
  return report->passed() ? kExitDone : kExitDifference;
}

} // namespace nvfp4gen
