//===- Planted.cpp ------------------------------------------------------------===//

#include "tests/emulator/check/Planted.h"

namespace gfx950emu::check::test {

void PlantedFault::isFound(const Planted &p) {
  Outcome outcome = check(p.faulty, p.setup);
  // A race is seen from both sides when the waves run one after the other.
  ASSERT_FALSE(outcome.findings.empty()) << outcome.text();
  ASSERT_LE(outcome.findings.size(), p.kind == CheckKind::Race ? 2u : 1u) << outcome.text();
  for (const Finding &f : outcome.findings) {
    EXPECT_EQ(f.kind, p.kind) << f.message();
    EXPECT_EQ(f.kernel, "checked");
  }
  for (const char *part : p.says)
    EXPECT_NE(outcome.text().find(part), std::string::npos) << part << "\nnot in\n"
                                                            << outcome.text();
}

void PlantedFault::repairedIsSilent(const Planted &p) {
  Outcome outcome = check(p.repaired, p.setup);
  EXPECT_EQ(outcome.text(), "silent");
}

void PlantedFault::switchedOffIsSilent(Planted p) {
  p.setup.options.*switchOf(p.kind).enabled = false;
  EXPECT_EQ(check(p.faulty, p.setup).findings.size(), 0u);
}

void PlantedFault::isFoundByItsCheckAlone(Planted p) {
  for (const CheckSwitch &s : checkSwitches())
    p.setup.options.*s.enabled = s.kind == p.kind;
  isFound(p);
}

} // namespace gfx950emu::check::test
