package dev.holdfast.console;

import java.nio.charset.StandardCharsets;

/**
 * An answer of the console, to be sent over HTTP. Immutable, as long as the body is not changed.
 *
 * @param status the status of HTTP
 * @param contentType the media type of the body
 * @param body the bytes to send, which the receiver must not change
 */
// Bytes, since answers are shared between viewers and are never compared.
@SuppressWarnings("ArrayRecordComponent")
public record ConsoleAnswer(int status, String contentType, byte[] body) {

    /** The media type of answers. */
    public static final String JSON = "application/json";

    /** The media type of errors. */
    public static final String PROBLEM = "application/problem+json";

    static ConsoleAnswer json(JsonObject object) {
        return new ConsoleAnswer(200, JSON, bytes(object.toString()));
    }

    /** An error that says what is wrong. */
    public static ConsoleAnswer problem(int status, String type, String title, String detail) {
        return new ConsoleAnswer(
                status,
                PROBLEM,
                bytes(new JsonObject()
                        .put("type", type)
                        .put("title", title)
                        .put("status", status)
                        .put("detail", detail)
                        .toString()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The body as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
