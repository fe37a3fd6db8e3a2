// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Encodings on the ports of the receive-queue unit, those of
// include/hcasim/hw/receive_queue_ports.hpp.
package receive_queue_pkg;

  localparam logic [1:0] StateInvalid = 2'd0;
  localparam logic [1:0] StateReady   = 2'd1;
  localparam logic [1:0] StatePaused  = 2'd2;
  localparam logic [1:0] StateError   = 2'd3;

  localparam logic [2:0] OpInit       = 3'd0;
  localparam logic [2:0] OpSetLimit   = 3'd1;
  localparam logic [2:0] OpPause      = 3'd2;
  localparam logic [2:0] OpResume     = 3'd3;
  localparam logic [2:0] OpToError    = 3'd4;
  localparam logic [2:0] OpInvalidate = 3'd5;
  localparam logic [2:0] OpUndefined  = 3'd7;

  localparam logic [1:0] CommandOk          = 2'd0;
  localparam logic [1:0] CommandBadState    = 2'd1;
  localparam logic [1:0] CommandBadQueue    = 2'd2;
  localparam logic [1:0] CommandBadArgument = 2'd3;

  localparam logic [2:0] TakeOk         = 3'd0;
  localparam logic [2:0] TakeEmpty      = 3'd1;
  localparam logic [2:0] TakeFlushed    = 3'd2;
  localparam logic [2:0] TakeBadQueue   = 3'd3;
  localparam logic [2:0] TakeFetchError = 3'd4;

  localparam logic [1:0] EventLimit       = 2'd0;
  localparam logic [1:0] EventBadDoorbell = 2'd1;
  localparam logic [1:0] EventFetchError  = 2'd2;

endpackage
