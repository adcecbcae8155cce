"""The measures of `vidence.statistics` under their names in the literature.

Each takes plain sequences: the scores of items, and the name of the cluster (video) of each. Each says in its
docstring what it computes, after whom, and with an example; `vidence.statistics` lists the references.

>>> from vidence.statistics import metrics
>>> videos = ["a", "a", "b", "b", "c", "c"]
>>> metrics.clustered_mean([1, 0, 1, 1, 0, 1], clusters=videos).n_clusters
3
>>> round(metrics.wilson(4, 6).low, 3)
0.3
"""

from vidence.statistics.agreement import cohen_kappa, krippendorff_alpha
from vidence.statistics.answer_keys import letter_balance, position_bias
from vidence.statistics.chance import margin
from vidence.statistics.correlation import pearson, spearman
from vidence.statistics.crossed import crossed_interval as crossed_mean
from vidence.statistics.intervals import clustered_error
from vidence.statistics.intervals import mean_interval as clustered_mean
from vidence.statistics.intervals import proportion as wilson
from vidence.statistics.near_duplicates import resemblance
from vidence.statistics.paired import compact_letter_display, holm, mcnemar, rank
from vidence.statistics.paired import compare as paired_difference
from vidence.statistics.power import (
    Design,
    discordance,
    intraclass_correlation,
    paired_detectable,
    paired_needed,
    paired_power,
)
from vidence.statistics.ratios import ratio_of_means as fieller_ratio
from vidence.statistics.repeats import components as variance_components
from vidence.statistics.repeats import summarise as over_runs
from vidence.statistics.resampling import Resampling

__all__ = [
    "Design",
    "Resampling",
    "clustered_error",
    "clustered_mean",
    "cohen_kappa",
    "compact_letter_display",
    "crossed_mean",
    "discordance",
    "fieller_ratio",
    "holm",
    "intraclass_correlation",
    "krippendorff_alpha",
    "letter_balance",
    "margin",
    "mcnemar",
    "over_runs",
    "paired_detectable",
    "paired_difference",
    "paired_needed",
    "paired_power",
    "pearson",
    "position_bias",
    "rank",
    "resemblance",
    "spearman",
    "variance_components",
    "wilson",
]
