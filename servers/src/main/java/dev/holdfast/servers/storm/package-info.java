/** Clients in processes of their own, under one fault after another, and a witness of what their locks allow. */
@NullMarked
package dev.holdfast.servers.storm;

import org.jspecify.annotations.NullMarked;
