//===- ManifestRules.cpp - rules of a manifest beyond its keys --------------===//
//
// See ManifestRules.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/ManifestRules.h"

#include "runtime/args/ArgLayout.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace nvfp4rt::manifest {
namespace {

constexpr uint32_t kMaxWorkgroup = 1024;

/// Smallest and largest value that a term accepts.
std::pair<int64_t, int64_t> hull(const Term *term) {
  if (!term)
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {term->values.front(), term->values.back()};
}

bool intersect(const Term &a, const Term &b) {
  const auto listed = [](const Term &term) { return term.relation != Relation::Range; };
  if (listed(a))
    return std::ranges::any_of(a.values, [&](int64_t value) { return b.holds(value); });
  if (listed(b))
    return std::ranges::any_of(b.values, [&](int64_t value) { return a.holds(value); });
  return a.values[0] <= b.values[1] && b.values[0] <= a.values[1];
}

/// Some request matches both. A request must have exactly the fields of the guard (G1), so guards
/// with different fields never overlap.
bool overlap(const Guard &a, const Guard &b) {
  return a.terms.size() == b.terms.size() && std::ranges::all_of(a.terms, [&](const Term &term) {
           const Term *other = b.find(term.field);
           return other && intersect(term, *other);
         });
}

/// The first pair of variants of one family whose guards overlap. Sorted by the lower end of
/// "requests", a variant is compared only with those that begin before it ends: buckets make that
/// few.
std::optional<std::pair<size_t, size_t>> overlappingVariants(const std::vector<Variant> &variants) {
  std::map<std::string_view, std::vector<size_t>> families;
  for (size_t i = 0; i < variants.size(); ++i)
    families[variants[i].family].push_back(i);
  const auto range = [&](size_t i) { return hull(variants[i].guard.find(Field::requests)); };
  for (auto &[family, members] : families) {
    std::ranges::sort(members, {}, [&](size_t i) { return std::pair(range(i).first, i); });
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t j = i + 1; j < members.size(); ++j) {
        if (range(members[j]).first > range(members[i]).second)
          break;
        if (overlap(variants[members[i]].guard, variants[members[j]].guard))
          return std::minmax(members[i], members[j]);
      }
  }
  return std::nullopt;
}

std::optional<Error> checkFamily(Position at, const std::string &key, std::string_view family) {
  if (argLayout(family))
    return std::nullopt;
  std::string known;
#define NVFP4_FAMILY(name, CamelName) known += (known.empty() ? "" : ", ") + std::string(#name);
#include "templates/Families.def"
  return badManifest(at, key + ".family", "one of " + known, fmt::format("\"{}\"", family));
}

std::optional<Error> checkKernels(const Manifest &manifest, const std::vector<Position> &at) {
  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    const Kernel &kernel = manifest.kernels[i];
    const std::string key = fmt::format("kernel[{}]", i);
    if (i > 0 && manifest.kernels[i - 1].symbol >= kernel.symbol)
      return badManifest(at[i], key + ".symbol",
                         fmt::format("symbols in ascending order, so one after \"{}\"",
                                     manifest.kernels[i - 1].symbol),
                         fmt::format("\"{}\"", kernel.symbol));
    if (std::optional<Error> error = checkFamily(at[i], key, kernel.family))
      return error;
    const uint64_t items = uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
    if (items > kMaxWorkgroup)
      return badManifest(at[i], key + ".block",
                         fmt::format("at most {} work-items a workgroup", kMaxWorkgroup),
                         std::to_string(items));
    for (size_t axis = 0; axis < 3; ++axis)
      if (kernel.grid[axis].per.empty() && kernel.grid[axis].div != 1)
        return badManifest(at[i], fmt::format("{}.grid[{}].div", key, axis),
                           "1 when 'per' is empty", std::to_string(kernel.grid[axis].div));
  }
  return std::nullopt;
}

/// The workspace of the largest request count the guard admits must be a number.
std::optional<Error> checkWorkspace(const Variant &variant, Position at, const std::string &key) {
  const Workspace &workspace = variant.workspace;
  if (workspace.perRequest == 0)
    return std::nullopt;
  const Term *requests = variant.guard.find(Field::requests);
  const int64_t most = requests ? requests->values.back() : -1;
  uint64_t bytes = 0;
  if (most < 0 ||
      __builtin_mul_overflow(workspace.perRequest, static_cast<uint64_t>(most), &bytes) ||
      __builtin_add_overflow(bytes, workspace.fixed, &bytes))
    return badManifest(at, key + ".workspace",
                       "fixed + per_request * (upper bound of the guard's requests) to fit 64 bits",
                       fmt::format("fixed {}, per_request {}, upper bound {}", workspace.fixed,
                                   workspace.perRequest,
                                   requests ? std::to_string(most) : std::string("none")));
  return std::nullopt;
}

std::optional<Error> checkVariants(const Manifest &manifest, const std::vector<Position> &at) {
  std::unordered_map<std::string_view, const Kernel *> kernels;
  for (const Kernel &kernel : manifest.kernels)
    kernels.emplace(kernel.symbol, &kernel);
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < manifest.variants.size(); ++i) {
    const Variant &variant = manifest.variants[i];
    const std::string key = fmt::format("variant[{}]", i);
    if (!names.insert(variant.name).second)
      return badManifest(at[i], key + ".name", "a name of its own",
                         fmt::format("\"{}\" again", variant.name));
    if (std::optional<Error> error = checkFamily(at[i], key, variant.family))
      return error;
    const auto kernel = kernels.find(variant.symbol);
    if (kernel == kernels.end())
      return badManifest(at[i], key + ".symbol", "the symbol of a [[kernel]]",
                         fmt::format("\"{}\"", variant.symbol));
    if (kernel->second->family != variant.family)
      return badManifest(at[i], key + ".family",
                         fmt::format("the family of its kernel, \"{}\"", kernel->second->family),
                         fmt::format("\"{}\"", variant.family));
    if (std::optional<Error> error = checkWorkspace(variant, at[i], key))
      return error;
  }
  if (const auto pair = overlappingVariants(manifest.variants))
    return badManifest(at[pair->second], fmt::format("variant[{}].guard", pair->second),
                       fmt::format("a guard that shares no request with \"{}\" ({})",
                                   manifest.variants[pair->first].name,
                                   manifest.variants[pair->first].guard.text()),
                       manifest.variants[pair->second].guard.text());
  return std::nullopt;
}

} // namespace

Error badManifest(Position at, std::string_view key, std::string_view expected,
                  std::string_view found) {
  return {NVFP4RT_ERROR_BAD_MANIFEST, fmt::format("manifest:{}:{}: {}: expected {}, found {}",
                                                  at.line, at.column, key, expected, found)};
}

std::optional<Error> checkText(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return badManifest({1, 1}, "text", fmt::format("at most {} bytes", kMaxTextBytes),
                       std::to_string(text.size()));
  enum class State : uint8_t { Outside, String, Comment } state = State::Outside;
  Position at{1, 1};
  for (size_t i = 0; i < text.size(); ++i, ++at.column) {
    const char c = text[i];
    if (c == '\n') {
      state = State::Outside; // strings here end on their line; TOML reports one that does not
      at = {at.line + 1, 0};
    } else if (state == State::String) {
      if (c == '\\')
        ++i, ++at.column;
      else if (c == '"')
        state = State::Outside;
    } else if (state == State::Outside) {
      if (c == '#')
        state = State::Comment;
      else if (c == '\'' || text.substr(i).starts_with("\"\"\""))
        return badManifest(at, "text", "strings in single \" quotes",
                           c == '\'' ? "a literal string" : "a multi-line string");
      else if (c == '"')
        state = State::String;
      else if (c == '.')
        return badManifest(at, "text", "no dotted keys and no fractions", "'.'");
    }
  }
  return std::nullopt;
}

std::optional<Error> checkRules(const Manifest &manifest, const EntryPositions &positions) {
  if (std::optional<Error> error = checkKernels(manifest, positions.kernels))
    return error;
  return checkVariants(manifest, positions.variants);
}

} // namespace nvfp4rt::manifest
