//===- Families.cpp - the rows of all families of one SimdLevel ---------------------------===//

#include "tools/gfx950emu/exec/Exec.h"

GFX950EMU_EXEC_BEGIN

void addAll(OpTable &table) {
  for (auto add :
       {addSop,         addSopCompare,    addControl,  addSmem,        addVop1,       addVop2,
        addVop3Integer, addVop3Float,     addDivision, addVopc,        addVop3p,      addDot,
        addConvert,     addConvertScaled, addLaneOps,  addMfma,        addMfmaF8f6f4, addDs,
        addDsAtomics,   addDsLanes,       addFlat,     addFlatAtomics, addMubuf})
    add(table);
}

GFX950EMU_EXEC_END
