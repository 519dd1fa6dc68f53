//===- Interpose.cpp - what a thread asks of the C library ------------------===//
//
// See Interpose.h. Each function counts and calls the C library's own.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/Interpose.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

thread_local bool watching = false, pausing = false;
thread_local nvfp4rt::test::Calls counts{};
thread_local uint64_t failing = 0; ///< number of an allocation

void count(uint64_t nvfp4rt::test::Calls::*kind) {
  if (watching && !pausing)
    ++(counts.*kind);
}

/// Counts an allocation; true when it is to find no memory.
bool allocates() {
  count(&nvfp4rt::test::Calls::allocations);
  return watching && !pausing && failing != 0 && counts.allocations == failing;
}

/// The definition that this one stands in front of.
template <typename Function> Function *next(Function *, const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

namespace nvfp4rt::test {

void watchCalls() {
  counts = {};
  watching = true;
}

Calls stopWatching() {
  watching = false;
  return counts;
}

void failAllocation(uint64_t number) { failing = number; }

} // namespace nvfp4rt::test

void pauseWatching(bool paused) { pausing = paused; }

using nvfp4rt::test::Calls;

// dlsym() itself allocates, so the allocator is reached by glibc's other names for it.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void *malloc(size_t size) noexcept { return allocates() ? nullptr : __libc_malloc(size); }
EXPORT void *calloc(size_t number, size_t size) noexcept {
  return allocates() ? nullptr : __libc_calloc(number, size);
}
EXPORT void *realloc(void *memory, size_t size) noexcept {
  return allocates() ? nullptr : __libc_realloc(memory, size);
}
EXPORT void *memalign(size_t alignment, size_t size) noexcept {
  return allocates() ? nullptr : __libc_memalign(alignment, size);
}
EXPORT void *aligned_alloc(size_t alignment, size_t size) noexcept {
  return allocates() ? nullptr : __libc_memalign(alignment, size);
}
EXPORT int posix_memalign(void **memory, size_t alignment, size_t size) noexcept {
  if (allocates())
    return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
EXPORT void free(void *memory) noexcept {
  count(&Calls::frees);
  __libc_free(memory);
}

// NAME(kind, result, name, (parameters), (arguments)): counted, then passed on.
#define PASS_ON(kind, result, name, parameters, arguments)                                         \
  EXPORT result name parameters {                                                                  \
    static auto *real = next(static_cast<result(*) parameters>(nullptr), #name);                   \
    count(&Calls::kind);                                                                           \
    return real arguments;                                                                         \
  }

PASS_ON(opens, FILE *, fopen, (const char *path, const char *mode), (path, mode))
PASS_ON(opens, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
PASS_ON(locks, int, pthread_mutex_lock, (pthread_mutex_t * mutex) noexcept, (mutex))
PASS_ON(locks, int, pthread_mutex_trylock, (pthread_mutex_t * mutex) noexcept, (mutex))
PASS_ON(locks, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock) noexcept, (lock))
PASS_ON(locks, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock) noexcept, (lock))
PASS_ON(processes, int, execve,
        (const char *path, char *const *arguments, char *const *environment) noexcept,
        (path, arguments, environment))
PASS_ON(processes, int, posix_spawn,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
        (pid, path, actions, attributes, arguments, environment))
PASS_ON(processes, int, posix_spawnp,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
        (pid, path, actions, attributes, arguments, environment))
PASS_ON(processes, pid_t, fork, (), ())
PASS_ON(mappings, void *, mmap,
        (void *address, size_t size, int protection, int flags, int fd, off_t offset) noexcept,
        (address, size, protection, flags, fd, offset))
PASS_ON(mappings, void *, mmap64,
        (void *address, size_t size, int protection, int flags, int fd, off64_t offset) noexcept,
        (address, size, protection, flags, fd, offset))
PASS_ON(mappings, int, munmap, (void *address, size_t size) noexcept, (address, size))
PASS_ON(libraries, void *, dlopen, (const char *path, int flags) noexcept, (path, flags))
PASS_ON(environment, char *, getenv, (const char *name) noexcept, (name))

namespace {
mode_t modeOf(int flags, va_list &list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}
} // namespace

// The mode is there only when a file may be made.
#define PASS_ON_OPEN(name, parameters, ...)                                                        \
  EXPORT int name parameters {                                                                     \
    static auto *real = next(static_cast<int(*) parameters>(nullptr), #name);                      \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    const mode_t mode = modeOf(flags, list);                                                       \
    va_end(list);                                                                                  \
    count(&Calls::opens);                                                                          \
    return real(__VA_ARGS__, flags, mode);                                                         \
  }
PASS_ON_OPEN(open, (const char *path, int flags, ...), path)
PASS_ON_OPEN(open64, (const char *path, int flags, ...), path)
PASS_ON_OPEN(openat, (int directory, const char *path, int flags, ...), directory, path)
PASS_ON_OPEN(openat64, (int directory, const char *path, int flags, ...), directory, path)
