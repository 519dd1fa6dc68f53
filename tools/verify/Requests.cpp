//===- Requests.cpp - the requests that a guard is tried with ---------------===//
//
// Owns: what Requests.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Requests.h"

#include <algorithm>

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

} // namespace verify
