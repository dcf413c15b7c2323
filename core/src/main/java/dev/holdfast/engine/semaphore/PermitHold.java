package dev.holdfast.engine.semaphore;

import dev.holdfast.Permits;
import dev.holdfast.engine.local.Grant;
import dev.holdfast.engine.local.HoldIssuer;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.Request;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import org.jspecify.annotations.Nullable;

/** Permits of a semaphore, granted to one request. */
public final class PermitHold extends LocalHold implements Permits {

    private static final String BEFORE_SESSION = "@";

    private final int permits;

    /** Null until it is first requested. */
    private volatile @Nullable String permitId;

    PermitHold(HoldIssuer issuer, Grant grant, Request request, long token) {
        super(issuer, grant, request, token);
        this.permits = request.weight();
    }

    @Override
    public int permits() {
        return permits;
    }

    @Override
    public String permitId() {
        String known = permitId;
        if (known == null) {
            issuer().name(this);
            ClaimRef ref = claim().ref();
            known = ref.claim() + BEFORE_SESSION + ref.session().value();
            permitId = known;
        }
        return known;
    }

    @Override
    public String toString() {
        return "Permits[" + permits + " of " + resource().name + ", token " + shownToken() + ", " + state() + ", "
                + resource().partition.context.product() + "]";
    }

    /**
     * Parses the id of permits into their claim.
     *
     * @throws IllegalArgumentException if it is not an id of permits
     */
    public static ClaimRef refOf(ResourceName name, String id) {
        int end = id.indexOf(BEFORE_SESSION);
        try {
            return new ClaimRef(name, new SessionId(id.substring(end + 1)), Long.parseLong(id.substring(0, end)));
        } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
            throw new IllegalArgumentException(
                    "No permits were acquired with the id '" + ResourceName.printable(id) + "'", e);
        }
    }
}
