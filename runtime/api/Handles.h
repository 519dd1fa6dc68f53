//===- Handles.h - what the opaque types of the C interface are -------------===//
//
// A bundle owns everything: its modules, and from freezing on the plan of every
// variant on every loaded device. Plans are handed out, not made; a count of each
// keeps the bundle from being closed under its users.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_API_HANDLES_H
#define NVFP4_RUNTIME_API_HANDLES_H

#include "runtime/plan/Index.h"
#include "runtime/plan/Plan.h"

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

/// Aligned so that threads that use different plans share no cache line.
struct alignas(64) nvfp4rt_plan {
  explicit nvfp4rt_plan(nvfp4rt::Plan made) : plan(std::move(made)) {}
  const nvfp4rt::Plan plan;
  std::atomic<uint32_t> live = 0; ///< handed out and not destroyed
};

/// What freezing adds to a bundle; does not change afterwards, but for the counts.
struct Frozen {
  explicit Frozen(const std::vector<nvfp4rt::Variant> &variants) : index(variants) {}
  nvfp4rt::Index index;
  std::vector<int> devices;
  /// Of devices[i] the plan of variant v is plans[i * variants + v]; a plan cannot be moved.
  std::deque<nvfp4rt_plan> plans;
};

struct nvfp4rt_bundle {
  nvfp4rt::Bundle bundle;
  nvfp4rt::Settings settings;
  // NOLINTBEGIN(readability-redundant-member-init): designated initializers leave these out.
  std::optional<nvfp4rt::HipApi> hip{};                    ///< since the first load
  std::vector<std::unique_ptr<nvfp4rt::Module>> modules{}; ///< one a device
  std::unique_ptr<Frozen> frozen{};
  // NOLINTEND(readability-redundant-member-init)
  std::atomic<uint32_t> selectors = 0;
};

struct nvfp4rt_selector {
  nvfp4rt_bundle *bundle;
  const nvfp4rt::FamilyIndex *family;
  nvfp4rt::Request request; ///< the fields that stay; the others have no value
  nvfp4rt::FamilyIndex::Narrowed narrowed;
};

#endif // NVFP4_RUNTIME_API_HANDLES_H
