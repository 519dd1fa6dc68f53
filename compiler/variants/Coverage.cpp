//===- Coverage.cpp - every step a spec allows has exactly one variant ------===//
//
// Owns the proof of G2: requests are made from the spec, never from the cells
// that the guards were made from, and put to every guard of the family.
//
//===------------------------------------------------------------------------===//
#include "compiler/variants/Coverage.h"

#include "compiler/variants/Variants.h"

#include <fmt/format.h>
#include <set>

namespace nvfp4gen {
namespace {

using nvfp4rt::Field;
using nvfp4rt::Request;
using nvfp4rt::Variant;

template <typename... Args>
llvm::Error coverageError(fmt::format_string<Args...> format, Args &&...args) {
  return llvm::createStringError(std::errc::invalid_argument, "%s",
                                 fmt::format(format, std::forward<Args>(args)...).c_str());
}

/// A caller gives one request for the whole family, so all its guards ask for the same fields.
llvm::Error checkSameFields(std::span<const Variant> variants) {
  const Variant &first = variants.front();
  for (const Variant &other : variants.subspan(1)) {
    for (const auto &[has, lacks] : {std::pair(&first, &other), std::pair(&other, &first)})
      for (const nvfp4rt::Term &term : has->guard.terms)
        if (!lacks->guard.find(term.field))
          return coverageError("family {}: the guard of {} has the field {}, the guard of {} has "
                               "not (G1)",
                               first.family, has->name, nvfp4rt::fieldName(term.field),
                               lacks->name);
  }
  return llvm::Error::success();
}

/// A guard holds or fails alike for all request counts between two neighbours of this set, so one
/// count of each interval stands for all: every value in a term, and the one after it.
std::set<int64_t> intervalStarts(std::span<const Variant> variants, int64_t maxRequests) {
  std::set<int64_t> starts = {1};
  for (const Variant &variant : variants)
    if (const nvfp4rt::Term *term = variant.guard.find(Field::requests))
      for (int64_t value : term->values) {
        if (value >= 1 && value <= maxRequests)
          starts.insert(value);
        if (value >= 1 && value < maxRequests)
          starts.insert(value + 1);
      }
  return starts;
}

/// The request that a caller of the family makes: every field of its guards.
Request configRequest(const Spec &spec, const Variant &variant) {
  Request request;
  for (const nvfp4rt::Term &term : variant.guard.terms)
    if (std::optional<int64_t> value = configValue(spec, term.field))
      request.set(term.field, *value);
  return request;
}

llvm::Error checkCount(std::span<const Variant> variants, const Request &request,
                       std::string_view step) {
  const Variant *match = nullptr;
  const Variant *nearest = nullptr;
  std::optional<nvfp4rt::Mismatch> nearestFault;
  for (const Variant &variant : variants) {
    std::optional<nvfp4rt::Mismatch> fault = nvfp4rt::mismatch(variant.guard, request);
    if (!fault) {
      if (match)
        return coverageError("family {}: {} is served by {} and by {} (G2)", variant.family, step,
                             match->name, variant.name);
      match = &variant;
    } else if (!nearest || fault->passed > nearestFault->passed) {
      nearest = &variant;
      nearestFault = std::move(fault);
    }
  }
  if (match)
    return llvm::Error::success();
  return coverageError("family {}: {} has no variant (G2); nearest is {}: {}", nearest->family,
                       step, nearest->name, nearestFault->text());
}

/// Query lengths of a phase; prefill is ragged, which is length 0.
std::vector<int64_t> queryLens(const Spec &spec, Phase phase) {
  if (phase == Phase::Prefill)
    return {0};
  std::vector<int64_t> lens;
  for (int64_t len : spec.serving.queryLens)
    if ((len == 1) == (phase == Phase::Decode))
      lens.push_back(len);
  return lens;
}

} // namespace

llvm::Error checkCoverage(const Spec &spec, std::span<const Variant> variants) {
  if (llvm::Error error = checkSameFields(variants))
    return error;
  int64_t maxRequests = spec.serving.requestBuckets.back();
  std::set<int64_t> starts = intervalStarts(variants, maxRequests);
  Request request = configRequest(spec, variants.front());
  for (Phase phase : spec.serving.phases) {
    request.set(Field::phase, static_cast<int64_t>(phase));
    for (int64_t queryLen : queryLens(spec, phase)) {
      request.set(Field::query_len, queryLen);
      for (int64_t requests : starts) {
        request.set(Field::requests, requests);
        std::string step = fmt::format("{} q{} with requests = {}",
                                       nvfp4rt::valueText(Field::phase, *request.get(Field::phase)),
                                       queryLen, requests);
        if (llvm::Error error = checkCount(variants, request, step))
          return error;
      }
    }
  }
  return llvm::Error::success();
}

} // namespace nvfp4gen
