#include "tools/gfx950emu/check/Checks.h"
namespace gfx950emu::check {
std::unique_ptr<WorkgroupObserver> makeUndefinedCheck(const CheckContext &) {
  return std::make_unique<WorkgroupObserver>();
}
} // namespace gfx950emu::check
