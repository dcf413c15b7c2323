package dev.holdfast.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

/**
 * A file of the page, which is the same for everybody and shows nothing of a store. Immutable, as long as the bytes are
 * not changed.
 *
 * @param contentType the media type
 * @param body the content
 * @param compressed the content, compressed with gzip
 * @param tag changes with the content
 */
// Bytes, which are never compared.
@SuppressWarnings("ArrayRecordComponent")
public record PageFile(String contentType, byte[] body, byte[] compressed, String tag) {

    /** What the page may do: no code or style but its own files, no other hosts, no frame around it. */
    public static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html";

    private static final Map<String, String> TYPES = Map.of(
            "index.html", "text/html; charset=utf-8",
            "console.css", "text/css; charset=utf-8",
            "console.js", "text/javascript; charset=utf-8",
            "views.js", "text/javascript; charset=utf-8",
            "drawings.js", "text/javascript; charset=utf-8",
            "words.js", "text/javascript; charset=utf-8",
            "lit/lit-html.js", "text/javascript; charset=utf-8",
            "lit/directive.js", "text/javascript; charset=utf-8",
            "lit/directive-helpers.js", "text/javascript; charset=utf-8",
            "lit/directives/repeat.js", "text/javascript; charset=utf-8");

    private static final Map<String, PageFile> LOADED = new ConcurrentHashMap<>();

    /** A file by its name, such as {@code console.js}; empty if there is none. */
    public static Optional<PageFile> named(String name) {
        String type = TYPES.get(name);
        return type == null ? Optional.empty() : Optional.of(LOADED.computeIfAbsent(name, file -> load(file, type)));
    }

    /** The names of all files. */
    static Iterable<String> names() {
        return TYPES.keySet();
    }

    private static PageFile load(String name, String type) {
        try (InputStream in = PageFile.class.getResourceAsStream("page/" + name)) {
            if (in == null) {
                throw new IllegalStateException("The file " + name + " of the page is missing");
            }
            byte[] body = in.readAllBytes();
            CRC32 sum = new CRC32();
            sum.update(body);
            return new PageFile(type, body, compress(body), '"' + Long.toHexString(sum.getValue()) + '"');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] compress(byte[] body) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(body);
        }
        return out.toByteArray();
    }
}
