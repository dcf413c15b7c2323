package dev.holdfast.spi;

/**
 * A handler of replies about one claim: one method for each reply, called by {@link Reply.ClaimReply#accept}. A reply
 * that is added to the SPI is a compile error in every handler without a method for it.
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
