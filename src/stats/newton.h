// The maximum of a smooth concave function of a few variables: what the likelihoods of this room
// need. Internal to stats.
//
// No library: with two to four parameters Newton's method and a Cholesky factor are the fifty lines
// below, and the concave likelihoods they serve (tobit.h, logistic.h) have one maximum, which
// Newton's steps, halved until they climb, always reach.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"

namespace unmask {

// A small square matrix, row-major.
class SmallMatrix {
 public:
  explicit SmallMatrix(std::size_t n) : n_(n), values_(n * n, 0.0) {}
  std::size_t size() const { return n_; }
  double& operator()(std::size_t i, std::size_t j) { return values_[i * n_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

// Inverse of a symmetric positive definite matrix. Errors   Undefined: it is not.
Result<SmallMatrix> positive_inverse(const SmallMatrix& a);
SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b);
SmallMatrix transposed(const SmallMatrix& a);

// What a log-likelihood is at one place.
struct LocalShape {
  double value = 0;  // -infinity: not a place
  std::vector<double> gradient;
  SmallMatrix curvature;  // minus the second derivatives: the observed information
};

struct Maximum {
  std::vector<double> at;
  LocalShape shape;
  int steps = 0;
};

// Errors   Undefined: the curvature is singular on the way (regressors that are multiples of each
//          other), or 100 steps do not end it (the maximum lies at infinity).
Result<Maximum> newton_maximum(
    const std::function<LocalShape(const std::vector<double>& at)>& function,
    std::vector<double> start);

// Covariances of a maximum likelihood estimate from its information and the rows' scores.
//   information  its inverse: right where rows are independent and the model is.
//   clustered    the sandwich with scores summed by cluster, times G/(G-1) (n-1)/(n-k): right where
//                clusters are independent, whatever holds within.
// Shape   scores[i] of row i, one number a parameter; cluster[i] in [0, clusters).
// Source  Huber (1967); Liang & Zeger (1986); the factor is Stata's.
struct Covariances {
  SmallMatrix information;
  SmallMatrix clustered;
};
Result<Covariances> covariances(const SmallMatrix& information,
                                const std::vector<std::vector<double>>& scores,
                                const std::vector<int>& cluster, int clusters);

// J C J': covariance of a smooth function of the estimate with Jacobian J.
SmallMatrix moved_covariance(const SmallMatrix& jacobian, const SmallMatrix& covariance);

}  // namespace unmask
