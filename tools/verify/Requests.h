//===- Requests.h - the requests that a guard is tried with -----------------===//
//
// Owns: sampling a guard at its corners, the fields and row counts of a request,
// and the variant of another family that serves the same step.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_REQUESTS_H
#define NVFP4GEN_TOOLS_VERIFY_REQUESTS_H

#include "runtime/bundle/Manifest.h"
#include "runtime/guard/Guard.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace verify {

/// Every combination of the terms' corner values: the value of an Equal, each of a OneOf, both ends
/// of a Range. Each result matches the guard.
std::vector<nvfp4rt::Request> cornerRequests(const nvfp4rt::Guard &guard);

/// Rows of a launch for a request: requests * query_len; where query_len is 0 (ragged prefill)
/// 3 * requests + 1, so that rows is no multiple of anything (S5). 0 without the two fields.
int64_t rowsOf(const nvfp4rt::Request &request);

/// Most rows of a launch for a request: as above, but a ragged prefill may have any number, taken
/// to be 4096.
int64_t mostRowsOf(const nvfp4rt::Request &request);

/// The value of a field that the oracle needs; its absence is an error that names it.
nvfp4rt::Result<int64_t> needField(const nvfp4rt::Request &request, nvfp4rt::Field field);
/// `field` must be nvfp4, the format that the oracle knows.
nvfp4rt::Result<void> needNvfp4(const nvfp4rt::Request &request, nvfp4rt::Field field);

/// A variant of another family, and the request that it serves.
struct Sibling {
  const nvfp4rt::Variant *variant = nullptr;
  nvfp4rt::Request request;
};
/// The first variant of `family` that agrees with `request` in every field that its guard shares
/// with it; a field of the guard alone takes its first value.
std::optional<Sibling> findSibling(const nvfp4rt::Manifest &manifest, std::string_view family,
                                   const nvfp4rt::Request &request);

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_REQUESTS_H
