//===- Finding.h - what the lint reports ------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_FINDING_H
#define NVFP4GEN_COMPILER_LINT_FINDING_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nvfp4gen::lint {

enum class Severity : uint8_t {
  Warning, ///< worth knowing; the kernel is what it says
  Error,   ///< wrong results, or against what a kernel promises
};

/// A rule is a constant of the program; `id` is stable and names it to users.
struct Rule {
  llvm::StringRef id;
  Severity severity;
  llvm::StringRef what;
};

#define RULE(Name, Id, Level, What) inline constexpr Rule k##Name##Rule{Id, Severity::Level, What};
#include "compiler/lint/Rules.def"
#undef RULE

/// An instruction; `pc` is in bytes from the kernel's entry.
struct Place {
  int64_t pc = 0;
  std::string text;
};

struct Finding {
  const Rule *rule = nullptr;
  std::string kernel;
  std::optional<Place> at;     ///< none when the kernel as a whole is meant
  std::optional<Place> source; ///< of a hazard: the instruction that must be further away
  unsigned needed = 0;         ///< of a hazard: wait states
  unsigned found = 0;
  std::string detail; ///< "" or what was expected and found

  bool isHazard() const { return source.has_value(); }
};

/// "kernel+0x40: error: [mfma-ab] ..." in one line.
std::string describe(const Finding &finding);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_FINDING_H
