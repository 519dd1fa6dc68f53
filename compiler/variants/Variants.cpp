//===- Variants.cpp - the finite list of variants of a spec -----------------===//
//
// Owns the walk over the cells of a spec, the guard and the name of a variant,
// and the sharing of kernels.
//
//===------------------------------------------------------------------------===//
#include "compiler/variants/Variants.h"

#include "compiler/variants/Coverage.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>
#include <map>

namespace nvfp4gen {
namespace {

using nvfp4rt::Field;
using nvfp4rt::GridAxis;
using nvfp4rt::Relation;
using nvfp4rt::Term;

template <typename... Args>
llvm::Error variantError(fmt::format_string<Args...> format, Args &&...args) {
  return llvm::createStringError(std::errc::invalid_argument, "%s",
                                 fmt::format(format, std::forward<Args>(args)...).c_str());
}

std::string phaseName(Phase phase) {
  return nvfp4rt::valueText(Field::phase, static_cast<int64_t>(phase));
}

/// "decode_q1_b48", "prefill_b48".
std::string cellName(const Cell &cell) {
  if (cell.phase == Phase::Prefill)
    return fmt::format("prefill_b{}", cell.requestsHigh);
  return fmt::format("{}_q{}_b{}", phaseName(cell.phase), cell.queryLen, cell.requestsHigh);
}

std::vector<Term> cellTerms(const Cell &cell) {
  return {{Field::phase, Relation::Equal, {static_cast<int64_t>(cell.phase)}},
          {Field::query_len, Relation::Equal, {cell.queryLen}},
          {Field::requests, Relation::Range, {cell.requestsLow, cell.requestsHigh}}};
}

std::string axisText(const GridAxis &axis) {
  return axis.per.empty() ? std::to_string(axis.mul)
                          : fmt::format("ceil({} * {} / {})", axis.per, axis.mul, axis.div);
}

/// All of a plan that can be compared; the body cannot.
std::string planText(const KernelPlan &plan) {
  return fmt::format("family {}, grid {} x {} x {}, block {} x {} x {}", plan.family,
                     axisText(plan.grid[0]), axisText(plan.grid[1]), axisText(plan.grid[2]),
                     plan.block[0], plan.block[1], plan.block[2]);
}

/// Collects the variants of all families and the kernels they share.
class Enumeration {
public:
  explicit Enumeration(const Spec &spec) : spec(spec), cells(cellsOf(spec)) {}

  llvm::Error add(const Family &family);
  VariantList take();

private:
  struct Use {
    KernelPlan plan;
    std::string variant; ///< the first that uses it
  };

  llvm::Error add(const Family &family, const Cell &cell, CellPlan plan);

  const Spec &spec;
  std::vector<Cell> cells;
  std::map<std::string, Use> kernels;
  std::vector<nvfp4rt::Variant> variants;
};

llvm::Error Enumeration::add(const Family &family) {
  const Cell *served = nullptr, *refused = nullptr;
  size_t first = variants.size();
  for (const Cell &cell : cells) {
    std::optional<CellPlan> plan = family.plan(spec, cell);
    (plan ? served : refused) = &cell;
    if (served && refused)
      return variantError("family {}: serves {} and not {} (G2)", family.name, cellName(*served),
                          cellName(*refused));
    if (plan)
      if (llvm::Error error = add(family, cell, std::move(*plan)))
        return error;
  }
  if (!served)
    return llvm::Error::success();
  return checkCoverage(spec, std::span(variants).subspan(first));
}

llvm::Error Enumeration::add(const Family &family, const Cell &cell, CellPlan plan) {
  nvfp4rt::Variant variant;
  variant.name = fmt::format("{}__{}", plan.kernel.symbol, cellName(cell));
  variant.family = family.name;
  variant.symbol = plan.kernel.symbol;
  variant.workspace = plan.workspace;
  variant.guard.terms = cellTerms(cell);
  for (Term &term : plan.config) {
    if (variant.guard.find(term.field))
      return variantError("variant {}: its guard has the field {} twice: {} and {}", variant.name,
                          nvfp4rt::fieldName(term.field), variant.guard.find(term.field)->text(),
                          term.text());
    variant.guard.terms.push_back(std::move(term));
  }
  if (auto use = kernels.find(variant.symbol); use == kernels.end())
    kernels.emplace(variant.symbol, Use{std::move(plan.kernel), variant.name});
  else if (planText(use->second.plan) != planText(plan.kernel))
    return variantError("kernel {}: one symbol, two plans: {} for {}; {} for {}", variant.symbol,
                        planText(use->second.plan), use->second.variant, planText(plan.kernel),
                        variant.name);
  variants.push_back(std::move(variant));
  return llvm::Error::success();
}

VariantList Enumeration::take() {
  VariantList list;
  for (auto &[symbol, use] : kernels)
    list.kernels.push_back(std::move(use.plan));
  list.variants = std::move(variants);
  return list;
}

} // namespace

std::vector<Cell> cellsOf(const Spec &spec) {
  std::vector<Cell> cells;
  auto addBuckets = [&](Phase phase, int64_t queryLen) {
    int64_t low = 1;
    for (int64_t bucket : spec.serving.requestBuckets) {
      cells.push_back({phase, queryLen, low, bucket});
      low = bucket + 1;
    }
  };
  for (Phase phase : spec.serving.phases) {
    if (phase == Phase::Prefill)
      addBuckets(phase, 0);
    for (int64_t queryLen : spec.serving.queryLens)
      if (phase == (queryLen == 1 ? Phase::Decode : Phase::Verify))
        addBuckets(phase, queryLen);
  }
  return cells;
}

std::optional<int64_t> configValue(const Spec &spec, Field field) {
  auto symbol = [](auto value) { return static_cast<int64_t>(value); };
  const ModelSpec &model = spec.model;
  switch (field) {
  case Field::phase:
  case Field::query_len:
  case Field::requests:
    return std::nullopt;
  case Field::dtype:
    return symbol(model.dtype);
  case Field::kv_format:
    return symbol(spec.cache.kvFormat);
  case Field::index_format:
    return symbol(spec.cache.indexFormat);
  case Field::q_heads:
    return model.qHeads;
  case Field::kv_heads:
    return model.kvHeads;
  case Field::head_dim:
    return model.headDim;
  case Field::index_heads:
    return model.indexHeads;
  case Field::index_head_dim:
    return model.indexHeadDim;
  case Field::planes: {
    // Symbol s names the set whose members are the bits of s + 1: "k", "v", "kv", "i" ...
    int64_t set = 0;
    for (Plane plane : spec.cache.planes)
      set |= int64_t{1} << symbol(plane);
    return set - 1;
  }
  case Field::page_size:
    return spec.cache.pageSize;
  case Field::block_size:
    return model.blockSize;
  case Field::top_k:
    return model.topK;
  case Field::plane_order:
    return symbol(spec.cache.planeOrder);
  case Field::rotary_dim:
    return model.rotaryDim;
  }
  return std::nullopt;
}

void specialize(CellPlan &plan, const Spec &spec, std::string_view prefix, Field field) {
  int64_t value = *configValue(spec, field);
  plan.config.push_back(Term{field, Relation::Equal, {value}});
  plan.kernel.symbol += fmt::format("_{}{}", prefix, nvfp4rt::valueText(field, value));
}

llvm::Expected<VariantList> enumerateVariants(const Spec &spec,
                                              std::span<const Family *const> families) {
  Enumeration enumeration(spec);
  llvm::Error errors = llvm::Error::success();
  for (const Family *family : families)
    errors = llvm::joinErrors(std::move(errors), enumeration.add(*family));
  if (errors)
    return std::move(errors);
  return enumeration.take();
}

} // namespace nvfp4gen
