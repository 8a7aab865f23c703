// The domain `mock`, from the data of the tests.
#pragma once

#include <memory>

#include "environment/data_folder.h"
#include "environment/domain.h"

namespace unmask {

inline const std::shared_ptr<const Domain>& mock() {
  static const std::shared_ptr<const Domain> kDomain = [] {
    const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
    return *load_domain(*data, "mock");
  }();
  return kDomain;
}

}  // namespace unmask
