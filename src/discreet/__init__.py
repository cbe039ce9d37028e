"""Find what is real in data about people, without exposing anyone in it."""

from discreet.data.person import Person as Person
from discreet.data.plink import Plink as Plink
from discreet.decide.adaptive import is_adaptive as is_adaptive
from discreet.decide.bounds import Bound as Bound
from discreet.decide.bounds import fdr_bound as fdr_bound
from discreet.decide.rejections import Rejections as Rejections
from discreet.decide.step_down import step_down as step_down
from discreet.decide.step_up import benjamini_yekutieli as benjamini_yekutieli
from discreet.decide.step_up import step_up as step_up
from discreet.errors import DiscreetError as DiscreetError
from discreet.evidence.allelic import Allelic as Allelic
from discreet.evidence.certificate import Certificate as Certificate
from discreet.evidence.correlation import Correlation as Correlation
from discreet.evidence.evidence import Evidence as Evidence
from discreet.evidence.genotypic import Genotypic as Genotypic
from discreet.evidence.log_p import are_neighbours as are_neighbours
from discreet.evidence.log_p import truncated_sensitivity as truncated_sensitivity
from discreet.evidence.mean import Mean as Mean
from discreet.evidence.null import Null as Null
from discreet.evidence.p_values import PValues as PValues
from discreet.evidence.proportion import Proportion as Proportion
from discreet.evidence.rank_sum import RankSum as RankSum
from discreet.evidence.score import Score as Score
from discreet.evidence.sign import Sign as Sign
from discreet.evidence.signed_rank import SignedRank as SignedRank
from discreet.evidence.trend import Trend as Trend
from discreet.evidence.two_by_two import TwoByTwo as TwoByTwo
from discreet.evidence.two_groups import Stratified as Stratified
from discreet.evidence.two_groups import TwoGroups as TwoGroups
from discreet.evidence.vote import Vote as Vote
from discreet.measure import measure as measure
from discreet.pipeline import discover as discover
from discreet.pipeline import private_bh as private_bh
from discreet.pipeline import release as release
from discreet.privacy.account import account as account
from discreet.privacy.promise import Privacy as Privacy
from discreet.report.release import FdrPromise as FdrPromise
from discreet.report.release import Release as Release
from discreet.report.release import Values as Values
from discreet.select.noisy_min import NoisyMin as NoisyMin
from discreet.select.noisy_min import noisy_min as noisy_min
from discreet.select.selection import Selection as Selection
from discreet.select.top_k import top_k as top_k

__version__ = "0.1.0"
