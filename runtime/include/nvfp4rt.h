/* nvfp4rt.h - C interface of libnvfp4rt: open a bundle made by nvfp4gen, pick a kernel by shape
 * guard, launch it through HIP. Nothing here compiles, and nothing allocates or locks in a launch.
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
  NVFP4RT_ERROR_INTERNAL = 15
} nvfp4rt_status;

typedef struct nvfp4rt_bundle nvfp4rt_bundle; /* an opened, verified bundle */
typedef struct nvfp4rt_plan nvfp4rt_plan;     /* one variant chosen for one shape on one device */

/* One field of a request: set `symbol` for a symbolic field ("phase" = "decode"), leave it NULL
 * and set `value` for an integer one ("requests" = 48). Both strings are borrowed for the call. */
typedef struct nvfp4rt_field {
  const char *name;
  const char *symbol;
  int64_t value;
} nvfp4rt_field;

/* "major.minor.patch" of this library; static storage. Thread-safe. */
NVFP4RT_API const char *nvfp4rt_version(void);

/* Name of a status, e.g. "NVFP4RT_ERROR_CHECKSUM"; static storage. Thread-safe. */
NVFP4RT_API const char *nvfp4rt_status_name(nvfp4rt_status status);

/* Message of the last failure on the calling thread, "" if none. Borrowed: valid until the next
 * nvfp4rt call on this thread. */
NVFP4RT_API const char *nvfp4rt_last_error(void);

/* Open and verify a bundle: ELF header and segments, architecture, ABI version, metadata note
 * against manifest, kernel-argument layouts, every checksum. No HIP call is made. On success
 * *bundle is owned by the caller (nvfp4rt_bundle_close). The memory form copies `size` bytes. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_open_file(const char *path,
                                                                      nvfp4rt_bundle **bundle);
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_open_memory(const void *data,
                                                                        size_t size,
                                                                        nvfp4rt_bundle **bundle);

/* Unload from every device and free. NULL is legal. All plans of the bundle must be destroyed
 * before, and no launch of it may be in flight. */
NVFP4RT_API void nvfp4rt_bundle_close(nvfp4rt_bundle *bundle);

/* Load every kernel of the bundle on HIP device `device` now, so that no launch loads anything.
 * The HIP library is the file named by the environment variable NVFP4RT_HIP_LIBRARY, else
 * libamdhip64.so.7, .6 or .5. Loading twice on one device is legal and does nothing. Not
 * thread-safe against other calls on the same bundle. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_bundle_load(nvfp4rt_bundle *bundle,
                                                                 int device);

/* Pick the variant of `family` whose guard matches the request (`count` fields) on a device where
 * the bundle is loaded. *plan is owned by the caller (nvfp4rt_plan_destroy) and borrows the bundle.
 * A request that no guard matches is NVFP4RT_ERROR_NO_MATCH; the message names the nearest variant,
 * its first failed field and both values. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_plan_create(nvfp4rt_bundle *bundle, int device,
                                                                 const char *family,
                                                                 const nvfp4rt_field *fields,
                                                                 size_t count, nvfp4rt_plan **plan);
NVFP4RT_API void nvfp4rt_plan_destroy(nvfp4rt_plan *plan);

/* Name of the chosen variant and of its kernel symbol; borrowed from the plan. */
NVFP4RT_API const char *nvfp4rt_plan_variant(const nvfp4rt_plan *plan);
NVFP4RT_API const char *nvfp4rt_plan_symbol(const nvfp4rt_plan *plan);

/* Bytes of device workspace that a launch needs; the workspace belongs to the caller (rule G7). */
NVFP4RT_API size_t nvfp4rt_plan_workspace_bytes(const nvfp4rt_plan *plan);

/* Launch on `stream` (a hipStream_t, NULL = the null stream). `args` points to the family's struct
 * and `args_size` is its sizeof. Takes no lock, allocates nothing, legal while capturing (G6).
 * Thread-safe: one plan may be launched from several threads. The device of the plan must be
 * current on the calling thread. */
NVFP4RT_API NVFP4RT_NODISCARD nvfp4rt_status nvfp4rt_launch(const nvfp4rt_plan *plan,
                                                            const void *args, size_t args_size,
                                                            void *stream);

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
