package dev.holdfast.store.etcd;

import dev.holdfast.Hold;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;

/**
 * The condition under which a holder may still write to the etcd cluster that its lock is in: that a key, which is
 * there for as long as the store has granted nobody else the lock, has this value. Compare with it in the transaction
 * that writes, with whatever client of etcd the program has; then check and write are one step, and a holder that was
 * paused past its lease writes nothing.
 *
 * <pre>{@code
 * EtcdFence fence = EtcdFence.of(hold, "shop");
 * // If value(fence.key()) = fence.value() Then put … Else put nothing
 * }</pre>
 *
 * <p>It costs the store nothing: the key is the entry of the claim in the index, which the transaction that grants the
 * lock to another removes, as does the end of the session. It is for exclusive holds whose lease is renewed or bounded
 * by the session; a detached grant outlives its key. Whoever writes needs the permission to read the namespace.
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
     * @param namespace that of the store
     * @throws IllegalArgumentException if the hold is not one of a store on etcd
     */
    public static EtcdFence of(Hold hold, String namespace) {
        return of(hold.name(), hold.holdId(), namespace);
    }

    /**
     * The condition for a hold that is known by its id, as where that came with a message.
     *
     * @param name the name of the lock
     * @param holdId as {@link Hold#holdId()} tells it
     * @param namespace that of the store
     * @throws IllegalArgumentException if that is no id of a hold of a store on etcd
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
            // Told below.
        }
        throw new IllegalArgumentException("The hold '" + holdId + "' on '" + name + "' is not one of a store on etcd");
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
