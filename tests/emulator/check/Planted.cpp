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

/// With the check switched off nothing is found.
void PlantedFault::switchedOffIsSilent(Planted p) {
  CheckOptions &o = p.setup.options;
  switch (p.kind) {
  case CheckKind::Bounds:
  case CheckKind::ReadOnly:
    o.bounds = false;
    break;
  case CheckKind::Alignment:
    o.alignment = false;
    break;
  case CheckKind::Undefined:
    o.undefined = false;
    break;
  case CheckKind::Race:
    o.races = false;
    break;
  case CheckKind::WaitCount:
    o.waitCounts = false;
    break;
  case CheckKind::Hazard:
    o.hazards = false;
    break;
  case CheckKind::Barrier:
    o.barriers = false;
    break;
  case CheckKind::Progress:
    o.progress = false;
    break;
  }
  EXPECT_EQ(check(p.faulty, p.setup).findings.size(), 0u);
}

} // namespace gfx950emu::check::test
