package dev.holdfast.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** A file among the resources that a library brings. */
final class Resource {

    private final URL url;

    private Resource(URL url) {
        this.url = url;
    }

    static Resource of(String name) {
        URL url = Resource.class.getResource("/" + name);
        if (url == null) {
            throw new IllegalStateException("There is no server for this machine: no resource " + name);
        }
        return new Resource(url);
    }

    static boolean isThere(String name) {
        return Resource.class.getResource("/" + name) != null;
    }

    InputStream open() throws IOException {
        return url.openStream();
    }

    /** The library that has it, to be closed. */
    JarFile jar() throws IOException {
        if (url.openConnection() instanceof JarURLConnection connection) {
            connection.setUseCaches(false); // else closing it would close it for all
            return connection.getJarFile();
        }
        throw new IOException("Not in a library: " + url);
    }

    /** Of a directory in a library: the directory in it that has this file. */
    String childWith(String file) {
        try (JarFile jar = jar()) {
            String parent = url.getPath().substring(url.getPath().indexOf("!/") + 2);
            return jar.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.startsWith(parent) && name.endsWith(file))
                    .map(name -> name.substring(parent.length(), name.length() - file.length()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("There is no " + file + " in " + url));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Identifies the version of the content. */
    String identity() {
        try {
            URLConnection connection = url.openConnection();
            return connection instanceof JarURLConnection jar
                    ? Long.toHexString(jar.getJarEntry().getCrc())
                    : "length-" + connection.getContentLengthLong();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
