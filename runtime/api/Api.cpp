//===- Api.cpp - the C interface --------------------------------------------===//
//
// Checks the caller's pointers, turns results into status codes and the thread's
// last message, and lets no exception out. The work is done elsewhere.
//
//===------------------------------------------------------------------------===//
#include "runtime/include/nvfp4rt.h"

#include "runtime/plan/Plan.h"
#include "runtime/plan/Select.h"

#include <cstring>
#include <fmt/format.h>
#include <new>

using namespace nvfp4rt;

struct nvfp4rt_bundle {
  Bundle bundle;
  std::optional<HipApi> hip;                    ///< since the first load; one library a bundle
  std::vector<std::unique_ptr<Module>> modules; ///< one a device

  const Module *on(int device) const {
    for (const std::unique_ptr<Module> &module : modules)
      if (module->device() == device)
        return module.get();
    return nullptr;
  }
};

struct nvfp4rt_plan {
  Plan plan;
};

namespace {

/// The calling thread's last failure. A literal when there is no memory for more.
struct LastError {
  std::string text;
  const char *literal = nullptr;
};
thread_local LastError lastError;

nvfp4rt_status record(Error error) {
  lastError.text = std::move(error.message);
  lastError.literal = nullptr;
  return error.code;
}

nvfp4rt_status record(nvfp4rt_status code, const char *literal) {
  lastError.literal = literal;
  return code;
}

/// Run the body of an interface function, which gets the name of it for messages.
template <typename Body> nvfp4rt_status guarded(const char *function, Body body) noexcept {
  try {
    Result<void> result = body(function);
    return result ? NVFP4RT_OK : record(std::move(result.error()));
  } catch (const std::bad_alloc &) {
    return record(NVFP4RT_ERROR_OUT_OF_MEMORY, "host memory: expected enough, found none left");
  } catch (...) {
    return record(NVFP4RT_ERROR_INTERNAL, "an exception that is not of memory; please report it");
  }
}

tl::unexpected<Error> nullArgument(std::string_view function, std::string_view argument) {
  return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
              fmt::format("{}: {}: expected a pointer, found NULL", function, argument));
}

Result<void> giveBundle(Result<Bundle> opened, nvfp4rt_bundle **bundle) {
  if (!opened)
    return tl::unexpected(std::move(opened.error()));
  *bundle = new nvfp4rt_bundle{std::move(*opened), std::nullopt, {}};
  return {};
}

/// The request of a C caller.
Result<Request> readRequest(std::string_view function, const nvfp4rt_field *fields, size_t count) {
  if (!fields && count > 0)
    return nullArgument(function, "fields");
  return makeRequest({fields, count});
}

} // namespace

extern "C" {

const char *nvfp4rt_last_error(void) {
  return lastError.literal ? lastError.literal : lastError.text.c_str();
}

nvfp4rt_status nvfp4rt_bundle_open_file(const char *path, nvfp4rt_bundle **bundle) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!path)
      return nullArgument(function, "path");
    if (!bundle)
      return nullArgument(function, "bundle");
    *bundle = nullptr;
    return giveBundle(Bundle::openFile(path), bundle);
  });
}

nvfp4rt_status nvfp4rt_bundle_open_memory(const void *data, size_t size, nvfp4rt_bundle **bundle) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!data)
      return nullArgument(function, "data");
    if (!bundle)
      return nullArgument(function, "bundle");
    *bundle = nullptr;
    std::string name = fmt::format("in memory ({} bytes)", size);
    if (size > kMaxFileBytes) // refused before it is copied
      return fail(
          NVFP4RT_ERROR_BAD_ELF,
          fmt::format("bundle {}: expected at most {} bytes, found {}", name, kMaxFileBytes, size));
    const auto *bytes = static_cast<const uint8_t *>(data);
    return giveBundle(Bundle::open({bytes, bytes + size}, std::move(name)), bundle);
  });
}

void nvfp4rt_bundle_close(nvfp4rt_bundle *bundle) {
  if (!bundle)
    return;
  // Nothing can be returned, but a failure is not lost: it is the thread's last error.
  (void)guarded(__func__, [&](std::string_view) -> Result<void> {
    Result<void> result;
    for (const std::unique_ptr<Module> &module : bundle->modules)
      if (Result<void> ok = module->unload(); !ok)
        result = std::move(ok);
    return result;
  });
  delete bundle;
}

nvfp4rt_status nvfp4rt_bundle_load(nvfp4rt_bundle *bundle, int device) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (bundle->on(device))
      return {};
    if (!bundle->hip) {
      Result<HipApi> hip = HipApi::load();
      if (!hip)
        return tl::unexpected(std::move(hip.error()));
      bundle->hip = std::move(*hip);
    }
    Result<std::unique_ptr<Module>> module = Module::load(*bundle->hip, bundle->bundle, device);
    if (!module)
      return tl::unexpected(std::move(module.error()));
    bundle->modules.push_back(std::move(*module));
    return {};
  });
}

nvfp4rt_status nvfp4rt_plan_create(nvfp4rt_bundle *bundle, int device, const char *family,
                                   const nvfp4rt_field *fields, size_t count, nvfp4rt_plan **plan) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (!family)
      return nullArgument(function, "family");
    if (!plan)
      return nullArgument(function, "plan");
    *plan = nullptr;
    const Module *module = bundle->on(device);
    if (!module)
      return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                  fmt::format("bundle {}: device: expected one that nvfp4rt_bundle_load has loaded "
                              "it on, found {}",
                              bundle->bundle.name(), device));
    const Result<Request> request = readRequest(function, fields, count);
    if (!request)
      return tl::unexpected(request.error());
    const Result<const Variant *> variant = selectVariant(bundle->bundle, family, *request);
    if (!variant)
      return tl::unexpected(variant.error());
    *plan = new nvfp4rt_plan{Plan::make(bundle->bundle, *module, **variant)};
    return {};
  });
}

void nvfp4rt_plan_destroy(nvfp4rt_plan *plan) { delete plan; }

const char *nvfp4rt_plan_variant(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.variant().c_str() : "";
}

const char *nvfp4rt_plan_symbol(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.symbol().c_str() : "";
}

size_t nvfp4rt_plan_workspace_bytes(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.workspaceBytes() : 0;
}

nvfp4rt_status nvfp4rt_launch(const nvfp4rt_plan *plan, const void *args, size_t args_size,
                              void *stream) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!plan)
      return nullArgument(function, "plan");
    return plan->plan.launch(args, args_size, stream);
  });
}

nvfp4rt_status nvfp4rt_explain(const nvfp4rt_bundle *bundle, const char *family,
                               const nvfp4rt_field *fields, size_t count, char *buffer, size_t size,
                               size_t *length) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (!family)
      return nullArgument(function, "family");
    if (!buffer && size > 0)
      return nullArgument(function, "buffer");
    if (!length)
      return nullArgument(function, "length");
    const Result<Request> request = readRequest(function, fields, count);
    if (!request)
      return tl::unexpected(request.error());
    const Result<std::string> text = explainRequest(bundle->bundle, family, *request);
    if (!text)
      return tl::unexpected(text.error());
    *length = text->size();
    if (size > 0) {
      const size_t copied = std::min(text->size(), size - 1);
      std::memcpy(buffer, text->data(), copied);
      buffer[copied] = 0;
    }
    return {};
  });
}

} // extern "C"
