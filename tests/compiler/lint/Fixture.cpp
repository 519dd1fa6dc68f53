//===- Fixture.cpp ----------------------------------------------------------===//

#include "tests/compiler/lint/Fixture.h"

#include "compiler/lint/Assembler.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace nvfp4gen::lint {

std::string kernelText(const std::string &body) {
  return "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n  .text\n  .globl kernel\n"
         "  .p2align 8\n  .type kernel,@function\nkernel:\n" +
         body + "\n  s_endpgm\n.Lfunc_end0:\n  .size kernel, .Lfunc_end0-kernel\n";
}

KernelLint lintBody(const std::string &body) {
  llvm::Expected<std::string> object = assemble(kernelText(body));
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return {};
  }
  llvm::Expected<ObjectCode> code = readObjectCode(*object, "kernel");
  llvm::Expected<Decoder> decoder = Decoder::create();
  if (!code || !decoder) {
    ADD_FAILURE() << llvm::toString(llvm::joinErrors(code.takeError(), decoder.takeError()));
    return {};
  }
  llvm::StringRef text = llvm::StringRef(code->text).substr(code->entry, code->size);
  llvm::Expected<KernelLint> lint =
      lintCode(*decoder, "kernel", llvm::arrayRefFromStringRef(text), 0);
  if (!lint) {
    ADD_FAILURE() << llvm::toString(lint.takeError());
    return {};
  }
  return std::move(*lint);
}

std::vector<std::string> briefs(const KernelLint &lint) {
  std::vector<std::string> texts;
  for (const Finding &f : lint.findings)
    texts.push_back(f.isHazard() ? fmt::format("{} +{:#x} <- +{:#x} {}/{}", f.rule->id.str(),
                                               f.at->pc, f.source->pc, f.needed, f.found)
                                 : fmt::format("{} +{:#x}", f.rule->id.str(), f.at->pc));
  return texts;
}

std::string waits(unsigned states, bool single) {
  std::string text;
  while (states) {
    unsigned now = single ? 1 : std::min(states, 16u);
    text += single ? "  v_nop\n" : fmt::format("  s_nop {}\n", now - 1);
    states -= now;
  }
  return text;
}

} // namespace nvfp4gen::lint
