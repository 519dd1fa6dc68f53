//===- PlanApi.cpp - look-up and launch in the C interface ------------------===//
//
// What a serving stack calls in every step: nothing here allocates or locks
// unless it fails. Making a selector, and explaining, are for other times.
//
//===------------------------------------------------------------------------===//
#include "runtime/api/Guarded.h"
#include "runtime/api/Handles.h"
#include "runtime/plan/Select.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace nvfp4rt;

namespace {

/// The request of a C caller.
Result<Request> readRequest(std::string_view function, const nvfp4rt_field *fields, size_t count) {
  if (!fields && count > 0)
    return nullArgument(function, "fields");
  return makeRequest({fields, count});
}

Result<const Frozen *> frozenPart(const nvfp4rt_bundle &bundle, std::string_view function) {
  if (bundle.frozen)
    return bundle.frozen.get();
  return fail(NVFP4RT_ERROR_NOT_FROZEN,
              fmt::format("bundle {}: {}: expected a frozen bundle (nvfp4rt_bundle_freeze), found "
                          "one that is not",
                          bundle.bundle.name(), function));
}

/// Hand out the plan of a variant on a device.
Result<void> handOut(nvfp4rt_bundle &bundle, int device, uint32_t variant, nvfp4rt_plan **plan) {
  Frozen &frozen = *bundle.frozen;
  const auto found = std::ranges::find(frozen.devices, device);
  if (found == frozen.devices.end())
    return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                fmt::format("bundle {}: device: expected one that it is loaded on ({}), found {}",
                            bundle.bundle.name(), fmt::join(frozen.devices, ", "), device));
  const auto row = static_cast<size_t>(found - frozen.devices.begin());
  nvfp4rt_plan &chosen = frozen.plans[row * bundle.bundle.manifest().variants.size() + variant];
  chosen.live.fetch_add(1, std::memory_order_relaxed);
  *plan = &chosen;
  return {};
}

/// Take one away, but never below none: a plan destroyed too often must not wrap its count. False
/// when there was none.
bool drop(std::atomic<uint32_t> &count) {
  uint32_t before = count.load(std::memory_order_relaxed);
  while (before > 0 && !count.compare_exchange_weak(before, before - 1, std::memory_order_release,
                                                    std::memory_order_relaxed))
    ;
  return before > 0;
}

Result<Field> fieldNamed(const char *name) {
  if (const std::optional<Field> field = fieldByName(name))
    return *field;
  return fail(NVFP4RT_ERROR_UNKNOWN_FIELD,
              fmt::format("field: expected one of {}, found '{}'", fieldNames(), name));
}

} // namespace

extern "C" {

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
    const Result<const Frozen *> frozen = frozenPart(*bundle, function);
    if (!frozen)
      return tl::unexpected(frozen.error());
    const Result<Request> request = readRequest(function, fields, count);
    if (!request)
      return tl::unexpected(request.error());
    const FamilyIndex *index = (*frozen)->index.family(family);
    const uint32_t variant = index ? index->find(*request) : FamilyIndex::kNone;
    if (variant == FamilyIndex::kNone)
      return tl::unexpected(whyNone(bundle->bundle, family, *request));
    return handOut(*bundle, device, variant, plan);
  });
}

void nvfp4rt_plan_destroy(nvfp4rt_plan *plan) {
  if (plan && !drop(plan->live))
    (void)guarded(__func__, [&](std::string_view function) -> Result<void> {
      log(LogLevel::Warn, [&] {
        return fmt::format("{}: {}: expected a plan that is alive, found it destroyed before",
                           function, plan->plan.variant());
      });
      return {};
    });
}

nvfp4rt_status nvfp4rt_selector_create(nvfp4rt_bundle *bundle, const char *family,
                                       const nvfp4rt_field *fields, size_t count,
                                       const char *const *names, size_t name_count,
                                       nvfp4rt_selector **selector) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (!family)
      return nullArgument(function, "family");
    if (!names && name_count > 0)
      return nullArgument(function, "names");
    if (!selector)
      return nullArgument(function, "selector");
    *selector = nullptr;
    const Result<const Frozen *> frozen = frozenPart(*bundle, function);
    if (!frozen)
      return tl::unexpected(frozen.error());
    const Result<Request> request = readRequest(function, fields, count);
    if (!request)
      return tl::unexpected(request.error());
    Request whole = *request; // as a look-up would have it, for its field set
    std::vector<Field> varying;
    for (size_t i = 0; i < name_count; ++i) {
      if (!names[i])
        return nullArgument(function, fmt::format("names[{}]", i));
      const Result<Field> field = fieldNamed(names[i]);
      if (!field)
        return tl::unexpected(field.error());
      if (whole.get(*field))
        return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                    fmt::format("{}: names[{}]: '{}' is given twice", function, i, names[i]));
      whole.set(*field, 0);
      varying.push_back(*field);
    }
    if (std::optional<Error> error = wrongFields(bundle->bundle, family, whole))
      return tl::unexpected(std::move(*error));
    const FamilyIndex *index = (*frozen)->index.family(family);
    *selector = new nvfp4rt_selector{bundle, index, *request, index->narrow(*request, varying)};
    bundle->selectors.fetch_add(1, std::memory_order_relaxed);
    return {};
  });
}

void nvfp4rt_selector_destroy(nvfp4rt_selector *selector) {
  if (!selector)
    return;
  nvfp4rt_bundle *bundle = selector->bundle;
  delete selector;
  (void)drop(bundle->selectors);
}

nvfp4rt_status nvfp4rt_selector_plan(const nvfp4rt_selector *selector, int device,
                                     const int64_t *values, nvfp4rt_plan **plan) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!selector)
      return nullArgument(function, "selector");
    const std::vector<Field> &varying = selector->narrowed.varying;
    if (!values && !varying.empty())
      return nullArgument(function, "values");
    if (!plan)
      return nullArgument(function, "plan");
    *plan = nullptr;
    const uint32_t variant = selector->family->find(selector->narrowed, values);
    if (variant != FamilyIndex::kNone)
      return handOut(*selector->bundle, device, variant, plan);
    Request request = selector->request;
    for (size_t i = 0; values && i < varying.size(); ++i)
      request.set(varying[i], values[i]);
    return tl::unexpected(whyNone(selector->bundle->bundle, selector->family->family(), request));
  });
}

nvfp4rt_status nvfp4rt_symbol_value(const char *field, const char *symbol, int64_t *value) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!field)
      return nullArgument(function, "field");
    if (!symbol)
      return nullArgument(function, "symbol");
    if (!value)
      return nullArgument(function, "value");
    const Result<Field> named = fieldNamed(field);
    if (!named)
      return tl::unexpected(named.error());
    const Result<int64_t> found = symbolValue(*named, symbol);
    if (!found)
      return tl::unexpected(found.error());
    *value = *found;
    return {};
  });
}

const char *nvfp4rt_plan_variant(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.variant().c_str() : "";
}

const char *nvfp4rt_plan_symbol(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.symbol().c_str() : "";
}

size_t nvfp4rt_plan_workspace_bytes(const nvfp4rt_plan *plan) {
  return plan ? plan->plan.workspaceBytes() : 0;
}

nvfp4rt_status nvfp4rt_launch(const nvfp4rt_plan *plan, const void *args, void *stream) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!plan)
      return nullArgument(function, "plan");
    return plan->plan.launch(args, stream);
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
