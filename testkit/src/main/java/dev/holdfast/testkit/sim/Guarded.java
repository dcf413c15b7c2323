package dev.holdfast.testkit.sim;

import org.jspecify.annotations.Nullable;

/**
 * What a lock protects: keeps the greatest token it has seen, with the hold that showed it, and refuses every smaller
 * token, and an equal one from another hold. The judge of whether tokens do what they are for.
 */
final class Guarded {

    private final World world;
    private final Ledger ledger;
    private final SimServer server;
    private final Reached reached;
    private final String resource;
    private long newest;
    private @Nullable Holding newestWriter;

    Guarded(World world, Ledger ledger, SimServer server, Reached reached, String resource) {
        this.world = world;
        this.ledger = ledger;
        this.server = server;
        this.reached = reached;
        this.resource = resource;
    }

    /** A write arrives, maybe long after it was sent. */
    void write(long token, Holding writer) {
        boolean isAccepted = token > newest || (token == newest && writer == newestWriter);
        if (world.trace().isInWords()) {
            world.say("write to " + resource + " by " + writer
                    + (isAccepted ? " is done" : " is refused: it has seen " + newest));
        }
        ClaimRecord grant = ledger.grantOf(resource, token);
        Holding before = newestWriter;
        if (grant == null) {
            world.fail(Rule.OWN_TOKEN, writer + " shows a token that was never given");
        } else if (isAccepted) {
            ClaimRecord newestGrant = ledger.grantOf(resource, newest);
            if (newestGrant != null && newestGrant.grant > grant.grant) {
                world.fail(Rule.GUARDED, writer + " has written after " + before + ", which was granted later");
            }
            newest = token;
            newestWriter = writer;
        } else {
            reached.hit(Reach.STALE_WRITE_REFUSED);
            if (token == newest) {
                world.fail(Rule.TOKENS_RISE, writer + " has the same token as " + before);
            } else if (writer.isInHand() && ledger.isInForce(resource, token, server.micros())) {
                world.fail(
                        Rule.TOKENS_RISE,
                        writer + " is in force, but was refused: " + before + " has written before it");
            }
        }
    }

    /** A read arrives: who sees what a writer wrote, though its own token is older, is no reader any more. */
    void read(long token, Holding reader) {
        if (token < newest && reader.isInHand() && ledger.isInForce(resource, token, server.micros())) {
            world.fail(Rule.TOKENS_RISE, reader + " is in force, but " + newestWriter + " has written since it began");
        }
    }
}
