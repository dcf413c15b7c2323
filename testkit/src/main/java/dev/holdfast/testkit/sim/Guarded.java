package dev.holdfast.testkit.sim;

import org.jspecify.annotations.Nullable;

/**
 * A guarded resource: it keeps the greatest token with its hold, and rejects every smaller token, and an equal one of
 * another hold. It shows whether tokens do their work.
 */
final class Guarded {

    private final World world;
    private final StoreOracle storeOracle;
    private final SimServer server;
    private final Coverage coverage;
    private final String resource;
    private long newest;
    private @Nullable Holding newestWriter;

    Guarded(World world, StoreOracle storeOracle, SimServer server, Coverage coverage, String resource) {
        this.world = world;
        this.storeOracle = storeOracle;
        this.server = server;
        this.coverage = coverage;
        this.resource = resource;
    }

    /** Handles a write, maybe long after it was sent. */
    void write(long token, Holding writer) {
        boolean isAccepted = token > newest || (token == newest && writer == newestWriter);
        if (world.trace().isInWords()) {
            world.say("write to " + resource + " by " + writer
                    + (isAccepted ? " is done" : " is refused: it has seen " + newest));
        }
        ClaimRecord grant = storeOracle.grantOf(resource, token);
        Holding before = newestWriter;
        if (grant == null) {
            world.fail(Rule.OWN_TOKEN, writer + " shows a token that was never given");
        } else if (isAccepted) {
            ClaimRecord newestGrant = storeOracle.grantOf(resource, newest);
            if (newestGrant != null && newestGrant.grant > grant.grant) {
                world.fail(Rule.GUARDED, writer + " has written after " + before + ", which was granted later");
            }
            newest = token;
            newestWriter = writer;
        } else {
            coverage.hit(CoveragePoint.STALE_WRITE_REFUSED);
            if (token == newest) {
                world.fail(Rule.TOKENS_RISE, writer + " has the same token as " + before);
            } else if (writer.isInHand() && storeOracle.isInForce(resource, token, server.micros())) {
                world.fail(
                        Rule.TOKENS_RISE,
                        writer + " is in force, but was refused: " + before + " has written before it");
            }
        }
    }

    /** Handles a read: a reader must not see a write with a token above its own. */
    void read(long token, Holding reader) {
        if (token < newest && reader.isInHand() && storeOracle.isInForce(resource, token, server.micros())) {
            world.fail(Rule.TOKENS_RISE, reader + " is in force, but " + newestWriter + " has written since it began");
        }
    }
}
