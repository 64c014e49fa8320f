"""Finite-element models of Nastran, from files that pyNastran writes."""

import numpy as np
import pytest
import scipy.sparse as sparse

import bricks
import pliant as pl

try:
    import pyNastran.bdf.bdf  # noqa: F401
except (ImportError, AttributeError) as trouble:  # its present version reads what NumPy 2 no longer has
    pytest.skip(f"pyNastran cannot be used: {trouble}", allow_module_level=True)

SIZE = (0.3, 0.04, 0.05)


def written(folder, box):
    from pyNastran.op4.op4 import OP4

    number = 10 * np.arange(len(box.nodes)) + 3
    cells = np.array([[4 * k + n for n in (0, 4, 6, 2, 1, 5, 7, 3)] for k in range(3)])
    lines = ["BEGIN BULK", "MAT1,1,7.0E10,,0.3,2700.0", "PSOLID,1,1"]
    lines += [f"GRID,{n},,{x:.6f},{y:.6f},{z:.6f}" for n, (x, y, z) in zip(number, box.nodes.tolist(), strict=True)]
    lines += [f"CHEXA,{k + 1},1,{','.join(map(str, number[cell[:6]]))}\n,{','.join(map(str, number[cell[6:]]))}"
              for k, cell in enumerate(cells)]  # fmt: skip
    (folder / "box.bdf").write_text("\n".join([*lines, "ENDDATA"]) + "\n")
    rows = (6 * np.arange(len(box.nodes))[:, None] + np.arange(3)).ravel()
    spread = sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(6 * len(box.nodes), rows.size))
    held = {name: (6, (spread @ matrix @ spread.T).toarray()) for name, matrix in (("KGG", box.stiffness), ("MGG", box.mass))}
    OP4(debug=None).write_op4(str(folder / "box.op4"), held, is_binary=False)
    return folder / "box.bdf", folder / "box.op4"


@pytest.mark.filterwarnings("ignore")  # of pyNastran's own
def test_a_run_is_the_model_that_was_written(tmp_path):
    box = bricks.box(SIZE, (3, 1, 1))
    found = pl.read_nastran(*written(tmp_path, box))
    assert found.per_node == 3
    assert abs(found.stiffness - box.stiffness).max() <= 1e-9 * abs(box.stiffness).max()
    assert found.nodes == pytest.approx(box.nodes, abs=1e-6)
    assert found.numbered([3, 23]).tolist() == [0, 2]
    assert len(found.triangles) == 2 * (2 + 4 * 3)
    with pytest.raises(pl.ModelError, match=r"matrices must hold 'KAA', got \['KGG', 'MGG'\]"):
        pl.read_nastran(tmp_path / "box.bdf", tmp_path / "box.op4", stiffness="KAA")
