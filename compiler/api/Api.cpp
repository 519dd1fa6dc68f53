//===- Api.cpp - the C interface of the generator ---------------------------===//
//
// Checks the caller's pointers, turns results into status codes and the thread's
// last message, and lets nothing else out.
//
//===------------------------------------------------------------------------===//
#include "compiler/include/nvfp4gen.h"

#include "compiler/bundle/Build.h"

#include "llvm/Support/Signals.h"

#include <cstring>
#include <mutex>
#include <new>

using namespace nvfp4gen;

struct nvfp4gen_bundle {
  Bundle bundle;
};

namespace {

/// The calling thread's last failure. A literal when there is no memory for more.
struct LastError {
  std::string text;
  const char *literal = nullptr;
};
thread_local LastError lastError;

nvfp4gen_status fail(nvfp4gen_status status, std::string text) {
  lastError.text = std::move(text);
  lastError.literal = nullptr;
  return status;
}

/// LLVM's signal handlers are there while a build needs its temporary files removed.
class SignalScope {
public:
  SignalScope() {
    std::lock_guard lock(mutex);
    ++builds;
  }
  ~SignalScope() {
    std::lock_guard lock(mutex);
    if (--builds == 0)
      llvm::sys::unregisterHandlers();
  }

private:
  static inline std::mutex mutex;
  static inline unsigned builds = 0;
};

nvfp4gen_status failWith(nvfp4gen_status status, llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    if (info.isA<SpecError>())
      status = NVFP4GEN_ERROR_SPEC;
    if (info.convertToErrorCode() == std::errc::operation_canceled)
      status = NVFP4GEN_ERROR_CANCELLED;
    if (!text.empty())
      os << '\n';
    info.log(os);
  });
  // A spec's faults are lines of their own.
  return fail(status, llvm::StringRef(text).rtrim('\n').str());
}

/// What the caller's options ask for, in our terms.
struct Request {
  BuildOptions options;
  std::unique_ptr<Cache> cache;
};

nvfp4gen_status readOptions(const nvfp4gen_options *given, Request &request) {
  if (!given)
    return NVFP4GEN_OK;
  if (given->struct_size != sizeof(nvfp4gen_options))
    return fail(NVFP4GEN_ERROR_INVALID_ARGUMENT, "nvfp4gen_build: options.struct_size: expected " +
                                                     std::to_string(sizeof(nvfp4gen_options)) +
                                                     ", found " +
                                                     std::to_string(given->struct_size));
  if (given->reserved != 0)
    return fail(NVFP4GEN_ERROR_INVALID_ARGUMENT,
                "nvfp4gen_build: options.reserved: expected 0, found " +
                    std::to_string(given->reserved));
  if (given->jobs > kMaxJobs)
    return fail(NVFP4GEN_ERROR_INVALID_ARGUMENT, "nvfp4gen_build: options.jobs: expected at most " +
                                                     std::to_string(kMaxJobs) + ", found " +
                                                     std::to_string(given->jobs));
  if (given->cache_dir && !*given->cache_dir)
    return fail(NVFP4GEN_ERROR_INVALID_ARGUMENT,
                "nvfp4gen_build: options.cache_dir: expected a folder's name or NULL, found \"\"");
  request.options.jobs = given->jobs;
  if (given->cancelled)
    request.options.cancelled = [given] { return given->cancelled(given->user) != 0; };
  if (given->cache_dir) {
    llvm::Expected<std::unique_ptr<Cache>> cache =
        Cache::open(given->cache_dir, given->cache_bytes ? given->cache_bytes : kDefaultCacheBytes);
    if (!cache)
      return failWith(NVFP4GEN_ERROR_CACHE, cache.takeError());
    request.cache = std::move(*cache);
    request.options.cache = request.cache.get();
  }
  return NVFP4GEN_OK;
}

nvfp4gen_status build(llvm::StringRef text, llvm::StringRef name, const nvfp4gen_options *given,
                      nvfp4gen_bundle **bundle) {
  SignalScope signals;
  Request request;
  if (nvfp4gen_status status = readOptions(given, request); status != NVFP4GEN_OK)
    return status;
  llvm::Expected<Spec> spec = parseSpec(text, name);
  if (!spec)
    return failWith(NVFP4GEN_ERROR_SPEC, spec.takeError());
  llvm::Expected<VariantList> list = enumerateVariants(*spec, families());
  if (!list)
    return failWith(NVFP4GEN_ERROR_BUILD, list.takeError());
  if (given && given->progress) {
    auto total = uint32_t(list->kernels.size());
    request.options.progress = [given, total,
                                done = uint32_t(0)](const KernelReport &report) mutable {
      nvfp4gen_progress progress = {report.symbol.c_str(), ++done, total,
                                    report.origin == Origin::Compiled, report.seconds};
      given->progress(given->user, &progress);
    };
  }
  llvm::Expected<Bundle> built = buildBundle(*spec, *list, request.options);
  if (!built)
    return failWith(NVFP4GEN_ERROR_BUILD, built.takeError());
  *bundle = new nvfp4gen_bundle{std::move(*built)};
  return NVFP4GEN_OK;
}

} // namespace

extern "C" {

const char *nvfp4gen_version(void) { return NVFP4GEN_VERSION; }

const char *nvfp4gen_status_name(nvfp4gen_status status) {
  switch (status) {
#define NAME(status)                                                                               \
  case status:                                                                                     \
    return #status;
    NAME(NVFP4GEN_OK)
    NAME(NVFP4GEN_ERROR_INVALID_ARGUMENT)
    NAME(NVFP4GEN_ERROR_SPEC)
    NAME(NVFP4GEN_ERROR_BUILD)
    NAME(NVFP4GEN_ERROR_CACHE)
    NAME(NVFP4GEN_ERROR_CANCELLED)
    NAME(NVFP4GEN_ERROR_OUT_OF_MEMORY)
    NAME(NVFP4GEN_ERROR_INTERNAL)
#undef NAME
  }
  return "unknown status";
}

const char *nvfp4gen_last_error(void) {
  return lastError.literal ? lastError.literal : lastError.text.c_str();
}

nvfp4gen_status nvfp4gen_build(const char *spec, size_t size, const char *name,
                               const nvfp4gen_options *options, nvfp4gen_bundle **bundle) {
  try {
    const std::pair<const void *, const char *> pointers[] = {
        {spec, "spec"}, {name, "name"}, {bundle, "bundle"}};
    for (auto [pointer, argument] : pointers)
      if (!pointer)
        return fail(NVFP4GEN_ERROR_INVALID_ARGUMENT, std::string("nvfp4gen_build: ") + argument +
                                                         ": expected a pointer, found NULL");
    *bundle = nullptr;
    return build({spec, size}, name, options, bundle);
  } catch (const std::bad_alloc &) {
    lastError.literal = "host memory: expected enough, found none left";
    return NVFP4GEN_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    lastError.literal = "an exception that is not of memory; please report it";
    return NVFP4GEN_ERROR_INTERNAL;
  }
}

const void *nvfp4gen_bundle_data(const nvfp4gen_bundle *bundle) {
  return bundle ? bundle->bundle.bytes.data() : nullptr;
}
size_t nvfp4gen_bundle_size(const nvfp4gen_bundle *bundle) {
  return bundle ? bundle->bundle.bytes.size() : 0;
}
size_t nvfp4gen_bundle_kernels(const nvfp4gen_bundle *bundle) {
  return bundle ? bundle->bundle.kernels.size() : 0;
}
size_t nvfp4gen_bundle_compiled(const nvfp4gen_bundle *bundle) {
  return bundle ? bundle->bundle.count(Origin::Compiled) : 0;
}
void nvfp4gen_bundle_destroy(nvfp4gen_bundle *bundle) { delete bundle; }

} // extern "C"
