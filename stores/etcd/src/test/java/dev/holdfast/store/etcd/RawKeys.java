package dev.holdfast.store.etcd;

import dev.holdfast.servers.EtcdServer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/** The keys of a server as they are, past every store. */
final class RawKeys {

    private RawKeys() {}

    /** The answer about the keys that begin so; versions of etcd differ in the blanks. */
    static String below(EtcdServer server, String prefix) {
        return server.call("/v3/kv/range", range(prefix)).replace(" ", "");
    }

    private static String range(String prefix) {
        String end = prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1);
        return "{\"key\": \"" + encoded(prefix) + "\", \"range_end\": \"" + encoded(end) + "\"}";
    }

    /** Sets the key that begins so, and ends with octets that need not be text. */
    static void put(EtcdServer server, String prefix, byte[] rest, String value) {
        byte[] start = prefix.getBytes(StandardCharsets.UTF_8);
        byte[] key = Arrays.copyOf(start, start.length + rest.length);
        System.arraycopy(rest, 0, key, start.length, rest.length);
        server.call("/v3/kv/put", "{\"key\": \"" + encoded(key) + "\", \"value\": \"" + encoded(value) + "\"}");
    }

    static void delete(EtcdServer server, String key) {
        server.call("/v3/kv/deleterange", "{\"key\": \"" + encoded(key) + "\"}");
    }

    static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encoded(byte[] octets) {
        return Base64.getEncoder().encodeToString(octets);
    }
}
