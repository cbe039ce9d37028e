"""Find what is real in data about people, without exposing anyone in it."""

from discreet.decide.adaptive import is_adaptive as is_adaptive
from discreet.decide.bounds import Bound as Bound
from discreet.decide.bounds import fdr_bound as fdr_bound
from discreet.decide.rejections import Rejections as Rejections
from discreet.decide.step_down import step_down as step_down
from discreet.decide.step_up import benjamini_yekutieli as benjamini_yekutieli
from discreet.decide.step_up import step_up as step_up
from discreet.errors import DiscreetError as DiscreetError
from discreet.privacy.account import account as account
from discreet.privacy.promise import Privacy as Privacy
from discreet.select.noisy_min import NoisyMin as NoisyMin
from discreet.select.noisy_min import noisy_min as noisy_min
from discreet.select.selection import Selection as Selection
from discreet.select.top_k import top_k as top_k

__version__ = "0.1.0"
