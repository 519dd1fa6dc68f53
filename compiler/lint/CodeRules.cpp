//===- CodeRules.cpp --------------------------------------------------------===//

#include "compiler/lint/CodeRules.h"

#include "compiler/lint/Flow.h"
#include "compiler/lint/Hazards.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <fmt/format.h>
#include <map>
#include <tuple>

using llvm::StringRef;

namespace nvfp4gen::lint {

namespace {

//===----------------------------------------------------------------------===//
// Open semantics
//===----------------------------------------------------------------------===//

/// A row of the table that the emulator's audit is made from.
struct OpenSemantic {
  StringRef id;
  StringRef pattern; ///< glob over mnemonics
  uint64_t trait;    ///< 0, or what the instruction must be besides
  StringRef what;
};

constexpr uint64_t FormDpp = Dpp; // the table's name for it
constexpr OpenSemantic kOpenSemantics[] = {
#define OPEN(Id, Pattern, Form, What, Guess) {Id, Pattern, Form, What},
#include "tools/gfx950emu/audit/OpenSemantics.def"
#undef OPEN
};

/// Which rows an opcode meets; patterns are matched once an opcode.
class OpenTable {
public:
  OpenTable() {
    for (const OpenSemantic &row : kOpenSemantics)
      patterns.push_back(llvm::cantFail(llvm::GlobPattern::create(row.pattern, kMaxAlternatives)));
  }

  llvm::ArrayRef<uint8_t> rowsOf(const OpcodeInfo &info) {
    auto [place, fresh] = rows.try_emplace(&info);
    if (fresh)
      for (size_t i = 0; i < patterns.size(); ++i)
        if ((!kOpenSemantics[i].trait || info.traits & kOpenSemantics[i].trait) &&
            patterns[i].match(info.mnemonic))
          place->second.push_back(uint8_t(i));
    return place->second;
  }

private:
  static constexpr size_t kMaxAlternatives = 1024; ///< that the braces of one pattern make
  std::vector<llvm::GlobPattern> patterns;
  std::map<const OpcodeInfo *, std::vector<uint8_t>> rows;
};

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

class KernelRules {
public:
  KernelRules(Decoder &decoder, StringRef kernel, llvm::ArrayRef<uint8_t> code, uint64_t entry)
      : decoder(decoder), code(code), entry(entry) {
    result.kernel = kernel.str();
  }

  llvm::Expected<KernelLint> run() {
    llvm::Expected<Flow> flow = followFlow(decoder, code, entry);
    if (!flow)
      return flow.takeError();
    result.instructions = flow->code.size();
    for (const Instruction &instruction : flow->code)
      result.codeBytes += instruction.size;
    for (const FlowFault &fault : flow->faults) {
      Finding &finding = add(fault.decodable ? kNotAnalysableRule : kNotDecodableRule, fault.pc);
      finding.detail = fault.why;
    }
    if (llvm::Error error = addHazards(*flow))
      return std::move(error);
    addForbidden(*flow);
    addOpenSemantics(*flow);
    llvm::sort(result.findings, [](const Finding &a, const Finding &b) {
      return std::tie(a.at->pc, a.rule->id, a.detail) < std::tie(b.at->pc, b.rule->id, b.detail);
    });
    return std::move(result);
  }

private:
  Place place(uint64_t pc) { return {int64_t(pc) - int64_t(entry), decoder.text(code, pc)}; }

  Finding &add(const Rule &rule, uint64_t pc) {
    Finding &finding = result.findings.emplace_back();
    finding.rule = &rule;
    finding.kernel = result.kernel;
    finding.at = place(pc);
    return finding;
  }

  llvm::Error addHazards(const Flow &flow) {
    llvm::Expected<std::vector<Hazard>> hazards = findHazards(flow);
    if (!hazards)
      return hazards.takeError();
    for (const Hazard &hazard : *hazards) {
      Finding &finding = add(*hazard.rule, flow.code[hazard.second].pc);
      finding.source = place(flow.code[hazard.first].pc);
      finding.needed = hazard.needed;
      finding.found = hazard.found;
    }
    return llvm::Error::success();
  }

  void addForbidden(const Flow &flow) {
    for (const Instruction &instruction : flow.code) {
      // As printed: op_sel_hi does not matter, and other op_sel are not reported wrong.
      if (instruction.is(PkFmaF32) &&
          StringRef(decoder.text(code, instruction.pc)).contains("op_sel:[0,1,0]"))
        add(kPkFmaRule, instruction.pc);
      if (instruction.is(Scratch))
        add(kScratchRule, instruction.pc);
    }
  }

  /// One finding a row, at the first of its instructions.
  void addOpenSemantics(const Flow &flow) {
    struct Uses {
      uint64_t count = 0, first = UINT64_MAX;
    };
    OpenTable table;
    std::map<uint8_t, Uses> uses;
    for (const Instruction &instruction : flow.code)
      for (uint8_t row : table.rowsOf(*instruction.info)) {
        Uses &use = uses[row];
        ++use.count;
        use.first = std::min(use.first, instruction.pc);
      }
    for (auto &[row, use] : uses) {
      Finding &finding = add(kOpenSemanticsRule, use.first);
      finding.detail = fmt::format("{} ({} instructions): {}", kOpenSemantics[row].id.str(),
                                   use.count, kOpenSemantics[row].what.str());
    }
  }

  Decoder &decoder;
  llvm::ArrayRef<uint8_t> code;
  uint64_t entry;
  KernelLint result;
};

std::string offsetText(int64_t pc) {
  return pc < 0 ? fmt::format("-{:#x}", -uint64_t(pc)) : fmt::format("+{:#x}", uint64_t(pc));
}

} // namespace

std::string describe(const Finding &finding) {
  std::string text = finding.kernel;
  if (finding.at)
    text += offsetText(finding.at->pc);
  text +=
      fmt::format(": {}: [{}] {}", finding.rule->severity == Severity::Error ? "error" : "warning",
                  finding.rule->id.str(), finding.rule->what.str());
  if (!finding.detail.empty())
    text += ": " + finding.detail;
  if (finding.isHazard())
    text += fmt::format(": {} wait states needed, {} found between '{}' ({}) and", finding.needed,
                        finding.found, finding.source->text, offsetText(finding.source->pc));
  if (finding.at && !finding.at->text.empty())
    text += fmt::format("{} '{}'", finding.isHazard() ? "" : ":", finding.at->text);
  return text;
}

llvm::Expected<KernelLint> lintCode(Decoder &decoder, StringRef kernel,
                                    llvm::ArrayRef<uint8_t> code, uint64_t entry) {
  return KernelRules(decoder, kernel, code, entry).run();
}

} // namespace nvfp4gen::lint
