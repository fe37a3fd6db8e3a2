// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Comes before everything in a plug-in that is made with Verilator: what the RTL prints is kept
// until it is known whether it belongs to a fault.
#pragma once

__attribute__((format(printf, 1, 2))) int hcasim_rtl_print(const char* format, ...);

#define VL_PRINTF hcasim_rtl_print
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
