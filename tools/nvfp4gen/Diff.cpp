//===- Diff.cpp - nvfp4gen diff ---------------------------------------------===//

#include "compiler/bundle/ObjectInfo.h"
#include "runtime/bundle/Bundle.h"
#include "tools/nvfp4gen/Commands.h"
#include "tools/nvfp4gen/MachineCode.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace nvfp4gen {

namespace {

using nlohmann::ordered_json;

/// What a kernel costs, by name; less is better.
using Figures = std::vector<std::pair<const char *, uint64_t>>;

struct KernelChange {
  std::string symbol;
  Figures before, after; ///< the same names in the same order
};

struct Difference {
  std::vector<std::string> addedVariants, removedVariants;
  std::vector<std::string> movedVariants; ///< another kernel, guard or workspace
  std::vector<std::string> addedKernels, removedKernels;
  std::vector<KernelChange> changed; ///< kernels in both with another figure
  size_t otherCode = 0;              ///< kernels in both with the same figures and other code
  size_t same = 0;                   ///< kernels in both with the same code
};

llvm::StringRef elfOf(const nvfp4rt::Bundle &bundle) {
  return {reinterpret_cast<const char *>(bundle.bytes().data()), bundle.bytes().size()};
}

llvm::Expected<Figures> figuresOf(const nvfp4rt::Bundle &bundle, const nvfp4rt::Kernel &kernel) {
  llvm::Expected<std::vector<Instruction>> code = decodeKernel(elfOf(bundle), kernel.symbol);
  if (!code)
    return code.takeError();
  auto starting = [&](std::initializer_list<llvm::StringRef> prefixes) {
    return uint64_t(llvm::count_if(*code, [&](const Instruction &instruction) {
      return llvm::any_of(prefixes, [&](llvm::StringRef prefix) {
        return llvm::StringRef(instruction.mnemonic).starts_with(prefix);
      });
    }));
  };
  const nvfp4rt::Resources &r = kernel.resources;
  return Figures{
      {"vgprs", r.vgprs},
      {"agprs", r.agprs},
      {"sgprs", r.sgprs},
      {"lds_bytes", r.ldsBytes},
      {"scratch_bytes", r.scratchBytes},
      {"code_bytes", r.codeBytes},
      {"instructions", code->size()},
      {"mfma", starting({"v_mfma", "v_smfmac"})},
      {"memory", starting({"global_", "buffer_", "flat_", "scratch_", "s_load", "s_buffer_load"})},
      {"lds", starting({"ds_"})}};
}

template <typename Item, typename Name>
std::map<std::string, const Item *> byName(const std::vector<Item> &items, Name Item::*name) {
  std::map<std::string, const Item *> map;
  for (const Item &item : items)
    map.emplace(item.*name, &item);
  return map;
}

/// Call `added`, `removed` or `both` for every name of two maps, in order.
template <typename Map, typename Added, typename Removed, typename Both>
void forEachName(const Map &before, const Map &after, Added added, Removed removed, Both both) {
  std::set<std::string> names;
  for (const auto *map : {&before, &after})
    for (const auto &[name, item] : *map)
      names.insert(name);
  for (const std::string &name : names) {
    auto old = before.find(name), now = after.find(name);
    if (old == before.end())
      added(name);
    else if (now == after.end())
      removed(name);
    else
      both(name, *old->second, *now->second);
  }
}

llvm::Expected<Difference> compare(const nvfp4rt::Bundle &before, const nvfp4rt::Bundle &after) {
  Difference result;
  auto into = [](std::vector<std::string> &names) {
    return [&names](const std::string &name) { names.push_back(name); };
  };
  const nvfp4rt::Manifest &a = before.manifest(), &b = after.manifest();
  forEachName(
      byName(a.variants, &nvfp4rt::Variant::name), byName(b.variants, &nvfp4rt::Variant::name),
      into(result.addedVariants), into(result.removedVariants),
      [&](const std::string &name, const nvfp4rt::Variant &old, const nvfp4rt::Variant &now) {
        if (!(old == now))
          result.movedVariants.push_back(name);
      });
  llvm::Error error = llvm::Error::success();
  forEachName(
      byName(a.kernels, &nvfp4rt::Kernel::symbol), byName(b.kernels, &nvfp4rt::Kernel::symbol),
      into(result.addedKernels), into(result.removedKernels),
      [&](const std::string &name, const nvfp4rt::Kernel &old, const nvfp4rt::Kernel &now) {
        // The checksum also covers where in the file the code is.
        llvm::Expected<SymbolContents> oldCode = symbolContents(elfOf(before), name);
        llvm::Expected<SymbolContents> nowCode = symbolContents(elfOf(after), name);
        if (!oldCode || !nowCode) {
          error = llvm::joinErrors(std::move(error),
                                   llvm::joinErrors(oldCode.takeError(), nowCode.takeError()));
          return;
        }
        if (oldCode->bytes == nowCode->bytes && old.resources == now.resources) {
          ++result.same;
          return;
        }
        llvm::Expected<Figures> oldFigures = figuresOf(before, old);
        llvm::Expected<Figures> nowFigures = figuresOf(after, now);
        if (!oldFigures || !nowFigures) {
          error = llvm::joinErrors(
              std::move(error), llvm::joinErrors(oldFigures.takeError(), nowFigures.takeError()));
          return;
        }
        if (*oldFigures == *nowFigures)
          ++result.otherCode;
        else
          result.changed.push_back({name, std::move(*oldFigures), std::move(*nowFigures)});
      });
  if (error)
    return std::move(error);
  return result;
}

/// Growth in percent; of nothing to something it is infinite.
double growth(uint64_t before, uint64_t after) {
  if (before == after)
    return 0;
  if (before == 0)
    return std::numeric_limits<double>::infinity();
  return (double(after) / double(before) - 1) * 100;
}

/// What breaks the limit, one line each.
std::vector<std::string> excess(const Difference &difference, double limit) {
  std::vector<std::string> lines;
  lines.reserve(difference.removedVariants.size());
  for (const std::string &variant : difference.removedVariants)
    lines.push_back("variant " + variant + " is gone");
  for (const KernelChange &kernel : difference.changed)
    for (size_t i = 0; i < kernel.before.size(); ++i) {
      double percent = growth(kernel.before[i].second, kernel.after[i].second);
      if (percent > limit)
        lines.push_back(fmt::format("{} of {} grows by {:.1f} %, from {} to {}",
                                    kernel.before[i].first, kernel.symbol, percent,
                                    kernel.before[i].second, kernel.after[i].second));
    }
  return lines;
}

void printText(const Difference &difference, const nvfp4rt::Bundle &before,
               const nvfp4rt::Bundle &after) {
  auto names = [](const char *what, const std::vector<std::string> &list) {
    for (const std::string &name : list)
      fmt::print("{} {}\n", what, name);
  };
  names("+ variant", difference.addedVariants);
  names("- variant", difference.removedVariants);
  names("~ variant", difference.movedVariants);
  names("+ kernel", difference.addedKernels);
  names("- kernel", difference.removedKernels);
  for (const KernelChange &kernel : difference.changed) {
    fmt::print("~ kernel {}\n", kernel.symbol);
    for (size_t i = 0; i < kernel.before.size(); ++i) {
      uint64_t old = kernel.before[i].second, now = kernel.after[i].second;
      if (old != now)
        fmt::print("    {:<14} {:>8} -> {:>8}  {:+.1f} %\n", kernel.before[i].first, old, now,
                   growth(old, now));
    }
  }
  fmt::print("kernels: {} with the same code, {} with other code and the same figures, {} changed, "
             "{} added, {} removed; file {} -> {} bytes\n",
             difference.same, difference.otherCode, difference.changed.size(),
             difference.addedKernels.size(), difference.removedKernels.size(),
             before.bytes().size(), after.bytes().size());
}

ordered_json toJson(const Difference &difference, const nvfp4rt::Bundle &before,
                    const nvfp4rt::Bundle &after, const std::vector<std::string> &faults) {
  ordered_json changed = ordered_json::array();
  for (const KernelChange &kernel : difference.changed) {
    ordered_json row = {{"symbol", kernel.symbol}};
    for (size_t i = 0; i < kernel.before.size(); ++i)
      row[kernel.before[i].first] = {kernel.before[i].second, kernel.after[i].second};
    changed.push_back(std::move(row));
  }
  return {{"file_bytes", {before.bytes().size(), after.bytes().size()}},
          {"variants_added", difference.addedVariants},
          {"variants_removed", difference.removedVariants},
          {"variants_changed", difference.movedVariants},
          {"kernels_added", difference.addedKernels},
          {"kernels_removed", difference.removedKernels},
          {"kernels_changed", std::move(changed)},
          {"kernels_with_other_code", difference.otherCode},
          {"kernels_same", difference.same},
          {"beyond_limit", faults}};
}

} // namespace

int runDiff(const DiffOptions &options) {
  nvfp4rt::Result<nvfp4rt::Bundle> before = nvfp4rt::Bundle::openFile(options.before);
  nvfp4rt::Result<nvfp4rt::Bundle> after = nvfp4rt::Bundle::openFile(options.after);
  for (const auto *bundle : {&before, &after})
    if (!*bundle)
      return reportError(bundle->error().message);
  llvm::Expected<Difference> difference = compare(*before, *after);
  if (!difference)
    return reportError(difference.takeError());
  std::vector<std::string> faults;
  if (options.maxGrowth)
    faults = excess(*difference, *options.maxGrowth);
  if (options.json)
    fmt::print("{}\n", toJson(*difference, *before, *after, faults).dump(2));
  else
    printText(*difference, *before, *after);
  for (const std::string &fault : faults)
    fmt::print(stderr, "nvfp4gen: beyond --max-growth: {}\n", fault);
  return faults.empty() ? kExitDone : kExitDifference;
}

} // namespace nvfp4gen
