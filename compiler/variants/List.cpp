//===- List.cpp - the list of variants, for people and as JSON --------------===//
//
// Owns what `nvfp4gen list` prints.
//
//===------------------------------------------------------------------------===//
#include "compiler/variants/Variants.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace nvfp4gen {
namespace {

using nvfp4rt::Field;

/// A term of the cell; enumerateVariants puts these three into every guard.
const nvfp4rt::Term &term(const nvfp4rt::Variant &variant, Field field) {
  return *variant.guard.find(field);
}

std::string count(size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

} // namespace

void printList(const Spec &spec, const VariantList &list, llvm::raw_ostream &os) {
  constexpr size_t kColumns = 5;
  using Row = std::array<std::string, kColumns>;
  std::vector<Row> rows = {{"family", "phase", "q", "requests", "variant"}};
  std::map<std::string_view, size_t> uses;
  for (const nvfp4rt::Variant &variant : list.variants) {
    int64_t queryLen = term(variant, Field::query_len).values[0];
    const std::vector<int64_t> &requests = term(variant, Field::requests).values;
    rows.push_back({variant.family,
                    nvfp4rt::valueText(Field::phase, term(variant, Field::phase).values[0]),
                    queryLen == 0 ? "any" : std::to_string(queryLen),
                    requests[0] == requests[1] ? std::to_string(requests[0])
                                               : fmt::format("{}..{}", requests[0], requests[1]),
                    variant.name});
    ++uses[variant.symbol];
  }
  std::array<size_t, kColumns> widths = {};
  for (const Row &row : rows)
    for (size_t i = 0; i < kColumns; ++i)
      widths[i] = std::max(widths[i], row[i].size());

  os << fmt::format("{}: {}, {}\n\n", spec.name, count(list.variants.size(), "variant"),
                    count(list.kernels.size(), "kernel"));
  for (const Row &row : rows) {
    for (size_t i = 0; i + 1 < kColumns; ++i)
      os << fmt::format("{:<{}}  ", row[i], widths[i]);
    os << row.back() << '\n';
  }
  os << '\n';
  for (const KernelPlan &kernel : list.kernels)
    os << fmt::format("kernel {}: {}\n", kernel.symbol, count(uses[kernel.symbol], "variant"));
}

llvm::json::Value listJson(const Spec &spec, const VariantList &list) {
  llvm::json::Array kernels;
  for (const KernelPlan &kernel : list.kernels)
    kernels.push_back(
        llvm::json::Object{{"symbol", kernel.symbol}, {"family", llvm::StringRef(kernel.family)}});
  llvm::json::Array map;
  for (const nvfp4rt::Variant &variant : list.variants) {
    const std::vector<int64_t> &requests = term(variant, Field::requests).values;
    map.push_back(llvm::json::Object{
        {"family", variant.family},
        {"phase", nvfp4rt::valueText(Field::phase, term(variant, Field::phase).values[0])},
        {"query_len", term(variant, Field::query_len).values[0]},
        {"requests", llvm::json::Array{requests[0], requests[1]}},
        {"variant", variant.name},
        {"symbol", variant.symbol},
        {"guard", variant.guard.text()}});
  }
  return llvm::json::Object{{"spec", spec.name},
                            {"spec_sha256", spec.sha256},
                            {"kernels", std::move(kernels)},
                            {"map", std::move(map)}};
}

} // namespace nvfp4gen
