/** What all parts of one client share: settings, rules, messages, and whether it is closed. */
@NullMarked
package dev.holdfast.engine.client;

import org.jspecify.annotations.NullMarked;
