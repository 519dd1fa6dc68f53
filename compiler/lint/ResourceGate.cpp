//===- ResourceGate.cpp -----------------------------------------------------===//

#include "compiler/lint/ResourceGate.h"

#include <fmt/format.h>

namespace nvfp4gen {

namespace {

void checkArguments(const nvfp4rt::ArgLayout &layout, const KernelObject &object,
                    std::vector<std::string> &faults) {
  // Everything by value or a global buffer, at the struct's offsets; LLVM lists explicit arguments
  // first and hidden ones after them.
  size_t index = 0;
  for (const KernelArgument &argument : object.arguments) {
    if (llvm::StringRef(argument.kind).starts_with("hidden_")) {
      faults.push_back(
          fmt::format("hidden argument {} at offset {}", argument.kind, argument.offset));
      continue;
    }
    if (index < layout.fields.size()) {
      const nvfp4rt::ArgField &field = layout.fields[index];
      uint32_t size = nvfp4rt::argTypeSize(field.type);
      if (argument.offset != field.offset || argument.size != size)
        faults.push_back(fmt::format("argument {}: expected {} bytes at offset {}, found {} at {}",
                                     field.name, size, field.offset, argument.size,
                                     argument.offset));
    }
    ++index;
  }
  if (index != layout.fields.size())
    faults.push_back(fmt::format("expected {} arguments, found {}", layout.fields.size(), index));
  if (object.kernargBytes != layout.size)
    faults.push_back(fmt::format("expected {} bytes of kernel arguments, found {}", layout.size,
                                 object.kernargBytes));
}

} // namespace

llvm::Error checkResources(const KernelPlan &plan, const nvfp4rt::ArgLayout &layout,
                           const KernelObject &object) {
  std::vector<std::string> faults;
  const nvfp4rt::Resources &r = object.resources;
  if (object.symbol != plan.symbol)
    faults.push_back(fmt::format("expected kernel {}, found {}", plan.symbol, object.symbol));
  if (object.vgprSpills || object.sgprSpills)
    faults.push_back(fmt::format("expected no spills, found {} VGPR and {} SGPR spills",
                                 object.vgprSpills, object.sgprSpills));
  if (r.scratchBytes || object.dynamicStack)
    faults.push_back(fmt::format("expected no scratch, found {} bytes a lane{}", r.scratchBytes,
                                 object.dynamicStack ? " and a dynamic stack" : ""));
  if (r.ldsBytes > kMaxLdsBytes)
    faults.push_back(
        fmt::format("expected at most {} bytes of LDS, found {}", kMaxLdsBytes, r.ldsBytes));
  uint64_t block = uint64_t(plan.block[0]) * plan.block[1] * plan.block[2];
  if (object.maxWorkgroup != block)
    faults.push_back(
        fmt::format("expected a workgroup of {} work-items, found {}", block, object.maxWorkgroup));
  checkArguments(layout, object, faults);
  if (faults.empty())
    return llvm::Error::success();
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      fmt::format("kernel '{}' is refused: {}", plan.symbol, fmt::join(faults, "; ")));
}

} // namespace nvfp4gen
