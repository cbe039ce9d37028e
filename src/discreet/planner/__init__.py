"""What a release would find, before anything is spent and without any data."""

from discreet.planner.record import Outlook as Outlook
from discreet.planner.record import Plan as Plan
from discreet.planner.run import plan as plan
