//===- Index.h - finds the variant of a request in constant time ------------===//
//
// A bit a variant: for each field of a family's guards, sets of the variants whose
// term holds, one set an interval of values. A look-up intersects one set a field
// and allocates nothing. Select.h evaluates the same guards one by one, and says
// why none holds.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_INDEX_H
#define NVFP4_RUNTIME_PLAN_INDEX_H

#include "runtime/bundle/Manifest.h"

namespace nvfp4rt {

/// The variants of one family. Borrows nothing.
class FamilyIndex {
public:
  /// `members` are positions in `variants`, all of one family.
  FamilyIndex(std::string family, const std::vector<Variant> &variants,
              std::vector<uint32_t> members);

  const std::string &family() const { return family_; }
  /// A field that some guard has.
  bool knows(Field field) const { return axisOf_[static_cast<size_t>(field)] != kNoAxis; }

  /// Position, in the manifest's variants, of the one whose guard holds; kNone if none does.
  uint32_t find(const Request &request) const;
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A request of which only some fields change: the variants that all other fields admit.
  struct Narrowed {
    std::vector<uint64_t> set;
    std::vector<Field> varying; ///< fields that the family knows
  };
  /// `request` has the fields that stay; `varying` are others.
  Narrowed narrow(const Request &request, std::vector<Field> varying) const;
  /// `values` has one value for each varying field.
  uint32_t find(const Narrowed &narrowed, const int64_t *values) const;

private:
  /// A field of the guards: the sets of variants by value.
  struct Axis {
    Field field;
    /// Interval i is [starts[i], starts[i + 1]); the first start is the least value.
    std::vector<int64_t> starts;
    /// `words` words an interval, and first those of the variants without a term on the field.
    std::vector<uint64_t> sets;
  };
  const uint64_t *setOf(const Axis &axis, std::optional<int64_t> value) const;
  uint32_t first(const uint64_t *const *sets, size_t count) const;

  static constexpr uint8_t kNoAxis = UINT8_MAX;
  std::string family_;
  std::vector<uint32_t> members_;
  size_t words_ = 0;
  std::vector<Axis> axes_;
  std::array<uint8_t, kFieldCount> axisOf_{};
};

/// All families of a manifest.
class Index {
public:
  explicit Index(const std::vector<Variant> &variants);
  /// Null for a family that no variant is of.
  const FamilyIndex *family(std::string_view name) const;

private:
  std::vector<FamilyIndex> families_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_INDEX_H
