package dev.holdfast.store.zookeeper.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Optional;

/** Kinds of servers that are taken for ZooKeeper's when a port or a scheme is mixed up, by what they answer. */
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

    /** Asked whether it speaks TLS, in 8 bytes. */
    POSTGRESQL("\0\0\0\u0008\u0004\u00d2\u0016/", "a PostgreSQL server does (its scheme is postgresql://)") {
        @Override
        boolean answers(String text) {
            return text.startsWith("S") || text.startsWith("N");
        }
    },

    /** It speaks first, after the length and the number of its message. */
    MYSQL("", "a MySQL or MariaDB server does (its scheme is mysql:// or mariadb://)") {
        @Override
        boolean answers(String text) {
            return text.length() > 4 && text.charAt(3) == 0 && text.charAt(4) == 10;
        }
    };

    /** As much of an answer as tells the kind. */
    static final int LONGEST_ANSWER = 1_024;

    private final String question;
    private final String words;

    ForeignServer(String question, String words) {
        this.question = question;
        this.words = words;
    }

    /** Whether it is one that has answered so. */
    abstract boolean answers(String text);

    byte[] question() {
        return question.getBytes(ISO_8859_1);
    }

    /** How it answers, after "as". */
    String words() {
        return words;
    }

    /** Asks a server. */
    @FunctionalInterface
    interface Dialogue {
        /** The beginning of its answer; empty if there is none. */
        String answer(byte[] question);
    }

    /** The kind of a server; empty if it answers as none of these does. */
    static Optional<ForeignServer> of(Dialogue server) {
        for (ForeignServer kind : values()) {
            if (kind.answers(server.answer(kind.question()))) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }
}
