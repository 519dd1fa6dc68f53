//===- Lint.cpp - nvfp4gen lint ---------------------------------------------===//

#include "compiler/lint/Lint.h"

#include "compiler/lint/HazardRules.h"
#include "tools/nvfp4gen/Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvfp4gen {

namespace {

using lint::Finding;
using lint::Severity;
using nlohmann::ordered_json;

const char *severityName(Severity severity) {
  return severity == Severity::Error ? "error" : "warning";
}

ordered_json placeJson(const std::optional<lint::Place> &place) {
  if (!place)
    return nullptr;
  return {{"pc", place->pc}, {"instruction", place->text}};
}

/// Every finding has every field; what it has not is null.
ordered_json findingJson(const Finding &finding) {
  ordered_json json = {{"rule", finding.rule->id.str()},
                       {"severity", severityName(finding.rule->severity)},
                       {"kernel", finding.kernel},
                       {"what", finding.rule->what.str()},
                       {"detail", finding.detail},
                       {"at", placeJson(finding.at)},
                       {"source", placeJson(finding.source)},
                       {"needed", nullptr},
                       {"found", nullptr}};
  if (finding.isHazard()) {
    json["needed"] = finding.needed;
    json["found"] = finding.found;
  }
  return json;
}

void printJson(const LintOptions &options, const lint::LintReport &report, double seconds) {
  ordered_json kernels = ordered_json::array(), findings = ordered_json::array();
  for (const lint::KernelLint &kernel : report.kernels) {
    kernels.push_back({{"kernel", kernel.kernel},
                       {"instructions", kernel.instructions},
                       {"code_bytes", kernel.codeBytes}});
    for (const Finding &finding : kernel.findings)
      findings.push_back(findingJson(finding));
  }
  fmt::print("{}\n", ordered_json({{"file", options.file},
                                   {"errors", report.count(Severity::Error)},
                                   {"warnings", report.count(Severity::Warning)},
                                   {"seconds", seconds},
                                   {"kernels", std::move(kernels)},
                                   {"findings", std::move(findings)}})
                         .dump(2));
}

void printText(const LintOptions &options, const lint::LintReport &report, double seconds) {
  uint64_t instructions = 0;
  for (const lint::KernelLint &kernel : report.kernels) {
    instructions += kernel.instructions;
    for (const Finding &finding : kernel.findings)
      fmt::print("{}\n", lint::describe(finding));
  }
  fmt::print("{}: {} kernels, {} instructions, {} errors, {} warnings; {:.1f} ms\n", options.file,
             report.kernels.size(), instructions, report.count(Severity::Error),
             report.count(Severity::Warning), seconds * 1e3);
}

std::string ruleLine(const lint::Rule &rule) {
  return fmt::format("  {:<17} {:<8} {}\n", rule.id.str(), severityName(rule.severity),
                     rule.what.str());
}

} // namespace

std::string lintRules() {
  std::string text;
  for (const lint::HazardRule &hazard : lint::hazardRules())
    text += ruleLine(hazard.rule);
#define RULE(Name, Id, Level, What) text += ruleLine(lint::k##Name##Rule);
#include "compiler/lint/Rules.def"
#undef RULE
  return text;
}

int runLint(const LintOptions &options) {
  auto refuse = [&](const std::string &found) {
    return reportError(fmt::format("{}: expected a readable file, found: {}", options.file, found));
  };
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(options.file, status))
    return refuse(code.message());
  // A pipe would block, and a device has no end.
  if (!llvm::sys::fs::is_regular_file(status))
    return refuse(llvm::sys::fs::is_directory(status) ? "a folder" : "a special file");
  // Volatile: read, never mapped, so that a file cut short meanwhile is no fault signal.
  auto file = llvm::MemoryBuffer::getFile(options.file, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!file)
    return refuse(file.getError().message());
  llvm::StringRef bytes = (*file)->getBuffer();
  auto start = std::chrono::steady_clock::now();
  nvfp4rt::Result<lint::LintReport> report =
      lint::lintCodeObject({bytes.bytes_begin(), bytes.size()});
  if (!report)
    return reportError(options.file + ": " + report.error().message);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json)
    printJson(options, *report, seconds);
  else
    printText(options, *report, seconds);
  bool fails =
      report->count(Severity::Error) || (options.strict && report->count(Severity::Warning));
  return fails ? kExitFindings : kExitDone;
}

} // namespace nvfp4gen
