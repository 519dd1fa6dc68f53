//===- KernelChecks.cpp - the manifest's kernels against the code object ----===//
//
// See KernelChecks.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/KernelChecks.h"

#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/Metadata.h"
#include "runtime/support/Sha256.h"

#include <fmt/format.h>

namespace nvfp4rt {
namespace {

constexpr uint32_t kVgprGranule = 8;
constexpr std::string_view kDescriptorSuffix = ".kd";

tl::unexpected<Error> badKernel(nvfp4rt_status code, const Kernel &kernel, std::string_view where,
                                std::string_view expected, std::string_view found) {
  return fail(code, fmt::format("kernel {}: {}: expected {}, found {}", kernel.symbol, where,
                                expected, found));
}

tl::unexpected<Error> inconsistent(const Kernel &kernel, std::string_view where,
                                   std::string_view expected, std::string_view found) {
  return badKernel(NVFP4RT_ERROR_BAD_MANIFEST, kernel, where, expected, found);
}

/// Two numbers that must be equal.
struct Equal {
  std::string_view where;
  uint64_t expected, found;
};

Result<void> checkEqual(const Kernel &kernel, std::span<const Equal> checks) {
  for (const Equal &check : checks)
    if (check.expected != check.found)
      return inconsistent(kernel, check.where, std::to_string(check.expected),
                          std::to_string(check.found));
  return {};
}

/// The struct that callers pass to this runtime is the one that the kernel was generated for.
Result<void> checkArgs(const Kernel &kernel, const ArgLayout &layout) {
  const std::string hash = hexText(sha256({asBytes(layout.text())}));
  if (kernel.argsHash != hash)
    return badKernel(NVFP4RT_ERROR_ARGS_LAYOUT, kernel,
                     fmt::format("hash of the argument layout of {}", kernel.family), hash,
                     kernel.argsHash);
  if (kernel.argsSize != layout.size)
    return badKernel(NVFP4RT_ERROR_ARGS_LAYOUT, kernel, "bytes of arguments",
                     std::to_string(layout.size), std::to_string(kernel.argsSize));
  for (size_t axis = 0; axis < std::size(kernel.grid); ++axis) {
    const std::string &per = kernel.grid[axis].per;
    if (per.empty())
      continue;
    const std::optional<size_t> index = layout.indexOf(per);
    if (!index || layout.fields[*index].type != ArgType::I32)
      return inconsistent(kernel, fmt::format("grid[{}].per", axis),
                          fmt::format("a 32-bit argument of {}", kernel.family),
                          fmt::format("\"{}\"", per));
  }
  return {};
}

/// The arguments as the compiler laid them out, one by one.
Result<void> checkMetadataArgs(const Kernel &kernel, const KernelMetadata &metadata,
                               const ArgLayout &layout) {
  if (metadata.args.size() != layout.fields.size())
    return inconsistent(kernel, "number of arguments in the note",
                        std::to_string(layout.fields.size()), std::to_string(metadata.args.size()));
  for (size_t i = 0; i < metadata.args.size(); ++i) {
    const KernelMetadataArg &arg = metadata.args[i];
    const ArgField &field = layout.fields[i];
    const std::string_view kind = field.type == ArgType::Pointer ? "global_buffer" : "by_value";
    if (arg.offset != field.offset || arg.size != argTypeSize(field.type) || arg.valueKind != kind)
      return inconsistent(
          kernel, fmt::format("argument {} ({}) in the note", i, field.name),
          fmt::format("{} of {} bytes at {}", kind, argTypeSize(field.type), field.offset),
          fmt::format("{} of {} bytes at {}", arg.valueKind, arg.size, arg.offset));
  }
  return {};
}

Result<void> checkMetadata(const Kernel &kernel, const KernelMetadata &metadata) {
  const Resources &resources = kernel.resources;
  const Equal checks[] = {
      {"kernel-argument bytes in the note", kernel.argsSize, metadata.kernargBytes},
      {"LDS bytes in the note", resources.ldsBytes, metadata.ldsBytes},
      {"scratch bytes in the note", resources.scratchBytes, metadata.scratchBytes},
      {"VGPRs in the note", resources.vgprs, metadata.vgprs},
      {"AGPRs in the note", resources.agprs, metadata.agprs},
      {"SGPRs in the note", resources.sgprs, metadata.sgprs},
      {"wavefront size in the note", 64, metadata.wavefrontSize},
      {"VGPR spills in the note (G7)", 0, metadata.vgprSpills},
      {"SGPR spills in the note (G7)", 0, metadata.sgprSpills},
      {"dynamic stack in the note (G7)", 0, metadata.dynamicStack},
  };
  if (Result<void> ok = checkEqual(kernel, checks); !ok)
    return ok;
  if (metadata.descriptorSymbol != kernel.symbol + std::string(kDescriptorSuffix))
    return inconsistent(kernel, "descriptor symbol in the note",
                        fmt::format("{}{}", kernel.symbol, kDescriptorSuffix),
                        metadata.descriptorSymbol);
  const uint64_t items = uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
  if (items > metadata.maxWorkgroup)
    return inconsistent(kernel, "work-items of a workgroup",
                        fmt::format("at most {} (note)", metadata.maxWorkgroup),
                        std::to_string(items));
  return {};
}

/// Bytes of a symbol of the kernel as the loader would map them.
Result<Bytes> symbolBytes(const ElfFile &elf, const Kernel &kernel, const ElfSymbol &symbol) {
  const std::optional<Bytes> bytes = elf.loaded(symbol.address, symbol.size);
  if (!bytes)
    return badKernel(NVFP4RT_ERROR_BAD_ELF, kernel, fmt::format("bytes of symbol {}", symbol.name),
                     "a loaded segment that holds them",
                     fmt::format("{} bytes at 0x{:x}", symbol.size, symbol.address));
  return *bytes;
}

Result<const ElfSymbol *> kernelSymbol(const ElfFile &elf, const Kernel &kernel,
                                       const std::string &name, uint8_t type, uint64_t size) {
  const ElfSymbol *symbol = elf.symbol(name);
  if (!symbol)
    return badKernel(NVFP4RT_ERROR_BAD_MANIFEST, kernel, "dynamic symbols",
                     fmt::format("one named {}", name), "none");
  if (symbol->type != type || symbol->size != size)
    return inconsistent(kernel, fmt::format("symbol {}", name),
                        fmt::format("type {} of {} bytes", type, size),
                        fmt::format("type {} of {} bytes", symbol->type, symbol->size));
  return symbol;
}

Result<void> checkCode(const ElfFile &elf, const Kernel &kernel) {
  const Resources &resources = kernel.resources;
  const auto function = kernelSymbol(elf, kernel, kernel.symbol, STT_FUNC, resources.codeBytes);
  if (!function)
    return tl::unexpected(function.error());
  const auto descriptorSymbol =
      kernelSymbol(elf, kernel, kernel.symbol + std::string(kDescriptorSuffix), STT_OBJECT,
                   KernelDescriptor::kBytes);
  if (!descriptorSymbol)
    return tl::unexpected(descriptorSymbol.error());
  const Result<Bytes> code = symbolBytes(elf, kernel, **function);
  if (!code)
    return tl::unexpected(code.error());
  const Result<Bytes> descriptorBytes = symbolBytes(elf, kernel, **descriptorSymbol);
  if (!descriptorBytes)
    return tl::unexpected(descriptorBytes.error());

  const std::string digest = hexText(sha256({*code, *descriptorBytes}));
  if (digest != kernel.sha256)
    return badKernel(NVFP4RT_ERROR_CHECKSUM, kernel, "SHA-256 of code and descriptor",
                     kernel.sha256, digest);

  const KernelDescriptor descriptor = readDescriptor(*descriptorBytes);
  const uint64_t entry =
      (*descriptorSymbol)->address + static_cast<uint64_t>(descriptor.entryOffset);
  const uint32_t granules = (resources.vgprs + kVgprGranule - 1) / kVgprGranule;
  const Equal checks[] = {
      {"entry address in the descriptor", (*function)->address, entry},
      {"kernel-argument bytes in the descriptor", kernel.argsSize, descriptor.kernargBytes},
      {"LDS bytes in the descriptor", resources.ldsBytes, descriptor.ldsBytes},
      {"scratch bytes in the descriptor", resources.scratchBytes, descriptor.scratchBytes},
      {"scratch enabled in the descriptor", resources.scratchBytes > 0, descriptor.scratchEnabled},
      {"VGPRs allocated by the descriptor", uint64_t{granules > 0 ? granules : 1} * kVgprGranule,
       descriptor.allocatedVgprs},
      {"wave32 in the descriptor", 0, descriptor.wave32},
      {"dynamic stack in the descriptor (G7)", 0, descriptor.dynamicStack},
  };
  return checkEqual(kernel, checks);
}

/// Manifest, notes and symbols name the same kernels. Both lists are sorted.
Result<void> checkKernelSet(const ElfFile &elf, const Manifest &manifest,
                            const std::vector<KernelMetadata> &metadata) {
  const auto differ = [](std::string_view where, std::string_view expected,
                         std::string_view found) {
    return fail(
        NVFP4RT_ERROR_BAD_MANIFEST,
        fmt::format("kernels in the {}: expected {} (manifest), found {}", where, expected, found));
  };
  const size_t count = manifest.kernels.size();
  for (size_t i = 0; i < std::max(count, metadata.size()); ++i) {
    std::string_view expected = "no more", found = "no more";
    if (i < count)
      expected = manifest.kernels[i].symbol;
    if (i < metadata.size())
      found = metadata[i].name;
    if (expected != found)
      return differ("note", expected, found);
  }
  size_t descriptors = 0;
  for (const ElfSymbol &symbol : elf.symbols())
    descriptors += symbol.name.ends_with(kDescriptorSuffix);
  if (descriptors != count)
    return differ("symbols", std::to_string(count), std::to_string(descriptors));
  return {};
}

} // namespace

Result<void> checkKernels(const ElfFile &elf, const Manifest &manifest) {
  // What this runtime cannot call is worth saying before what does not fit together.
  for (const Kernel &kernel : manifest.kernels)
    if (Result<void> ok = checkArgs(kernel, *argLayout(kernel.family)); !ok)
      return ok;
  const Result<std::vector<KernelMetadata>> metadata = readMetadata(elf);
  if (!metadata)
    return tl::unexpected(metadata.error());
  if (Result<void> ok = checkKernelSet(elf, manifest, *metadata); !ok)
    return ok;
  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    const Kernel &kernel = manifest.kernels[i];
    Result<void> ok = checkMetadata(kernel, (*metadata)[i]);
    if (ok)
      ok = checkMetadataArgs(kernel, (*metadata)[i], *argLayout(kernel.family));
    if (ok)
      ok = checkCode(elf, kernel);
    if (!ok)
      return ok;
  }
  return {};
}

} // namespace nvfp4rt
