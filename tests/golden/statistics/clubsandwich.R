# Prints clubsandwich.json: ten data sets, each with the mean, its CR2 error, Satterthwaite degrees of freedom and
# 95 % interval of clubSandwich. Run: Rscript clubsandwich.R > clubsandwich.json
library(clubSandwich)
set.seed(20260101)

draw <- function(sizes, share, between, n_groups = 1, kind = "share") {
  cluster <- rep(seq_along(sizes), sizes)
  n <- length(cluster)
  group <- if (n_groups == 1) rep(1, n) else sample(n_groups, n, replace = TRUE)
  if (kind == "share") {
    p <- rbeta(length(sizes), share * between, (1 - share) * between)
    y <- rbinom(n, 1, p[cluster])
  } else if (kind == "difference") {
    y <- sample(c(-1, 0, 1), n, replace = TRUE, prob = c(0.15, 0.6, 0.25))
  } else {
    y <- round(rnorm(length(sizes), 8, 2)[cluster] + rnorm(n, 0, 3), 3)
  }
  list(cluster = cluster, group = group, y = y)
}

sets <- list(
  "equal, 5 videos" = draw(rep(4, 5), 0.5, 4),
  "equal, 30 videos" = draw(rep(4, 30), 0.3, 4),
  "one question each" = draw(rep(1, 24), 0.6, 4),
  "unequal, 8 videos" = draw(c(1, 2, 3, 5, 8, 13, 21, 4), 0.5, 2),
  "unequal, 40 videos" = draw(1 + rpois(40, 3), 0.2, 3),
  "one video holds most" = draw(c(60, rep(3, 12)), 0.5, 3),
  "differences" = draw(c(2, 9, 4, 4, 1, 7, 3, 3, 12, 5), 0, 0, kind = "difference"),
  "unbounded" = draw(c(3, 3, 8, 1, 5, 2, 6, 4, 4), 0, 0, kind = "free"),
  "mean of three groups" = draw(rep(6, 15), 0.4, 3, n_groups = 3),
  "mean of five groups, unequal" = draw(c(30, 2 + rpois(24, 4)), 0.7, 2, n_groups = 5)
)

number <- function(x) format(x, digits = 15, trim = TRUE)
many <- function(x) paste0("[", paste(x, collapse = ", "), "]")
out <- character()
for (name in names(sets)) {
  d <- sets[[name]]
  k <- length(unique(d$group))
  fit <- if (k == 1) lm(d$y ~ 1) else lm(d$y ~ 0 + factor(d$group))
  found <- linear_contrast(
    fit, vcov = "CR2", cluster = factor(d$cluster), contrasts = matrix(rep(1 / k, k), 1),
    test = "Satterthwaite", level = 0.95
  )
  out <- c(out, paste0(
    '    {"name": "', name, '", "value": ', number(found$Est), ', "error": ', number(found$SE),
    ', "dof": ', number(found$df), ', "low": ', number(found$CI_L), ', "high": ', number(found$CI_U),
    ',\n     "clusters": ', many(d$cluster), ',\n     "groups": ', many(d$group),
    ',\n     "values": ', many(d$y), "}"
  ))
}
cat(
  '{\n  "made_with": "', R.version.string, "; clubSandwich ", as.character(packageVersion("clubSandwich")),
  '",\n  "sets": [\n', paste(out, collapse = ",\n"), "\n  ]\n}\n", sep = ""
)
