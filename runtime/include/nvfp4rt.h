/* nvfp4rt.h - C interface of libnvfp4rt: open a bundle made by nvfp4gen, pick a kernel by shape
 * guard, launch it through HIP. Nothing here compiles.
 *
 * Life of a bundle:
 *   nvfp4rt_bundle_open_file or _memory    verified, no HIP call
 *   nvfp4rt_bundle_load                    once a device: every kernel, now
 *   nvfp4rt_bundle_freeze                  plans of every variant on every device, and their index
 *   nvfp4rt_plan_create or nvfp4rt_selector_plan, nvfp4rt_launch, nvfp4rt_plan_destroy
 *   nvfp4rt_bundle_close
 * One thread opens, loads, freezes and closes. A frozen bundle does not change any more: every
 * other function may be called on it, its plans and its selectors from any number of threads at
 * once. From then on looking up plans and launching them allocates nothing, takes no lock, opens no
 * file, loads nothing and makes no HIP call but the launch, as long as it succeeds: only the
 * message of a failure takes memory.
 *
 * The environment is read when a bundle is opened; empty is unset, and a value that is not named
 * here is NVFP4RT_ERROR_ENVIRONMENT:
 *   NVFP4RT_CHECK   1, on, true: every launch checks pointers, alignment, strides and counts of its
 *                   argument struct against its plan (NVFP4RT_ERROR_INVALID_ARGUMENT). Costs
 *                   nothing when it is 0, off or false.
 *   NVFP4RT_LOG     error, warn, info or debug: what goes to stderr
 *
 * Errors: every function that can fail returns an nvfp4rt_status; the message of the calling
 * thread's last failure (what, where, expected, found) is nvfp4rt_last_error(). No exception and
 * no abort crosses this interface.
 */
#ifndef NVFP4RT_H
#define NVFP4RT_H

#include <stddef.h>
#include <stdint.h>

#include "nvfp4rt_args.h"
#include "nvfp4rt_version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NVFP4RT_API __attribute__((visibility("default")))
#define NVFP4RT_NODISCARD __attribute__((warn_unused_result))
#else
#define NVFP4RT_API
#define NVFP4RT_NODISCARD
#endif

typedef enum nvfp4rt_status {
  NVFP4RT_OK = 0,
  NVFP4RT_ERROR_INVALID_ARGUMENT = 1, /* a null or out-of-range argument of this interface */
  NVFP4RT_ERROR_IO = 2,               /* a file could not be read */
  NVFP4RT_ERROR_BAD_ELF = 3,          /* not a well-formed code object */
  NVFP4RT_ERROR_BAD_MANIFEST = 4,     /* manifest missing, malformed or inconsistent with the ELF */
  NVFP4RT_ERROR_VERSION = 5,          /* bundle format or code object version not supported */
  NVFP4RT_ERROR_WRONG_ARCH = 6,    /* bundle and device (or this runtime) differ in architecture */
  NVFP4RT_ERROR_CHECKSUM = 7,      /* a SHA-256 does not match */
  NVFP4RT_ERROR_ARGS_LAYOUT = 8,   /* kernel-argument layout differs from this runtime's */
  NVFP4RT_ERROR_UNKNOWN_FIELD = 9, /* a request names a field that no guard knows, or lacks one */
  NVFP4RT_ERROR_NO_MATCH = 10,     /* no variant of the family serves the request (rule G4) */
  NVFP4RT_ERROR_NO_HIP_LIBRARY = 11, /* no HIP library, or it lacks a function */
  NVFP4RT_ERROR_NO_DEVICE = 12,      /* HIP reports no such device */
  NVFP4RT_ERROR_HIP = 13,            /* a HIP call failed; the message has its name and code */
  NVFP4RT_ERROR_OUT_OF_MEMORY = 14,
  NVFP4RT_ERROR_INTERNAL = 15,
  NVFP4RT_ERROR_FROZEN = 16,     /* the bundle is frozen: nothing can be loaded any more */
  NVFP4RT_ERROR_NOT_FROZEN = 17, /* the bundle has to be frozen first */
  NVFP4RT_ERROR_IN_USE = 18,     /* plans or selectors of the bundle are alive */
  NVFP4RT_ERROR_ENVIRONMENT = 19 /* an environment variable has a value that it cannot have */
} nvfp4rt_status;

typedef struct nvfp4rt_bundle nvfp4rt_bundle;     /* an opened, verified bundle */
typedef struct nvfp4rt_plan nvfp4rt_plan;         /* one variant on one device, ready to launch */
typedef struct nvfp4rt_selector nvfp4rt_selector; /* a request prepared for many look-ups */

/* One field of a request: set `symbol` for a symbolic field ("phase" = "decode"), leave it NULL
 * and set `value` for an integer one ("requests" = 48). Both strings are borrowed for the call. */
typedef struct nvfp4rt_field {
  const char *name;
  const char *symbol;
  int64_t value;
} nvfp4rt_field;

/* "major.minor.patch" of this library; static storage. Thread-safe. */
NVFP4RT_API const char *nvfp4rt_version(void);

/* NVFP4RT_VERSION_NUMBER of this library. Thread-safe. */
NVFP4RT_API uint32_t nvfp4rt_version_number(void);

/* Name of a status, e.g. "NVFP4RT_ERROR_CHECKSUM"; static storage. Thread-safe. */
NVFP4RT_API const char *nvfp4rt_status_name(nvfp4rt_status status);

/* Message of the last failure on the calling thread, "" if none. Borrowed: valid until the next
 * nvfp4rt call on this thread. */
NVFP4RT_API const char *nvfp4rt_last_error(void);

/* Open and verify a bundle: ELF header and segments, architecture, ABI version, metadata note
 * against manifest, kernel-argument layouts, every checksum. No HIP call is made. On success
 * *bundle is owned by the caller (nvfp4rt_bundle_close). The memory form copies `size` bytes. The
 * path may also be a folder with the *.hsaco files that `nvfp4gen extract` took out of one bundle,
 * all or some of them. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_open_file(const char *path,
                                                                      nvfp4rt_bundle **bundle);
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_open_memory(const void *data,
                                                                        size_t size,
                                                                        nvfp4rt_bundle **bundle);

/* Load every kernel of the bundle on HIP device `device` now, so that no launch loads anything.
 * The HIP library is the file named by the environment variable NVFP4RT_HIP_LIBRARY, else
 * libamdhip64.so.7, .6 or .5. Loading twice on one device is legal and does nothing; loading after
 * nvfp4rt_bundle_freeze is NVFP4RT_ERROR_FROZEN. After an error the bundle is as before the call.
 */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_load(nvfp4rt_bundle *bundle,
                                                                 int device);

/* Make the plan of every variant on every loaded device, and the index that finds them. The bundle
 * has to be loaded on a device at least (NVFP4RT_ERROR_NO_DEVICE). Freezing twice is legal and does
 * nothing. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_freeze(nvfp4rt_bundle *bundle);

/* Unload from every device and free; NULL is legal. While a plan or a selector of the bundle is
 * alive it is NVFP4RT_ERROR_IN_USE, and the bundle stays as it is. No launch may be in flight and
 * no other thread may be in a call on the bundle. Any other error is a failure of HIP to unload:
 * the bundle is gone all the same. */
NVFP4RT_API nvfp4rt_status nvfp4rt_bundle_close(nvfp4rt_bundle *bundle);

/* Pick the variant of `family` whose guard matches the request (`count` fields) on a device where
 * the frozen bundle is loaded. *plan belongs to the bundle; it counts as alive until
 * nvfp4rt_plan_destroy has been called as often as it has been handed out. A request that no guard
 * matches is NVFP4RT_ERROR_NO_MATCH; the message lists every variant of the family with its first
 * failed field and both values. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_plan_create(nvfp4rt_bundle *bundle, int device,
                                                                 const char *family,
                                                                 const nvfp4rt_field *fields,
                                                                 size_t count, nvfp4rt_plan **plan);
NVFP4RT_API void nvfp4rt_plan_destroy(nvfp4rt_plan *plan);

/* A request whose names are resolved once. `fields` are those that stay (heads, page size, ...),
 * `names` those that change from step to step, such as "phase", "query_len" and "requests". It
 * serves every device of the frozen bundle, and keeps the bundle from being closed. Make selectors
 * at start-up: this allocates. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_selector_create(
    nvfp4rt_bundle *bundle, const char *family, const nvfp4rt_field *fields, size_t count,
    const char *const *names, size_t name_count, nvfp4rt_selector **selector);
NVFP4RT_API void nvfp4rt_selector_destroy(nvfp4rt_selector *selector);

/* nvfp4rt_plan_create with a prepared request: `values` has one value for each of the selector's
 * names, in their order. Those of symbolic fields come from nvfp4rt_symbol_value. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_selector_plan(const nvfp4rt_selector *selector,
                                                                   int device,
                                                                   const int64_t *values,
                                                                   nvfp4rt_plan **plan);

/* The value of a symbol of a symbolic field: ("phase", "decode") is 0. The same in every bundle of
 * this library's version. Thread-safe. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_symbol_value(const char *field,
                                                                  const char *symbol,
                                                                  int64_t *value);

/* Name of the plan's variant and of its kernel symbol; borrowed from the bundle. */
NVFP4RT_API const char *nvfp4rt_plan_variant(const nvfp4rt_plan *plan);
NVFP4RT_API const char *nvfp4rt_plan_symbol(const nvfp4rt_plan *plan);

/* Bytes of device workspace that a launch needs; the workspace belongs to the caller (rule G7). */
NVFP4RT_API size_t nvfp4rt_plan_workspace_bytes(const nvfp4rt_plan *plan);

/* Launch on `stream` (a hipStream_t, NULL = the null stream). `args` points to the family's struct
 * of nvfp4rt_args.h, whose struct_size is checked (NVFP4RT_ERROR_ARGS_LAYOUT). Legal while
 * capturing (G6). One plan may be launched from several threads. The device of the plan must be
 * current on the calling thread. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_launch(const nvfp4rt_plan *plan,
                                                            const void *args, void *stream);

/* Explain a request: one line per variant of the family, "match" or the first failed field with
 * both values. Writes at most `size` bytes with a terminating NUL and the full length without it
 * to *length; call with size 0 to ask for the length. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_explain(const nvfp4rt_bundle *bundle,
                                                             const char *family,
                                                             const nvfp4rt_field *fields,
                                                             size_t count, char *buffer,
                                                             size_t size, size_t *length);

#ifdef __cplusplus
}
#endif
#endif /* NVFP4RT_H */
