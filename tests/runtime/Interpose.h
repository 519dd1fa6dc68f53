//===- Interpose.h - what a thread asks of the C library --------------------===//
//
// The executable that holds Interpose.cpp defines malloc, open, pthread_mutex_lock
// and so on in the place of the C library's, for itself and for every library that
// it loads, and counts the calls of a thread that is watched.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_TESTS_RUNTIME_INTERPOSE_H
#define NVFP4_TESTS_RUNTIME_INTERPOSE_H

#include <cstdint>
#include <string>

namespace nvfp4rt::test {

struct Calls {
  uint64_t allocations, frees, opens, locks, processes, mappings, libraries, environment;
  uint64_t total() const {
    return allocations + frees + opens + locks + processes + mappings + libraries + environment;
  }
};

/// Count from none, on this thread.
void watchCalls();
/// Stop counting; what was counted.
Calls stopWatching();

/// Let the allocation with this number, counted from watchCalls() on, find no memory; 0 for none.
void failAllocation(uint64_t number);

} // namespace nvfp4rt::test

/// Do not count on this thread while `paused`: for what a HIP library does inside a call.
extern "C" __attribute__((visibility("default"))) void pauseWatching(bool paused);

#endif // NVFP4_TESTS_RUNTIME_INTERPOSE_H
