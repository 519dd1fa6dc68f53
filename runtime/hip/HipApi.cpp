//===- HipApi.cpp - find and check the HIP library --------------------------===//
//
// See HipApi.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

namespace nvfp4rt {
namespace {

constexpr const char *kEnvironment = "NVFP4RT_HIP_LIBRARY";
/// Newest first: a machine may have several installed, and only the newest knows gfx950.
constexpr const char *kDefaultLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5"};

std::string dlErrorText() {
  const char *text = dlerror();
  return text ? text : "no reason given";
}

} // namespace

Result<HipApi> HipApi::load() {
  std::vector<std::string> candidates(std::begin(kDefaultLibraries), std::end(kDefaultLibraries));
  const char *named = std::getenv(kEnvironment);
  const bool fromEnvironment = named && *named;
  if (fromEnvironment)
    candidates = {named};

  HipApi api;
  void *handle = nullptr;
  std::string tried;
  for (const std::string &candidate : candidates) {
    handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      api.library = candidate;
      break;
    }
    tried += fmt::format("{}{} ({})", tried.empty() ? "" : "; ", candidate, dlErrorText());
  }
  if (!handle)
    return fail(NVFP4RT_ERROR_NO_HIP_LIBRARY,
                fmt::format("HIP library: expected one that loads{}, found none; tried {}",
                            fromEnvironment ? fmt::format(" at {}", kEnvironment) : "", tried));

  std::string missing;
  const auto find = [&](const char *name) {
    void *address = dlsym(handle, name);
    if (!address)
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    return address;
  };
#define NVFP4_HIP_FUNCTION(name, ret, params) api.name = HipFunction<ret params>(find(#name));
#include "runtime/hip/HipFunctions.def"
  if (void *address = dlsym(handle, "hipGetDevicePropertiesR0600")) {
    api.getProperties = HipFunction<int(void *, int)>(address);
    api.archNameOffset = hip::kArchNameOffsetR0600;
  } else {
    api.getProperties = HipFunction<int(void *, int)>(find("hipGetDeviceProperties"));
    api.archNameOffset = hip::kArchNameOffset;
  }
  if (!missing.empty()) {
    dlclose(handle);
    return fail(
        NVFP4RT_ERROR_NO_HIP_LIBRARY,
        fmt::format("HIP library {}: expected all functions of HIP's module API, found none "
                    "named {}",
                    api.library, missing));
  }
  return api;
}

Result<std::string> HipApi::archName(int device) const {
  std::vector<char> properties(hip::kPropertiesBytes);
  if (Result<void> ok = check(getProperties(properties.data(), device), "hipGetDeviceProperties");
      !ok)
    return tl::unexpected(std::move(ok.error()));
  const char *begin = properties.data() + archNameOffset;
  const std::string_view full(begin, strnlen(begin, hip::kArchNameBytes));
  // A layout that this runtime does not know shows as something that is no processor name.
  if (!full.starts_with("gfx"))
    return fail(
        NVFP4RT_ERROR_HIP,
        fmt::format("device {}: expected an architecture name gfx... in the properties that "
                    "{} reports, found \"{}\"",
                    device, library, full));
  return std::string(full.substr(0, full.find(':')));
}

Result<void> HipApi::check(int error, std::string_view call) const {
  if (error == hip::kSuccess)
    return {};
  const char *name = hipGetErrorName(error);
  const char *text = hipGetErrorString(error);
  return fail(error == hip::kErrorNoDevice ? NVFP4RT_ERROR_NO_DEVICE : NVFP4RT_ERROR_HIP,
              fmt::format("{}: expected success, found error {} {} ({}) from {}", call, error,
                          name ? name : "without a name", text ? text : "no text", library));
}

} // namespace nvfp4rt
