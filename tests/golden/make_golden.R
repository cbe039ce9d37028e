# Rejections by R's p.adjust, for tests/golden/make_golden.py: Rscript make_golden.R cases.csv answers.csv
# A case is one line: q, then p-values as whole numbers over 2^20. An answer is one line: the masks of BH and BY.
files <- commandArgs(trailingOnly = TRUE)
cases <- strsplit(readLines(files[1]), ",")
mask <- function(p, q, method) paste(as.integer(p.adjust(p, method = method) <= q), collapse = "")
answers <- vapply(cases, function(case) {
  p <- as.numeric(case[-1]) / 2^20
  q <- as.numeric(case[1])
  paste(mask(p, q, "BH"), mask(p, q, "BY"), sep = ",")
}, "")
writeLines(answers, files[2])
