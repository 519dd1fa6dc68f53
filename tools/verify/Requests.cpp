//===- Requests.cpp - the requests that a guard is tried with ---------------===//
//
// Owns: what Requests.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Requests.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify {

std::vector<nvfp4rt::Request> cornerRequests(const nvfp4rt::Guard &guard) {
  std::vector<nvfp4rt::Request> requests(1);
  for (const nvfp4rt::Term &term : guard.terms) {
    std::vector<int64_t> values = term.values;
    if (term.relation == nvfp4rt::Relation::Range && values[0] == values[1])
      values.pop_back();
    std::vector<nvfp4rt::Request> next;
    for (const nvfp4rt::Request &request : requests)
      for (int64_t value : values) {
        next.push_back(request);
        next.back().set(term.field, value);
      }
    requests = std::move(next);
  }
  return requests;
}

int64_t rowsOf(const nvfp4rt::Request &request) {
  auto count = request.get(nvfp4rt::Field::requests);
  auto queryLen = request.get(nvfp4rt::Field::query_len);
  if (!count || !queryLen)
    return 0;
  return *queryLen == 0 ? 3 * *count + 1 : *count * *queryLen;
}

int64_t mostRowsOf(const nvfp4rt::Request &request) {
  const bool ragged = request.get(nvfp4rt::Field::query_len) == 0;
  return std::max(rowsOf(request), ragged ? int64_t{4096} : int64_t{0});
}

nvfp4rt::Result<int64_t> needField(const nvfp4rt::Request &request, nvfp4rt::Field field) {
  if (auto value = request.get(field))
    return *value;
  return nvfp4rt::fail(NVFP4RT_ERROR_UNKNOWN_FIELD,
                       fmt::format("guard: expected a term on {}, which the oracle needs; found {}",
                                   nvfp4rt::fieldName(field), request.text()));
}

nvfp4rt::Result<void> needNvfp4(const nvfp4rt::Request &request, nvfp4rt::Field field) {
  auto value = needField(request, field);
  if (!value)
    return tl::unexpected(std::move(value.error()));
  if (nvfp4rt::valueText(field, *value) != "nvfp4")
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("{}: expected nvfp4, the format that the oracle knows; found {}",
                    nvfp4rt::fieldName(field), nvfp4rt::valueText(field, *value)));
  return {};
}

std::optional<Sibling> findSibling(const nvfp4rt::Manifest &manifest, std::string_view family,
                                   const nvfp4rt::Request &request) {
  for (const nvfp4rt::Variant &variant : manifest.variants) {
    if (variant.family != family)
      continue;
    Sibling sibling{&variant, {}};
    bool serves = true;
    for (const nvfp4rt::Term &term : variant.guard.terms) {
      const int64_t value = request.get(term.field).value_or(term.values[0]);
      serves = serves && term.holds(value);
      sibling.request.set(term.field, value);
    }
    if (serves)
      return sibling;
  }
  return std::nullopt;
}

} // namespace verify
