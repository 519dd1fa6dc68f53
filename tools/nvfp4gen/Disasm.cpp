//===- Disasm.cpp - nvfp4gen disasm -----------------------------------------===//

#include "tools/nvfp4gen/Commands.h"
#include "tools/nvfp4gen/MachineCode.h"

#include "runtime/bundle/Bundle.h"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace nvfp4gen {

namespace {

using nlohmann::ordered_json;

/// Lines of the templates' files, read when first asked for.
class Sources {
public:
  explicit Sources(std::string root) : root(std::move(root)) {}

  /// Empty when there is no such file or line.
  std::string text(const SourceLine &at) {
    auto [it, fresh] = files.try_emplace(at.file);
    if (fresh) {
      const std::string path = root + "/" + at.file;
      std::ifstream in(path);
      if (!in)
        reportWarning(fmt::format("cannot read '{}': {}; --source-root names the folder of the "
                                  "templates' source tree",
                                  path, std::strerror(errno)));
      for (std::string line; std::getline(in, line);)
        it->second.push_back(line);
    }
    return at.line > 0 && at.line <= it->second.size() ? it->second[at.line - 1] : "";
  }

private:
  std::string root;
  std::map<std::string, std::vector<std::string>> files;
};

std::string wordsOf(const Instruction &instruction) {
  std::string words;
  for (size_t i = 0; i + 4 <= instruction.bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, &instruction.bytes[i], sizeof(word));
    words += fmt::format("{}{:08x}", i ? " " : "", word);
  }
  return words;
}

/// A kernel with its instructions and, where there are line tables, their lines.
struct Listing {
  const nvfp4rt::Kernel *kernel;
  std::vector<Instruction> code;
  std::vector<SourceLine> lines;
};

void print(const Listing &listing, const DisasmOptions &options, Sources &sources) {
  const nvfp4rt::Resources &r = listing.kernel->resources;
  fmt::print("{}: {} instructions, {} bytes, {} VGPR ({} of them AGPR), {} SGPR, {} B LDS\n",
             listing.kernel->symbol, listing.code.size(), r.codeBytes, r.vgprs, r.agprs, r.sgprs,
             r.ldsBytes);
  SourceLine current;
  for (size_t i = 0; i < listing.code.size(); ++i) {
    const Instruction &instruction = listing.code[i];
    if (options.source && listing.lines[i] != current) {
      current = listing.lines[i];
      if (current.line)
        fmt::print("\n{}:{}: {}\n", current.file, current.line, sources.text(current));
      else
        fmt::print("\n(no line of a template)\n");
    }
    fmt::print("{:6x}  {:<26}  {}\n", instruction.address - listing.code.front().address,
               wordsOf(instruction), instruction.text);
  }
}

ordered_json json(const Listing &listing, const DisasmOptions &options) {
  ordered_json code = ordered_json::array();
  for (size_t i = 0; i < listing.code.size(); ++i) {
    const Instruction &instruction = listing.code[i];
    ordered_json row = {{"offset", instruction.address - listing.code.front().address},
                        {"words", wordsOf(instruction)},
                        {"text", instruction.text}};
    if (options.source) {
      row["file"] = listing.lines[i].file;
      row["line"] = listing.lines[i].line;
    }
    code.push_back(std::move(row));
  }
  return {{"symbol", listing.kernel->symbol}, {"instructions", std::move(code)}};
}

} // namespace

int runDisasm(const DisasmOptions &options) {
  nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openFile(options.bundle);
  if (!bundle)
    return reportError(bundle.error().message);
  std::vector<const nvfp4rt::Kernel *> kernels;
  if (options.variant.empty()) {
    for (const nvfp4rt::Kernel &kernel : bundle->manifest().kernels)
      kernels.push_back(&kernel);
  } else {
    llvm::Expected<const nvfp4rt::Kernel *> kernel =
        findKernel(bundle->manifest(), bundle->name(), options.variant);
    if (!kernel)
      return reportError(kernel.takeError());
    kernels.push_back(*kernel);
  }

  llvm::StringRef elf(reinterpret_cast<const char *>(bundle->bytes().data()),
                      bundle->bytes().size());
  Sources sources(options.sourceRoot);
  ordered_json listings = ordered_json::array();
  for (const nvfp4rt::Kernel *kernel : kernels) {
    llvm::Expected<std::vector<Instruction>> code = decodeKernel(elf, kernel->symbol);
    if (!code)
      return reportError(code.takeError());
    Listing listing{kernel, std::move(*code), {}};
    if (options.source) {
      llvm::Expected<std::vector<SourceLine>> lines = sourceLines(elf, listing.code);
      if (!lines)
        return reportError(lines.takeError());
      if (lines->empty())
        return reportError(fmt::format("bundle {}: expected line tables for --source, found none; "
                                       "build it with --debug-lines",
                                       bundle->name()));
      listing.lines = std::move(*lines);
    }
    if (options.json) {
      listings.push_back(json(listing, options));
      continue;
    }
    if (kernel != kernels.front())
      fmt::print("\n");
    print(listing, options, sources);
  }
  if (options.json)
    fmt::print("{}\n", listings.dump(2));
  return kExitDone;
}

} // namespace nvfp4gen
