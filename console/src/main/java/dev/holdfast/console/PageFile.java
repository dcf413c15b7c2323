package dev.holdfast.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

    private static final Set<String> NAMES = Set.of(
            "index.html",
            "console.css",
            "console.js",
            "views.js",
            "tasks.js",
            "drawings.js",
            "words.js",
            "lit/lit-html.js",
            "lit/directive.js",
            "lit/directive-helpers.js",
            "lit/directives/repeat.js");

    private static final Map<String, PageFile> LOADED = new ConcurrentHashMap<>();

    /** A file by its name, such as {@code console.js}; empty if there is none. */
    public static Optional<PageFile> named(String name) {
        return NAMES.contains(name) ? Optional.of(LOADED.computeIfAbsent(name, PageFile::load)) : Optional.empty();
    }

    /** The names of all files. */
    static Iterable<String> names() {
        return NAMES;
    }

    private static String type(String name) {
        String type = name.endsWith(".html") ? "html" : name.endsWith(".css") ? "css" : "javascript";
        return "text/" + type + "; charset=utf-8";
    }

    private static PageFile load(String name) {
        try (InputStream in = PageFile.class.getResourceAsStream("page/" + name)) {
            if (in == null) {
                throw new IllegalStateException("The file " + name + " of the page is missing");
            }
            byte[] body = in.readAllBytes();
            CRC32 sum = new CRC32();
            sum.update(body);
            return new PageFile(type(name), body, compress(body), '"' + Long.toHexString(sum.getValue()) + '"');
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
