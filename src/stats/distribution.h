// Quantiles and tails, as thin wrappers over Boost.Math.
#pragma once

namespace unmask {

double normal_cdf(double x);
double normal_quantile(double p);             // 0 < p < 1
double t_cdf(double x, double df);            // df > 0
double t_quantile(double p, double df);       // 0 < p < 1
double two_sided_t_p(double t, double df);    // P(|T| >= |t|)

}  // namespace unmask
