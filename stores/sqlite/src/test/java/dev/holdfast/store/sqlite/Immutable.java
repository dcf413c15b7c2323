package dev.holdfast.store.sqlite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Makes a file or directory temporarily unwritable: by its permissions, or, for a user they do not bind, by a flag of
 * the file system.
 */
final class Immutable implements AutoCloseable {

    private final Path path;
    private final boolean byFlag;

    private Immutable(Path path) throws IOException, InterruptedException {
        this.path = path;
        boolean byPermissions = path.toFile().setWritable(false) && !Files.isWritable(path);
        this.byFlag = !byPermissions && chattr("+i");
    }

    static Immutable freeze(Path path) throws IOException, InterruptedException {
        return new Immutable(path);
    }

    /** Whether it was possible. */
    boolean works() {
        return !Files.isWritable(path);
    }

    private boolean chattr(String change) throws InterruptedException {
        try {
            Process process = new ProcessBuilder("chattr", change, path.toString()).start();
            return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException noSuchCommand) {
            return false;
        }
    }

    @Override
    public void close() throws InterruptedException {
        if (byFlag && !chattr("-i")) {
            throw new IllegalStateException("Can't make " + path + " changeable again");
        }
        if (!path.toFile().setWritable(true)) {
            throw new IllegalStateException("Can't make " + path + " writable again");
        }
    }
}
