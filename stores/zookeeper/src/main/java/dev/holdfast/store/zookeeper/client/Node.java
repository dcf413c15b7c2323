package dev.holdfast.store.zookeeper.client;

import org.apache.zookeeper.data.Stat;

/**
 * A node that was read.
 *
 * @param data the data; not copied
 * @param stat its versions and times
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Node(byte[] data, Stat stat) {}
