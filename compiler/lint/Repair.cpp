//===- Repair.cpp -----------------------------------------------------------===//

#include "compiler/lint/Repair.h"

#include "compiler/lint/Assembler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <map>

using namespace llvm;

namespace nvfp4gen::lint {

char LintRefusal::ID = 0;

void LintRefusal::log(raw_ostream &os) const {
  os << "the lint refuses the code:";
  for (const Finding &finding : findings)
    os << "\n  " << describe(finding);
}

namespace {

constexpr unsigned kLongestNop = 16; ///< wait states of s_nop 15

/// Wait states that an instruction lacks, by its place.
using Missing = std::map<int64_t, unsigned>;

Missing missingWaitStates(ArrayRef<Finding> findings) {
  Missing missing;
  for (const Finding &finding : findings)
    if (finding.isHazard()) {
      unsigned &states = missing[finding.at->pc];
      states = std::max(states, finding.needed - finding.found);
    }
  return missing;
}

std::string nops(unsigned waitStates) {
  std::string text;
  for (; waitStates; waitStates -= std::min(waitStates, kLongestNop))
    text += fmt::format("\ts_nop {}\n", std::min(waitStates, kLongestNop) - 1);
  return text;
}

StringRef firstWord(StringRef text) {
  return text.take_while([](char c) { return !isSpace(c); });
}

/// Whether a line of a function's body is an instruction: not a label, directive or comment.
bool isInstruction(StringRef line) {
  StringRef text = line.ltrim();
  return text.size() < line.size() && !text.empty() && isAlpha(text.front());
}

Error wrongText(StringRef kernel, const std::string &why) {
  return createStringError(
      fmt::format("kernel '{}': its assembly is not that of its object: {}", kernel.str(), why));
}

ArrayRef<uint8_t> kernelBytes(const ObjectCode &code) {
  return arrayRefFromStringRef(StringRef(code.text).substr(code.entry, code.size));
}

Expected<KernelLint> lintObjectCode(Decoder &decoder, StringRef kernel, StringRef object,
                                    ObjectCode &code) {
  Expected<ObjectCode> read = readObjectCode(object, kernel);
  if (!read)
    return read.takeError();
  code = std::move(*read);
  return lintCode(decoder, kernel, kernelBytes(code), 0);
}

Error refusal(ArrayRef<KernelLint> kernels) {
  std::vector<Finding> errors;
  for (const KernelLint &kernel : kernels)
    for (const Finding &finding : kernel.findings)
      if (finding.rule->severity == Severity::Error)
        errors.push_back(finding);
  return errors.empty() ? Error::success() : make_error<LintRefusal>(std::move(errors));
}

} // namespace

Expected<std::string> insertWaitStates(Decoder &decoder, StringRef kernel, StringRef assembly,
                                       ArrayRef<uint8_t> code, ArrayRef<Finding> findings) {
  Missing missing = missingWaitStates(findings);
  std::string result;
  uint64_t pc = 0;
  bool inside = false, ended = false;
  while (!assembly.empty()) {
    auto [line, rest] = assembly.split('\n');
    assembly = rest;
    if (line.starts_with((kernel + ":").str()))
      inside = true;
    else if (inside && line.starts_with(".Lfunc_end"))
      inside = false, ended = true;
    if (inside && isInstruction(line)) {
      std::string expected = decoder.text(code, pc);
      std::optional<Instruction> instruction = decoder.decode(code, pc);
      if (!instruction || firstWord(expected) != firstWord(line.ltrim()))
        return wrongText(kernel, fmt::format("expected '{}' at {:#x}, found '{}'", expected, pc,
                                             line.trim().str()));
      if (auto place = missing.find(int64_t(pc)); place != missing.end()) {
        result += nops(place->second);
        missing.erase(place);
      }
      pc += instruction->size;
    }
    result += line.str() + "\n";
  }
  if (!ended || !missing.empty())
    return wrongText(kernel, fmt::format("it ends after {} of {} bytes", pc, code.size()));
  return result;
}

Expected<LintedObject> lintObject(StringRef kernel, std::string object,
                                  function_ref<Expected<std::string>()> assembly) {
  Expected<Decoder> decoder = Decoder::create();
  if (!decoder)
    return decoder.takeError();
  ObjectCode code;
  Expected<KernelLint> lint = lintObjectCode(*decoder, kernel, object, code);
  if (!lint)
    return lint.takeError();
  LintedObject result;
  Missing missing = missingWaitStates(lint->findings);
  if (!missing.empty()) {
    Expected<std::string> text = assembly();
    if (!text)
      return text.takeError();
    Expected<std::string> repaired =
        insertWaitStates(*decoder, kernel, *text, kernelBytes(code), lint->findings);
    if (!repaired)
      return repaired.takeError();
    Expected<std::string> assembled = assemble(*repaired);
    if (!assembled)
      return assembled.takeError();
    object = std::move(*assembled);
    result.repairs = unsigned(missing.size());
    for (auto [pc, states] : missing)
      result.waitStates += states;
    lint = lintObjectCode(*decoder, kernel, object, code);
    if (!lint)
      return lint.takeError();
  }
  if (Error error = refusal(*lint))
    return std::move(error);
  result.object = std::move(object);
  result.lint = std::move(*lint);
  return result;
}

Expected<LintReport> requireClean(StringRef codeObject) {
  nvfp4rt::Result<LintReport> report =
      lintCodeObject({codeObject.bytes_begin(), codeObject.size()});
  if (!report)
    return createStringError(report.error().message);
  if (Error error = refusal(report->kernels))
    return std::move(error);
  return std::move(*report);
}

} // namespace nvfp4gen::lint
