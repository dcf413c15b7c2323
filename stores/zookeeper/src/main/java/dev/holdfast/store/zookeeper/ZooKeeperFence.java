package dev.holdfast.store.zookeeper;

import dev.holdfast.Hold;
import dev.holdfast.spi.ResourceName;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;

/**
 * Lets only the newest holder write to nodes: a guard node keeps the greatest fencing token that was shown, and the
 * operation that {@link #check} gives makes a program's own {@code multi} fail if a later holder has been there.
 *
 * <pre>{@code
 * ZooKeeperFence fence = ZooKeeperFence.at("/shop/fence");
 * try (Hold hold = holdfast.lock("prices").acquire()) {
 *     zooKeeper.multi(List.of(fence.check(zooKeeper, hold), Op.setData("/shop/prices", prices, -1)));
 * }
 * }</pre>
 *
 * <p>The lock may be on any store: what counts is its token. The guard costs one read, and one operation in the {@code
 * multi}. It is for exclusive holds, for one lock or for several of which each protects the same nodes under one name.
 *
 * <p><b>Thread-safety:</b> safe, and stateless.
 */
public final class ZooKeeperFence {

    private static final byte FORM = 1;

    private final String path;
    private final List<ACL> acl;

    private ZooKeeperFence(String path, List<ACL> acl) {
        this.path = path;
        this.acl = List.copyOf(acl);
    }

    /**
     * A fence whose guard is this node, which is made when it is first needed and may then be changed by everybody.
     *
     * @param path its parent is there
     * @throws IllegalArgumentException if it is no path
     */
    public static ZooKeeperFence at(String path) {
        return at(path, List.of(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone"))));
    }

    /** As {@link #at(String)}, with permissions for the node. */
    public static ZooKeeperFence at(String path, List<ACL> acl) {
        PathUtils.validatePath(path);
        return new ZooKeeperFence(path, acl);
    }

    /**
     * The operation to put before what a holder writes: as {@link #check(ZooKeeper, long, String)} with the token and
     * the id of the hold.
     *
     * @throws dev.holdfast.LockLostException if the hold is lost, before ZooKeeper is asked
     */
    public Op check(ZooKeeper zooKeeper, Hold hold) throws KeeperException, InterruptedException {
        return check(zooKeeper, hold.fencingToken(), hold.holdId());
    }

    /**
     * The operation to put before what a holder writes that is known by its token and its id. A {@code multi} with it
     * fails with {@code NodeExistsException} or {@code BadVersionException} if another holder was faster: ask for it
     * again, which finds out the newest holder.
     *
     * <p><b>Blocking:</b> for one answer of ZooKeeper's. It is good for one {@code multi}.
     *
     * @param token the fencing token, positive
     * @param holdId distinguishes holds with the same token: 1 to 300 printable ASCII characters
     * @throws StaleNodeTokenException if a greater token was shown before, or the same by another hold: write no more
     * @throws IllegalArgumentException if the token is not positive, or the id is none
     * @throws IllegalStateException if the node is no guard
     * @throws KeeperException for other failures
     * @throws InterruptedException if interrupted while waiting
     */
    public Op check(ZooKeeper zooKeeper, long token, String holdId) throws KeeperException, InterruptedException {
        requireHold(token, holdId);
        byte[] shown = ByteBuffer.allocate(1 + Long.BYTES + holdId.length())
                .put(FORM)
                .putLong(token)
                .put(holdId.getBytes(StandardCharsets.US_ASCII))
                .array();
        Stat stat = new Stat();
        byte[] data;
        try {
            data = zooKeeper.getData(path, false, stat);
        } catch (KeeperException.NoNodeException e) {
            return Op.create(path, shown, acl, CreateMode.PERSISTENT);
        }
        return isNewer(data, token, holdId)
                ? Op.setData(path, shown, stat.getVersion())
                : Op.check(path, stat.getVersion());
    }

    private static void requireHold(long token, String holdId) {
        if (token <= 0) {
            throw new IllegalArgumentException("A token must be positive, but was " + token);
        }
        if (holdId.isEmpty() || holdId.length() > 300 || !holdId.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("The id of a hold must have 1 to 300 printable ASCII characters, not '"
                    + ResourceName.printable(holdId) + "'");
        }
    }

    /** Whether this hold is the newest and has to be noted; false if it is the one that was noted. */
    private boolean isNewer(byte[] data, long token, String holdId) {
        ByteBuffer guard = ByteBuffer.wrap(data);
        long newest;
        try {
            if (guard.get() != FORM) {
                throw noGuard();
            }
            newest = guard.getLong();
        } catch (BufferUnderflowException e) {
            throw noGuard();
        }
        String newestHold = StandardCharsets.US_ASCII.decode(guard).toString();
        if (token < newest || (token == newest && !holdId.equals(newestHold))) {
            throw new StaleNodeTokenException(path, token, holdId, newest, newestHold);
        }
        return token > newest;
    }

    private IllegalStateException noGuard() {
        return new IllegalStateException("The node '" + path + "' does not belong to a fence: use another path");
    }
}
