//===- ArgCheck.cpp - a variant's rules against the arguments of a launch ---===//
//
// See ArgCheck.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/ArgCheck.h"

#include "runtime/args/ArgRules.h"
#include "runtime/include/nvfp4rt_args.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace nvfp4rt {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();
/// A reader's limits: bytes of a page, and of its stride.
constexpr int64_t kPageBytes = int64_t{1} << 31, kPageStride = int64_t{1} << 32;

template <typename T> T valueAt(const void *segment, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char *>(segment) + offset, sizeof(value));
  return value;
}

int64_t integerAt(const void *segment, const ArgField &field) {
  return field.type == ArgType::I32 ? int64_t{valueAt<uint32_t>(segment, field.offset)}
                                    : valueAt<int64_t>(segment, field.offset);
}

/// What a guard says of a field it has one value of; `otherwise` when it does not have it.
int64_t valueOf(const Guard &guard, Field field, int64_t otherwise) {
  const Term *term = guard.find(field);
  return term ? term->values.back() : otherwise;
}

/// What has no field for its heads has one.
int64_t headsOf(const Guard &guard, const std::optional<Field> &heads) {
  return heads ? valueOf(guard, *heads, 1) : 1;
}

bool uses(const Variant &variant, Used used) {
  const bool workspace = variant.workspace.fixed > 0 || variant.workspace.perRequest > 0;
  const std::string planes = valueText(Field::planes, valueOf(variant.guard, Field::planes, 0));
  const std::string phase = valueText(Field::phase, valueOf(variant.guard, Field::phase, 0));
  const auto stores = [&](char plane) { return planes.find(plane) != std::string::npos; };
  switch (used) {
  case Used::Always:
    return true;
  case Used::StoresK:
    return stores('k');
  case Used::StoresV:
    return stores('v');
  case Used::StoresKOrV:
    return stores('k') || stores('v');
  case Used::StoresIndex:
    return stores('i');
  case Used::Prefill:
    return phase == "prefill";
  case Used::Workspace:
    return workspace;
  case Used::NoWorkspace:
    return !workspace;
  case Used::Turns:
    return valueOf(variant.guard, Field::rotary_dim, 0) != 0;
  }
  return true;
}

/// Bytes of a (token, head) in a plane.
int64_t rowBytes(const Guard &guard, const PlaneRule &rule) {
  const int64_t elements = valueOf(guard, rule.headDim, 0);
  const std::string format = valueText(rule.format, valueOf(guard, rule.format, 0));
  if (format == "fp8_e4m3")
    return rule.kind == PlaneKind::Payload ? elements : 0;
  return elements / (rule.kind == PlaneKind::Payload ? 2 : format == "mxfp4" ? 32 : 16);
}

/// What a lane moves at once (nvfp4rt_args.h): strides and base are multiples of it.
int64_t planeMultiple(const PlaneRule &rule) {
  if (!rule.reader)
    return 4;
  return rule.kind == PlaneKind::Payload ? 16 : 8;
}

} // namespace

ArgCheck::ArgCheck(const Variant &variant) : variant_(variant.name) {
  const ArgLayout &layout = *argLayout(variant.family);
  const ArgRules &rules = *argRules(variant.family);
  const Guard &guard = variant.guard;
  const auto field = [&](std::string_view member, std::string_view part = "") -> const ArgField & {
    const std::string name =
        part.empty() ? std::string(member) : fmt::format("{}.{}", member, part);
    // A test holds the rules against the layouts.
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
    return layout.fields[*layout.indexOf(name)];
  };
  const auto givenBy = [&](const nvfp4rt::Given &names) {
    Given given{};
    for (size_t i = 0; i < names.size(); ++i)
      given[i] = names[i].empty() ? nullptr : &field(names[i]);
    return given;
  };
  const auto add = [&](const ArgField &of, int64_t multiple, int64_t least, int64_t most,
                       const Given &given = {}, bool positive = false) {
    members_.push_back({&of, multiple, least, most, given, positive});
  };
  for (const MemberRule &rule : rules.members)
    if (uses(variant, rule.used))
      add(field(rule.member), rule.multiple, rule.least,
          rule.atMost ? std::min(rule.most, valueOf(guard, *rule.atMost, rule.most)) : rule.most,
          givenBy(rule.given), rule.positive);
  for (const RowsRule &rule : rules.rows) {
    if (!uses(variant, rule.used))
      continue;
    for (std::string_view part : {"base", "row_stride"})
      add(field(rule.member, part), 16, kLeast, kMost);
    if (headsOf(guard, rule.heads) > 1)
      add(field(rule.member, "head_stride"), 16, kLeast, kMost);
  }
  for (const PlaneRule &rule : rules.planes) {
    if (!uses(variant, rule.used))
      continue;
    const int64_t multiple = planeMultiple(rule);
    const int64_t heads = headsOf(guard, rule.heads);
    const Given given = givenBy(rule.given);
    add(field(rule.member, "base"), multiple, kLeast, kMost, given);
    add(field(rule.member, "page_stride"), multiple, rule.reader ? 0 : kLeast,
        rule.reader ? kPageStride - 1 : kMost, given);
    add(field(rule.member, "token_stride"), multiple, kLeast, kMost, given);
    if (heads > 1)
      add(field(rule.member, "head_stride"), multiple, kLeast, kMost, given);
    planes_.push_back({.given = given,
                       .name = rule.member,
                       .base = field(rule.member, "base").offset,
                       .pages = field(rule.pages).offset,
                       .heads = heads,
                       .pageTokens = valueOf(guard, Field::page_size, 1),
                       .rowBytes = rowBytes(guard, rule),
                       .reader = rule.reader});
  }
  for (const SumRule &rule : rules.sums)
    sums_.push_back({&field(rule.first), &field(rule.second), valueOf(guard, rule.most, kMost)});
}

bool ArgCheck::applies(const Given &given, const void *segment) {
  for (const ArgField *field : given)
    if (field && integerAt(segment, *field) == 0) // an address is an integer of 64 bits
      return false;
  return true;
}

std::vector<std::string_view> ArgCheck::members() const {
  std::vector<std::string_view> names;
  names.reserve(members_.size() + 2 * sums_.size());
  for (const Member &member : members_)
    names.push_back(member.field->name);
  for (const Sum &sum : sums_)
    names.insert(names.end(), {sum.first->name, sum.second->name});
  return names;
}

tl::unexpected<Error> ArgCheck::bad(std::string_view member, std::string expected,
                                    std::string found) const {
  return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
              fmt::format("launch of {}: NVFP4RT_CHECK: args.{}: expected {}, found {}", variant_,
                          member, expected, found));
}

Result<void> ArgCheck::run(const void *segment) const {
  for (const Member &member : members_) {
    const ArgField &field = *member.field;
    if (!applies(member.given, segment))
      continue;
    if (field.type == ArgType::F32) {
      const auto value = valueAt<float>(segment, field.offset);
      if (!std::isfinite(value))
        return bad(field.name, "a finite number", fmt::format("{}", value));
      if (member.positive && value <= 0)
        return bad(field.name, "a number above 0", fmt::format("{}", value));
      continue;
    }
    if (field.type == ArgType::Pointer) {
      const auto address = valueAt<uint64_t>(segment, field.offset);
      if (address == 0)
        return bad(field.name, "a device address", "NULL");
      if (address % static_cast<uint64_t>(member.multiple) != 0)
        return bad(field.name, fmt::format("a multiple of {}", member.multiple),
                   fmt::format("{:#x}", address));
      continue;
    }
    const int64_t value = integerAt(segment, field);
    if (value % member.multiple != 0)
      return bad(field.name, fmt::format("a multiple of {}", member.multiple),
                 std::to_string(value));
    if (value < member.least)
      return bad(field.name, fmt::format("at least {}", member.least), std::to_string(value));
    if (value > member.most)
      return bad(field.name, fmt::format("at most {}", member.most), std::to_string(value));
  }
  for (const Plane &plane : planes_)
    if (Result<void> ok = checkPlane(plane, segment); !ok)
      return ok;
  for (const Sum &sum : sums_)
    if (const int64_t found = integerAt(segment, *sum.first) + integerAt(segment, *sum.second);
        found > sum.most)
      return bad(fmt::format("{} + {}", sum.first->name, sum.second->name),
                 fmt::format("at most {}", sum.most), std::to_string(found));
  return {};
}

Result<void> ArgCheck::checkPlane(const Plane &plane, const void *segment) const {
  if (!applies(plane.given, segment))
    return {};
  const auto strides = valueAt<nvfp4rt_plane>(segment, plane.base);
  const struct {
    std::string_view name;
    int64_t stride, count;
  } axes[] = {{"page_stride", strides.page_stride, valueAt<int64_t>(segment, plane.pages)},
              {"token_stride", strides.token_stride, plane.pageTokens},
              {"head_stride", strides.head_stride, plane.heads}};
  for (const auto &axis : axes)
    if (axis.count > 1 && axis.stride < plane.rowBytes && axis.stride > -plane.rowBytes)
      return bad(fmt::format("{}.{}", plane.name, axis.name),
                 fmt::format("at least the {} bytes of a token and head", plane.rowBytes),
                 std::to_string(axis.stride));
  if (!plane.reader)
    return {};
  // 128 bits: strides are anything so far.
  using Wide = __int128;
  const auto reach = [](int64_t stride, int64_t count) {
    return count > 1 ? (stride < 0 ? -Wide{stride} : Wide{stride}) * (count - 1) : Wide{0};
  };
  const Wide bytes = reach(strides.token_stride, plane.pageTokens) +
                     reach(strides.head_stride, plane.heads) + plane.rowBytes;
  if (bytes >= kPageBytes)
    return bad(fmt::format("{}.token_stride and head_stride", plane.name),
               fmt::format("a page below {} bytes", kPageBytes),
               fmt::format("{} and {}", strides.token_stride, strides.head_stride));
  return {};
}

} // namespace nvfp4rt
