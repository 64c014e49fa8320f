"""The falling chain and the slider-crank in Exudyn: run by Exudyn's own interpreter, JSON in and out.

Links are floating frames with the modes that the job brings (ObjectFFRFreducedOrder, computed by Exudyn's C++): a link's mass sits
on the points of a Gauss rule, so that its integrals are the beam's own. Contact is Exudyn's Hunt-Crossley law; pins are
constraints.
"""

import json
import os
import sys
import time

import numpy as np

_TELLS = os.dup(1)  # Exudyn talks on stdout; our answer goes where stdout was
os.dup2(2, 1)

import exudyn as exu  # noqa: E402
from exudyn.FEM import ObjectFFRFreducedOrderInterface  # noqa: E402
from exudyn.itemInterface import (  # noqa: E402
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerNodeCoordinate,
    MarkerNodeRigid,
    MarkerSuperElementPosition,
    MarkerSuperElementRigid,
    Node1D,
    NodeGenericData,
    NodePointGround,
    NodeRigidBody2D,
    ObjectContactCoordinate,
    ObjectContactSphereTriangle,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectJointSpherical,
    ObjectMass1D,
    ObjectRigidBody2D,
    SensorMarker,
)
from scipy.sparse import csr_matrix  # noqa: E402

PIN = [1, 1, 0]  # x and y of two points are one; nothing drives a plane mechanism out of its plane
HUNT_CROSSLEY = 1
ROOT, TIP, TIP_RING = 0, 1, [2, 3, 4, 5]  # the first points of a link


class Points:
    """What ObjectFFRFreducedOrderInterface asks of a mesh: masses at points, and shapes there."""

    def __init__(self, link):
        self.postProcessingModes = {}
        shapes = np.array(link["shapes"])  # (points, 3, modes)
        self.modeBasis = {"matrix": shapes.reshape(-1, shapes.shape[2])}
        self.places = np.array(link["places"])
        self.mass = csr_matrix(np.diag(np.repeat(link["masses"], 3)))

    def GetNodePositionsAsArray(self):
        return self.places

    def GetSurfaceTriangles6(self):
        return []

    def GetSurfaceTriangles(self):
        return []

    def GetMassMatrix(self, sparse=True):
        return self.mass

    def GetStiffnessMatrix(self, sparse=True):
        return 0.0 * self.mass


def add_link(mbs, link, position, angle, velocity=(0.0, 0.0), rate=0.0, gravity=0.0):
    """A flexible link; three angles, no constraint of its own. Returns the object and the node of its frame."""
    body = ObjectFFRFreducedOrderInterface(Points(link), rigidBodyNodeType="NodeType.RotationRxyz")
    body.massMatrixReduced = np.array(link["modal_mass"])
    body.stiffnessMatrixReduced = np.array(link["stiffness"])
    # the sections' own inertia about z; about x what a thin rod lacks, or the mass matrix would be singular
    body.inertiaLocal = body.inertiaLocal + np.diag([1e-3, 0.0, link["rotary"]])
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    made = body.AddObjectFFRFreducedOrder(
        mbs, positionRef=[*position, 0.0], initialVelocity=[*velocity, 0.0], rotationMatrixRef=turn,
        initialAngularVelocity=[0.0, 0.0, rate], gravity=[0.0, gravity, 0.0],
        massProportionalDamping=link["alpha"], stiffnessProportionalDamping=link["beta"],
    )  # fmt: skip
    return made["oFFRFreducedOrder"], made["nRigidBody"]


def at(mbs, body, point):
    """The marker of one of a link's ends."""
    return mbs.AddMarker(MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=[point], weightingFactors=[1.0]))


def watch(mbs, marker):
    return mbs.AddSensor(
        SensorMarker(
            markerNumber=marker,
            outputVariableType=exu.OutputVariableType.Position,
            storeInternal=True,
            writeToFile=False,
        )
    )


def falling_chain(mbs, job):
    """Three links pinned to each other, whose ends touch the ground. Watched: the four ends.

    Contacts ask for a turned marker. Roots are the frames' nodes, which are cheap; only the last tip needs a ring of points.
    """
    base = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround())))
    position, last, sensors = np.array(job["position"]), None, []
    for link, angle in zip(job["links"], job["angles"], strict=True):
        body, node = add_link(mbs, link, position, angle, gravity=job["gravity"])
        root = at(mbs, body, ROOT)
        sensors.append(watch(mbs, root))
        touch(mbs, job, base, mbs.AddMarker(MarkerNodeRigid(nodeNumber=node)), position[1])
        if last is not None:
            mbs.AddObject(ObjectJointSpherical(markerNumbers=[last, root], constrainedAxes=PIN))
        position = position + job["length"] * np.array([np.cos(angle), np.sin(angle)])
        last = at(mbs, body, TIP)
    sensors.append(watch(mbs, last))
    ring = MarkerSuperElementRigid(bodyNumber=body, meshNodeNumbers=TIP_RING, weightingFactors=[0.25] * 4)
    touch(mbs, job, base, mbs.AddMarker(ring), position[1])
    return sensors


def touch(mbs, job, base, end, height):
    """An end against the ground."""
    data = mbs.AddNode(NodeGenericData(initialCoordinates=[height, 0.0, 0.0, 0.0], numberOfDataCoordinates=4))
    ball = job["ball"]  # without friction a ball on lower ground is the point at its centre
    floor = [[-20.0, -ball, -20.0], [0.0, -ball, 40.0], [20.0, -ball, -20.0]]
    mbs.AddObject(
        ObjectContactSphereTriangle(
            markerNumbers=[end, base], nodeNumber=data, sphereRadius=ball, trianglePoints=exu.Vector3DList(floor),
            includeEdges=0, contactStiffness=job["contact_stiffness"], contactStiffnessExponent=1.5,
            impactModel=HUNT_CROSSLEY, restitutionCoefficient=job["restitution"],
        )
    )  # fmt: skip


def slider_crank(mbs, job):
    """A rigid crank, the flexible rod, and the slider, a mass on a line, against a stop. Watched: the slider."""
    ground = mbs.AddObject(ObjectGround())
    half, angle, speed = 0.5 * job["crank"], job["angle"], job["speed"]
    middle, pin = (r * np.array([np.cos(angle), np.sin(angle)]) for r in (half, job["crank"]))
    node = mbs.AddNode(
        NodeRigidBody2D(referenceCoordinates=[*middle, angle], initialVelocities=[-speed * middle[1], speed * middle[0], speed])
    )
    crank = mbs.AddObject(
        ObjectRigidBody2D(mass=job["crank_mass"], inertia=job["crank_mass"] * job["crank"] ** 2 / 12.0, nodeNumber=node)
    )
    hub, hole = (mbs.AddMarker(MarkerBodyPosition(bodyNumber=crank, localPosition=[x, 0.0, 0.0])) for x in (-half, half))
    mbs.AddObject(ObjectJointRevolute2D(markerNumbers=[mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground)), hub]))
    velocity = speed * np.array([-pin[1], pin[0]])
    rod, _ = add_link(mbs, job["links"][0], pin, job["lean"], velocity, job["lean_rate"])
    mbs.AddObject(ObjectJointSpherical(markerNumbers=[hole, at(mbs, rod, ROOT)], constrainedAxes=PIN))
    carriage = mbs.AddNode(Node1D(referenceCoordinates=[job["slider"]], initialVelocities=[job["slider_speed"]]))
    slider = mbs.AddMarker(MarkerBodyPosition(bodyNumber=mbs.AddObject(ObjectMass1D(mass=job["slider_mass"], nodeNumber=carriage))))
    mbs.AddObject(ObjectJointSpherical(markerNumbers=[at(mbs, rod, TIP), slider], constrainedAxes=PIN))
    stop = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    moving = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=carriage, coordinate=0))
    data = mbs.AddNode(NodeGenericData(initialCoordinates=[job["stop"] - job["slider"], 0.0], numberOfDataCoordinates=2))
    mbs.AddObject(
        ObjectContactCoordinate(
            markerNumbers=[moving, stop], nodeNumber=data, offset=job["slider"] - job["stop"],
            contactStiffness=job["contact_stiffness"], contactStiffnessExponent=1.5,
            impactModel=HUNT_CROSSLEY, restitutionCoefficient=job["restitution"],
        )
    )  # fmt: skip
    return [watch(mbs, slider)]


MODELS = {"falling_chain": falling_chain, "slider_crank": slider_crank}


def run(job, steps):
    """One run: where there is a flight before the first contact, its few long steps, then `steps` equal ones."""
    mbs = exu.SystemContainer().AddSystem()
    sensors = MODELS[job["model"]](mbs, job)
    mbs.Assemble()
    solver = getattr(exu.DynamicSolverType, job["solver"])
    stages = [(0.0, *job["flight"])] if job["flight"] else []
    stages.append((job["flight"][0] if job["flight"] else 0.0, job["t_end"], steps))
    rows, seconds, solved = [[] for _ in sensors], 0.0, True
    for begin, end, count in stages:
        settings = settings_of(job, begin, end, count)
        began = time.process_time()
        try:
            solved = solved and mbs.SolveDynamic(settings, solverType=solver, updateInitialValues=True)
        except exu.SolverError:
            solved = False
        seconds += time.process_time() - began
        for some, sensor in zip(rows, sensors, strict=True):  # a stage begins with the row that the one before ended with
            some.extend(mbs.GetSensorStoredData(sensor)[1 if some else 0 :].tolist())
    return {"solved": bool(solved), "seconds": seconds, "time": [row[0] for row in rows[0]],
            "positions": [[row[1:3] for row in some] for some in rows]}  # fmt: skip


def settings_of(job, begin, end, count):
    settings = exu.SimulationSettings()
    settings.timeIntegration.startTime, settings.timeIntegration.endTime = begin, end
    settings.timeIntegration.numberOfSteps = count
    settings.timeIntegration.verboseMode = 0
    settings.show.statistics = settings.show.computationTime = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = job["every"]
    settings.parallel.numberOfThreads = 1
    for path, value in job["settings"].items():
        *folders, name = path.split(".")
        place = settings
        for folder in folders:
            place = getattr(place, folder)
        setattr(place, name, value)
    return settings


def main():
    job = json.load(sys.stdin)
    answer = {"version": exu.__version__, "runs": [run(job, steps) for steps in job["steps"]]}
    with os.fdopen(_TELLS, "w") as out:
        json.dump(answer, out)


main()
