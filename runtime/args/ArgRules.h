//===- ArgRules.h - what the argument structs must hold, as data ------------===//
//
// The rules that the comments of nvfp4rt_args.h state of pointers, strides and
// counts, one table a family. With NVFP4RT_CHECK a launch is held against them
// (plan/ArgCheck.h). A member that no rule names does not pass the tests.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_ARGS_ARGRULES_H
#define NVFP4_RUNTIME_ARGS_ARGRULES_H

#include "runtime/guard/Guard.h"

#include <array>
#include <limits>

namespace nvfp4rt {

/// Which variants use a member; the others ignore it.
enum class Used : uint8_t {
  Always,
  StoresK, ///< by the guard's `planes`
  StoresV,
  StoresKOrV,
  StoresIndex,
  Prefill,
  Workspace,   ///< the variant has a workspace
  NoWorkspace, ///< it has none
  Turns,       ///< the guard's rotary_dim is not 0
};

/// Members of the same launch that all have to be set, a pointer or a flag that is not 0, or the
/// rule does not apply to it. A pointer that may be null is given by itself.
using Given = std::array<std::string_view, 2>;

/// A pointer is not null and a multiple of `multiple`; an integer is a multiple of it and in
/// [least, most], and at most what the guard admits of `atMost`; a float is finite, and above 0 if
/// it is `positive`.
struct MemberRule { // NOLINT(clang-analyzer-optin.performance.Padding): in the order that reads
                    // well
  std::string_view member;
  Used used = Used::Always;
  int64_t multiple = 1;
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::optional<Field> atMost = std::nullopt;
  Given given{};
  bool positive = false;
};

/// Rows in model dtype: an nvfp4rt_rows of `heads` heads (one if it has none).
struct RowsRule {
  std::string_view member;
  Used used = Used::Always;
  std::optional<Field> heads = std::nullopt;
};

enum class PlaneKind : uint8_t { Payload, Scale };

/// A plane: an nvfp4rt_plane. Neighbours along a stride do not overlap; a reader addresses a page
/// in 32 bits.
struct PlaneRule { // NOLINT(clang-analyzer-optin.performance.Padding): as above
  std::string_view member;
  Used used = Used::Always;
  PlaneKind kind;
  Field format, headDim;
  std::optional<Field> heads = std::nullopt;
  std::string_view pages; ///< the member that counts the pages of the pool
  bool reader;
  Given given{};
};

/// Two members whose sum is at most the guard's `most`.
struct SumRule {
  std::string_view first, second;
  Field most;
};

struct ArgRules {
  std::string_view family;
  std::span<const MemberRule> members;
  std::span<const RowsRule> rows;
  std::span<const PlaneRule> planes;
  std::span<const SumRule> sums;
};

/// Rules of a family; null for an unknown one.
const ArgRules *argRules(std::string_view family);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_ARGS_ARGRULES_H
