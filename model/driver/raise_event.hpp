// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hcasim/rvt/ib_objects.hpp"

namespace hcasim::rvt {

using EventElement = decltype(ib_event::element);

/// Tells whoever made an object of an event about it, if they gave a handler.
template <typename Object>
void raise_event(Object& object, Object* EventElement::*member, ib_event_type type, void* context) {
  if (object.event_handler == nullptr) return;
  ib_event event;
  event.device = object.device;
  event.event = type;
  event.element.*member = &object;
  object.event_handler(&event, context);
}

}  // namespace hcasim::rvt
