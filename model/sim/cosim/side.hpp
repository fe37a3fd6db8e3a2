// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/receive_queue_rtl/receive_queue_library.hpp"

namespace hcasim::sim::cosim {

/// Makes a unit that has just been reset. It may throw when it cannot have these parameters.
using UnitFactory =
    std::function<std::unique_ptr<hca::ReceiveQueueUnit>(const hw::rq::Parameters&)>;

/// One of the implementations that are compared.
struct Side {
  std::string name;
  UnitFactory make;
};

/// The model, stepped in every cycle.
Side model_side();

/// The model, stepped only in cycles in which it says that something can change.
Side skipping_model_side();

/// RTL of a plug-in. Its factory throws std::invalid_argument for parameters that it was not built
/// with.
Side rtl_side(const std::shared_ptr<const hca::ReceiveQueueLibrary>& library);

}  // namespace hcasim::sim::cosim
