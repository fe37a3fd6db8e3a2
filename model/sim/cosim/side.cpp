// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The sides that are always there.
#include "sim/cosim/side.hpp"

#include <filesystem>
#include <stdexcept>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

namespace hcasim::sim::cosim {
namespace {

/// Leaves out every cycle that the interface allows to leave out.
class SkippingUnit final : public hca::ReceiveQueueUnit {
 public:
  explicit SkippingUnit(const hw::rq::Parameters& parameters) : model_(parameters) {}

  const hw::rq::Outputs& step(hca::Cycle cycle, const hw::rq::Inputs& in) override {
    const bool needed = any_handshake(in, model_.outputs()) || model_.next_activity() <= cycle;
    return needed ? model_.step(cycle, in) : model_.outputs();
  }
  const hw::rq::Outputs& outputs() const override { return model_.outputs(); }
  hca::Cycle next_activity() const override { return model_.next_activity(); }
  const hca::ReceiveQueueCounters& counters() const override { return model_.counters(); }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override { return model_.snapshot(queue); }
  const hw::rq::Parameters& parameters() const override { return model_.parameters(); }

 private:
  hca::ReceiveQueueModel model_;
};

}  // namespace

Side model_side() {
  return {"model", [](const hw::rq::Parameters& parameters) {
            return std::make_unique<hca::ReceiveQueueModel>(parameters);
          }};
}

Side skipping_model_side() {
  return {"model-skipping", [](const hw::rq::Parameters& parameters) {
            return std::make_unique<SkippingUnit>(parameters);
          }};
}

Side rtl_side(const std::shared_ptr<const hca::ReceiveQueueLibrary>& library) {
  return {std::filesystem::path(library->file()).stem().string(),
          [library](const hw::rq::Parameters& parameters) {
            if (parameters != library->plugin().parameters) {
              throw std::invalid_argument(library->file() + " was built with other parameters");
            }
            return std::make_unique<hca::RtlReceiveQueue>(library);
          }};
}

}  // namespace hcasim::sim::cosim
