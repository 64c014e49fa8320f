"""Finite-element models of CalculiX, from files as its manual describes them."""

import numpy as np
import pytest
import scipy.sparse as sparse

import bricks
import pliant as pl

SIZE = (0.3, 0.04, 0.05)
NUMBERS = 7  # node k of the box is number 3 k + 7 in the file


@pytest.fixture
def box():
    return bricks.box(SIZE, (3, 1, 1))


def written(folder, box, half=True, **changed):
    """The files of a job with the matrices of a box; half: the lower triangle of the matrices alone."""
    number = 3 * np.arange(len(box.nodes)) + NUMBERS
    order = np.random.default_rng(1).permutation(box.size)  # rows in the order of the program, not of the nodes
    cells = np.array([[4 * k + n for n in (0, 4, 6, 2, 1, 5, 7, 3)] for k in range(3)])
    lines = ["** a box", "*NODE, NSET=ALL"]
    lines += [f"{n}, {x}, {y}, {z}" for n, (x, y, z) in zip(number, box.nodes.tolist(), strict=True)]
    lines += ["*Element, type=C3D8, elset=SOLID"]
    lines += [f"{k + 1}, " + ", ".join(map(str, number[cell])) for k, cell in enumerate(cells)]
    lines += ["*NSET, NSET=Left", *(f"{number[k]}," for k in bricks.end(box, 0.0))]
    lines += [
        "*NSET, NSET=RIGHT, GENERATE",
        f"{number[12]}, {number[15]}, 3",
        "*STEP",
        "*FREQUENCY, SOLVER=MATRIXSTORAGE",
        "*END STEP",
    ]
    files = {"inp": "\n".join(lines), "dof": "\n".join(f"{number[k // 3]}.{k % 3 + 1}" for k in order)}
    for suffix, matrix in (("sti", box.stiffness), ("mas", box.mass)):
        entries = matrix[order][:, order].tocoo()
        entries = sparse.tril(entries).tocoo() if half else entries
        files[suffix] = "\n".join(
            f"{i + 1} {j + 1} {x:.17e}" for i, j, x in zip(entries.row, entries.col, entries.data, strict=True)
        )
    for suffix, text in {**files, **changed}.items():
        (folder / f"box.{suffix}").write_text(text)
    return folder / "box.inp"


@pytest.mark.parametrize("half", [True, False])
def test_a_job_is_the_model_that_was_written(tmp_path, box, half):
    found = pl.read_calculix(written(tmp_path, box, half))
    assert abs(found.stiffness - box.stiffness).max() <= 1e-12 * abs(box.stiffness).max()
    assert abs(found.mass - box.mass).max() <= 1e-12 * abs(box.mass).max()
    assert found.nodes == pytest.approx(box.nodes)
    assert found.sets["LEFT"].tolist() == bricks.end(box, 0.0).tolist() and found.sets["RIGHT"].tolist() == [12, 13, 14, 15]
    assert found.numbered([7, 13]).tolist() == [0, 2]
    faces = {tuple(sorted(triangle)) for triangle in found.triangles.tolist()}
    assert len(faces) == len(found.triangles) == 2 * (2 + 4 * 3)
    body = pl.modal_body(found, {"root": found.sets["LEFT"], "tip": found.sets["RIGHT"]}, pl.CraigBampton(2))
    ends = {"root": bricks.end(box, 0.0), "tip": bricks.end(box, 0.3)}
    assert body.frequencies == pytest.approx(pl.modal_body(box, ends, pl.CraigBampton(2)).frequencies, rel=1e-9)


def test_wrong_files_are_named(tmp_path, box):
    path = written(tmp_path, box)
    dofs = (tmp_path / "box.dof").read_text().split()
    for changed, words in (
        (
            {"dof": "\n".join(sorted(dofs)[1:])},
            r"box.dof must have three unknowns at every node, without supports; node \d+ has fewer",
        ),
        ({"dof": "\n".join(f"{line}4" for line in dofs)}, "must name a node and a direction 1, 2 or 3 on every line"),
        ({"sti": "1 1 x"}, r"box.sti: must hold rows, columns and values"),
        ({"sti": "1 99 1.0"}, r"box.sti must have rows and columns 1 to 48, got 99"),
        ({"inp": "*INCLUDE, INPUT=mesh.inp"}, "must hold the mesh itself, without .INCLUDE"),
        ({"inp": "*NODE\n7, 0, 0, 0"}, "must define every node of the matrices under .NODE, got 10"),
    ):
        with pytest.raises(pl.ModelError, match=words):
            pl.read_calculix(written(tmp_path, box, **changed))
    (tmp_path / "box.mas").unlink()
    written_again = {"inp": path.read_text()}
    assert written_again
    with pytest.raises(pl.ModelError, match=r"box.mas: cannot be read"):
        (tmp_path / "box.inp").write_text(_mesh(box))
        pl.read_calculix(path)


def _mesh(box):
    return "*NODE\n" + "\n".join(f"{3 * k + NUMBERS}, {x}, {y}, {z}" for k, (x, y, z) in enumerate(box.nodes.tolist()))
