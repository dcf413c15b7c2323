package dev.holdfast.store.zookeeper.client;

import org.apache.zookeeper.data.Stat;

/**
 * What a read of a node tells.
 *
 * @param data the data; not copied
 * @param stat its versions and times
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Node(byte[] data, Stat stat) {}
