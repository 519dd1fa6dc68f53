//===- Lint.cpp -------------------------------------------------------------===//

#include "compiler/lint/Lint.h"

#include "runtime/bundle/Metadata.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>
#include <limits>

namespace nvfp4gen::lint {

namespace {

using nvfp4rt::Bytes;
using nvfp4rt::KernelDescriptor;
using nvfp4rt::KernelMetadata;
using nvfp4rt::Result;

constexpr uint64_t kPreloadOffset = 58; ///< of kernarg_preload in a descriptor, 16 bits
constexpr uint64_t kInstructionAlignment = 4;
constexpr uint64_t kMaxFileInstructions = uint64_t(1) << 23;

tl::unexpected<nvfp4rt::Error> badKernel(const KernelMetadata &metadata, const std::string &what) {
  return nvfp4rt::fail(NVFP4RT_ERROR_BAD_ELF, fmt::format("kernel '{}': {}", metadata.name, what));
}

/// Rules on what the note and the descriptor say.
std::vector<Finding> resourceFindings(const KernelMetadata &metadata,
                                      const KernelDescriptor &descriptor, uint16_t preload,
                                      uint64_t codeBytes) {
  std::vector<Finding> findings;
  auto add = [&](const Rule &rule, std::string detail) {
    Finding &finding = findings.emplace_back();
    finding.rule = &rule;
    finding.kernel = metadata.name;
    finding.detail = std::move(detail);
  };
  if (metadata.vgprSpills)
    add(kVgprSpillsRule, fmt::format("expected 0, found {}", metadata.vgprSpills));
  if (metadata.sgprSpills)
    add(kSgprSpillsRule, fmt::format("expected 0, found {}", metadata.sgprSpills));
  uint64_t scratch = std::max<uint64_t>(metadata.scratchBytes, descriptor.scratchBytes);
  if (scratch || descriptor.scratchEnabled)
    add(kScratchRule, fmt::format("expected 0 bytes a lane, found {}{}", scratch,
                                  descriptor.scratchEnabled ? ", enabled by the descriptor" : ""));
  if (metadata.dynamicStack || descriptor.dynamicStack)
    add(kScratchRule, "expected a stack of fixed size, found a dynamic one");
  for (const nvfp4rt::KernelMetadataArg &arg : metadata.args)
    if (llvm::StringRef(arg.valueKind).starts_with("hidden_"))
      add(kHiddenArgumentsRule, fmt::format("{} at offset {}", arg.valueKind, arg.offset));
  if (preload)
    add(kKernargPreloadRule,
        fmt::format("{} dwords at dword {}", preload & 0x7f, (preload >> 7) & 0x1ff));
  uint64_t lds = std::max<uint64_t>(metadata.ldsBytes, descriptor.ldsBytes);
  if (lds > kMaxLds)
    add(kLdsRule, fmt::format("expected at most {} bytes, found {}", kMaxLds, lds));
  if (codeBytes > kInstructionCache)
    add(kTextSizeRule,
        fmt::format("expected at most {} bytes, found {}", kInstructionCache, codeBytes));
  return findings;
}

Result<KernelLint> lintKernel(Decoder &decoder, const nvfp4rt::ElfFile &elf,
                              const KernelMetadata &metadata) {
  const nvfp4rt::ElfSymbol *symbol = elf.symbol(metadata.descriptorSymbol);
  if (!symbol)
    return badKernel(metadata, fmt::format("expected a descriptor symbol '{}', found none",
                                           metadata.descriptorSymbol));
  std::optional<Bytes> bytes = elf.loaded(symbol->address, KernelDescriptor::kBytes);
  if (!bytes)
    return badKernel(metadata, fmt::format("expected a descriptor of {} loaded bytes at {:#x}, "
                                           "found fewer",
                                           KernelDescriptor::kBytes, symbol->address));
  KernelDescriptor descriptor = nvfp4rt::readDescriptor(*bytes);
  uint16_t preload =
      uint16_t((*bytes)[kPreloadOffset] | uint16_t((*bytes)[kPreloadOffset + 1]) << 8);

  uint64_t entry = symbol->address + uint64_t(descriptor.entryOffset); // wraps where negative
  const nvfp4rt::ElfSegment *segment = elf.segmentAt(entry);
  if (!segment)
    return badKernel(metadata, fmt::format("expected code at {:#x}, found no loaded bytes", entry));
  if (entry % kInstructionAlignment)
    return badKernel(metadata, fmt::format("expected code at a multiple of {}, found {:#x}",
                                           kInstructionAlignment, entry));
  llvm::Expected<KernelLint> kernel =
      lintCode(decoder, metadata.name, {segment->bytes.data(), segment->bytes.size()},
               entry - segment->address);
  if (!kernel)
    return badKernel(metadata, llvm::toString(kernel.takeError()));
  // The size of the function counts what the cache sees; a stripped file does not have it.
  if (const nvfp4rt::ElfSymbol *function = elf.symbol(metadata.name);
      function && function->address == entry && function->size)
    kernel->codeBytes = function->size;
  std::vector<Finding> findings =
      resourceFindings(metadata, descriptor, preload, kernel->codeBytes);
  kernel->findings.insert(kernel->findings.begin(), findings.begin(), findings.end());
  return std::move(*kernel);
}

} // namespace

size_t LintReport::count(Severity severity) const {
  size_t count = 0;
  for (const KernelLint &kernel : kernels)
    count += size_t(llvm::count_if(kernel.findings,
                                   [&](const Finding &f) { return f.rule->severity == severity; }));
  return count;
}

Result<LintReport> lintCodeObject(Bytes file) {
  Result<nvfp4rt::ElfFile> elf = nvfp4rt::ElfFile::parse(file);
  if (!elf)
    return tl::unexpected(elf.error());
  Result<std::vector<KernelMetadata>> kernels = nvfp4rt::readMetadata(*elf);
  if (!kernels)
    return tl::unexpected(kernels.error());
  llvm::Expected<Decoder> decoder = Decoder::create();
  if (!decoder)
    return nvfp4rt::fail(NVFP4RT_ERROR_INTERNAL, llvm::toString(decoder.takeError()));
  LintReport report;
  uint64_t instructions = 0;
  for (const KernelMetadata &metadata : *kernels) {
    Result<KernelLint> kernel = lintKernel(*decoder, *elf, metadata);
    if (!kernel)
      return tl::unexpected(kernel.error());
    // Kernels may share code, so the size of the file does not bound the work.
    instructions += kernel->instructions;
    if (instructions > kMaxFileInstructions)
      return badKernel(metadata, fmt::format("expected at most {} instructions in all kernels up "
                                             "to this one, found {}",
                                             kMaxFileInstructions, instructions));
    report.kernels.push_back(std::move(*kernel));
  }
  return report;
}

} // namespace nvfp4gen::lint
