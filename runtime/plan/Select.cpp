//===- Select.cpp - which variant serves a request --------------------------===//
//
// See Select.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Select.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace nvfp4rt {
namespace {

tl::unexpected<Error> noFamily(const Bundle &bundle, std::string_view family) {
  std::set<std::string_view> known;
  for (const Variant &variant : bundle.manifest().variants)
    known.insert(variant.family);
  std::string names;
  for (std::string_view name : known)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return fail(NVFP4RT_ERROR_NO_MATCH, fmt::format("bundle {}: family: expected one of {}, found {}",
                                                  bundle.name(), names, family));
}

/// How far a request is from the term that refused it; 0 is the closest.
uint64_t distance(const Mismatch &miss) {
  if (!miss.term || !miss.value)
    return std::numeric_limits<uint64_t>::max();
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (int64_t bound : miss.term->values) {
    const auto a = static_cast<uint64_t>(bound), b = static_cast<uint64_t>(*miss.value);
    least = std::min(least, bound > *miss.value ? a - b : b - a);
  }
  return least;
}

std::string explanation(const Variant &variant, const std::optional<Mismatch> &miss) {
  return fmt::format("{}: {}\n", variant.name, miss ? miss->text() : "match");
}

/// Walks the variants of a family.
template <typename Callback>
bool forEachOf(const Bundle &bundle, std::string_view family, Callback callback) {
  bool any = false;
  for (const Variant &variant : bundle.manifest().variants)
    if (variant.family == family) {
      any = true;
      callback(variant);
    }
  return any;
}

/// The request names a field that no guard has, or lacks one that every guard has: no shape would
/// help, the request itself is wrong.
std::optional<std::string> unknownField(const Bundle &bundle, std::string_view family,
                                        const Request &request) {
  for (size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    bool some = false, all = true;
    forEachOf(bundle, family, [&](const Variant &variant) {
      const bool has = variant.guard.find(field) != nullptr;
      some |= has;
      all &= has;
    });
    const bool given = request.get(field).has_value();
    if (given && !some)
      return fmt::format("expected fields that its guards know, found {}", fieldName(field));
    if (!given && all)
      return fmt::format("expected a value of {}, found none", fieldName(field));
  }
  return std::nullopt;
}

} // namespace

std::optional<Error> wrongFields(const Bundle &bundle, std::string_view family,
                                 const Request &request) {
  const auto &variants = bundle.manifest().variants;
  if (std::ranges::find(variants, family, &Variant::family) == variants.end())
    return noFamily(bundle, family).value();
  if (const std::optional<std::string> text = unknownField(bundle, family, request))
    return Error{NVFP4RT_ERROR_UNKNOWN_FIELD,
                 fmt::format("bundle {}: family {}: {} (request: {})", bundle.name(), family, *text,
                             request.text())};
  return std::nullopt;
}

void Nearest::consider(std::string_view variant, const Mismatch &miss) {
  if (!variant_.empty() && (miss.passed < miss_.passed ||
                            (miss.passed == miss_.passed && distance(miss) >= distance(miss_))))
    return;
  variant_ = variant;
  miss_ = miss;
}

std::string Nearest::text() const {
  return fmt::format("nearest is {}: {}", variant_, miss_.text());
}

Error whyNone(const Bundle &bundle, std::string_view family, const Request &request) {
  if (std::optional<Error> error = wrongFields(bundle, family, request))
    return std::move(*error);
  Nearest nearest; // the family has a variant, and none of its guards holds
  std::string lines;
  forEachOf(bundle, family, [&](const Variant &variant) {
    const std::optional<Mismatch> miss = mismatch(variant.guard, request);
    lines += explanation(variant, miss);
    if (miss)
      nearest.consider(variant.name, *miss);
  });
  return {NVFP4RT_ERROR_NO_MATCH,
          fmt::format("bundle {}: family {}: no variant serves the request ({}); {}; of all:\n{}",
                      bundle.name(), family, request.text(), nearest.text(), lines)};
}

Result<const Variant *> selectVariant(const Bundle &bundle, std::string_view family,
                                      const Request &request) {
  const Variant *match = nullptr;
  forEachOf(bundle, family, [&](const Variant &variant) {
    if (!match && !mismatch(variant.guard, request))
      match = &variant;
  });
  if (!match)
    return tl::unexpected(whyNone(bundle, family, request));
  return match;
}

Result<std::string> explainRequest(const Bundle &bundle, std::string_view family,
                                   const Request &request) {
  std::string text;
  const bool known = forEachOf(bundle, family, [&](const Variant &variant) {
    text += explanation(variant, mismatch(variant.guard, request));
  });
  if (!known)
    return noFamily(bundle, family);
  return text;
}

} // namespace nvfp4rt
