// Quantiles and tails, as thin wrappers over Boost.Math.
#pragma once

namespace unmask {

double normal_cdf(double x);
double normal_quantile(double p);           // 0 < p < 1
double t_cdf(double x, double df);          // df > 0
double t_quantile(double p, double df);     // 0 < p < 1
double two_sided_t_p(double t, double df);  // P(|T| >= |t|)

// P(T <= x) where T = (Z + noncentrality) / sqrt(chi2_df / df): what a t statistic follows when the
// null hypothesis is false.
double noncentral_t_cdf(double x, double df, double noncentrality);

double beta_quantile(double p, double a, double b);  // 0 <= p <= 1; a, b > 0

// P(X <= k), X the number of successes in n trials of probability p. 0 <= k <= n, 0 <= p <= 1.
double binomial_cdf(double k, double n, double p);

}  // namespace unmask
