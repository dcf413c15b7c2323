package dev.holdfast.spi;

/**
 * A handler of what a store answers about one claim: one method for each answer, called by {@link
 * Reply.ClaimReply#accept}. An answer that is added to the SPI is a compile error in every handler that does not treat
 * it.
 */
public interface ClaimReplyHandler {

    void granted(Reply.Granted reply);

    void queued(Reply.Queued reply);

    void refused(Reply.Refused reply);

    void absent(Reply.Absent reply);

    void sessionEnded(Reply.SessionEnded reply);

    void stale(Reply.Stale reply);

    void unsupported(Reply.Unsupported reply);
}
