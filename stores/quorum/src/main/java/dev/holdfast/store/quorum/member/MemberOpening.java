package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Opens the members named by URIs, all at the same time. */
public final class MemberOpening {

    private MemberOpening() {}

    /**
     * Returns the members; fails if fewer than a majority can be reached.
     *
     * @param opened receives the members opened here
     */
    public static List<NamedStore> open(List<Object> members, List<LockStore> opened) {
        List<LateMember> named = new ArrayList<>();
        for (Object member : members) {
            if (member instanceof StoreUri uri) {
                named.add(new LateMember(uri));
            }
        }
        opened.addAll(named);
        List<CompletableFuture<LateMember>> opening = named.stream()
                .map(member -> member.open().thenApply(unused -> member))
                .toList();
        List<String> missing = new ArrayList<>();
        for (CompletableFuture<LateMember> each : opening) {
            try {
                LateMember late = each.join();
                late.problem().ifPresent(why -> missing.add(late.name() + ": " + why));
            } catch (CompletionException e) {
                if (e.getCause() instanceof RuntimeException refused) {
                    throw refused;
                }
                throw e;
            }
        }
        if (members.size() - missing.size() < members.size() / 2 + 1) {
            throw new StoreException(
                    Reason.UNAVAILABLE,
                    Effect.NONE,
                    "Too few of the " + members.size() + " members of the quorum can be reached: "
                            + String.join("; ", missing),
                    null);
        }
        List<NamedStore> stores = new ArrayList<>();
        Iterator<LateMember> late = named.iterator();
        for (Object member : members) {
            int number = stores.size() + 1;
            if (member instanceof LockStore store) {
                stores.add(new NamedStore(
                        "member " + number + " (" + store.traits().product() + ")", store));
            } else {
                LateMember other = late.next();
                stores.add(new NamedStore("member " + number + " (" + other.name() + ")", other));
            }
        }
        return stores;
    }
}
