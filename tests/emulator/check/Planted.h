//===- Planted.h - a fault, what is said about it, and its repaired twin ----------------===//
//
// Owns the parameterised test that every planted fault goes through: found, silent when
// repaired, silent when the check is off, found by that check alone.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_CHECK_PLANTED_H
#define TESTS_EMULATOR_CHECK_PLANTED_H

#include "tests/emulator/check/Harness.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace gfx950emu::check::test {

struct Planted {
  const char *name;
  CheckKind kind;
  const char *faulty;
  std::vector<const char *> says; ///< parts of the finding's message
  const char *repaired;
  Setup setup{};
};

inline std::ostream &operator<<(std::ostream &os, const Planted &p) { return os << p.name; }

/// Registered for each table of faults with PLANTED_FAULTS.
class PlantedFault : public ::testing::TestWithParam<Planted> {
public:
  static void isFound(const Planted &p);
  static void repairedIsSilent(const Planted &p);
  static void switchedOffIsSilent(Planted p);
  static void isFoundByItsCheckAlone(Planted p);
};

} // namespace gfx950emu::check::test

#define PLANTED_FAULTS(Name, table)                                                                \
  class Name : public PlantedFault {};                                                             \
  TEST_P(Name, IsFound) { isFound(GetParam()); }                                                   \
  TEST_P(Name, RepairedTwinIsSilent) { repairedIsSilent(GetParam()); }                             \
  TEST_P(Name, SwitchedOffIsSilent) { switchedOffIsSilent(GetParam()); }                           \
  TEST_P(Name, IsFoundByItsCheckAlone) { isFoundByItsCheckAlone(GetParam()); }                     \
  INSTANTIATE_TEST_SUITE_P(Planted, Name, ::testing::ValuesIn(table),                              \
                           [](const auto &info) { return std::string(info.param.name); })

#endif // TESTS_EMULATOR_CHECK_PLANTED_H
