"""Uses of the package that a type checker has to accept, and that it has to refuse.

Read by mypy --strict alone. An ignored error that is none is an error itself, so each refusal is
tested as well.
"""

from typing import Optional

from nvfp4rt import Bundle, KvStoreArgs, Plan, Rows, Selector, StepMapArgs


class Tensor:
    def data_ptr(self) -> int:
        return 0


def use(tensor: Tensor, stream: int) -> Optional[str]:
    with Bundle.open("model.hsaco") as bundle:
        bundle.load(0)
        bundle.freeze()
        plan: Plan[KvStoreArgs] = bundle.plan(KvStoreArgs, 0, phase="decode", requests=4)
        args = KvStoreArgs(rows=4, slots=tensor, index_slots=0x1000)
        args.k = Rows(base=tensor, row_stride=256)
        plan.launch(args, stream)
        selector: Selector[StepMapArgs] = bundle.selector(StepMapArgs, ["requests"], block_size=128)
        selector.plan(requests=4).launch(StepMapArgs(rows=4))

        plan.launch(StepMapArgs())  # type: ignore[arg-type]
        args.rows = "4"  # type: ignore[assignment]
        args.slots = 1.5  # type: ignore[assignment]
        bundle.plan(Rows, 0)  # type: ignore[type-var]
        bundle.load("0")  # type: ignore[arg-type]
        return plan.variant
