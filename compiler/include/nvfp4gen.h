/* nvfp4gen.h - C interface of libnvfp4gen: the text of a spec in, the bytes of a bundle out. For a
 * stack that builds what its bundle lacks at start-up, before the runtime is frozen; the bytes go
 * to nvfp4rt_bundle_open_memory. Nothing here touches a GPU.
 *
 * Errors: a function that can fail returns an nvfp4gen_status; the message of the calling thread's
 * last failure is nvfp4gen_last_error(). No exception and no abort crosses this interface: a kernel
 * that LLVM gives up on is a failed build. Memory that LLVM held at such a moment is lost.
 *
 * Threads: builds may run on several threads at once; each uses threads of its own besides. While a
 * build runs, LLVM's handlers of interrupting signals are installed in front of the process's own,
 * to which they hand on; they are removed at its end.
 */
#ifndef NVFP4GEN_H
#define NVFP4GEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NVFP4GEN_API __attribute__((visibility("default")))
#define NVFP4GEN_NODISCARD __attribute__((warn_unused_result))
#else
#define NVFP4GEN_API
#define NVFP4GEN_NODISCARD
#endif

typedef enum nvfp4gen_status {
  NVFP4GEN_OK = 0,
  NVFP4GEN_ERROR_INVALID_ARGUMENT = 1, /* a null or out-of-range argument of this interface */
  NVFP4GEN_ERROR_SPEC = 2,             /* the spec; every fault with its line and column */
  NVFP4GEN_ERROR_BUILD = 3,            /* no such variants, or a kernel that does not build */
  NVFP4GEN_ERROR_CACHE = 4,            /* the folder of the cache cannot be used */
  NVFP4GEN_ERROR_CANCELLED = 5,        /* the caller's `cancelled` said so */
  NVFP4GEN_ERROR_OUT_OF_MEMORY = 6,
  NVFP4GEN_ERROR_INTERNAL = 7
} nvfp4gen_status;

typedef struct nvfp4gen_bundle nvfp4gen_bundle; /* a finished build */

/* One kernel that is done; the symbol is borrowed for the call. */
typedef struct nvfp4gen_progress {
  const char *symbol;
  uint32_t done, total; /* kernels */
  uint32_t compiled;    /* 1, or 0 when it came from the cache */
  double seconds;
} nvfp4gen_progress;

/* Set all of it to 0, then struct_size = sizeof(nvfp4gen_options), then what is wanted. Strings are
 * borrowed for the call. */
typedef struct nvfp4gen_options {
  size_t struct_size;
  uint32_t jobs;         /* kernels built at once, at most 1024; 0 = one a core */
  uint32_t reserved;     /* 0 */
  const char *cache_dir; /* folder of the cache that nvfp4gen uses too; NULL = no cache */
  uint64_t cache_bytes;  /* size of it; 0 = 1 GiB */
  /* Called after each kernel, one call at a time, from a thread of the build. May be NULL. */
  void (*progress)(void *user, const nvfp4gen_progress *progress);
  /* Asked before each kernel, from any thread of the build; not 0 ends it. May be NULL. */
  int (*cancelled)(void *user);
  void *user; /* handed to both */
} nvfp4gen_options;

/* "major.minor.patch" of this library; static storage. Thread-safe. */
NVFP4GEN_API const char *nvfp4gen_version(void);

/* Name of a status, e.g. "NVFP4GEN_ERROR_SPEC"; static storage. Thread-safe. */
NVFP4GEN_API const char *nvfp4gen_status_name(nvfp4gen_status status);

/* Message of the last failure on the calling thread, "" if none: one line a fault of a spec
 * ("NAME:line:column: error: ..."). Borrowed: valid until the next nvfp4gen call on this thread. */
NVFP4GEN_API const char *nvfp4gen_last_error(void);

/* Build every variant of a spec: `size` bytes of TOML at `spec`, which messages call `name`.
 * `options` may be NULL. On success *bundle is owned by the caller (nvfp4gen_bundle_destroy). */
NVFP4GEN_API NVFP4GEN_NODISCARD nvfp4gen_status nvfp4gen_build(const char *spec, size_t size,
                                                               const char *name,
                                                               const nvfp4gen_options *options,
                                                               nvfp4gen_bundle **bundle);

/* The bundle's file; borrowed until it is destroyed. */
NVFP4GEN_API const void *nvfp4gen_bundle_data(const nvfp4gen_bundle *bundle);
NVFP4GEN_API size_t nvfp4gen_bundle_size(const nvfp4gen_bundle *bundle);
/* Kernels in it, and how many of them were compiled for it; the others came from the cache. */
NVFP4GEN_API size_t nvfp4gen_bundle_kernels(const nvfp4gen_bundle *bundle);
NVFP4GEN_API size_t nvfp4gen_bundle_compiled(const nvfp4gen_bundle *bundle);
/* NULL is legal. */
NVFP4GEN_API void nvfp4gen_bundle_destroy(nvfp4gen_bundle *bundle);

#ifdef __cplusplus
}
#endif
#endif /* NVFP4GEN_H */
