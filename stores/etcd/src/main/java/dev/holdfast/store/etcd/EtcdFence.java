package dev.holdfast.store.etcd;

import dev.holdfast.Hold;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;

/**
 * The condition under which a holder may still write to the etcd cluster of its lock. It compares a key, which exists
 * until the store grants the lock to another, with a value. Use it in the transaction that writes, with any client of
 * etcd. Then check and write are one step, and a holder that was paused past its lease writes nothing.
 *
 * <pre>{@code
 * EtcdFence fence = EtcdFence.of(hold, "shop");
 * // If value(fence.key()) = fence.value() Then put … Else put nothing
 * }</pre>
 *
 * <p>It costs the store nothing: the key is the entry of the claim in the index, which disappears in the transaction
 * that grants the lock to another, and with the session. It works for exclusive holds whose lease is renewed or bounded
 * by the session; a detached grant outlives its key. The writing user needs the permission to read the namespace.
 *
 * <p>Immutable.
 */
public final class EtcdFence {

    private final byte[] key;
    private final byte[] value;

    private EtcdFence(byte[] key, byte[] value) {
        this.key = key;
        this.value = value;
    }

    /**
     * The condition for a hold.
     *
     * @param namespace the namespace of the store
     * @throws IllegalArgumentException if the hold is not one of a store on etcd
     */
    public static EtcdFence of(Hold hold, String namespace) {
        return of(hold.name(), hold.holdId(), namespace);
    }

    /**
     * The condition for a hold that is known by its id, for example from a message.
     *
     * @param name the name of the lock
     * @param holdId the value of {@link Hold#holdId()}
     * @param namespace the namespace of the store
     * @throws IllegalArgumentException if that is not the id of a hold on etcd
     */
    public static EtcdFence of(String name, String holdId, String namespace) {
        int at = holdId.indexOf('@');
        try {
            long claim = Long.parseLong(holdId.substring(0, Math.max(0, at)));
            SessionId session = new SessionId(holdId.substring(at + 1));
            if (KeyLayout.leaseOf(session) != 0) {
                ClaimRef ref = new ClaimRef(new ResourceName(name), session, claim);
                return new EtcdFence(new KeyLayout(namespace).claim(ref), KeyLayout.claimValue(true));
            }
        } catch (IllegalArgumentException e) {
            // Reported below.
        }
        throw new IllegalArgumentException(
                "The hold '" + holdId + "' on '" + name + "' was not acquired from an etcd store");
    }

    /** The key to compare. */
    public byte[] key() {
        return key.clone();
    }

    /** The value that it must have. */
    public byte[] value() {
        return value.clone();
    }
}
