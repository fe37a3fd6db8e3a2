// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Loading plug-ins: what goes wrong is said in one line that names the file.
#include "hca/receive_queue_rtl/receive_queue_library.hpp"

#include <gtest/gtest.h>

#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

namespace hcasim::testbench {
namespace {

using hca::ReceiveQueueLibrary;
using hca::ReceiveQueueLibraryError;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ReceiveQueueLibraryError& error) {
    return error.what();
  }
  return "";
}

std::string error_of_file(const std::string& file) {
  return error_of([&] { ReceiveQueueLibrary::load(file); });
}

const std::string kFolder = HCASIM_PLUGIN_FOLDER;

TEST(ReceiveQueueLibrary, LoadsAPlugIn) {
  const auto library = ReceiveQueueLibrary::load(kFolder + "model_plugin.so");
  EXPECT_STREQ(library->plugin().name, "model");
  EXPECT_EQ(library->plugin().parameters, hw::rq::Parameters{});
}

TEST(ReceiveQueueLibrary, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(error_of_file("/nowhere/a.so"),
            "/nowhere/a.so: expected a shared library, found /nowhere/a.so: cannot open shared "
            "object file: No such file or directory");
  EXPECT_EQ(error_of_file("nowhere.so").find("nowhere.so: expected a shared library, found"), 0U);
  EXPECT_EQ(error_of_file(kFolder + "no_plugin.so"),
            kFolder +
                "no_plugin.so: expected a receive-queue plug-in, which has a function "
                "hcasim_receive_queue_plugin, found none");
  EXPECT_EQ(error_of_file(kFolder + "newer_plugin.so"),
            kFolder + "newer_plugin.so: expected version 1 of the plug-in interface, found 2");
}

hw::rq::Plugin good() {
  return ReceiveQueueLibrary::load(kFolder + "model_plugin.so")->plugin();
}

std::string error_with(const std::function<void(hw::rq::Plugin&)>& change) {
  hw::rq::Plugin plugin = good();
  change(plugin);
  return error_of([&] { hca::check_plugin(plugin, "f"); });
}

TEST(ReceiveQueueLibrary, ChecksTheTable) {
  EXPECT_EQ(error_with([](auto&) {}), "");
  EXPECT_EQ(error_with([](auto& p) { ++p.version; }),
            "f: expected version 1 of the plug-in interface, found 2");
  EXPECT_EQ(error_with([](auto& p) { p.plugin_bytes = 8; }),
            "f: expected a table of " + std::to_string(sizeof(hw::rq::Plugin)) + " bytes, found 8");
  EXPECT_NE(error_with([](auto& p) { ++p.inputs_bytes; }).find("inputs of"), std::string::npos);
  EXPECT_NE(error_with([](auto& p) { ++p.outputs_bytes; }).find("outputs of"), std::string::npos);
  EXPECT_NE(error_with([](auto& p) { ++p.counters_bytes; }).find("counters of"), std::string::npos);
  EXPECT_NE(error_with([](auto& p) { ++p.snapshot_bytes; }).find("snapshots of"),
            std::string::npos);
  EXPECT_NE(error_with([](auto& p) { p.step = nullptr; }).find("in the table"), std::string::npos);
  EXPECT_NE(error_with([](auto& p) { p.parameters.lines = 15; }).find("ranges"), std::string::npos);
  EXPECT_EQ(error_with([](auto& p) { p.counters = nullptr; }), "");
  EXPECT_EQ(error_with([](auto& p) { p.snapshot = nullptr; }), "");
}

TEST(RtlReceiveQueue, AFaultNamesFileAndCycle) {
  hca::RtlReceiveQueue unit(ReceiveQueueLibrary::load(kFolder + "model_plugin.so"));
  hw::rq::Inputs in;
  unit.step(0, in);
  in.take_valid = true;
  in.take.tag = 0xdead;
  try {
    unit.step(7, in);
    FAIL() << "no fault";
  } catch (const hca::RtlFault& fault) {
    EXPECT_EQ(fault.what(), kFolder + "model_plugin.so: cycle 7: a planted fault");
  }
}

}  // namespace
}  // namespace hcasim::testbench
