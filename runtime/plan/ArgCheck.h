//===- ArgCheck.h - a variant's rules against the arguments of a launch -----===//
//
// Only with NVFP4RT_CHECK: the family's rules (args/ArgRules.h) resolved for one
// variant when the bundle is frozen, so that a check walks plain tables and
// allocates nothing unless it finds something.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_ARGCHECK_H
#define NVFP4_RUNTIME_PLAN_ARGCHECK_H

#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/Manifest.h"

namespace nvfp4rt {

class ArgCheck {
public:
  explicit ArgCheck(const Variant &variant);

  /// `segment` is the kernel-argument segment of a launch that has workgroups.
  /// NVFP4RT_ERROR_INVALID_ARGUMENT names the first member that breaks a rule.
  Result<void> run(const void *segment) const;

  /// Members that are looked at, for the test that none is forgotten.
  std::vector<std::string_view> members() const;

private:
  /// Fields of the launch that must not be 0 for a rule to apply; null where there is none.
  using Given = std::array<const ArgField *, 2>;
  struct Member {
    const ArgField *field;
    int64_t multiple, least, most;
    Given given;
    bool positive;
  };
  struct Plane {
    Given given;
    std::string_view name;
    uint32_t base;  ///< offset; the strides follow it
    uint32_t pages; ///< offset of the number of pages
    int64_t heads, pageTokens, rowBytes;
    bool reader;
  };
  struct Sum {
    const ArgField *first, *second;
    int64_t most;
  };

  static bool applies(const Given &given, const void *segment);
  Result<void> checkPlane(const Plane &plane, const void *segment) const;
  tl::unexpected<Error> bad(std::string_view member, std::string expected, std::string found) const;

  std::string variant_;
  std::vector<Member> members_;
  std::vector<Plane> planes_;
  std::vector<Sum> sums_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_ARGCHECK_H
