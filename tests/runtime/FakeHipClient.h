//===- FakeHipClient.h - a test's side of the fake HIP library --------------===//
//
// Points the runtime at a HIP library for the length of a scope.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_TESTS_RUNTIME_FAKEHIPCLIENT_H
#define NVFP4_TESTS_RUNTIME_FAKEHIPCLIENT_H

#include "tests/runtime/FakeHip.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace nvfp4rt::test {

/// Sets NVFP4RT_HIP_LIBRARY, and puts back what was there.
class HipLibrary {
public:
  explicit HipLibrary(const char *path) {
    if (const char *old = std::getenv(kVariable))
      before = old, had = true;
    setenv(kVariable, path, 1);
  }
  ~HipLibrary() {
    if (had)
      setenv(kVariable, before.c_str(), 1);
    else
      unsetenv(kVariable);
  }
  HipLibrary(const HipLibrary &) = delete;
  HipLibrary &operator=(const HipLibrary &) = delete;

private:
  static constexpr const char *kVariable = "NVFP4RT_HIP_LIBRARY";
  std::string before;
  bool had = false;
};

/// A fake library, its state fresh.
class FakeHip : public HipLibrary {
public:
  explicit FakeHip(const char *path = FAKE_HIP_R0600_PATH) : HipLibrary(path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    if (!handle)
      return;
    // The library stays loaded, as a HIP library does; the runtime gets the same copy of it.
    state = reinterpret_cast<FakeHipState *(*)()>(dlsym(handle, kFakeHipState))();
    *state = {};
  }
  FakeHipState *operator->() const { return state; }

private:
  FakeHipState *state = nullptr;
};

} // namespace nvfp4rt::test

#endif // NVFP4_TESTS_RUNTIME_FAKEHIPCLIENT_H
