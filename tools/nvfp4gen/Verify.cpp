//===- Verify.cpp - nvfp4gen verify -----------------------------------------===//

#include "tools/verify/Verify.h"
#include "tools/verify/HipTarget.h"

#include "tools/nvfp4gen/Commands.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace nvfp4gen {

namespace {

/// The emulator's HIP library of this build or installation: ../lib, or where the installation has
/// its libraries, seen from the program's folder.
std::string emulatorLibrary() {
  std::error_code code;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code)
    return {};
  for (const char *libraries : {"../lib", NVFP4GEN_LIBDIR}) {
    std::filesystem::path library =
        (self.parent_path() / libraries / "libgfx950emu-hip.so").lexically_normal();
    if (std::filesystem::exists(library, code))
      return library.string();
  }
  return {};
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
        "the emulator's library libgfx950emu-hip.so was not found in ../lib or in " NVFP4GEN_LIBDIR
        " of this program's folder; name a HIP library with --hip");
  verifyOptions.checks = options.checks;
  verifyOptions.orders = options.orders;
  if (!verify::isEmulator(verifyOptions.hipLibrary)) {
    if ((options.checksAsked && options.checks != "none") || options.orders > 1)
      return reportError("--check, --no-check=LIST and --orders need the emulator's HIP library, "
                         "found " +
                         verifyOptions.hipLibrary);
    verifyOptions.checks = "none (not the emulator)";
  }
  // The emulator reads its switches at its first call; other libraries know nothing of them. A
  // finding fails its launch, and so does a result that another order changes.
  ::setenv("GFX950EMU_CHECK", options.checks == "none" ? "0" : options.checks.c_str(),
           /*overwrite=*/1);
  ::setenv("GFX950EMU_ORDERS", std::to_string(options.orders).c_str(), /*overwrite=*/1);
  // Minutes of a checked launch, hundreds of times what ours need: then it counts as stuck.
  ::setenv("GFX950EMU_MAX_INSTRUCTIONS", "1000000000", /*overwrite=*/0);
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
