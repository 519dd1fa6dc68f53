/// nvfp4rt.hpp - C++17 over nvfp4rt.h, header only, no other dependency.
///
///   nvfp4::Bundle bundle = nvfp4::Bundle::open_file("model.hsaco");
///   bundle.load(device);
///   bundle.freeze();
///   nvfp4::Plan plan = bundle.plan<nvfp4rt_topk_args>(
///       {{"phase", "decode"}, {"query_len", 1}, {"requests", 48}, ...}, device);
///   nvfp4rt_topk_args args{}; // its size, and zeros
///   args.rows = 48; ...
///   plan.launch(args, stream);
///
/// What it adds to the C interface:
///  - Errors are exceptions (nvfp4::Error): constructors and factories can then only return what
///    works, and a serving stack's C++ boundary turns std::exception into its own errors already.
///    Launches throw on failure only; who compiles without exceptions uses the C interface.
///  - Plans and selectors know their family by its argument struct: a plan launched with another
///    family's arguments does not compile.
///  - Owners close what they own. Plans and selectors keep their bundle loaded, so the order of
///    destruction does not matter.
///
/// Thread-safety, lifetimes and errors are otherwise those of nvfp4rt.h. The namespace is not
/// nvfp4rt, because that one is the library's inside and a static link would mix the two.
#ifndef NVFP4RT_HPP
#define NVFP4RT_HPP

#include "nvfp4rt.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nvfp4 {

/// A call of the C interface that failed. what() is "STATUS_NAME: message".
class Error : public std::runtime_error {
public:
  Error(nvfp4rt_status status, const std::string &message)
      : std::runtime_error(std::string(nvfp4rt_status_name(status)) + ": " + message),
        status_(status) {}
  nvfp4rt_status status() const noexcept { return status_; }

private:
  nvfp4rt_status status_;
};

/// Throws the calling thread's last error unless `status` is NVFP4RT_OK.
inline void check(nvfp4rt_status status) {
  if (status != NVFP4RT_OK)
    throw Error(status, nvfp4rt_last_error());
}

/// The family whose argument struct `Args` is; undefined for every other type.
template <typename Args> struct Family;
#define NVFP4RT_FAMILY(family)                                                                     \
  template <> struct Family<nvfp4rt_##family##_args> {                                             \
    static constexpr const char *name = #family;                                                   \
  };
NVFP4RT_FAMILY(kv_store)
NVFP4RT_FAMILY(qk_norm_rope_store)
NVFP4RT_FAMILY(step_map)
NVFP4RT_FAMILY(index_score)
NVFP4RT_FAMILY(topk)
NVFP4RT_FAMILY(index_topk)
NVFP4RT_FAMILY(index_topk_merge)
NVFP4RT_FAMILY(sparse_attention)
NVFP4RT_FAMILY(sparse_attention_merge)
#undef NVFP4RT_FAMILY

/// One field of a request: {"phase", "decode"} or {"requests", 48}. Both strings are borrowed.
struct Field {
  nvfp4rt_field field;
  Field(const char *name, const char *symbol) : field{name, symbol, 0} {}
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  Field(const char *name, Integer value) : field{name, nullptr, static_cast<std::int64_t>(value)} {}
};

/// The fields of a request. `a + b` is both.
class Fields {
public:
  Fields() = default;
  Fields(std::initializer_list<Field> list) {
    for (const Field &item : list)
      fields.push_back(item.field);
  }
  friend Fields operator+(Fields left, const Fields &right) {
    left.fields.insert(left.fields.end(), right.fields.begin(), right.fields.end());
    return left;
  }
  const nvfp4rt_field *data() const noexcept { return fields.data(); }
  std::size_t size() const noexcept { return fields.size(); }

private:
  std::vector<nvfp4rt_field> fields;
};

/// The value of a symbol, for Selector::plan: symbol("phase", "decode").
inline std::int64_t symbol(const char *field, const char *name) {
  std::int64_t value = 0;
  check(nvfp4rt_symbol_value(field, name, &value));
  return value;
}

namespace detail {

/// An open bundle; the last of Bundle, Plan and Selector that shares it closes it. HIP's failure to
/// unload has nowhere to go then; Bundle::close reports it.
struct OpenBundle {
  nvfp4rt_bundle *bundle = nullptr;
  OpenBundle() = default;
  OpenBundle(const OpenBundle &) = delete;
  OpenBundle &operator=(const OpenBundle &) = delete;
  ~OpenBundle() { (void)nvfp4rt_bundle_close(bundle); }
};

struct DestroyPlan {
  void operator()(nvfp4rt_plan *plan) const noexcept { nvfp4rt_plan_destroy(plan); }
};
struct DestroySelector {
  void operator()(nvfp4rt_selector *selector) const noexcept { nvfp4rt_selector_destroy(selector); }
};

} // namespace detail

/// One variant on one device, ready to launch with the struct `Args`. Movable; a moved-from plan
/// throws.
template <typename Args> class Plan {
public:
  /// Launch on `stream` (a hipStream_t). Any number of threads at once; legal while capturing.
  void launch(const Args &args, void *stream = nullptr) const {
    check(nvfp4rt_launch(plan.get(), &args, stream));
  }
  /// Names of the variant and of its kernel.
  const char *variant() const noexcept { return nvfp4rt_plan_variant(plan.get()); }
  const char *symbol() const noexcept { return nvfp4rt_plan_symbol(plan.get()); }
  /// Bytes of device memory that a launch needs as workspace; the caller's to allocate.
  std::size_t workspace_bytes() const noexcept { return nvfp4rt_plan_workspace_bytes(plan.get()); }
  /// For the C interface; borrowed.
  const nvfp4rt_plan *get() const noexcept { return plan.get(); }

private:
  friend class Bundle;
  template <typename> friend class Selector;
  Plan(std::shared_ptr<detail::OpenBundle> owner, nvfp4rt_plan *handle)
      : bundle(std::move(owner)), plan(handle) {}
  std::shared_ptr<detail::OpenBundle> bundle; // outlives the plan
  std::unique_ptr<nvfp4rt_plan, detail::DestroyPlan> plan;
};

/// A request of a family whose names are resolved once, for look-ups in every step. Movable.
template <typename Args> class Selector {
public:
  /// The plan for `values`, one for each name of the selector, in their order. Allocates nothing.
  Plan<Args> plan(std::initializer_list<std::int64_t> values, int device) const {
    if (values.size() != names)
      throw Error(NVFP4RT_ERROR_INVALID_ARGUMENT, "Selector::plan: values: expected " +
                                                      std::to_string(names) + ", found " +
                                                      std::to_string(values.size()));
    nvfp4rt_plan *handle = nullptr;
    check(nvfp4rt_selector_plan(selector.get(), device, values.begin(), &handle));
    return Plan<Args>(bundle, handle);
  }

private:
  friend class Bundle;
  Selector(std::shared_ptr<detail::OpenBundle> owner, nvfp4rt_selector *handle, std::size_t count)
      : bundle(std::move(owner)), selector(handle), names(count) {}
  std::shared_ptr<detail::OpenBundle> bundle; // outlives the selector
  std::unique_ptr<nvfp4rt_selector, detail::DestroySelector> selector;
  std::size_t names;
};

/// A bundle: opened and verified, then loaded, then frozen. Movable; a moved-from or closed bundle
/// throws.
class Bundle {
public:
  static Bundle open_file(const std::string &path) {
    Bundle opened;
    check(nvfp4rt_bundle_open_file(path.c_str(), &opened.state->bundle));
    return opened;
  }
  /// Copies the bytes.
  static Bundle open_memory(const void *data, std::size_t size) {
    Bundle opened;
    check(nvfp4rt_bundle_open_memory(data, size, &opened.state->bundle));
    return opened;
  }
  Bundle(Bundle &&) noexcept = default;
  Bundle &operator=(Bundle &&) noexcept = default;

  /// Load every kernel on a HIP device; once a device, before freeze().
  void load(int device) { check(nvfp4rt_bundle_load(get(), device)); }
  /// Make all plans. Nothing can be loaded any more, and plans can be asked for.
  void freeze() { check(nvfp4rt_bundle_freeze(get())); }

  /// The plan of the family of `Args` that serves the request.
  template <typename Args> Plan<Args> plan(const Fields &fields, int device) const {
    nvfp4rt_plan *handle = nullptr;
    check(nvfp4rt_plan_create(get(), device, Family<Args>::name, fields.data(), fields.size(),
                              &handle));
    return Plan<Args>(state, handle);
  }

  /// A selector of the family of `Args`: `fields` stay, those that `names` names vary.
  template <typename Args>
  Selector<Args> selector(const Fields &fields, std::initializer_list<const char *> names) const {
    nvfp4rt_selector *handle = nullptr;
    check(nvfp4rt_selector_create(get(), Family<Args>::name, fields.data(), fields.size(),
                                  names.begin(), names.size(), &handle));
    return Selector<Args>(state, handle, names.size());
  }

  /// One line a variant of the family of `Args`: "match", or its first failed field.
  template <typename Args> std::string explain(const Fields &fields) const {
    std::size_t length = 0;
    check(nvfp4rt_explain(get(), Family<Args>::name, fields.data(), fields.size(), nullptr, 0,
                          &length));
    std::string text(length + 1, '\0');
    check(nvfp4rt_explain(get(), Family<Args>::name, fields.data(), fields.size(), text.data(),
                          text.size(), &length));
    text.resize(length);
    return text;
  }

  /// Unload and free now, and report what a destructor cannot. NVFP4RT_ERROR_IN_USE while plans or
  /// selectors are alive; the bundle then stays open.
  void close() {
    const nvfp4rt_status status = nvfp4rt_bundle_close(get());
    if (status != NVFP4RT_ERROR_IN_USE && state) {
      state->bundle = nullptr;
      state.reset();
    }
    check(status);
  }

  /// For the C interface; borrowed.
  nvfp4rt_bundle *get() const noexcept { return state ? state->bundle : nullptr; }

private:
  Bundle() : state(std::make_shared<detail::OpenBundle>()) {
    constexpr std::uint32_t kPatches = 1000; // below 1.0 the minor version is the interface's
    if (nvfp4rt_version_number() / kPatches != NVFP4RT_VERSION_NUMBER / kPatches)
      throw Error(NVFP4RT_ERROR_VERSION, "libnvfp4rt: expected the version of the headers, " +
                                             std::to_string(NVFP4RT_VERSION_MAJOR) + "." +
                                             std::to_string(NVFP4RT_VERSION_MINOR) + ".x, found " +
                                             nvfp4rt_version());
  }
  std::shared_ptr<detail::OpenBundle> state;
};

} // namespace nvfp4

#endif // NVFP4RT_HPP
