"""Names for annotations: what calls of `pliant` take and return, besides the classes in `pliant` itself."""

from pliant.analysis.denoc import Accelerations, Efforts
from pliant.analysis.equilibrium import Reaction, RestingContact
from pliant.analysis.frequency_response import FrequencyResponse
from pliant.analysis.mode_motion import MovedMechanism
from pliant.analysis.modes import NaturalModes
from pliant.analysis.operating_point import OperatingPoint
from pliant.equations.derive import Equations
from pliant.equations.matrices import Group
from pliant.equations.symbolic import Symbolic
from pliant.exchange.elastic_link import ElasticLink
from pliant.exchange.robot import Robot
from pliant.files import Model, RunSettings
from pliant.integrate.methods.method import Method
from pliant.model.body import Body
from pliant.model.check import Axis, Vector
from pliant.model.clearance import ClearanceJoint
from pliant.model.closure import Closure
from pliant.model.contact import ContactPair, End, Side
from pliant.model.contact_group import ContactGroup
from pliant.model.cut_joint import CutJoint
from pliant.model.force import Condition, Drive, PointForce, PointMoment
from pliant.model.friction_law import BristleLaw, FrictionLaw
from pliant.model.inverse_problem import FramePath, InverseProblem
from pliant.model.joint import Joint, Motion
from pliant.model.length import Length
from pliant.model.motor import MotorDrive
from pliant.model.new_sensor import NewSensor
from pliant.model.normal_law import NormalLaw
from pliant.model.own_state import OwnState
from pliant.model.parameter import Expression, Number
from pliant.model.reduced import ReducedModel
from pliant.model.sampled import Sampled
from pliant.model.segmented import SegmentedBeam
from pliant.model.sensor import Filter, Sensor
from pliant.model.solids import BoxEdge, Corner, Crossing, Foot, Lying, Rim, Rolling
from pliant.model.strut import Strut
from pliant.model.system import BodyHandle, Link
from pliant.results.contacts import ContactRecord, ContactTable
from pliant.results.contents import EventRecord
from pliant.results.drawing import BodyDrawing, ContactDrawing, Drawing, Field
from pliant.results.ledger import Extremes
from pliant.results.rich_display import Frame as NotebookPage
from pliant.results.state import FinalState, OngoingContact
from pliant.run.mechanism import AnySystem
from pliant.run.observation import Observation
from pliant.run.save_times import Every
from pliant.run.saved_run import SavedRun
from pliant.scalar import ArrayOf, Numbers
from pliant.study.derivatives.differentiated import Differentiated
from pliant.study.derivatives.run_derivatives import ContactDerivative, EventDerivative, LedgerDerivative
from pliant.study.derivatives.walk_records import Undefined
from pliant.study.fit.bands import Bands
from pliant.study.fit.bootstrap import Bootstrap
from pliant.study.fit.compared import Compared
from pliant.study.fit.covariance import Pattern, Scatter
from pliant.study.fit.design import Choice, Design
from pliant.study.fit.differentiated_run import DifferentiatedContact, DifferentiatedRun
from pliant.study.fit.identifiability import Combination, Direction, Identifiability
from pliant.study.fit.multistart import Minimum
from pliant.study.fit.noise import Autoregression
from pliant.study.fit.posterior import Posterior
from pliant.study.fit.profile import Profile
from pliant.study.fit.search import Search

__all__ = [
    "Accelerations",
    "AnySystem",
    "ArrayOf",
    "Autoregression",
    "Axis",
    "Bands",
    "Body",
    "BodyDrawing",
    "BodyHandle",
    "Bootstrap",
    "BoxEdge",
    "BristleLaw",
    "Choice",
    "ClearanceJoint",
    "Closure",
    "Combination",
    "Compared",
    "Condition",
    "ContactDerivative",
    "ContactDrawing",
    "ContactGroup",
    "ContactPair",
    "ContactRecord",
    "ContactTable",
    "Corner",
    "Crossing",
    "CutJoint",
    "Design",
    "Differentiated",
    "DifferentiatedContact",
    "DifferentiatedRun",
    "Direction",
    "Drawing",
    "Drive",
    "Efforts",
    "ElasticLink",
    "End",
    "Equations",
    "EventDerivative",
    "EventRecord",
    "Every",
    "Expression",
    "Extremes",
    "Field",
    "Filter",
    "FinalState",
    "Foot",
    "FramePath",
    "FrequencyResponse",
    "FrictionLaw",
    "Group",
    "Identifiability",
    "InverseProblem",
    "Joint",
    "LedgerDerivative",
    "Length",
    "Link",
    "Lying",
    "Method",
    "Minimum",
    "Model",
    "Motion",
    "MotorDrive",
    "MovedMechanism",
    "NaturalModes",
    "NewSensor",
    "NormalLaw",
    "NotebookPage",
    "Number",
    "Numbers",
    "Observation",
    "OngoingContact",
    "OperatingPoint",
    "OwnState",
    "Pattern",
    "PointForce",
    "PointMoment",
    "Posterior",
    "Profile",
    "Reaction",
    "ReducedModel",
    "RestingContact",
    "Rim",
    "Robot",
    "Rolling",
    "RunSettings",
    "Sampled",
    "SavedRun",
    "Scatter",
    "Search",
    "SegmentedBeam",
    "Sensor",
    "Side",
    "Strut",
    "Symbolic",
    "Undefined",
    "Vector",
]  # fmt: skip
