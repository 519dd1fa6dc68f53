//===- Requests.h - the requests that a guard is tried with -----------------===//
//
// Owns: sampling a guard at its corners, and the row counts of a request.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_REQUESTS_H
#define NVFP4GEN_TOOLS_VERIFY_REQUESTS_H

#include "runtime/guard/Guard.h"

#include <cstdint>
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

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_REQUESTS_H
