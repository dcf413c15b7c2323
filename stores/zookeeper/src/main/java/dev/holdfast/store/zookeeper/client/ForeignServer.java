package dev.holdfast.store.zookeeper.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Optional;

/** Other kinds of servers, recognised by their answers when a port or a scheme is wrong. */
enum ForeignServer {
    REDIS("PING\r\n", "a Redis server does (its scheme is redis://)") {
        @Override
        boolean answers(String text) {
            return text.startsWith("+PONG") || text.startsWith("-NOAUTH") || text.startsWith("-DENIED");
        }
    },

    ETCD("GET /version HTTP/1.0\r\n\r\n", "an etcd server does (its scheme is etcd://)") {
        @Override
        boolean answers(String text) {
            return text.startsWith("HTTP/") && text.contains("\"etcdserver\"");
        }
    },

    HTTP(ETCD.question, "an HTTP server does") {
        @Override
        boolean answers(String text) {
            return text.startsWith("HTTP/");
        }
    },

    /** The question is the request for TLS, 8 bytes long. */
    POSTGRESQL("\0\0\0\u0008\u0004\u00d2\u0016/", "a PostgreSQL server does (its scheme is postgresql://)") {
        @Override
        boolean answers(String text) {
            return text.startsWith("S") || text.startsWith("N");
        }
    },

    /** The server speaks first; its message starts with a length and a number. */
    MYSQL("", "a MySQL or MariaDB server does (its scheme is mysql:// or mariadb://)") {
        @Override
        boolean answers(String text) {
            return text.length() > 4 && text.charAt(3) == 0 && text.charAt(4) == 10;
        }
    };

    /** Enough of an answer to recognise the kind. */
    static final int LONGEST_ANSWER = 1_024;

    private final String question;
    private final String description;

    ForeignServer(String question, String description) {
        this.question = question;
        this.description = description;
    }

    /** Whether this kind of server answers so. */
    abstract boolean answers(String text);

    byte[] question() {
        return question.getBytes(ISO_8859_1);
    }

    /** Continues the message "it answers as". */
    String description() {
        return description;
    }

    /** Sends a question to a server. */
    @FunctionalInterface
    interface Exchange {
        /** The beginning of its answer; empty if there is none. */
        String answer(byte[] question);
    }

    /** The kind of a server; empty if no answer matches. */
    static Optional<ForeignServer> of(Exchange server) {
        for (ForeignServer kind : values()) {
            if (kind.answers(server.answer(kind.question()))) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }
}
