"""Statistics of scores on questions about videos.

Questions about one video are right or wrong together, so every interval and test takes the name of the
cluster (video) of each value. `vidence.statistics.metrics` has the measures under their names in the
literature.

Means and shares
    * clustered mean: `intervals.mean_interval`, with the error CR2 and its degrees of freedom [#bell2002]_
      [#pustejovsky2018]_, Wilson's with unseen clusters; `intervals.clustered_error` [#miller2024]_
    * mean over answers of several people, with people and videos as crossed factors:
      `crossed.crossed_interval` [#cameron2011]_ [#cameron2015]_
    * share of independent trials: `intervals.proportion`, with Wilson's interval [#wilson1927]_
    * ratio of two means: `ratios.ratio_of_means`, with Fieller's interval [#fieller1954]_
    * several runs of the same questions: `repeats.summarise`, `repeats.components` [#searle1992]_

Comparisons
    * paired difference: `paired.compare` [#miller2024]_, with the same error
    * right and wrong of two runs: `paired.mcnemar` [#fagerland2013]_
    * many runs: `paired.rank`, with `paired.holm` [#holm1979]_ and `paired.compact_letter_display`
      [#piepho2004]_
    * equivalence within a margin: `paired.decided` [#schuirmann1987]_
    * looks after every source: `sequential.ConfidenceSequence` [#waudbysmith2024]_
    * groups of items of one run: `contrasts.contrast`, with the error CR2; a group that is all alike gets the
      variance of Agresti and Caffo [#agresti2000]_
    * two groups of items: `resampling.difference_of_groups`
    * who wins pairs: `strengths.bradley_terry` [#bradley1952]_, with ties [#davidson1970]_
    * what a run would find: `power` [#connor1987]_, with the design effect [#kish1965]_ or simulated

Figures that are no means have a bootstrap of whole clusters [#cameron2008]_.

Agreement and correlation
    * `agreement.cohen_kappa` [#cohen1960]_, `agreement.krippendorff_alpha` [#krippendorff2011]_
    * `correlation.pearson` [#fisher1921]_, `correlation.spearman` [#bonett2000]_,
      `correlation.cluster_permutation` [#good2005]_

Questions
    * what guessing and rules get: `chance`, `answer_keys`, `position`
    * difficulty and discrimination, doubtful keys, anchors: `item_response` [#bock1981]_ [#polo2024]_
    * texts that say nearly the same: `near_duplicates` [#broder1997]_

References:
    .. [#agresti2000] Agresti & Caffo, "Simple and effective confidence intervals for proportions and
       differences of proportions result from adding two successes and two failures", The American
       Statistician 54, 2000.
    .. [#bell2002] Bell & McCaffrey, "Bias reduction in standard errors for linear regression with
       multi-stage samples", Survey Methodology 28, 2002.
    .. [#bock1981] Bock & Aitkin, "Marginal maximum likelihood estimation of item parameters", Psychometrika
       46, 1981.
    .. [#bonett2000] Bonett & Wright, "Sample size requirements for estimating Pearson, Kendall and Spearman
       correlations", Psychometrika 65, 2000.
    .. [#bradley1952] Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 39, 1952.
    .. [#broder1997] Broder, "On the resemblance and containment of documents", 1997.
    .. [#cameron2008] Cameron, Gelbach & Miller, "Bootstrap-based improvements for inference with clustered
       errors",
       2008.
    .. [#cameron2011] Cameron, Gelbach & Miller, "Robust inference with multiway clustering", Journal of
       Business & Economic Statistics 29, 2011.
    .. [#cameron2015] Cameron & Miller, "A practitioner's guide to cluster-robust inference", Journal of Human
       Resources 50, 2015.
    .. [#cohen1960] Cohen, "A coefficient of agreement for nominal scales", 1960.
    .. [#connor1987] Connor, "Sample size for testing differences in proportions for the paired-sample
       design", 1987.
    .. [#davidson1970] Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
       comparison experiments", Journal of the American Statistical Association 65, 1970.
    .. [#fagerland2013] Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs data", 2013.
    .. [#fieller1954] Fieller, "Some problems in interval estimation", 1954.
    .. [#fisher1921] Fisher, "On the probable error of a coefficient of correlation", 1921.
    .. [#good2005] Good, "Permutation, parametric, and bootstrap tests of hypotheses", 2005.
    .. [#holm1979] Holm, "A simple sequentially rejective multiple test procedure", 1979.
    .. [#kish1965] Kish, "Survey sampling", 1965.
    .. [#krippendorff2011] Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
    .. [#miller2024] Miller, "Adding error bars to evals", 2024.
    .. [#piepho2004] Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons",
       2004.
    .. [#polo2024] Polo and others, "tinyBenchmarks: evaluating LLMs with fewer examples", 2024.
    .. [#pustejovsky2018] Pustejovsky & Tipton, "Small-sample methods for cluster-robust variance estimation
       and hypothesis testing in fixed effects models", Journal of Business & Economic Statistics 36, 2018.
    .. [#schuirmann1987] Schuirmann, "A comparison of the two one-sided tests procedure and the power approach
       for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
       Biopharmaceutics 15, 1987.
    .. [#searle1992] Searle, Casella & McCulloch, "Variance components", 1992.
    .. [#waudbysmith2024] Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86, 2024.
    .. [#wilson1927] Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
"""
